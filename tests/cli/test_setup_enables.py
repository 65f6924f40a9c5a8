"""``dcc-bridge setup`` enables the plug-in in Blender's preferences, and takes that back."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dcc_bridge.install import installed as removal
from dcc_bridge.install.folders import InUse
from dcc_bridge.install.running import is_running
from tests.blender import window
from tests.cli.commands import Done, _run_here
from tests.cli.pretended import application, put, variables
from tests.hosts.application import until
from tests.hosts.screen import missing, screen
from tests.install import tree
from tests.live import text

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a script is no program there")

PREFERENCES = ".config/blender/4.5/config/userpref.blend"
MARK = b"dcc_bridge_blender\0"
MINE = "my theme"
SAVES = """printf 'dcc_bridge_blender\\000' >> "$preferences"; kill -9 $$"""
OTHERS = """printf 'another theme' > "$preferences"; kill -9 $$"""
BY_HAND = "In Blender, enable it once: Edit > Preferences > Add-ons > DCC Bridge."


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder in which Blender has preferences."""
    (folder := tmp_path / "home").mkdir()
    put(folder / PREFERENCES, MINE)
    return folder


def command(home: Path, *words: str) -> Done:
    """Run a command for a user with that home folder, in this process."""
    return _run_here(variables(home), [*words])


def setup(home: Path, *words: str) -> Done:
    return command(home, "setup", "--yes", "--only", "blender", *words)


@pytest.mark.core
@pytest.mark.usefixtures("vendored")
def test_what_is_saved_is_shown_first_and_undo_gives_back_the_preferences(home: Path) -> None:
    application(home.parent / "bin" / "blender", "4.5.3")
    before = tree(home)

    dry = setup(home, "--dry-run")
    untouched = tree(home)
    done = setup(home)
    enabled = (home / PREFERENCES).read_bytes()
    dry_undo = setup(home, "--undo", "--dry-run")
    undone = setup(home, "--undo")

    place = f"{home / PREFERENCES}, by running Blender once without a window (a copy"
    shown = f"then it is enabled in {place}"
    assert shown in dry.out
    assert untouched == before
    assert (done.code, enabled) == (0, MINE.encode() + MARK)
    assert "MB. It is enabled" in done.out
    assert f"; then {home / PREFERENCES} is put back as it was before" in dry_undo.out
    assert "The preferences are as they were before." in undone.out
    assert tree(home) == before


@pytest.mark.usefixtures("vendored")
def test_preferences_that_have_changed_since_are_kept_and_only_disabled(home: Path) -> None:
    application(home.parent / "bin" / "blender", "4.5.3")
    setup(home)
    file = home / PREFERENCES
    file.write_bytes(file.read_bytes() + b"a newer theme")

    undone = setup(home, "--undo")

    assert undone.code == 0
    assert "as they were before" not in undone.out
    assert {one.name: one.read_text() for one in file.parent.iterdir()} == {file.name: "disabled"}


@pytest.mark.usefixtures("vendored")
def test_what_somebody_disabled_is_offered_again_and_undo_leaves_the_preferences(
    home: Path,
) -> None:
    application(home.parent / "bin" / "blender", "4.5.3")
    setup(home)
    file = home / PREFERENCES
    checks = (("doctor",), ("doctor", "blender"), ("status",))
    well = [command(home, *words).out for words in checks]
    file.write_text("disabled by hand")

    *doctor, status = [command(home, *words) for words in checks]
    again = setup(home, "--dry-run")
    undone = setup(home, "--undo")

    assert not [out for out in well if "not enabled" in out]
    for found in doctor:
        assert f"the plug-in, which is not enabled in {file}." in found.out
        assert f"To fix it: dcc-bridge setup --only blender. Or by hand: {BY_HAND}" in found.out
        assert "Nothing to fix" not in found.out
    assert "(not enabled: dcc-bridge setup)" in status.out
    assert ", not enabled" in again.out
    assert "the plug-in that is there, which is enabled in" in again.out
    assert undone.code == 0
    assert [one.name for one in file.parent.iterdir()] == [file.name]
    assert file.read_text() == "disabled by hand"


@pytest.mark.usefixtures("vendored")
def test_where_it_cannot_be_enabled_the_person_is_told_why_and_how(home: Path) -> None:
    application(home.parent / "bin" / "blender", "4.5.3", why="it was not started yet")

    done = setup(home)

    assert done.code == 0
    assert f"MB. It could not be enabled: it was not started yet. {BY_HAND}" in done.out
    assert [one.name for one in (home / PREFERENCES).parent.iterdir()] == ["userpref.blend"]
    assert (home / PREFERENCES).read_text() == MINE
    assert (home / ".config/blender/4.5/scripts/addons/dcc_bridge_blender").is_dir()


@pytest.mark.parametrize("had_preferences", [True, False])
@pytest.mark.usefixtures("vendored")
def test_what_blender_saved_before_it_died_is_taken_back(had_preferences: bool, home: Path) -> None:
    file = home / PREFERENCES
    if not had_preferences:
        file.unlink()
    application(home.parent / "bin" / "blender", "4.5.3", dies=SAVES)

    done = setup(home)

    assert "It could not be enabled: " in done.out
    assert "did not answer" in done.out
    assert [one.name for one in file.parent.iterdir()] == [file.name] * had_preferences
    assert not had_preferences or file.read_text() == MINE


@pytest.mark.usefixtures("vendored")
def test_what_somebody_else_saved_meanwhile_stays_beside_the_copy(home: Path) -> None:
    file = home / PREFERENCES
    application(home.parent / "bin" / "blender", "4.5.3", dies=OTHERS)

    done = setup(home)

    copy = file.with_name(f"{file.name}.before-dcc-bridge")
    assert f"{file} was changed meanwhile; {copy.name} is how it was before." in done.out
    assert (file.read_text(), copy.read_text()) == ("another theme", MINE)


@pytest.mark.usefixtures("vendored")
def test_without_a_program_or_for_all_users_nothing_is_enabled(home: Path) -> None:
    by_hand = command(home, "install", "blender", "--version", "4.5")

    assert (by_hand.code, BY_HAND in by_hand.out) == (0, True)
    assert (home / PREFERENCES).read_text() == MINE
    assert command(home, "uninstall", "blender", "--version", "4.5").code == 0


@pytest.mark.usefixtures("vendored")
def test_install_enables_and_uninstall_disables(home: Path) -> None:
    application(home.parent / "bin" / "blender", "4.5.3")
    before = tree(home)

    dry = command(home, "install", "blender", "--dry-run")
    done = command(home, "install", "blender")
    installed = tree(home)
    dry_undo = command(home, "uninstall", "blender", "--dry-run")
    untouched = tree(home)
    undone = command(home, "uninstall", "blender")

    assert "  enable it in " in dry.out
    assert "It is enabled" in done.out
    shown = f"then {home / PREFERENCES} is put back as it was before\n"
    assert [shown in dry_undo.out, shown in undone.out] == [True, True]
    assert untouched == installed
    assert "The preferences are as they were before." in undone.out
    assert tree(home) == before


@pytest.mark.parametrize("words", [("uninstall", "blender"), ("setup", "--undo", "--yes")])
@pytest.mark.usefixtures("vendored")
def test_what_cannot_be_removed_is_not_disabled_either(
    words: tuple[str, ...], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    application(home.parent / "bin" / "blender", "4.5.3")
    setup(home)
    file = home / PREFERENCES
    file.write_bytes(file.read_bytes() + b"a newer theme")
    before = tree(home)

    def refuse(folder: Path, aside: Path, title: str) -> None:
        raise InUse(folder, title, PermissionError())

    with monkeypatch.context() as patched:
        patched.setattr(removal, "put_aside", refuse)
        refused = command(home, *words)
    kept = tree(home)
    done = command(home, *words)

    shown = f"then it is disabled in {file}, by running Blender once without a window\n"
    assert shown in refused.out
    assert refused.code != 0
    assert kept == before
    assert (done.code, file.read_text()) == (0, "disabled")


@pytest.mark.usefixtures("vendored")
def test_preferences_that_cannot_be_copied_are_left_and_the_plug_in_is_installed(
    home: Path,
) -> None:
    application(home.parent / "bin" / "blender", "4.5.3")
    in_the_way = home / f"{PREFERENCES}.before-dcc-bridge"
    in_the_way.mkdir()

    done = command(home, "install", "blender")

    assert done.code == 0
    assert "MB. It is installed, but not enabled: " in done.out
    assert BY_HAND in done.out
    assert (home / PREFERENCES).read_text() == MINE


@pytest.mark.usefixtures("vendored")
def test_what_is_there_as_an_extension_is_not_installed_a_second_time(home: Path) -> None:
    """The two would be started side by side."""
    application(home.parent / "bin" / "blender", "4.5.3")
    extension = home / ".config/blender/4.5/extensions/user_default/dcc_bridge"
    put(extension / "blender_manifest.toml", "")

    done = setup(home)
    installed = command(home, "install", "blender")

    assert (done.code, f"as an extension already, in {extension}." in done.out) == (0, True)
    assert (installed.code, f"as an extension in {extension}" in installed.err) == (2, True)
    assert not (home / ".config/blender/4.5/scripts").exists()


def test_a_program_that_runs_is_known_by_its_name(tmp_path: Path) -> None:
    """Linux, whose list of processes has 15 letters of a name."""
    program = put(tmp_path / "unlike_others", "#!/bin/sh\nread line\n")
    program.chmod(0o755)

    with subprocess.Popen([program], stdin=subprocess.PIPE) as process:
        runs = is_running(program)
        process.communicate(b"\n", timeout=60)

    assert (runs, is_running(program)) == (True, False)


@pytest.mark.real
@pytest.mark.timeout(400)
@pytest.mark.skipif(window.PROGRAM is None, reason="Blender is not installed")
@pytest.mark.skipif(bool(missing()), reason=f"not installed: {missing()}")
def test_blender_serves_after_setup_without_a_click_and_not_after_undo(tmp_path: Path) -> None:
    """With what `pip` really brings, in a home that Blender has never seen."""
    home = tmp_path / "home"
    home.mkdir()
    env = {**variables(home), "PATH": os.environ["PATH"]}

    def said(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "dcc_bridge", "setup", "--only", "blender", *words],
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=250,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    set_up = said("--yes")
    with (
        screen(*window.SIZE) as shown,
        window.opened(home, shown, PYTHONPATH="") as blender,
    ):
        until(lambda: blender.instance.state == "ready", "it did not become ready")
        listed = text(blender.call("list_items", {}))
        blender.order("close")
        assert blender.end() == 0, blender.output
    again = said("--yes")
    undone = said("--yes", "--undo")

    assert "MB. It is enabled" in set_up
    assert "Cube" in listed
    assert "Nothing is left to do." in again
    assert "removed, " in undone
    config = home / ".config/blender/3.4"
    assert not [one for one in config.rglob("*") if "dcc" in one.name]
    assert not [one for one in config.rglob("*.blend") if MARK in one.read_bytes()]
