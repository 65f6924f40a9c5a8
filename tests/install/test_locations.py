"""Where each host looks, on each system: paths alone, nothing is touched."""

from __future__ import annotations

from pathlib import Path, PurePath

import pytest

from dcc_bridge.install.locations import APPLICATIONS, Facts, Platform, System, UnknownLocation

HOME = Path("/home/ann")
USER = {
    ("freecad", "0.20", "linux"): ".local/share/FreeCAD/Mod/dcc_bridge",
    ("freecad", "1.0", "linux"): ".local/share/FreeCAD/Mod/dcc_bridge",
    ("freecad", "1.1", "linux"): ".local/share/FreeCAD/v1-1/Mod/dcc_bridge",
    ("freecad", "1.0", "win32"): "AppData/Roaming/FreeCAD/Mod/dcc_bridge",
    ("freecad", "1.0", "darwin"): "Library/Application Support/FreeCAD/Mod/dcc_bridge",
    ("blender", "3.4.1", "linux"): ".config/blender/3.4/scripts/addons/dcc_bridge_blender",
    ("blender", "4.5", "win32"): (
        "AppData/Roaming/Blender Foundation/Blender/4.5/scripts/addons/dcc_bridge_blender"
    ),
    ("blender", "4.5", "darwin"): (
        "Library/Application Support/Blender/4.5/scripts/addons/dcc_bridge_blender"
    ),
    ("maya", "2026", "linux"): "maya/dcc_bridge",
    ("maya", "2026", "win32"): "Documents/maya/dcc_bridge",
    ("maya", "2026", "darwin"): "Library/Preferences/Autodesk/maya/dcc_bridge",
    ("houdini", "21.0.512", "linux"): "houdini21.0/packages/dcc_bridge",
    ("houdini", "20.5", "win32"): "Documents/houdini20.5/packages/dcc_bridge",
    ("houdini", "22.0", "darwin"): "Library/Preferences/houdini/22.0/packages/dcc_bridge",
}
NAMED = [
    ("freecad", "1.0", "FREECAD_USER_DATA", "/x", "/x/Mod/dcc_bridge"),
    ("freecad", "1.0", "XDG_DATA_HOME", "/x", "/x/FreeCAD/Mod/dcc_bridge"),
    ("blender", "4.5", "BLENDER_USER_SCRIPTS", "/x", "/x/addons/dcc_bridge_blender"),
    ("blender", "4.5", "BLENDER_USER_RESOURCES", "/x", "/x/scripts/addons/dcc_bridge_blender"),
    ("blender", "4.5", "XDG_CONFIG_HOME", "/x", "/x/blender/4.5/scripts/addons/dcc_bridge_blender"),
    ("maya", "2026", "MAYA_APP_DIR", "/x/maya", "/x/maya/dcc_bridge"),
    (
        "houdini",
        "21.0",
        "HOUDINI_USER_PREF_DIR",
        "/x/h__HVER__",
        "/x/h21.0/packages/dcc_bridge",
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


@pytest.mark.parametrize(("host", "version", "platform"), USER)
def test_the_users_own_folder(host: str, version: str, platform: Platform) -> None:
    """Each application's documentation names it."""
    found = folder(host, System(platform, HOME, {}), Facts(version, "3.11"))

    assert found == HOME / USER[host, version, platform]


@pytest.mark.parametrize(("host", "version", "variable", "value", "expected"), NAMED)
def test_a_variable_names_another_folder(
    host: str, version: str, variable: str, value: str, expected: str
) -> None:
    """A studio that moves them is followed."""
    found = folder(host, System("linux", HOME, {variable: value}), Facts(version, "3.11"))

    assert found == Path(expected)


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
    ("host", "told"),
    [("freecad", Facts("1.0")), ("blender", Facts("4.5")), ("houdini", Facts("21"))],
)
def test_where_nobody_can_tell_a_sentence_says_what_is_missing(host: str, told: Facts) -> None:
    """And nothing is guessed."""
    with pytest.raises(UnknownLocation, match=r"say --|HSITE"):
        folder(host, System("linux", HOME, {}), told, for_all=True)
