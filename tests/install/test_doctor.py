"""What is wrong with an installation is found, and each finding has its mend."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dcc_bridge.cli.doctor import installation
from dcc_bridge.install import asking, vendor, written
from dcc_bridge.install.places import KINDS, Told
from dcc_bridge.install.plan import Plan
from dcc_bridge.install.system import System


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """FreeCAD with Python 3.11, into which it was installed."""

    def fill(into: Path, python: str, platform: str) -> None:
        (into / "mcp").mkdir(parents=True)
        (into / "mcp" / "__init__.py").write_text("")

    system, told = System("linux", tmp_path, {}), Told("1.0", "3.11", program=Path("/freecadcmd"))
    monkeypatch.setattr(vendor, "fill", fill)
    monkeypatch.setattr(System, "here", lambda: system)
    monkeypatch.setattr(asking, "ask", lambda kind: told)
    kind = KINDS["freecad"]
    plan = Plan(kind, told, kind.place(system, told, False), system)
    plan.do()
    return plan.place.folder


def test_a_whole_installation_is_well(folder: Path) -> None:
    """And the folder is named."""
    report = installation.check("freecad")

    assert report.findings == []
    assert str(folder) in report.facts[-1]


def lose(folder: Path) -> None:
    (folder / "Init.py").unlink()


def change(folder: Path) -> None:
    (folder / "Init.py").write_text("# mine")


def add_qt(folder: Path) -> None:
    (folder / "vendor/py311-linux/PySide6").mkdir()


def spoil(folder: Path) -> None:
    (folder / written.NAME).write_text("{")


def forget(folder: Path) -> None:
    (folder / written.NAME).unlink()


@pytest.mark.parametrize(
    ("meddle", "check", "said"),
    [
        (lose, "files", "gone"),
        (change, "files", "changed"),
        (add_qt, "qt", "a second one"),
        (spoil, "installation", "cannot be read"),
        (forget, "installation", "not put by us"),
    ],
)
def test_what_is_wrong_is_found(
    folder: Path, meddle: Callable[[Path], None], check: str, said: str
) -> None:
    """One finding for one fault, with what to do."""
    meddle(folder)

    (found,) = installation.check("freecad").findings

    assert found.check == check
    assert said in found.what
    assert found.mend


def test_another_python_than_it_was_installed_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an update of the application."""
    monkeypatch.setattr(asking, "ask", lambda kind: Told("1.0", "3.13"))

    (found,) = installation.check("freecad").findings

    assert (found.check, "3.13" in found.what) == ("python", True)


def test_what_was_never_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mend is the command."""
    monkeypatch.setattr(System, "here", lambda: System("linux", tmp_path, {}))
    monkeypatch.setattr(asking, "ask", lambda kind: Told())

    (found,) = installation.check("freecad").findings

    assert found.mend == "dcc-bridge install freecad"
