"""One exit code for one meaning; signals end a command in order, a further Ctrl+C at once."""

from __future__ import annotations

import os
import shlex
import signal
import threading
from pathlib import Path
from typing import Final

import pytest

from dcc_bridge.cli import COMMANDS, exits, leaves
from tests import homes
from tests.cli.commands import _run_here, environment

pytestmark = pytest.mark.core

SOUND: Final = """\
from dcc_bridge import skill

@skill(risk="read")
def look() -> str:
    '''Look around.'''
    return "seen"
"""
CODES: Final = {
    # Each command where no application is installed, nothing runs and nothing was recorded.
    "list --json": exits.SUCCESS,
    "status": exits.SUCCESS,
    "checkpoint list": exits.SUCCESS,
    "client list": exits.SUCCESS,
    "client remove cursor": exits.SUCCESS,
    "doctor --no-question": exits.FAILED,
    "guide": exits.SUCCESS,
    "setup --dry-run": exits.SUCCESS,
    "setup --yes --undo": exits.SUCCESS,
    "skill check sound.py": exits.SUCCESS,
    "update --yes": exits.SUCCESS,
    # What was looked at is not in order, or what was begun cannot be finished.
    "skill check broken.py": exits.FAILED,
    "skill new mine --folder sound.py": exits.FAILED,
    "client add cursor --project locked": exits.FAILED,
    "pack --into sound.py": exits.FAILED,
    # What was typed, set or installed does not fit, so nothing was begun.
    "audit export": exits.USAGE,
    "audit show": exits.USAGE,
    "audit verify": exits.USAGE,
    "batch status nothing": exits.USAGE,
    "call --resume nothing": exits.USAGE,
    "checkpoint restore sound.py": exits.USAGE,
    "client add nothing": exits.USAGE,
    "client add vscode --project broken": exits.USAGE,
    "connect --label 1,2": exits.USAGE,
    "demo --headless --screenshot x.png": exits.USAGE,
    "install maya": exits.USAGE,
    "pack --offline": exits.USAGE,
    "run": exits.USAGE,
    "run rename --host maya": exits.USAGE,
    "serve --host maya": exits.USAGE,
    "serve --interpreter x": exits.USAGE,
    "setup --only maya": exits.USAGE,
    "skill check nothing": exits.USAGE,
    "skill new 1": exits.USAGE,
    "uninstall blender": exits.USAGE,
    # Nobody can be asked here.
    "setup --only cursor": exits.REFUSED,
    # No host can be reached.
    "call summary": exits.UNREACHABLE,
    "token make mine": exits.UNREACHABLE,
    "tools": exits.UNREACHABLE,
    "try summary": exits.UNREACHABLE,
    "undo": exits.UNREACHABLE,
}
"""Commands with the code with which each ends; other tests have those that need a host."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without applications, whose folder has a sound file and a broken one."""
    (tmp_path / "bin").mkdir()
    (tmp_path / ".cursor").mkdir()
    (tmp_path / "locked").mkdir()
    (tmp_path / "locked" / ".cursor").write_text("no folder")
    (tmp_path / "broken" / ".vscode").mkdir(parents=True)
    (tmp_path / "broken" / ".vscode" / "mcp.json").write_text("[")
    (tmp_path / "broken.py").write_text("def add(")
    (tmp_path / "sound.py").write_text(SOUND)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("words", CODES)
def test_a_command_ends_with_the_code_for_what_happened(words: str, folder: Path) -> None:
    alone = {"PATH": str(folder / "bin"), **homes.home(folder)}

    done = _run_here(environment(folder / "runtime", **alone), shlex.split(words))

    assert done.code == CODES[words], done.out + done.err


def test_every_command_has_a_code_of_each_kind_that_it_can_end_with() -> None:
    named = {words.split()[0] for words in CODES}

    assert named == {*COMMANDS, *leaves.commands()}
    assert {*CODES.values()} <= {*exits.MEANINGS}


def test_a_second_sigterm_leaves_the_orderly_end_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    codes: list[int] = []
    monkeypatch.setattr(os, "_exit", codes.append)
    stopped = threading.Event()

    with exits.on_signal(stopped.set):
        signal.raise_signal(signal.SIGTERM)
        assert stopped.wait(10)
        signal.raise_signal(signal.SIGTERM)

    assert codes == []


@pytest.mark.parametrize("first", [signal.SIGINT, signal.SIGTERM])
def test_a_further_ctrl_c_ends_the_process_at_once(
    first: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes: list[int] = []
    monkeypatch.setattr(os, "_exit", codes.append)
    stopped = threading.Event()

    def send_both() -> None:
        with exits.on_signal(stopped.set):
            signal.raise_signal(first)
            assert stopped.wait(10)
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        send_both()

    assert codes == [128 + signal.SIGINT]
