"""Where each host looks, and which Python it has: nothing is touched."""

from __future__ import annotations

import os
import sys
from pathlib import Path, PurePath

import platformdirs
import pytest

from dcc_bridge.cli import interpreter, leaves
from dcc_bridge.install.locations import Facts, System, UnknownLocation
from dcc_bridge.install.places import Platform

APPLICATIONS = leaves.targets()

HOME = Path("/home/ann")
ADDON = "scripts/addons/dcc_bridge_blender"
USER: list[tuple[str, str, Platform, dict[str, str], str]] = [
    ("freecad", "0.20", "linux", {}, ".local/share/FreeCAD/Mod/dcc_bridge"),
    ("freecad", "1.0", "linux", {}, ".local/share/FreeCAD/Mod/dcc_bridge"),
    ("freecad", "1.1", "linux", {}, ".local/share/FreeCAD/v1-1/Mod/dcc_bridge"),
    ("freecad", "1.0", "win32", {}, "AppData/Roaming/FreeCAD/Mod/dcc_bridge"),
    ("freecad", "1.0", "darwin", {}, "Library/Application Support/FreeCAD/Mod/dcc_bridge"),
    ("blender", "3.4.1", "linux", {}, f".config/blender/3.4/{ADDON}"),
    ("blender", "4.5", "win32", {}, f"AppData/Roaming/Blender Foundation/Blender/4.5/{ADDON}"),
    ("blender", "4.5", "darwin", {}, f"Library/Application Support/Blender/4.5/{ADDON}"),
    ("maya", "2026", "linux", {}, "maya/dcc_bridge"),
    ("maya", "2026", "win32", {}, "Documents/maya/dcc_bridge"),
    ("maya", "2026", "darwin", {}, "Library/Preferences/Autodesk/maya/dcc_bridge"),
    ("houdini", "21.0.512", "linux", {}, "houdini21.0/packages/dcc_bridge"),
    ("houdini", "20.5", "win32", {}, "Documents/houdini20.5/packages/dcc_bridge"),
    ("houdini", "22.0", "darwin", {}, "Library/Preferences/houdini/22.0/packages/dcc_bridge"),
    ("freecad", "1.0", "linux", {"FREECAD_USER_DATA": "/x"}, "/x/Mod/dcc_bridge"),
    ("freecad", "1.0", "linux", {"XDG_DATA_HOME": "/x"}, "/x/FreeCAD/Mod/dcc_bridge"),
    ("blender", "4.5", "linux", {"BLENDER_USER_SCRIPTS": "/x"}, "/x/addons/dcc_bridge_blender"),
    ("blender", "4.5", "linux", {"BLENDER_USER_RESOURCES": "/x"}, f"/x/{ADDON}"),
    ("blender", "4.5", "linux", {"XDG_CONFIG_HOME": "/x"}, f"/x/blender/4.5/{ADDON}"),
    ("maya", "2026", "linux", {"MAYA_APP_DIR": "/x/maya"}, "/x/maya/dcc_bridge"),
    (
        "houdini",
        "21.0",
        "linux",
        {"HOUDINI_USER_PREF_DIR": "/h__HVER__"},
        "/h21.0/packages/dcc_bridge",
    ),
]
SHARED: list[tuple[str, Platform, dict[str, str], Facts, str]] = [
    ("maya", "linux", {}, Facts("2026", "3.11"), "/usr/autodesk/modules/maya/2026"),
    ("maya", "darwin", {}, Facts("2026", "3.11"), "/Users/Shared/Autodesk/modules/maya/2026"),
    (
        "maya",
        "win32",
        {"COMMONPROGRAMFILES": "/C/Common"},
        Facts("2026", "3.11"),
        "/C/Common/Autodesk Shared/Modules/maya/2026",
    ),
    ("houdini", "linux", {"HSITE": "/site"}, Facts("21.0", "3.11"), "/site/houdini21.0/packages"),
    (
        "freecad",
        "linux",
        {},
        Facts("1.0", "3.11", Path("/usr/lib/freecad/Mod")),
        "/usr/lib/freecad",
    ),
    ("blender", "linux", {}, Facts("4.5", "3.11", Path("/opt/blender/addons")), "/opt/blender"),
]


def folder(host: str, system: System, told: Facts, for_all: bool = False) -> PurePath:
    return APPLICATIONS[host].location(system, told, for_all).folder


@pytest.mark.parametrize(("host", "version", "platform", "env", "expected"), USER)
def test_the_users_own_folder_or_another_one_that_a_variable_names(
    host: str, version: str, platform: Platform, env: dict[str, str], expected: str
) -> None:
    """Each application's documentation names them; a studio that moves them is followed."""
    found = folder(host, System(platform, HOME, env), Facts(version, "3.11"))

    assert found == HOME / expected


@pytest.mark.parametrize(("host", "platform", "env", "told", "below"), SHARED)
def test_for_all_users(
    host: str, platform: Platform, env: dict[str, str], told: Facts, below: str
) -> None:
    """What is found lies there, with the file that names it."""
    place = APPLICATIONS[host].location(System(platform, HOME, env), told, True)

    for path in (place.folder, *place.texts):
        assert Path(below) in path.parents or Path(below).parent in path.parents
        assert HOME not in path.parents


@pytest.mark.parametrize(
    ("host", "expected"),
    [("maya", "maya/dcc_bridge"), ("houdini", "houdini21.0/packages/dcc_bridge")],
)
def test_documents_that_onedrive_moved_are_followed(host: str, expected: str) -> None:
    documents = HOME / "OneDrive - Studio" / "Documents"
    system = System("win32", HOME, {}, documents)

    assert folder(host, system, Facts("21.0", "3.11")) == documents / expected


@pytest.mark.skipif(sys.platform != "win32", reason="only Windows moves a user's documents")
def test_windows_itself_says_where_documents_are() -> None:
    assert System.here().documents() == platformdirs.user_documents_path()


@pytest.mark.parametrize(
    ("host", "told"),
    [("freecad", Facts("1.0")), ("blender", Facts("4.5")), ("houdini", Facts("21"))],
)
def test_where_nobody_can_tell_a_sentence_says_what_is_missing(host: str, told: Facts) -> None:
    """And nothing is guessed."""
    with pytest.raises(UnknownLocation, match=r"Use --|HSITE"):
        folder(host, System("linux", HOME, {}), told, for_all=True)


@pytest.mark.parametrize(
    ("base", "expected"), [("/usr", "/usr/bin"), ("/venv", "/venv/bin:/usr/bin")]
)
def test_our_virtual_environment_is_not_on_a_hosts_path(
    base: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Blender of a distribution takes the first Python there; ours without one stays."""
    monkeypatch.setattr(sys, "prefix", "/venv")
    monkeypatch.setattr(sys, "base_prefix", base)
    monkeypatch.setattr(sys, "executable", "/venv/bin/python")
    monkeypatch.setenv("PATH", os.pathsep.join(("/venv/bin", "/usr/bin")))
    monkeypatch.setenv("VIRTUAL_ENV", "/venv")

    env = interpreter.environment()

    assert env["PATH"].split(os.pathsep) == expected.split(":")
    assert ("VIRTUAL_ENV" in env) == (base == "/venv")


@pytest.mark.parametrize(
    ("host", "version", "python"),
    [
        ("maya", "2025", "3.11"),
        ("maya", "2026", "3.11"),
        ("maya", "2027", None),
        ("houdini", "20.5", "3.11"),
        ("houdini", "22.0", "3.13"),
        ("blender", "4.5", "3.11"),
        ("blender", "5.2", "3.13"),
        ("freecad", "1.0", "3.11"),
        ("freecad", "0.20", None),
        ("blender", "3.4", None),
    ],
)
def test_which_python_a_version_has(host: str, version: str, python: str | None) -> None:
    """Where a distribution builds it with its own, nobody can tell: then the person must."""
    application = APPLICATIONS[host]
    if python is None:
        with pytest.raises(UnknownLocation, match="--python"):
            application.complete(Facts(), version, None)
        assert application.complete(Facts(), version, "3.11").python == "3.11"
    else:
        assert application.complete(Facts(), version, None).python == python


def test_what_the_program_says_counts_for_its_own_version_only() -> None:
    """Somebody who names another version does not get the Python of the one on PATH."""
    application, facts = APPLICATIONS["maya"], Facts("2025.3", "3.11", program=Path("/mayapy"))

    assert application.complete(facts, "2025", None) == facts
    assert application.complete(facts, "2026", None).program is None


@pytest.mark.parametrize("host", APPLICATIONS)
def test_a_version_is_asked_for_where_it_tells_the_python_too(host: str) -> None:
    """Python alone would not tell Blender's and Houdini's folders; a version tells both."""
    application = APPLICATIONS[host]

    with pytest.raises(UnknownLocation, match=f"--version {application.example}"):
        application.complete(Facts(), None, None)

    assert application.complete(Facts(), application.example, None).python
