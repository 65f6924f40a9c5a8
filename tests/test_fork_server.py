"""Commands of tests are forked, and do what they do in an interpreter of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests import fork_server
from tests.cli.commands import COMMAND, environment, words_of

if sys.platform != "linux":
    pytest.skip("commands are forked on Linux only", allow_module_level=True)


def run(tmp_path: Path, *words: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [*COMMAND, *words],
        cwd=tmp_path,
        env=environment(tmp_path / "runtime"),
        capture_output=True,
        text=True,
        timeout=40,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("nonsense",),
        ("skill", "check", "nowhere.py"),
        ("run", "list_items", "--scene", "nowhere.usda"),  # which starts an interpreter itself
    ],
    ids=" ".join,
)
def test_it_says_and_ends_the_same(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forked = run(tmp_path, *words)
    monkeypatch.setattr(subprocess, "Popen", fork_server.Popen.__base__)

    assert run(tmp_path, *words) == forked


@pytest.mark.parametrize("is_new_session", [False, True])
def test_it_is_a_child_of_the_test_and_gets_its_signals(
    is_new_session: bool, tmp_path: Path
) -> None:
    with subprocess.Popen(
        [*COMMAND, "connect"],
        env=environment(tmp_path),
        stdin=subprocess.PIPE,
        start_new_session=is_new_session,
    ) as process:
        assert "tests.fork_server" in words_of(process.pid)
        assert (os.getsid(process.pid) == process.pid) == is_new_session
        process.send_signal(signal.SIGKILL)

    assert process.returncode == -signal.SIGKILL


def test_what_an_interpreter_reads_at_its_start_takes_a_new_one(tmp_path: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "connect"],
        env=environment(tmp_path, PYTHONHASHSEED="1"),
        stdin=subprocess.PIPE,
    ) as process:
        assert "tests.fork_server" not in words_of(process.pid)
        process.kill()
