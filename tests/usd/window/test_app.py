"""The application starts and ends with the right code. Each in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SCENE = ROOT / "resources" / "scenes" / "shot_010_layout.usda"
START = f"""
import asyncio, sys
from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.window import app
session = UsdSession({str(SCENE)!r}, has_ui=True)
def say(text): print(text, flush=True)
"""
posix = pytest.mark.skipif(os.name != "posix", reason="Windows sends no signals")


def start(script: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", START + script],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(script: str) -> tuple[int, list[str]]:
    with start(script) as process:
        out, err = process.communicate(timeout=40)
    return process.returncode, [*out.splitlines(), *told(err)]


def told(err: str) -> list[str]:
    """Give the lines of an error output, but for what the offscreen platform always says."""
    return [line for line in err.splitlines() if not line.startswith("This plugin does not")]


def test_closing_the_window_ends_it_with_0_and_tasks_are_cancelled() -> None:
    code, lines = run(
        """
async def forever():
    try:
        await asyncio.sleep(3600)
    finally:
        say("cancelled")

async def close(window):
    await asyncio.sleep(0.1)
    window.close()

def ready(window):
    say(window.windowTitle())
    ready.tasks = [asyncio.ensure_future(forever()), asyncio.ensure_future(close(window))]

sys.exit(app.run(session, on_ready=ready, on_quit=lambda: say("quit")))
"""
    )

    assert lines[-2:] == ["quit", "cancelled"]
    assert code == 0


@posix
@pytest.mark.parametrize(
    ("number", "code"),
    [pytest.param(signal.SIGTERM, 0, marks=pytest.mark.long), (signal.SIGINT, 130)],
)
def test_a_signal_ends_it_even_with_unsaved_changes(number: signal.Signals, code: int) -> None:
    script = """
with session.undo_step("Edit"):
    session.stage.DefinePrim("/World/New")
sys.exit(app.run(session, on_ready=lambda window: say("ready"), on_quit=lambda: say("quit")))
"""
    with start(script) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        out, err = process.communicate(timeout=30)

    assert out == "quit\n"
    assert process.returncode == code
    assert told(err) == []


@pytest.mark.long
def test_an_open_question_and_a_dialog_do_not_crash_the_exit() -> None:
    code, lines = run(
        """
with session.undo_step("Edit"):
    session.stage.DefinePrim("/World/New")

def ready(window):
    window.documents.save_as()
    window.close()
    say(bool(window.documents.question and window.documents.dialog))
    asyncio.get_running_loop().call_later(0.1, window.close_now)

sys.exit(app.run(session, on_ready=ready))
"""
    )

    assert lines == ["True"]
    assert code == 0


def test_a_start_that_fails_ends_it_with_1_and_is_told() -> None:
    code, lines = run(
        """
def ready(window):
    raise OSError("The port is taken.")

sys.exit(app.run(session, on_ready=ready, on_quit=lambda: say("quit")))
"""
    )

    assert "quit" in lines
    assert "OSError: The port is taken." in lines
    assert code == 1


@pytest.mark.long
def test_an_end_that_fails_is_an_end_with_1() -> None:
    code, lines = run(
        """
def bye():
    raise OSError("The worker does not stop.")

sys.exit(app.run(session, on_ready=lambda window: window.close(), on_quit=bye))
"""
    )

    assert "OSError: The worker does not stop." in lines
    assert code == 1


@pytest.mark.long
def test_who_embeds_it_can_put_the_end_off() -> None:
    code, lines = run(
        """
def ready(window):
    ready.window = window
    window.close()

def bye():
    say("asked")
    if bye.is_first:
        bye.is_first = False
        asyncio.get_running_loop().call_later(0.1, ready.window.close_now)
        return False

bye.is_first = True
sys.exit(app.run(session, on_ready=ready, on_quit=bye))
"""
    )

    assert lines == ["asked", "asked"]
    assert code == 0


@posix
@pytest.mark.long
def test_signal_handlers_are_put_back() -> None:
    code, lines = run(
        """
import signal
before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
app.run(session, on_ready=lambda window: window.close())
say(before == [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)])
say(signal.set_wakeup_fd(-1))
"""
    )

    assert lines == ["True", "-1"]
    assert code == 0


def test_it_neither_knows_the_protocol_nor_a_server() -> None:
    code, lines = run(
        "say([name for name in ('mcp', 'uvicorn', 'starlette') if name in sys.modules])"
    )

    assert lines == ["[]"]
    assert code == 0
