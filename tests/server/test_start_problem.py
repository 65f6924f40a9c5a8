"""Why a bridge did not start, and what mends it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dcc_bridge.errors import StartError
from dcc_bridge.server import start_problem
from dcc_bridge.server.start_problem import explain, foreign_modules

BROKEN = ImportError("_ssl.so: undefined symbol: _PyModule_Add")


def own_folder() -> Path:
    """Return a folder in which all that the plug-in brought is."""
    return Path("/")


@pytest.fixture
def venv(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", "/home/ada/venv")
    monkeypatch.setattr(sys, "base_prefix", "/usr")


@pytest.fixture
def no_venv(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)


@pytest.mark.usefixtures("venv")
def test_a_virtual_environment_that_an_application_runs_with_is_named_and_how_to_leave_it() -> None:
    problem = explain(BROKEN, "Blender", own_folder())

    assert "the virtual environment /home/ada/venv" in problem.what
    assert str(BROKEN) in problem.what
    assert "run `deactivate`" in problem.mend


@pytest.mark.usefixtures("no_venv")
def test_files_of_others_that_run_in_place_of_the_plug_ins_own_are_named(tmp_path: Path) -> None:
    problem = explain(BROKEN, "Maya", tmp_path)

    assert f"anyio from {sys.modules['anyio'].__file__}" in problem.what
    assert "PYTHONPATH" in problem.mend


@pytest.mark.usefixtures("no_venv")
def test_a_plug_in_whose_own_files_do_not_load_is_to_be_installed_again() -> None:
    """After an update of the application's Python, say."""
    problem = explain(BROKEN, "FreeCAD", own_folder())

    assert str(BROKEN) in problem.what
    assert problem.mend == "Install the plug-in again, and restart FreeCAD."


@pytest.mark.usefixtures("venv")
@pytest.mark.parametrize(
    ("error", "said"),
    [
        (StartError("Port 80 is taken. Choose another one."), "Port 80 is taken. Choose another"),
        (BROKEN, "ImportError: _ssl.so"),
        (ValueError("no"), "ValueError: no"),
    ],
)
def test_a_host_that_runs_what_is_installed_in_its_own_environment_is_told_the_error(
    error: Exception, said: str
) -> None:
    """The standalone host's virtual environment is where it belongs."""
    problem = explain(error, "Standalone", None)

    assert problem.what.startswith("The bridge did not start. ")
    assert said in problem.what
    assert "virtual" not in str(problem)


def test_only_what_comes_from_elsewhere_is_foreign(tmp_path: Path) -> None:
    package = Path(start_problem.__file__).parents[1]

    assert "dcc_bridge" not in foreign_modules(package)
    assert foreign_modules(tmp_path)["dcc_bridge"] == str(package / "__init__.py")
    assert foreign_modules(own_folder()) == {}
