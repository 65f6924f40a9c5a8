"""What was put is taken away to the byte, and nothing that somebody else wrote."""

from __future__ import annotations

import json
import os
import platform as platform_module
import py_compile
import select
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import platformdirs
import pytest

import dcc_bridge.install.folders
from dcc_bridge import cli, held_files
from dcc_bridge.cli import leaves
from dcc_bridge.config import Settings
from dcc_bridge.install import vendor
from dcc_bridge.install.builds import BUILDS, Build, build_for
from dcc_bridge.install.folders import InUse
from dcc_bridge.install.installed import LIST_NAME, InstalledFiles, NotOurs
from dcc_bridge.install.locations import Facts, System, UnknownLocation
from dcc_bridge.install.places import Platform
from dcc_bridge.install.plan import Plan
from dcc_bridge.skills.loader import user_folder
from tests import homes
from tests.install import tree

APPLICATIONS = leaves.targets()

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

    def fill(into: Path, python: str, build: Build) -> None:
        (into / "mcp").mkdir(parents=True)
        (into / "mcp" / "__init__.py").write_text(f"# {python} {build.name}")

    monkeypatch.setattr(vendor, "fill", fill)


def planned(home: Path, host: str = "freecad", version: str = "1.0") -> Plan:
    system, facts = System("linux", home, {}), Facts(version, "3.11")
    return Plan(
        APPLICATIONS[host], facts, APPLICATIONS[host].location(system, facts, False), system
    )


def test_a_leaf_of_another_distribution_brings_its_own_folder(tmp_path: Path) -> None:
    leaf_folder = tmp_path / "theirs"
    (leaf_folder / "dcc_bridge_acme").mkdir(parents=True)
    (leaf_folder / "dcc_bridge_acme" / "__init__.py").touch()

    class Acme(type(APPLICATIONS["freecad"])):  # type: ignore[misc]  # made from what is found
        name = "acme"
        leaf = leaf_folder

    acme = Acme()
    system, facts = System("linux", tmp_path / "home", {}), Facts("1.0", "3.11")
    location = acme.location(system, facts, False)

    Plan(acme, facts, location, system).install()

    assert (location.folder / "dcc_bridge_acme" / "__init__.py").is_file()


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
        assert [*location.folder.rglob("building.py")]  # of its operations
        assert all(file.is_file() for file in location.texts)
        installed = InstalledFiles.read(location.folder)
        assert installed is not None
        assert installed.remove("it") == {}
        assert tree(tmp_path) == before


def test_what_python_compiled_goes_too(tmp_path: Path) -> None:
    """A host that ran leaves compiled copies beside our files."""
    plan = planned(tmp_path)
    installed = plan.install()
    for file in installed.files:
        if file.suffix == ".py":
            py_compile.compile(str(file))

    assert installed.foreign() == []
    assert installed.remove("it") == {}
    assert tree(tmp_path) == {}


def test_what_somebody_put_in_a_files_place_stays(tmp_path: Path) -> None:
    """A link is not followed, and a folder in a file's place is somebody's."""
    plan = planned(tmp_path)
    installed = plan.install()
    (theirs := tmp_path / "theirs.py").write_text("theirs")
    (link := plan.location.folder / "InitGui.py").unlink()
    link.symlink_to(theirs)
    (plan.location.folder / "Init.py").unlink()
    (mine := plan.location.folder / "Init.py" / "mine.txt").parent.mkdir()
    mine.write_text("mine")

    kept = installed.remove("it")

    assert kept.keys() == {mine, link}
    assert (mine.read_text(), link.readlink(), theirs.read_text()) == ("mine", theirs, "theirs")
    assert len([content for content in tree(tmp_path).values() if content is not None]) == 3


def test_what_somebody_added_stays(tmp_path: Path) -> None:
    """And is named, before anything is installed."""
    plan = planned(tmp_path)
    installed = plan.install()
    mine = plan.location.folder / "dcc_bridge_freecad" / "mine.py"
    mine.write_text("# mine")
    before = tree(tmp_path)

    with pytest.raises(NotOurs, match=r"mine\.py"):
        plan.install()
    assert tree(tmp_path) == before

    assert installed.remove("it") == {mine: "dcc-bridge did not install it"}
    assert [content for content in tree(tmp_path).values() if content is not None] == [b"# mine"]


def test_a_file_of_ours_that_somebody_changed_stays_and_is_named(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    installed = plan.install()
    mine = plan.location.folder / "dcc_bridge_freecad" / "operations" / "values.py"
    mine.write_text("# better")

    with pytest.raises(NotOurs, match=r"values\.py"):
        plan.install()

    assert mine.read_text() == "# better"
    assert installed.remove("it") == {mine: "it was changed since it was installed"}
    assert [content for content in tree(tmp_path).values() if content is not None] == [b"# better"]


def test_a_folder_that_blender_copied_for_its_new_version_is_removed_alone(tmp_path: Path) -> None:
    """As "Load 3.4 Settings" does: the list comes along, and the old version keeps its files."""
    old, new = planned(tmp_path, "blender", "4.1"), planned(tmp_path, "blender", "4.2")
    old.install()
    settings = tmp_path / ".config" / "blender"
    before = tree(settings / "4.1")
    shutil.copytree(settings / "4.1", settings / "4.2")

    installed = InstalledFiles.read(new.location.folder)
    assert installed is not None
    installed.remove("Blender")

    assert tree(settings / "4.1") == before
    assert not new.location.folder.exists()


def test_a_list_of_another_folder_is_refused(tmp_path: Path) -> None:
    """With full paths, one in a copied folder would have deleted what that was copied of."""
    plan = planned(tmp_path)
    installed = plan.install()
    file = plan.location.folder / LIST_NAME
    payload = json.loads(file.read_text())
    payload["files"] = [str(path) for path in installed.files]
    file.write_text(json.dumps(payload))
    before = tree(tmp_path)

    with pytest.raises(NotOurs, match="full paths"):
        InstalledFiles.read(plan.location.folder)

    assert tree(tmp_path) == before


LOADER = """
import ctypes, sys
ctypes.WinDLL(sys.argv[1])
print("loaded", flush=True)
sys.stdin.readline()
"""
HELD = PermissionError(13, "The process cannot access the file")


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> set[Path]:
    """Paths that no one may rename or delete, as in Windows while the application has them open."""
    paths: set[Path] = set()

    def refuse(fn: Callable[..., Any], source: Any, *rest: Any, **more: Any) -> Any:
        if any(path == Path(source) or Path(source) in path.parents for path in paths):
            raise HELD
        return fn(source, *rest, **more)

    for name in ("replace", "unlink"):
        monkeypatch.setattr(os, name, partial(refuse, getattr(os, name)))
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    return paths


@pytest.mark.parametrize("host", ["blender", "maya"])
def test_nothing_is_changed_while_the_application_holds_a_file_of_the_plug_in(
    host: str, held: set[Path], tmp_path: Path
) -> None:
    """Neither by an install over the old one, nor by an uninstall; it used to stop half way."""
    plan = planned(tmp_path, host, {"blender": "4.5", "maya": "2026"}[host])
    installed = plan.install()
    before = tree(tmp_path)
    held.add(plan.location.folder / plan.location.vendor / "mcp" / "__init__.py")

    for act in (plan.install, lambda: installed.remove(plan.application.title)):
        with pytest.raises(InUse, match=rf"Nothing was changed\. Close {plan.application.title}"):
            act()
        assert tree(tmp_path) == before

    held.clear()
    plan.install()
    assert tree(tmp_path) == before


@pytest.mark.skipif(sys.platform != "win32", reason="a loaded library can be deleted")
def test_nothing_is_changed_while_the_application_has_loaded_a_library_of_the_plug_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once it has ended, both an install over the old one and an uninstall succeed."""

    def fill(into: Path, python: str, build: Build) -> None:
        into.mkdir(parents=True)
        shutil.copy(str(select.__file__), into)

    monkeypatch.setattr(vendor, "fill", fill)
    plan = planned(tmp_path)
    installed = plan.install()
    before = tree(tmp_path)
    library = plan.location.folder / plan.location.vendor / Path(str(select.__file__)).name
    command = [sys.executable, "-c", LOADER, str(library)]
    pipe = subprocess.PIPE

    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as application:
        assert application.stdout is not None
        assert application.stdout.readline() == "loaded\n"
        for act in (plan.install, lambda: installed.remove("FreeCAD")):
            with pytest.raises(InUse, match=r"Nothing was changed\. Close FreeCAD"):
                act()
            assert tree(tmp_path) == before
        application.communicate("\n")

    assert tree(tmp_path) == before
    assert plan.install().remove("FreeCAD") == {}
    assert not plan.location.folder.exists()


def test_nothing_is_changed_where_the_folder_can_be_moved_and_a_file_in_it_not_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a library that the application has loaded, in Windows."""
    plan = planned(tmp_path)
    installed = plan.install()
    before = tree(tmp_path)

    def refuse(folder: Path) -> None:
        raise HELD

    monkeypatch.setattr(dcc_bridge.install.folders, "_check_deletable", refuse)

    for act in (plan.install, lambda: installed.remove("FreeCAD")):
        with pytest.raises(InUse, match=r"Nothing was changed\. Close FreeCAD"):
            act()
        assert tree(tmp_path) == before


def test_an_uninstall_that_cannot_delete_the_file_that_leads_to_the_plug_in_changes_nothing(
    held: set[Path], tmp_path: Path
) -> None:
    plan = planned(tmp_path, "maya", "2026")
    installed = plan.install()
    before = tree(tmp_path)
    held.update(plan.location.texts)

    with pytest.raises(InUse):
        installed.remove("Maya")

    assert tree(tmp_path) == before


def test_an_uninstall_that_cannot_put_the_folder_back_has_deleted_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is put back where a file of somebody else is in it."""
    plan = planned(tmp_path, "maya", "2026")
    installed = plan.install()
    (plan.location.folder / "mine.py").write_text("mine")
    before = [content for content in tree(tmp_path).values() if content is not None]
    replace_path = held_files.replace

    def refuse(source: Path, target: Path) -> None:
        if source.name == "old":
            raise HELD
        replace_path(source, target)

    monkeypatch.setattr(held_files, "replace", refuse)

    with pytest.raises(PermissionError):
        installed.remove("Maya")

    after = [content for content in tree(tmp_path).values() if content is not None]
    assert sorted(after) == sorted(before)


@pytest.mark.parametrize("is_update", [True, False])
@pytest.mark.parametrize("refused", ["dcc_bridge", "dcc_bridge.mod"])
def test_all_is_as_it_was_where_the_new_plug_in_or_its_loader_file_cannot_be_put(
    refused: str, is_update: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The application may open it in this moment."""
    plan = planned(tmp_path, "maya", "2026")
    if is_update:
        plan.install()
    before = tree(tmp_path)
    replace_path = held_files.replace

    def refuse(source: Path, target: Path) -> None:
        is_new = source.name == "new" or source.suffix == ".dcc_bridge-new"
        if is_new and target.name == refused:
            raise HELD
        replace_path(source, target)

    monkeypatch.setattr(held_files, "replace", refuse)

    with pytest.raises(PermissionError):
        plan.install()

    assert tree(tmp_path) == before


FULL = OSError(28, "No space left on device")


@pytest.mark.parametrize("is_update", [True, False])
@pytest.mark.parametrize("refused", [LIST_NAME, "dcc_bridge.mod"])
def test_an_install_that_cannot_write_its_list_or_its_loader_file_changes_nothing(
    refused: str, is_update: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the old plug-in is there, it can still be updated and taken away."""
    empty = tree(tmp_path)
    plan = planned(tmp_path, "maya", "2026")
    if is_update:
        plan.install()
    before = tree(tmp_path)
    write_text = Path.write_text

    def refuse(file: Path, *rest: Any, **more: Any) -> int:
        if file.name.startswith(refused):
            file.touch()
            os.truncate(file, 0)
            raise FULL
        return write_text(file, *rest, **more)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", refuse)
        with pytest.raises(OSError, match="No space left"):
            plan.install()

    assert tree(tmp_path) == before
    plan.install().remove("Maya")
    assert tree(tmp_path) == empty


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


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line finds the applications of a home of its own."""
    monkeypatch.setattr(System, "here", lambda: System("linux", tmp_path, {}))
    homes.set_all(monkeypatch, homes.state(tmp_path / "state"))
    monkeypatch.setenv("PATH", "")


UNINSTALL = ["uninstall", "freecad", "--version", "1.0"]


@pytest.mark.usefixtures("here")
def test_an_uninstall_names_each_file_that_it_cannot_delete_and_takes_it_away_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where a file of somebody else is in the folder, ours are deleted one by one."""
    plan = planned(tmp_path)
    plan.install()
    folder = plan.location.folder
    mine = folder / "mine.py"
    mine.write_text("mine")
    stuck = folder / "InitGui.py"
    delete = held_files.delete

    def refuse(file: Path) -> None:
        if file == stuck:
            raise HELD
        delete(file)

    with monkeypatch.context() as patch:
        patch.setattr(held_files, "delete", refuse)
        code = cli.main(UNINSTALL)
    printed = capsys.readouterr()

    assert (code, printed.err) == (0, "")
    assert f"kept {stuck}: it cannot be deleted ({HELD.strerror})" in printed.out
    assert "is gone" not in printed.out
    left = {file.name for file in folder.rglob("*") if file.is_file()}
    assert left == {"mine.py", "InitGui.py", LIST_NAME}

    assert cli.main(UNINSTALL) == 0

    assert [file.name for file in folder.iterdir()] == ["mine.py"]


@pytest.mark.usefixtures("here")
def test_an_uninstall_names_the_folder_in_which_something_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = planned(tmp_path)
    plan.install()
    monkeypatch.setattr(shutil, "rmtree", lambda *rest, **more: None)

    assert cli.main(UNINSTALL) == 0

    printed = capsys.readouterr().out
    (left,) = plan.location.folder.parent.glob(".dcc_bridge-*")
    assert f"not deleted: {left}. Delete it by hand" in printed
    assert "is gone" not in printed


@pytest.mark.usefixtures("here")
def test_an_update_names_the_folder_in_which_the_old_plug_in_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = planned(tmp_path)
    plan.install()
    monkeypatch.setattr(shutil, "rmtree", lambda *rest, **more: None)

    assert cli.main(["install", *UNINSTALL[1:]]) == 0

    (left,) = plan.location.folder.parent.glob(".dcc_bridge-*")
    assert f"not deleted: {left}. Delete it by hand" in capsys.readouterr().out


def test_an_uninstall_says_what_of_the_users_own_is_left_and_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(System, "here", lambda: System("linux", tmp_path, {}))
    homes.set_all(monkeypatch, homes.state(tmp_path / "state"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("PATH", "")
    words = ["uninstall", "freecad", "--version", "1.0"]
    planned(tmp_path).install()
    assert cli.main(words) == 0
    nothing = capsys.readouterr().out
    planned(tmp_path).install()
    (skills := user_folder(Settings())).mkdir(parents=True)
    state = platformdirs.user_state_path("dcc_bridge")
    (log := state / "log" / "host.log").parent.mkdir(parents=True)
    log.write_text("an error")
    (key := state / "batch" / "key").parent.mkdir()
    key.write_text("private")

    assert cli.main(words) == 0

    kept = capsys.readouterr().out.partition("Done.")[2].splitlines()[1:]
    assert kept == [
        f"kept {skills}: your own skills",
        f"kept {state}: logs, and copies of scenes that have no file",
        f"kept {key}: the key that signs your consent to batches",
    ]
    assert "kept" not in nothing
    assert log.read_text() == "an error"


@pytest.mark.parametrize(
    ("platform", "machine", "build"),
    [
        ("darwin", "arm64", "macos-arm64"),
        ("darwin", "x86_64", "macos-x64"),
        ("win32", "amd64", "windows-x64"),
        ("win32", "arm64", "windows-arm64"),
        ("linux", "x86_64", "linux-x64"),
    ],
)
@pytest.mark.parametrize("own", ["x86_64", "arm64"])
def test_the_packages_are_for_the_applications_processor_and_not_for_this_pythons(
    own: str,
    platform: Platform,
    machine: str,
    build: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As under Rosetta, where this Python is for Intel and the application for Apple silicon."""
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(platform_module, "machine", lambda: own)
    fetched = []

    def fill(into: Path, python: str, build: Build) -> None:
        into.mkdir(parents=True)
        fetched.append(build.name)

    monkeypatch.setattr(vendor, "fill", fill)
    blender = APPLICATIONS["blender"]
    system = System(platform, tmp_path, {})
    facts = Facts("4.5", "3.11", machine=machine)
    plan = Plan(blender, facts, blender.location(system, facts, False), system)

    with monkeypatch.context() as patch:
        patch.setattr(sys, "platform", "linux")  # how files are written is not the question
        installed = plan.install()

    assert fetched == [build]
    assert installed.facts["build"] == build


@pytest.mark.parametrize(
    ("kernel", "build"),
    [
        ("Darwin Kernel Version 24.6.0: root:xnu-11417/RELEASE_ARM64_T6000", "macos-arm64"),
        ("Darwin Kernel Version 22.6.0: root:xnu-8796/RELEASE_X86_64", "macos-x64"),
    ],
)
def test_an_application_that_cannot_be_asked_is_taken_for_one_of_the_computers_processor(
    kernel: str, build: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(platform_module, "machine", lambda: "x86_64")
    monkeypatch.setattr(platform_module, "version", lambda: kernel)

    assert build_for("darwin", None) is BUILDS[build]
