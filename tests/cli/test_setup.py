"""``dcc-bridge setup``: all that is on a computer is set up by one command, and taken back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dcc_bridge.client.temporary import runner_of
from dcc_bridge.errors import own_version
from tests.cli.commands import COMMAND, Done, _run_here
from tests.cli.pretended import application, put, variables
from tests.client.tty import at_terminal
from tests.hosts import freecad
from tests.install import tree

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a script is no program there")

CURSOR = ".cursor/mcp.json"
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
COMMENTED = '{\n\t// mine\n\t"mcpServers": {},\n}\n'


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder with Cursor in it, and no application."""
    (folder := tmp_path / "home").mkdir()
    put(folder / CURSOR, COMMENTED)
    return folder


def setup(home: Path, *words: str) -> Done:
    """Run the command for a user with that home folder, in this process."""
    return _run_here(variables(home), ["setup", *words])


@pytest.mark.core
@pytest.mark.usefixtures("vendored")
def test_all_is_set_up_by_one_command_and_taken_back_by_another(home: Path) -> None:
    """Versions side by side each get their plug-in; what was shown first is what is written."""
    old = application(home / "Applications/blender-4.5/blender", "4.5.3")
    new = application(home / "Applications/blender-5.2/blender", "5.2.0", "3.13")
    before = tree(home)

    dry = setup(home, "--dry-run")
    shown = tree(home)
    done = setup(home, "--yes")
    again = setup(home, "--yes")

    assert (dry.code, shown) == (0, before)
    changes = dry.out.partition("This will be written:\n")[2].partition("Nothing was")[0]
    assert changes
    assert changes in done.out
    assert (done.code, "3 of 3 done." in done.out) == (0, True)
    assert all(str(program) in done.out for program in (old, new))
    assert "Blender 5.2.0: " in done.out
    assert done.out.count("It is enabled") == 2
    assert "Restart Cursor; its Customize > MCPs lists dcc-bridge." in done.out
    for version, python in (("4.5", "3.11"), ("5.2", "3.13")):
        addon = home / f".config/blender/{version}/scripts/addons/dcc_bridge_blender"
        assert str(addon) in changes
        assert json.loads((addon / "installed.json").read_text())["facts"]["python"] == python
    assert (again.code, "Nothing is left to do." in again.out) == (0, True)
    assert again.out.count(f"plug-in {own_version()}") == 2

    dry_undo = setup(home, "--undo", "--dry-run")
    undone = setup(home, "--undo", "--yes")

    assert "Nothing was changed." in dry_undo.out
    assert (undone.code, "3 of 3 done." in undone.out) == (0, True)
    assert tree(home) == before
    assert setup(home, "--undo", "--yes").out.endswith("Nothing is set up.\n")


@pytest.mark.usefixtures("vendored")
def test_a_step_that_fails_stops_no_other_and_the_exit_code_says_so(home: Path) -> None:
    application(home.parent / "bin" / "blender", "4.5.3")
    codex = home.parent / "bin" / "codex"
    put(codex, "#!/bin/sh\nexit 1\n").chmod(0o755)
    put(home / ".gemini/settings.json", "{ not JSON")

    done = setup(home, "--yes")

    assert done.code == 1
    assert "Codex: FAILED: only its own command writes that file" in done.out
    assert "2 of 3 done.\nNot done: Codex, Gemini CLI." in done.out
    assert "Gemini CLI" in done.out
    assert "cannot be read: it is not valid JSON from line 1 on" in done.out
    assert (home / ".gemini/settings.json").read_text() == "{ not JSON"
    assert "dcc-bridge" in (home / CURSOR).read_text()
    assert (home / ".config/blender/4.5/scripts/addons/dcc_bridge_blender").is_dir()


@pytest.mark.usefixtures("vendored")
def test_only_what_is_named_is_set_up_and_taken_back(home: Path) -> None:
    application(home.parent / "bin" / "blender", "4.5.3")

    done = setup(home, "--yes", "--only", "blender")
    undone = setup(home, "--undo", "--yes", "--only", "cursor")

    assert "1 of 1 done." in done.out
    assert (home / CURSOR).read_text() == COMMENTED
    assert undone.out.endswith("Nothing is set up.\n")
    assert (home / ".config/blender/4.5/scripts/addons/dcc_bridge_blender").is_dir()
    missing = setup(home, "--yes", "--only", "maya")
    assert (missing.code, "maya was not found" in missing.out) == (2, True)


@pytest.mark.parametrize(("newest_python", "folder_of"), [("3.12", "1.0.2"), ("3.10", "1.0.1")])
def test_of_versions_that_share_a_folder_the_newest_that_can_gets_the_plug_in(
    newest_python: str, folder_of: str, home: Path
) -> None:
    application(home / "Applications/freecad-0.21/bin/freecadcmd", "0.21.2", "3.11")
    application(home / "Applications/freecad-1.0.1/bin/freecadcmd", "1.0.1", "3.12")
    application(home / "Applications/freecad-1.0.2/bin/freecadcmd", "1.0.2", newest_python)

    done = setup(home, "--dry-run", "--only", "freecad")

    assert f"has the folder of {folder_of}, but another Python" in done.out
    assert f"FreeCAD {folder_of}: the plug-in, into" in done.out
    assert done.out.count("the plug-in, into") == 1
    shares = folder_of == "1.0.2"
    assert ("shares the plug-in of 1.0.2" in done.out) == shares


def test_a_folder_that_is_not_ours_is_named_and_left(home: Path) -> None:
    application(home.parent / "bin" / "blender", "4.5.3")
    addons = home / ".config/blender/4.5/scripts/addons"
    mine = put(addons / "dcc_bridge_blender/mine.py", "mine")

    done = setup(home, "--yes")

    assert done.code == 1
    assert "dcc_bridge_blender was not installed by dcc-bridge; move it away first" in done.out
    assert [*addons.rglob("*.py")] == [mine]


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        (("3.3.0", "3.10"), "Blender 3.3.0 is too old"),
        (("4.5", "3.10"), "has Python 3.10"),
        (
            ("4.5", "3.11", "", "aarch64"),
            "Blender runs on aarch64; there are packages for linux-x64",
        ),
    ],
)
def test_what_cannot_have_the_plug_in_is_named_and_is_no_failure(
    facts: tuple[str, ...], why: str, home: Path
) -> None:
    application(home.parent / "bin" / "blender", *facts)

    done = setup(home, "--yes")

    assert (done.code, why in done.out, "1 of 1 done." in done.out) == (0, True, True)


def test_an_application_that_does_not_start_is_named(home: Path) -> None:
    put(home.parent / "bin/blender", "#!/bin/sh\nexit 3\n").chmod(0o755)

    done = setup(home, "--yes")

    assert done.code == 0
    assert "blender does not say which Blender it is." in done.out


def test_where_no_client_is_found_the_known_ones_are_named(tmp_path: Path) -> None:
    (home := tmp_path / "home").mkdir()
    application(tmp_path / "bin/blender", "4.5.3")

    done = setup(home, "--dry-run")
    status = _run_here(variables(home), ["status"])

    line = "No agent's client was found. These are known: Claude Code, Claude Desktop, Cursor, "
    assert line in done.out
    assert line in status.out


def test_where_nobody_can_be_asked_nothing_is_changed(home: Path) -> None:
    before = tree(home)

    done = setup(home)

    assert (done.code, tree(home)) == (3, before)
    assert "To do it: --yes" in done.err


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 3), ("", 3)])
def test_a_person_is_asked_once(answer: str, code: int, home: Path) -> None:
    with at_terminal([*COMMAND, "setup"], variables(home)) as (terminal, process):
        terminal.type(answer)
        out, _ = process.communicate(timeout=60)

    assert (process.returncode, out.count("Do all of this? [y/N]")) == (code, 1)
    assert ("dcc-bridge" in (home / CURSOR).read_text()) == (answer == "y")


def test_a_package_of_claude_desktop_is_set_up_beside_the_plain_one(home: Path) -> None:
    (home / ".config/Claude").mkdir(parents=True)
    (home / "AppData/Local/Packages/Claude_pzs8sxrjxfjjc").mkdir(parents=True)

    done = setup(home, "--yes", "--only", "claude-desktop")

    files = [*home.rglob("claude_desktop_config.json")]
    assert (len(files), done.code) == (2, 0)
    assert all(f"Claude Desktop: the entry dcc-bridge, into {file}" in done.out for file in files)


@pytest.mark.parametrize(
    ("prefix", "runner", "words"),
    [
        ("/home/ann/.cache/uv/archive-v0/x8", "uvx", ["--python", PYTHON, "--from"]),
        ("/home/ann/.local/pipx/.cache/a1b2", "pipx", ["run", "--spec"]),
    ],
)
def test_from_an_environment_that_goes_by_itself_its_maker_is_named_in_the_entry(
    prefix: str, runner: str, words: list[str], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The entry starts the same version again once the environment is gone."""
    monkeypatch.setattr(sys, "prefix", prefix)
    without = setup(home, "--dry-run")
    program = put(home.parent / "bin" / runner, "#!/bin/sh\n")
    program.chmod(0o755)

    done = setup(home, "--yes")

    entry = json.loads((home / CURSOR).read_text().replace("// mine", "").replace(",\n}", "}"))
    server = entry["mcpServers"]["dcc-bridge"]
    assert f"which {runner} deletes after some time" in without.out
    assert "deletes after some time" not in done.out
    assert (server["command"], server["args"][: len(words)]) == (str(program), words)
    assert server["args"][len(words) + 1 :] == ["dcc-bridge", "connect", "--label", "cursor"]


@pytest.mark.parametrize(
    ("prefix", "variable", "mark", "runner"),
    [
        ("big/archive-v0/x8", "UV_CACHE_DIR", "", "uvx"),
        ("big/environments-v2/tool-1a", "UV_CACHE_DIR", "", "uvx"),
        ("big/archive-v1/x8", "", "big/CACHEDIR.TAG", "uvx"),
        (".cache/pipx/a1b2", "", "", "pipx"),
        ("Library/Caches/pipx/a1b2", "", "", "pipx"),
        ("AppData/Local/pipx/Cache/a1b2", "", "", "pipx"),
        ("big/.cache/a1b2", "PIPX_HOME", "", "pipx"),
        ("big/.cache/a1b2", "PIPX_GLOBAL_HOME", "", "pipx"),
        ("big/.cache/a1b2", "", "big/.cache/a1b2/pipx_metadata.json", "pipx"),
        ("big/venvs/dcc-bridge-mcp", "PIPX_HOME", "big/venvs/dcc-bridge-mcp/pyvenv.cfg", ""),
        ("big/archive-v0/x8", "", "", ""),
        ("big/.cache/a1b2", "", "", ""),
        ("big/tools/dcc-bridge-mcp", "UV_CACHE_DIR", "big/CACHEDIR.TAG", ""),
    ],
)
def test_an_environment_that_goes_by_itself_is_known_wherever_the_cache_is(
    prefix: str,
    variable: str,
    mark: str,
    runner: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By the variable that names the cache, or by what the runner itself writes there."""
    for name in ("UV_CACHE_DIR", "PIPX_HOME", "PIPX_GLOBAL_HOME"):
        monkeypatch.delenv(name, raising=False)
    if variable:
        monkeypatch.setenv(variable, str(tmp_path / "big"))
    if mark:
        put(tmp_path / mark, "")

    assert runner_of(str(tmp_path / prefix)) == runner


@pytest.mark.real
@pytest.mark.timeout(300)
@pytest.mark.skipif(freecad.PROGRAM is None, reason="FreeCAD is not installed")
def test_real_applications_are_set_up_and_the_home_is_as_before(home: Path) -> None:
    """With what `pip` really brings; each application starts, and its own probe leaves nothing."""
    env = {**variables(home), "PATH": os.environ["PATH"]}
    before = tree(home)

    outputs = {}
    for words in ("setup --yes", "status", "setup --undo --yes"):
        done = subprocess.run(
            [sys.executable, "-m", "dcc_bridge", *words.split()],
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=250,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        outputs[words] = done.stdout

    assert "FreeCAD" in outputs["setup --yes"]
    assert f"freecad 0.20.2: version {own_version()}" in outputs["status"]
    after = tree(home)
    # The library for sound makes these when Blender is run to enable the plug-in.
    sound = [name for name in after if name == ".config" or name.startswith(".config/pulse")]
    assert after == before | {name: after[name] for name in sound}


@pytest.mark.real
@pytest.mark.timeout(300)
@pytest.mark.skipif(freecad.PROGRAM is None, reason="FreeCAD is not installed")
def test_a_python_without_pip_sets_up_too(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in the environments that `uvx` makes."""
    env = {**variables(home), "PATH": os.environ["PATH"]}
    before = tree(home)
    monkeypatch.setitem(sys.modules, "pip", None)

    done = _run_here(env, ["setup", "--yes", "--only", "freecad"])
    undone = _run_here(env, ["setup", "--undo", "--yes"])

    assert (done.code, undone.code) == (0, 0), done.out
    assert tree(home) == before
