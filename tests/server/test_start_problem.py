"""Why a bridge did not start, and what mends it."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest

from dcc_bridge.errors import StartError
from dcc_bridge.server.start_problem import explain, foreign_modules

BROKEN = ImportError("_ssl.so: undefined symbol: _PyModule_Add")
MISSING = ModuleNotFoundError("No module named 'annotated_types'")


def broken(path: str) -> ImportError:
    """Return the error of a compiled file that does not load."""
    return ImportError(str(BROKEN), path=path)


def raised_in(file: Path) -> ImportError:
    """Return the error of a file that imports what is not there."""
    code = compile("import no_such_module", file, "exec")
    with pytest.raises(ImportError) as caught:
        exec(code, {})
    return caught.value


@pytest.fixture
def vendor(tmp_path: Path) -> Path:
    """A folder in which all is that the plug-in brought, and none of it runs from elsewhere."""
    (tmp_path / "brought_by_nobody_else").mkdir()
    return tmp_path


@pytest.fixture
def other_anyio(vendor: Path) -> str:
    """The file of a module that the plug-in brought, and that runs from elsewhere."""
    (vendor / "anyio").mkdir()
    return str(sys.modules["anyio"].__file__)


@pytest.fixture
def venv(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", "/home/ada/venv")
    monkeypatch.setattr(sys, "base_prefix", "/usr")


@pytest.fixture
def no_venv(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)


@pytest.mark.usefixtures("venv")
@pytest.mark.parametrize(
    "error",
    [
        broken("/home/ada/venv/lib/python3.11/site-packages/_speedups.so"),
        broken("/usr/lib/python3.11/lib-dynload/_ssl.so"),
        raised_in(Path("/home/ada/venv/lib/python3.11/site-packages/uvicorn/__init__.py")),
    ],
    ids=["a package of it", "the Python below it", "what a package of it imports"],
)
def test_a_virtual_environment_whose_files_do_not_fit_is_named_and_how_to_leave_it(
    error: ImportError, vendor: Path
) -> None:
    problem = explain(error, "Blender", vendor)

    assert "the virtual environment /home/ada/venv" in problem.what
    assert str(error) in problem.what
    assert "run `deactivate`" in problem.mend


@pytest.mark.usefixtures("venv", "other_anyio")
def test_a_virtual_environment_is_named_where_modules_come_from_it(vendor: Path) -> None:
    assert "run `deactivate`" in explain(MISSING, "Blender", vendor).mend


@pytest.mark.usefixtures("no_venv")
def test_files_of_others_that_run_in_place_of_the_plug_ins_own_are_named(
    vendor: Path, other_anyio: str
) -> None:
    problem = explain(BROKEN, "Maya", vendor)

    assert f"anyio from {other_anyio}" in problem.what
    assert "PYTHONPATH" in problem.mend


@pytest.mark.usefixtures("no_venv")
def test_a_plug_in_whose_own_files_do_not_load_is_to_be_installed_again(vendor: Path) -> None:
    """After an update of the application's Python, say."""
    problem = explain(BROKEN, "FreeCAD", vendor)

    assert str(BROKEN) in problem.what
    assert problem.mend == "Install the plug-in again, and restart FreeCAD."


@pytest.mark.usefixtures("venv")
def test_a_plug_in_that_lost_a_file_is_to_be_installed_again_in_a_virtual_environment_too(
    vendor: Path,
) -> None:
    """Leaving the environment would not bring the file back."""
    of_its_own = [
        MISSING,
        raised_in(vendor / "pydantic" / "__init__.py"),
        broken(str(vendor / "pydantic_core" / "_pydantic_core.so")),
    ]
    with pytest.raises(ImportError) as caught:
        import_module("no_such_module")

    for error in (*of_its_own, caught.value):
        problem = explain(error, "FreeCAD", vendor)
        assert problem.mend == "Install the plug-in again, and restart FreeCAD."
        assert "virtual" not in problem.what


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
    """Our own application's virtual environment is where it belongs."""
    problem = explain(error, "Standalone", None)

    assert problem.what.startswith("The bridge did not start. ")
    assert said in problem.what
    assert "virtual" not in str(problem)


def test_only_what_the_plug_in_brought_and_comes_from_elsewhere_is_foreign(
    vendor: Path, other_anyio: str
) -> None:
    """The folder itself says what it brought."""
    (vendor / "anyio-4.9.0.dist-info").mkdir()
    (vendor / "typing_extensions.py").touch()
    extensions = sys.modules["typing_extensions"].__file__

    assert foreign_modules(vendor) == {"anyio": other_anyio, "typing_extensions": extensions}
    assert foreign_modules(Path(other_anyio).parents[1]) == {}
    assert foreign_modules(vendor / "not there") == {}
