"""What the commands find: applications and commands, by the entry points of the installation."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge import cli
from dcc_bridge.cli import interpreter, leaves
from dcc_bridge.cli.exits import Failure
from dcc_bridge.install.installed import InstalledFiles
from dcc_bridge.install.locations import Facts
from dcc_bridge.program import LocalProgram

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PACKAGES = {path.name: path for path in (ROOT / "plugins").glob("*/dcc_bridge_*")}
APIS = ("bpy", "FreeCAD", "hou", "maya", "pxr", "PySide6")


def test_each_leaf_is_a_package_of_the_wheel() -> None:
    packages = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    paths = [path.relative_to(ROOT).as_posix() for path in PACKAGES.values()]

    assert sorted(packages) == sorted(["dcc_bridge", *paths])


def test_each_application_is_found_by_its_name() -> None:
    names = leaves.host_names()

    assert {f"dcc_bridge_{name}" for name in names} == PACKAGES.keys() - {"dcc_bridge_batch"}
    assert [leaves.program(name).name for name in names] == names
    assert isinstance(leaves.local(), LocalProgram)
    assert sorted([*leaves.targets(), leaves.local().name]) == names


def test_no_api_of_an_application_is_imported_for_that() -> None:
    code = f"""
import sys
from dcc_bridge.cli import interpreter, leaves
leaves.targets(), leaves.local(), leaves.commands()
print([name for name in {APIS} if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )

    assert done.stdout == "[]\n"


@pytest.mark.parametrize("words", [["run", "summary"], ["serve"], ["demo"], ["install"], ["batch"]])
def test_an_installation_without_entry_points_says_how_to_mend_it(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(leaves, "entry_points", lambda **_: EntryPoints())

    assert cli.main(words) == 2
    assert "names no application. Install it again: pip install" in capsys.readouterr().err


@pytest.mark.parametrize("count", [0, 2])
def test_an_application_that_not_one_package_names_is_told_of(
    monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    found = EntryPoints([EntryPoint("nuke", "leaf:PROGRAM", leaves.HOSTS)] * count)
    monkeypatch.setattr(leaves, "entry_points", lambda **_: found)

    with pytest.raises(Failure, match=f"{count} installed packages name an application 'nuke'"):
        leaves.program("nuke")


def test_a_leaf_that_fails_is_told_of_in_a_sentence_and_the_others_are_used(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "leaf_without_licence.py").write_text("raise RuntimeError('no licence')")
    monkeypatch.syspath_prepend(tmp_path)
    every = [
        EntryPoint("blender", "dcc_bridge_blender.program:PROGRAM", leaves.HOSTS),
        EntryPoint("broken", "leaf_without_licence:PROGRAM", leaves.HOSTS),
    ]

    def installed(*, group: str, name: str | None = None) -> EntryPoints:
        return EntryPoints(it for it in every if it.group == group and name in (None, it.name))

    monkeypatch.setattr(leaves, "entry_points", installed)

    assert [*leaves.targets()] == ["blender"]
    said = capsys.readouterr().err
    assert "leaf_without_licence:PROGRAM cannot be imported (no licence)" in said
    assert "Install it again: pip install" in said


def test_a_leaf_that_is_meant_and_not_whole_ends_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gone = EntryPoint("gone", "dcc_bridge_gone.program:PROGRAM", leaves.HOSTS)
    monkeypatch.setattr(leaves, "entry_points", lambda **_: EntryPoints([gone]))

    with pytest.raises(Failure, match=r"dcc_bridge_gone.program:PROGRAM cannot be imported"):
        leaves.program("gone")


def test_a_plug_in_of_another_version_is_not_started_with_this_ones_leaf(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    freecad = leaves.targets()["freecad"]
    monkeypatch.setattr(interpreter, "probe", lambda kind, program: Facts("1.0", "3.11"))
    older = InstalledFiles(Path(), {"python": "3.11", "bridge": "0.0.9"}, {}, ())
    monkeypatch.setattr(InstalledFiles, "read", lambda folder: older)

    with pytest.raises(Failure, match=r"is of dcc-bridge 0\.0\.9, .*: dcc-bridge install freecad"):
        interpreter._paths(freecad, "freecadcmd", "dcc_bridge.headless")
