"""What is installed is found by itself: with pretended folders and a pretended registry."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dcc_bridge.cli import leaves
from dcc_bridge.install.applications import Computer, Found, SeveralFound, choose, search
from dcc_bridge.install.locations import System
from dcc_bridge.install.places import Platform
from dcc_bridge.install.registry import Registry, read

APPLICATIONS = leaves.targets()
FOUND: list[tuple[str, Platform, str, str, str | None]] = [
    ("blender", "win32", "PF/Blender Foundation/Blender 4.5/blender.exe", "Program Files", "4.5"),
    ("freecad", "win32", "PF/FreeCAD 1.0/bin/freecadcmd.exe", "Program Files", "1.0"),
    ("freecad", "win32", "home/AppData/Local/Programs/FreeCAD 1.0/bin/freecadcmd.exe",
     "Program Files", "1.0"),
    ("maya", "win32", "PF/Autodesk/Maya2026/bin/mayapy.exe", "Program Files", "2026"),
    ("houdini", "win32", "PF/Side Effects Software/Houdini 21.0.512/bin/hython.exe",
     "Program Files", "21.0.512"),
    ("blender", "darwin", "Applications/Blender.app/Contents/MacOS/Blender", "Applications", None),
    ("blender", "darwin", "home/Applications/Blender 4.2.app/Contents/MacOS/Blender",
     "Applications", "4.2"),
    ("freecad", "darwin", "Applications/FreeCAD.app/Contents/Resources/bin/freecadcmd",
     "Applications", None),
    ("maya", "darwin", "Applications/Autodesk/maya2026/Maya.app/Contents/bin/mayapy",
     "Applications", "2026"),
    ("houdini", "darwin", "Applications/Houdini/Houdini21.0.512/Frameworks/Houdini.framework/"
     "Versions/Current/Resources/bin/hython", "Applications", "21.0.512"),
    ("blender", "linux", "opt/blender-4.5.3-linux-x64/blender", "a folder of programs", "4.5.3"),
    ("blender", "linux", "home/Applications/blender-5.2/blender", "a folder of programs", "5.2"),
    ("houdini", "linux", "opt/hfs21.0.512/bin/hython", "a folder of programs", "21.0.512"),
    ("maya", "linux", "usr/autodesk/maya2026/bin/mayapy", "its own folder", "2026"),
]  # fmt: skip
"""Each with the file that is there, how it is found, and the version in its folder's name."""


def computer(folder: Path, platform: Platform, **env: str) -> Computer:
    """Return a computer whose every folder is below one of the test's."""
    known = {"PATH": "", "PROGRAMFILES": str(folder / "PF"), **env}
    return Computer(System(platform, folder / "home", known), folder)


def put(folder: Path, *places: str) -> list[Path]:
    """Write programs below a folder."""
    files = [folder / place for place in places]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(0o755)
    return files


@pytest.mark.core
@pytest.mark.parametrize(("host", "platform", "place", "way", "version"), FOUND)
def test_an_application_is_found_where_its_installer_puts_it(
    host: str, platform: Platform, place: str, way: str, version: str | None, tmp_path: Path
) -> None:
    (program,) = put(tmp_path, place)

    found = {
        name: search(APPLICATIONS[name], computer(tmp_path, platform)) for name in APPLICATIONS
    }

    assert found.pop(host) == [Found(program, way, version)]
    assert not any(found.values())


def test_versions_side_by_side_are_each_found_and_a_person_says_which(tmp_path: Path) -> None:
    kind = APPLICATIONS["blender"]
    old, new = put(
        tmp_path, *(f"PF/Blender Foundation/Blender {v}/blender.exe" for v in (4.5, 5.2))
    )

    found = search(kind, computer(tmp_path, "win32"))

    assert [one.program for one in found] == [old, new]
    chosen = choose(kind, found, "5.2")
    assert chosen is not None
    assert chosen.program == new
    assert choose(kind, found, "5.2.1") == chosen
    assert choose(kind, found, "5.1") is None
    with pytest.raises(SeveralFound, match=r"5\.2.*--interpreter.*--version") as error:
        choose(kind, found, None)
    assert str(old) in str(error.value)


@pytest.mark.skipif(sys.platform == "win32", reason="not everybody can make a link there")
def test_path_comes_first_and_no_place_comes_twice(tmp_path: Path) -> None:
    kind = APPLICATIONS["blender"]
    put(tmp_path, "opt/blender-4.5/blender", "opt/blender-5.2/blender")
    (link := tmp_path / "bin" / "blender").parent.mkdir()
    link.symlink_to(tmp_path / "opt/blender-4.5/blender")

    found = search(kind, computer(tmp_path, "linux", PATH=str(link.parent)))

    assert [(one.way, one.version) for one in found] == [
        ("PATH", None),
        ("a folder of programs", "5.2"),
    ]
    assert choose(kind, found, None) == found[0]
    assert choose(kind, found, "5.2") == found[1]
    assert choose(kind, found, "4.5") == found[0]


def test_a_program_in_the_current_folder_is_not_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows looks there first, and anybody may have put it there."""
    put(tmp_path, "blender.exe", "blender", "bin/other")
    monkeypatch.chdir(tmp_path)
    here = computer(tmp_path, "win32", PATH=str(tmp_path / "bin"))

    assert search(APPLICATIONS["blender"], here) == []


@pytest.mark.parametrize(
    ("host", "place", "known", "way"),
    [
        ("blender", "D/Tools/B/blender.exe", "app path", "the registry"),
        ("freecad", "D/FC/bin/freecadcmd.exe", "app path", "the registry"),
        ("blender", "D/B/blender.exe", "blender", "the registry"),
        ("maya", "D/M/bin/mayapy.exe", "Autodesk Maya 2026", "the registry"),
        ("houdini", "D/H/bin/hython.exe", "Houdini 21.0.512", "the registry"),
        ("blender", "D/W/Blender/blender.exe", "store", "Microsoft Store"),
    ],
)
def test_what_the_registry_lists_is_found_on_another_disk(
    host: str, place: str, known: str, way: str, tmp_path: Path
) -> None:
    (program,) = put(tmp_path, place)
    kind = APPLICATIONS[host]
    folder = program
    while folder.parent.name != "D":
        folder = folder.parent
    if known == "app path":
        executable = program.with_name(kind.places.executable)
        registry = Registry({kind.places.executable.lower(): executable})
    elif known == "store":
        registry = Registry(packages=((f"{kind.places.store}4.5LTS_4.5.3.0_x64__pp", folder),))
    else:
        registry = Registry(installed=((known, folder), ("Other 1.0", tmp_path)))

    found = search(kind, replace(computer(tmp_path, "win32"), registry=registry))

    assert [(one.program, one.way) for one in found] == [(program, way)]
    assert all(not search(it, computer(tmp_path, "win32")) for it in APPLICATIONS.values())


@pytest.mark.parametrize(
    ("platform", "steam", "place"),
    [
        ("win32", "Steam", "Blender/blender.exe"),
        ("linux", "home/.local/share/Steam", "Blender/blender"),
        (
            "darwin",
            "home/Library/Application Support/Steam",
            "Blender/Blender.app/Contents/MacOS/Blender",
        ),
    ],
)
def test_a_library_of_steam_on_another_disk_is_searched(
    platform: Platform, steam: str, place: str, tmp_path: Path
) -> None:
    library = tmp_path / "Disk E" / "Library"
    (program,) = put(library, f"steamapps/common/{place}")
    listing = tmp_path / steam / "steamapps" / "libraryfolders.vdf"
    listing.parent.mkdir(parents=True)
    escaped = str(library).replace("\\", "\\\\")
    listing.write_text(f'"libraryfolders"\n{{\n\t"1"\n\t{{\n\t\t"path"\t\t"{escaped}"\n\t}}\n}}\n')
    here = replace(computer(tmp_path, platform), registry=Registry(steam=tmp_path / steam))

    found = search(APPLICATIONS["blender"], here)

    assert [(one.program, one.way) for one in found] == [(program, "Steam")]


def test_spotlight_knows_others_and_one_in_a_temporary_copy_is_told_apart(tmp_path: Path) -> None:
    mine = "home/Downloads/Blender.app/Contents/MacOS/Blender"
    copy = "private/var/folders/zz/T/AppTranslocation/8F/d/Blender.app/Contents/MacOS/Blender"
    programs = put(tmp_path, mine, copy)

    def spotlight(bundle: str) -> Iterable[Path]:
        if bundle == "org.blenderfoundation.blender":
            return [program.parents[2] for program in programs]
        return []

    here = replace(computer(tmp_path, "darwin"), spotlight=spotlight)
    usable, translocated = search(APPLICATIONS["blender"], here)

    assert (usable.program, usable.way, usable.problem) == (programs[0], "Spotlight", "")
    assert translocated.program == programs[1]
    assert "move it with the Finder into the folder Applications" in translocated.problem
    assert choose(APPLICATIONS["blender"], [translocated], None) is None


def test_what_has_folders_of_its_own_is_only_named(tmp_path: Path) -> None:
    (tmp_path / "var/lib/flatpak/app/org.blender.Blender").mkdir(parents=True)
    (tmp_path / "snap/freecad").mkdir(parents=True)
    put(tmp_path, "home/Applications/FreeCAD_1.0.2-conda-Linux-x86_64-py311.AppImage")
    here = computer(tmp_path, "linux")

    (flatpak,) = search(APPLICATIONS["blender"], here)
    snap, image = search(APPLICATIONS["freecad"], here)

    assert "is a Flatpak" in flatpak.problem
    assert "is a snap" in snap.problem
    assert "dcc-bridge install freecad --version" in image.problem


if sys.platform == "win32":
    import winreg

    _KEYS = r"Software\Microsoft\Windows\CurrentVersion"

    @pytest.fixture
    def keys() -> Iterator[None]:
        """Write what installers write, for this user only; and delete it again."""
        values = {
            rf"{_KEYS}\Uninstall\dcc_bridge-test": {
                "DisplayName": "Blender 9.9",
                "InstallLocation": r'"%SystemDrive%\Tools\B99"',
            },
            rf"{_KEYS}\App Paths\Dcc_Bridge-Test.exe": {"": r"D:\Tools\B99\blender.exe"},
        }
        for path, texts in values.items():
            with winreg.CreateKey(winreg.HKEY_CURRENT_USER, path) as key:
                for name, text in texts.items():
                    winreg.SetValueEx(key, name, 0, winreg.REG_EXPAND_SZ, text)
        yield
        for path in values:
            winreg.DeleteKey(winreg.HKEY_CURRENT_USER, path)

    @pytest.mark.usefixtures("keys")
    def test_what_installers_write_into_the_registry_is_read() -> None:
        known = read()

        drive = os.environ["SYSTEMDRIVE"]
        assert ("Blender 9.9", Path(rf"{drive}\Tools\B99")) in known.installed
        assert known.app_paths["dcc_bridge-test.exe"] == Path(r"D:\Tools\B99\blender.exe")

else:

    def test_a_system_without_a_registry_lists_nothing() -> None:
        assert read() == Registry()
