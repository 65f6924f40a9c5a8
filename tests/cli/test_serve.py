"""``dcc-bridge serve``: ready in one line, windowed where it can be, gone when it is told to."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dcc_bridge.cli.exits import REFUSED
from dcc_bridge_usd import screen
from tests import homes
from tests.cli.commands import (
    DELETE,
    LIMIT,
    SHOT,
    SKILLS,
    background,
    run,
    serve,
    words_of,
)
from tests.hosts.application import until
from tests.tiers import sampled

STOP = (signal.SIGINT, signal.SIGTERM)
CODES: dict[int, int] = {signal.SIGINT: 130, signal.SIGTERM: 0}
WINDOW = {"QT_QPA_PLATFORM": "offscreen"}


@pytest.mark.core
@pytest.mark.usefixtures("new_interpreter")
def test_it_prints_one_line_with_its_address_when_it_is_ready(tmp_path: Path) -> None:
    with serve(tmp_path, "--headless") as host:
        assert (
            host.ready
            == f"Ready: untitled copy of shot_010_layout.usda, without a window, at {host.url}\n"
        )
        assert host.run("tools").code == 0
        done = host.end()

    assert (done.code, done.out, done.err) == (0, host.ready, "")


def test_a_scenes_name_does_not_steer_the_terminal(tmp_path: Path) -> None:
    file = tmp_path / "shot\x1b[2J\n\u202e.usda"
    shutil.copy(SHOT, file)

    with serve(tmp_path / "rt", "--headless", "--scene", file) as host:
        done = host.end()

    shown = "shot\u2039U+001B\u203a[2J\u2039U+000A\u203a\u2039U+202E\u203a.usda"
    assert done.out == f"Ready: {shown}, without a window, at {host.url}\n"


def test_a_skill_that_fails_is_a_sentence_in_the_terminal_and_whole_in_the_log(
    tmp_path: Path,
) -> None:
    state = tmp_path / "state"
    words = ("--headless", "--skills", SKILLS)
    with serve(tmp_path / "runtime", *words, **homes.state(state)) as host:
        host.run("call", "boom")
        done = host.end()

    log = state / "dcc_bridge" / "log" / "host.log"
    told, text = re.fullmatch(r"dcc-bridge: (.+) \(more in (.+)\)\n", done.err), log.read_text()
    assert told is not None, done.err
    assert told[1].endswith(": boom failed: KeyError: 'nothing there'")
    assert told[2] == str(log)
    assert told[1].partition(":")[0] in text
    assert text.count("Traceback") == 1
    assert log.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("era", "number"),
    sampled([("auto", STOP[0]), ("legacy", STOP[1])], ["auto", "legacy"], STOP),
)
def test_a_signal_ends_it_with_a_question_open(tmp_path: Path, number: int, era: str) -> None:
    with (
        serve(tmp_path, "--headless") as host,
        host.at_terminal(*DELETE, "--era", era) as (tty, process),
    ):
        tty.until("  > ")
        done = host.end(number)
        tty.type("yes")
        process.communicate(timeout=LIMIT)

    assert (done.code, done.err) == (CODES[number], "")
    assert process.returncode in (3, 4)
    assert list(tmp_path.glob("*.json")) == []


@pytest.mark.parametrize("number", sampled([STOP[0]], STOP))
def test_a_signal_ends_the_window_with_a_dialog_open(tmp_path: Path, number: int) -> None:
    with serve(tmp_path, "--window", **WINDOW) as host:
        assert "in a window" in host.ready
        with host.at_terminal(*DELETE) as (tty, caller):
            tty.until("Waiting for the person's answer")
            done = host.end(number)
            caller.communicate(timeout=LIMIT)

    assert done.code == CODES[number]
    assert caller.returncode in (3, 4)
    assert list(tmp_path.glob("*.json")) == []


@pytest.mark.parametrize(
    ("window", "words", "said"),
    [
        (False, ["--scene", "nowhere.usda"], "There is no file"),
        (False, ["--scene", "broken.usda"], "broken.usda is not a readable USD file"),
        (True, ["--scene", "notes.txt"], "notes.txt is not a scene"),
        (False, ["--skills", "nowhere"], "There is no folder of skills at nowhere."),
        (False, ["--port", "99999"], "Port 99999 cannot be used"),
        (True, ["--port", "99999"], "Port 99999 cannot be used"),
    ],
)
def test_what_keeps_it_from_starting_is_said_in_a_sentence(
    tmp_path: Path, window: bool, words: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.usda").write_text("#usda 1.0\n(((")
    Path("notes.txt").touch()
    done = run(tmp_path / "rt", "serve", "--window" if window else "--headless", *words, **WINDOW)

    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert done.err.startswith("dcc-bridge: ") or window  # Qt may say something of its own
    assert "Traceback" not in done.err


def test_a_broken_skill_file_is_named_and_harms_no_other(tmp_path: Path) -> None:
    folder = tmp_path / "skills"
    folder.mkdir()
    (folder / "bad.py").write_text("def bad(:\n")
    with serve(tmp_path, "--headless", "--skills", folder, "--skills", SKILLS) as host:
        listed = host.run("tools").out
        done = host.end()

    assert "bad.py could not be loaded: line 1" in done.err
    assert "Unavailable" in listed
    assert "place_camera" in listed
    assert "set_values" in listed


@pytest.mark.long
@pytest.mark.usefixtures("new_interpreter")  # what is seen are the words of a process
def test_no_token_is_ever_seen(tmp_path: Path) -> None:
    with serve(tmp_path, "--headless", "--scene", SHOT) as host:
        secret = host.instance.secret
        tokens = [host.instance.token(label) for label in ("cli", "demo")]
        said = [host.run("tools"), host.run("call", "summary"), host.run("call", "nothing")]
        with host.at_terminal(*DELETE) as (tty, process):
            tty.until("  > ")
            words = [*words_of(host.process.pid), *words_of(process.pid)]
            tty.type("no")
            result, _ = process.communicate(timeout=LIMIT)
        done = host.end()

    assert "delete" in words
    seen = " ".join([*(one.out + one.err for one in [*said, done]), tty.seen, result, *words])
    for hidden in (secret, *tokens, *(token.partition(".")[2] for token in tokens)):
        assert hidden not in seen


def test_a_signal_during_the_start_ends_it_too(runtime: Path) -> None:
    with background(runtime, "serve", "--headless") as process:
        until(lambda: any(runtime.glob("*.json")))
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=LIMIT)

    assert process.returncode == 0
    assert "Traceback" not in err
    assert not any(runtime.glob("*.json"))


NO_SCREEN = ":4321"


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    return monkeypatch


@pytest.mark.parametrize("platform", ["", "offscreen", "minimal", "offscreen:size=1x1"])
def test_what_was_not_announced_and_what_nobody_sees_is_no_screen(
    bare: pytest.MonkeyPatch, platform: str
) -> None:
    if platform:
        bare.setenv("DISPLAY", ":0")
        bare.setenv("QT_QPA_PLATFORM", platform)

    assert screen.find_screen() == (False, "")


def test_a_screen_that_is_not_there_is_told_in_a_sentence(bare: pytest.MonkeyPatch) -> None:
    bare.setenv("DISPLAY", NO_SCREEN)

    is_there, why_not = screen.find_screen()

    assert not is_there
    assert why_not.endswith(f"could not connect to display {NO_SCREEN}")


def test_a_library_that_is_missing_is_named(bare: pytest.MonkeyPatch) -> None:
    lines = "Traceback (most recent call last):\nImportError: libEGL.so.1: cannot open\n"
    tried = subprocess.CompletedProcess([], 1, stdout="", stderr=lines)
    bare.setattr(subprocess, "run", lambda *_, **__: tried)
    bare.setenv("WAYLAND_DISPLAY", "wayland-0")

    assert screen.find_screen()[1].endswith("ImportError: libEGL.so.1: cannot open")


def test_a_screen_that_does_not_answer_is_none(bare: pytest.MonkeyPatch) -> None:
    def hang(*_: object, **__: object) -> None:
        raise subprocess.TimeoutExpired("python", 20)

    bare.setattr(subprocess, "run", hang)
    bare.setenv("DISPLAY", ":0")

    assert screen.find_screen() == (
        False,
        "The screen does not respond, so the host runs without a window.",
    )


def test_the_host_runs_without_a_window_then_and_says_so(tmp_path: Path) -> None:
    with serve(tmp_path, DISPLAY=NO_SCREEN) as host:
        assert "without a window" in host.ready
        done = host.end()

    assert done.code == 0
    assert done.err.startswith("dcc-bridge: Qt cannot show a window here, so the host runs without")
    assert len(done.err.splitlines()) == 1


def test_headless_asks_for_no_screen(runtime: Path) -> None:
    done = run(runtime, "demo", "--headless", "--answer", "cancel", DISPLAY=NO_SCREEN)

    assert (done.code, done.err) == (REFUSED, "")
