"""What was put is taken away to the byte, and nothing that somebody else wrote."""

from __future__ import annotations

import py_compile
from dataclasses import replace
from pathlib import Path

import pytest

from dcc_bridge import cli
from dcc_bridge.install import vendor
from dcc_bridge.install.locations import APPLICATIONS, Facts, System, UnknownLocation
from dcc_bridge.install.plan import LIST_NAME, InstalledFiles, NotOurs, Plan
from tests.install import tree

HOSTS = [
    ("freecad", "1.0", "InitGui.py"),
    ("blender", "4.5", "__init__.py"),
    ("maya", "2026", "plug-ins/dcc_bridge_plugin.py"),
    ("houdini", "21.0", "python3.11libs/uiready.py"),
]
"""Each with the file with which it begins, where the application looks."""


@pytest.fixture(autouse=True)
def vendored(monkeypatch: pytest.MonkeyPatch) -> None:
    """What pip would bring, without pip; `test_installed` has the real one."""

    def fill(into: Path, python: str, platform: str) -> None:
        (into / "mcp").mkdir(parents=True)
        (into / "mcp" / "__init__.py").write_text(f"# {python} {platform}")

    monkeypatch.setattr(vendor, "fill", fill)


def planned(home: Path, host: str = "freecad", version: str = "1.0") -> Plan:
    system, facts = System("linux", home, {}), Facts(version, "3.11")
    return Plan(
        APPLICATIONS[host], facts, APPLICATIONS[host].location(system, facts, False), system
    )


@pytest.mark.core
@pytest.mark.parametrize(("host", "version", "begin"), HOSTS)
def test_the_host_finds_what_its_loader_wants_and_nothing_is_left_of_one_or_two_versions(
    tmp_path: Path, host: str, version: str, begin: str
) -> None:
    """Whatever was there stays as it was, and folders that had to be made go."""
    (tmp_path / ".config/blender").mkdir(parents=True)
    (tmp_path / ".config/blender/mine.txt").write_text("mine")
    before = tree(tmp_path)
    plan = planned(tmp_path, host, version)
    location = plan.location

    for times in (1, 2):
        for _ in range(times):
            plan.install()

        assert (location.folder / begin).is_file()
        assert (location.folder / location.vendor / "mcp/__init__.py").is_file()
        assert list((location.folder / "skills").glob("*.py"))
        assert all(file.is_file() for file in location.texts)
        installed = InstalledFiles.read(location.folder)
        assert installed is not None
        installed.delete(location.folder)
        assert tree(tmp_path) == before


def test_what_python_compiled_goes_too(tmp_path: Path) -> None:
    """A host that ran leaves compiled copies beside our files."""
    plan = planned(tmp_path)
    installed = plan.install()
    for file in installed.files:
        if file.suffix == ".py":
            py_compile.compile(str(file))

    assert installed.foreign(plan.location.folder) == []
    installed.delete(plan.location.folder)
    assert tree(tmp_path) == {}


def test_a_file_that_somebody_replaced_goes_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    """A link is not followed, and a folder in a file's place is somebody's."""
    plan = planned(tmp_path)
    installed = plan.install()
    (theirs := tmp_path / "theirs.py").write_text("theirs")
    (plan.location.folder / "InitGui.py").unlink()
    (plan.location.folder / "InitGui.py").symlink_to(theirs)
    (plan.location.folder / "Init.py").unlink()
    (mine := plan.location.folder / "Init.py" / "mine.txt").parent.mkdir()
    mine.write_text("mine")

    others = installed.foreign(plan.location.folder)
    installed.delete(plan.location.folder)

    assert others == [mine]
    assert [content for content in tree(tmp_path).values() if content is not None] == [
        b"mine",
        b"theirs",
    ]


def test_what_somebody_added_stays(tmp_path: Path) -> None:
    """And is named, before anything is installed."""
    plan = planned(tmp_path)
    installed = plan.install()
    mine = plan.location.folder / "skills" / "mine.py"
    mine.write_text("# mine")
    before = tree(tmp_path)

    with pytest.raises(NotOurs, match=r"mine\.py"):
        plan.install()
    assert tree(tmp_path) == before
    others = installed.foreign(plan.location.folder)
    installed.delete(plan.location.folder)

    assert others == [mine]
    assert [content for content in tree(tmp_path).values() if content is not None] == [b"# mine"]


def test_a_folder_of_somebody_else_is_not_touched(tmp_path: Path) -> None:
    """One that is called as ours is, and was not put by us."""
    plan = planned(tmp_path)
    plan.location.folder.mkdir(parents=True)
    (plan.location.folder / "theirs.py").write_text("theirs")
    before = tree(tmp_path)

    with pytest.raises(NotOurs, match="not installed by dcc-bridge"):
        plan.install()

    assert tree(tmp_path) == before


def test_what_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The host never finds half a plug-in."""

    def fail(into: Path, python: str, platform: str) -> None:
        raise vendor.NotVendored("no network")

    monkeypatch.setattr(vendor, "fill", fail)

    with pytest.raises(vendor.NotVendored):
        planned(tmp_path).install()

    assert tree(tmp_path) == {}


def test_a_list_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """Then nobody knows what is ours, and nothing is deleted."""
    plan = planned(tmp_path)
    plan.install()
    (plan.location.folder / LIST_NAME).write_text('{"facts": 3}')
    before = tree(tmp_path)

    with pytest.raises(NotOurs, match="by hand"):
        InstalledFiles.read(plan.location.folder)

    assert tree(tmp_path) == before


def test_a_version_that_no_program_has_said_and_nobody_knows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownLocation, match=r"34 is not known; did you mean 3\.4\?"):
        planned(tmp_path, "blender", "34").check()
    said = planned(tmp_path, "blender", "34.1")

    assert replace(said, facts=replace(said.facts, program=Path("/blender"))).check() is None


def test_the_printed_uninstall_takes_away_what_was_installed_and_names_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(System, "here", lambda: System("linux", tmp_path, {}))
    monkeypatch.setenv("PATH", "")
    planned(tmp_path, "blender", "4.2").install()
    cli.main(["install", "blender", "--version", "5.2"])
    printed = capsys.readouterr().out.partition("To remove it: dcc-bridge ")[2].split()

    assert cli.main(printed) == 0

    assert printed == ["uninstall", "blender", "--version", "5.2"]
    assert "still installed: blender 4.2: " in capsys.readouterr().out
    assert InstalledFiles.read(planned(tmp_path, "blender", "5.2").location.folder) is None


def test_an_uninstall_says_what_of_the_users_own_is_left_and_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(System, "here", lambda: System("linux", tmp_path, {}))
    for name in ("state", "data"):
        monkeypatch.setenv(f"XDG_{name.upper()}_HOME", str(tmp_path / name))
    monkeypatch.setenv("PATH", "")
    words = ["uninstall", "freecad", "--version", "1.0"]
    planned(tmp_path).install()
    assert cli.main(words) == 0
    nothing = capsys.readouterr().out
    planned(tmp_path).install()
    (skills := tmp_path / "data/dcc_bridge/skills").mkdir(parents=True)
    (log := tmp_path / "state/dcc_bridge/log/host.log").parent.mkdir(parents=True)
    log.write_text("an error")
    (key := tmp_path / "state/dcc_bridge/batch/key").parent.mkdir()
    key.write_text("private")

    assert cli.main(words) == 0

    kept = capsys.readouterr().out.partition("Done.")[2].splitlines()[1:]
    assert kept == [
        f"kept {skills}: your own skills",
        f"kept {tmp_path / 'state/dcc_bridge'}: logs, and copies of scenes that have no file",
        f"kept {key}: the key that signs your consent to batches",
    ]
    assert "kept" not in nothing
    assert log.read_text() == "an error"
