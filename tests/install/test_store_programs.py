"""What comes from the Microsoft Store is told, for Windows redirects what it writes."""

from __future__ import annotations

import sys
from argparse import Namespace
from dataclasses import replace
from pathlib import Path, PureWindowsPath

import pytest

from dcc_bridge.cli import doctor, leaves
from dcc_bridge.cli.findings import Finding
from dcc_bridge.install import vendor
from dcc_bridge.install.applications import choose, problem_of, search
from dcc_bridge.install.locations import Facts, System, UnknownLocation
from dcc_bridge.install.plan import Plan
from dcc_bridge.install.registry import Registry
from dcc_bridge.store_programs import is_from_store, redirection
from tests.cli.test_client import FILES, PACKAGE, client
from tests.install.test_applications import computer, put

APPLICATIONS = leaves.targets()
BLENDER = r"WindowsApps\BlenderFoundation.Blender4.5LTS_4.5.3.0_x64__ppwjx1n5r4v9t\Blender"
PYTHON = r"PythonSoftwareFoundation.Python.3.13_3.13.2544.0_x64__qbz5n2kfra8p0"
OURS = r"AppData\Roaming\Blender Foundation\Blender\4.5\scripts\addons\dcc_bridge"
ALIAS = r"C:\Users\me\AppData\Local\Microsoft\WindowsApps"


@pytest.fixture
def store_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have this be a Python from the Store, as one knows it by its folder."""
    monkeypatch.setattr(sys, "base_prefix", f"/Program Files/WindowsApps/{PYTHON}")


@pytest.mark.parametrize(
    ("program", "is_there"),
    [
        (rf"C:\Program Files\WindowsApps\{PYTHON}\python.exe", True),
        (rf"D:\windowsapps\{PYTHON}", True),
        (rf"{ALIAS}\PythonSoftwareFoundation.Python.3.13_qbz5n2kfra8p0\python.exe", True),
        (rf"{ALIAS}\blender-launcher.exe", True),
        (r"C:\Users\me\AppData\Local\Programs\Python\Python313\python.exe", False),
        (r"C:\Users\me\AppData\Local\Python\pythoncore-3.14-64\python.exe", False),
        (r"C:\Program Files\Blender Foundation\Blender 4.5\blender.exe", False),
    ],
)
def test_a_program_from_the_store_is_known_by_its_place(program: str, is_there: bool) -> None:
    """The last but one is of Python's own install manager, which writes where others do."""
    assert is_from_store(PureWindowsPath(program)) is is_there


@pytest.mark.parametrize(
    ("place", "is_redirected"),
    [
        (rf"C:\Users\me\{OURS}", True),
        (r"C:\Users\me\appdata\local\dcc_bridge", True),
        (r"C:\Users\me\OneDrive - Studio\Documents\maya\modules\dcc_bridge", False),
        (r"C:\Users\me\.claude.json", False),
    ],
)
def test_what_the_stores_python_writes_below_appdata_is_redirected(
    place: str, is_redirected: bool
) -> None:
    file = PureWindowsPath(place)
    store = PureWindowsPath(rf"C:\Program Files\WindowsApps\{PYTHON}")
    other = PureWindowsPath(r"C:\Users\me\AppData\Local\Programs\Python\Python313")

    said = redirection(file, store)

    assert bool(said) is is_redirected
    assert (place in said) is is_redirected
    assert ("winget install Python.Python.3.13" in said) is is_redirected
    assert redirection(file, other) == ""


def test_blender_from_the_store_is_found_and_told_apart(tmp_path: Path) -> None:
    """Clients would not find it: its record goes to a folder of its own."""
    place = BLENDER.replace("\\", "/")
    (program,) = put(tmp_path, f"{place}/blender.exe")
    kind = APPLICATIONS["blender"]
    registry = Registry(packages=((f"{kind.places.store}4.5LTS_4.5.3.0_x64__pp", program.parent),))

    (found,) = search(kind, replace(computer(tmp_path, "win32"), registry=registry))

    assert (found.program, found.way) == (program, "Microsoft Store")
    assert "Blender is from the Microsoft Store" in found.problem
    assert "Use the one from its makers' page" in found.problem
    assert choose(kind, [found], None) is None
    assert problem_of(kind, program) == found.problem


@pytest.mark.usefixtures("store_python")
def test_no_plug_in_is_installed_where_the_application_would_not_see_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill(into: Path, python: str, platform: str) -> None:
        into.mkdir(parents=True)

    monkeypatch.setattr(vendor, "fill", fill)
    system = System("win32", tmp_path, {}, tmp_path / "OneDrive" / "Documents")
    plans = {}
    for host, version in (("blender", "4.5"), ("maya", "2026")):
        facts = Facts(version, "3.11")
        location = APPLICATIONS[host].location(system, facts, False)
        plans[host] = Plan(APPLICATIONS[host], facts, location, system)

    with pytest.raises(UnknownLocation, match="This Python is from the Microsoft Store"):
        plans["blender"].install()
    plans["maya"].install()

    assert not (tmp_path / "AppData").exists()
    assert plans["maya"].location.folder.is_dir()


@pytest.mark.usefixtures("store_python")
def test_a_client_is_not_said_to_be_set_up_in_a_file_that_it_would_not_read(tmp_path: Path) -> None:
    """One whose file is elsewhere is set up as ever."""
    (tmp_path / PACKAGE).mkdir(parents=True)

    desktop = client(tmp_path, "add", "claude-desktop")
    cursor = client(tmp_path, "add", "cursor")

    assert desktop.code != 0
    assert "was not changed: This Python is from the Microsoft Store" in desktop.err
    assert not list((tmp_path / PACKAGE).rglob("*.json"))
    assert cursor.code == 0
    assert (tmp_path / FILES["cursor"]).is_file()


@pytest.mark.usefixtures("store_python")
def test_the_doctor_tells_that_this_python_is_from_the_store(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(doctor, "check_installation", lambda name: ())
    options = Namespace(url="blender")

    findings = [one for one in doctor._check_all(options) if isinstance(one, Finding)]

    (finding,) = (one for one in findings if one.check == "python")
    assert "from the Microsoft Store" in finding.what
    assert "winget install Python.Python.3.13" in finding.mend
