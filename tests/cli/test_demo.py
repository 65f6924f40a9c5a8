"""``dcc-bridge demo``: the whole job, told step by step."""

from __future__ import annotations

import os
import re
import shutil
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dcc_bridge.cli.exits import REFUSED
from tests import homes
from tests.cli.commands import COMMAND, Done, background, environment, run
from tests.client.tty import LIMIT, at_terminal

WINDOW = {"QT_QPA_PLATFORM": "offscreen"}
BEFORE = "350 prims, 127 of them cameras"
AS_IT_WAS = f"The scene is as it was: {BEFORE}. There is nothing to undo."


def told(done: Done, code: int = 0) -> str:
    """Give what was told, without the breaks of the lines."""
    assert done.code == code, done.err
    assert "Traceback" not in done.err
    return re.sub(r"\s+", " ", done.out.replace("\n    | ", " "))


@pytest.mark.core
def test_an_agreement_deletes_and_undo_brings_back_in_numbered_steps(runtime: Path) -> None:
    done = run(runtime, "demo", "--headless", "--answer", "accept")

    text = told(done)
    assert done.err == ""
    assert "The agent calls summary: " + BEFORE in text
    assert "The agent calls delete for all cameras." in text
    assert "Delete 127 cameras?" in text
    assert "The person agrees." in text
    assert "127 deleted." in text
    assert "The scene now: 223 prims, 0 of them cameras." in text
    assert f"brings it back: {BEFORE}, all as it was." in text
    lines = done.out.splitlines()[2:]
    numbers = [int(line[:2]) for line in lines if line[:2].strip()]
    assert numbers == list(range(1, len(numbers) + 1))
    assert all(line[2:4] == "  " and len(line) <= 88 for line in lines)


@pytest.mark.core
@pytest.mark.parametrize(
    ("answer", "does", "why"),
    [
        ("decline", "says no", "Declined in the client:"),
        ("cancel", "closes the question", "The question was closed in the client:"),
    ],
)
def test_a_refusal_deletes_nothing(runtime: Path, answer: str, does: str, why: str) -> None:
    text = told(run(runtime, "demo", "--headless", "--answer", answer), REFUSED)

    assert f"The person {does}" in text
    assert f"0 deleted, refused. The agent is told: {why}" in text
    assert AS_IT_WAS in text


def test_without_a_screen_and_a_terminal_it_says_that_nobody_can_be_asked(runtime: Path) -> None:
    text = told(run(runtime, "demo", **WINDOW), REFUSED)

    assert "Nobody can be asked: the host has no window, and there is no terminal here" in text
    assert "0 deleted, refused. The agent is told: Nobody could be asked" in text
    assert "without a window" in text
    assert AS_IT_WAS in text


@pytest.mark.parametrize(
    ("typed", "does", "code"),
    [
        ("no", "says no", 3),
        pytest.param("yes", "agrees", 0, marks=pytest.mark.long),
        pytest.param("/cancel", "closes the question", 3, marks=pytest.mark.long),
    ],
)
def test_a_person_at_a_terminal_is_asked_there(
    runtime: Path, typed: str, does: str, code: int
) -> None:
    command = [*COMMAND, "demo", "--headless"]
    with at_terminal(command, environment(runtime)) as (tty, process):
        tty.until("Delete 127 cameras? Type yes or no")
        tty.answer("  > ", typed)
        out, _ = process.communicate(timeout=LIMIT)

    assert process.returncode == code
    assert f"The person {does}" in out


@pytest.mark.long
@pytest.mark.parametrize(
    ("answer", "presses", "ends"),
    [
        ("accept", "agrees: --answer presses 'Delete 127 cameras'", "all as it was."),
        ("decline", "says no: --answer presses 'Decline'", AS_IT_WAS),
        (
            "cancel",
            "closes the question without an answer: --answer presses 'Not now'",
            AS_IT_WAS,
        ),
    ],
)
def test_with_a_window_the_dialogs_own_buttons_are_pressed(
    runtime: Path, answer: str, presses: str, ends: str
) -> None:
    done = run(runtime, "demo", "--window", "--answer", answer, **WINDOW)
    text = told(done, 0 if answer == "accept" else REFUSED)

    assert "A dialog over the host's window asks the person: Delete 127 cameras?" in text
    assert presses in text
    assert text.strip().endswith(ends)


def test_it_leaves_no_record_and_no_host_in_the_users_own_folders(
    runtime: Path, tmp_path: Path
) -> None:
    state = homes.state(tmp_path / "state") | homes.home(tmp_path / "home")
    text = told(run(runtime, "demo", "--headless", "--answer", "accept", **state))

    assert "all as it was." in text
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.long
@pytest.mark.timeout(180)
def test_neither_does_a_benchmark(runtime: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.driver", "--quick", "--only", "sdk_json"],
        env=environment(runtime, XDG_STATE_HOME=str(tmp_path / "state"), **WINDOW),
        capture_output=True,
        timeout=4 * LIMIT,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "state").rglob("*")) == []


def played(runtime: Path, person: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Give what a demo in a window says with that person before it."""
    return subprocess.run(
        [*COMMAND[:-2], "-c", person],
        env=environment(runtime, **more, **WINDOW),
        capture_output=True,
        text=True,
        timeout=3 * LIMIT,
        check=False,
    )


# A person who agrees in the dialog, undoes it before the demo does, and closes the window.
PERSON = """
import sys, time
from dcc_bridge.cli import demo, main
from dcc_bridge_usd.window.main_window import MainWindow

async def attend(self, running):
    await demo._wait_for_question(running)
    await demo._on_ui(running, lambda: running.answer("accept"))

def stay(self, running):
    assert not running.is_stopping
    running.main.post(running.window.close)
    waits(self, running)

def tell(self, text):
    print("caption", time.monotonic(), text, flush=True)
    shows(self, text)
    if "Next, one undo" in text:
        self.session.undo()

waits, shows = demo.AtWindow.stay, MainWindow.tell
demo.AtWindow.attend, demo.AtWindow.stay, MainWindow.tell = attend, stay, tell
sys.exit(main(["demo", "--window"]))
"""


@pytest.mark.long  # each step stays for three seconds
@pytest.mark.timeout(120)
def test_in_a_window_each_step_can_be_seen_and_it_stays_until_the_person_closes_it(
    runtime: Path, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    done = played(runtime, PERSON, XDG_STATE_HOME=str(state))

    assert done.returncode == 0, done.stderr
    shown = [line.split(" ", 2)[1:] for line in done.stdout.splitlines() if "caption" in line]
    assert [text for _, text in shown] == [
        f"{BEFORE}. An agent is about to delete all cameras.",
        "You agreed: 223 prims, 0 of them cameras. Next, one undo brings them back.",
        f"One undo: {BEFORE}, all as it was. Close this window to end the demo.",
    ]
    assert float(shown[2][0]) - float(shown[1][0]) >= 3.0
    assert "Close the window to end the demo." in done.stdout
    assert not list(state.rglob("*.jsonl"))


@pytest.mark.long
def test_a_picture_of_the_dialog_over_the_window_is_saved(runtime: Path, tmp_path: Path) -> None:
    file = tmp_path / "picture.png"
    words = ("demo", "--window", "--answer", "decline", "--screenshot", file)
    told(run(runtime, *words, **WINDOW), REFUSED)

    assert file.read_bytes().startswith(b"\x89PNG")


@pytest.fixture
def screen() -> Iterator[str]:
    """Have a real screen that nobody looks at."""
    if shutil.which("Xvfb") is None:
        pytest.skip("There is no Xvfb here.")
    reader, writer = os.pipe()
    command = ["Xvfb", "-displayfd", str(writer), "-screen", "0", "1600x1000x24"]
    with subprocess.Popen(command, pass_fds=[writer], stderr=subprocess.DEVNULL) as server:
        os.close(writer)
        with os.fdopen(reader) as number:
            yield f":{number.readline().strip()}"
        server.terminate()


@pytest.mark.real
def test_on_a_real_screen_the_picture_is_the_screens_own(
    runtime: Path, tmp_path: Path, screen: str
) -> None:
    file = tmp_path / "picture.png"
    words = ("demo", "--answer", "accept", "--screenshot", file)
    text = told(run(runtime, *words, DISPLAY=screen))

    assert "in a window" in text
    assert text.strip().endswith("all as it was.")
    width, height = struct.unpack(">II", file.read_bytes()[16:24])
    assert (width, height) >= (1000, 600)


@pytest.mark.long
def test_a_picture_that_cannot_be_had_is_said_in_a_sentence(runtime: Path, tmp_path: Path) -> None:
    file = tmp_path / "nowhere" / "picture.png"
    headless = run(runtime, "demo", "--headless", "--screenshot", file)
    unsaved = run(runtime, "demo", "--window", "--screenshot", file, **WINDOW)

    assert (headless.code, unsaved.code) == (2, 1)
    assert "A picture needs a window" in headless.err
    assert "The picture cannot be saved" in unsaved.err
    assert "Traceback" not in headless.err + unsaved.err


def test_a_scene_without_cameras_is_told_of_too(runtime: Path, tmp_path: Path) -> None:
    scene = tmp_path / "spheres.usda"
    scene.write_text('#usda 1.0\ndef Sphere "a"\n{\n}\ndef Sphere "b"\n{\n}\n')
    text = told(run(runtime, "demo", "--headless", "--scene", scene, "--answer", "accept"))

    assert "2 prims, 2 of them Sphere prims" in text
    assert "2 deleted." in text
    assert "all as it was." in text


def test_an_empty_scene_is_a_sentence(runtime: Path, tmp_path: Path) -> None:
    scene = tmp_path / "empty.usda"
    scene.write_text("#usda 1.0\n")
    done = run(runtime, "demo", "--headless", "--scene", scene)

    assert done.code == 2
    assert "there is nothing to delete" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_at_the_question_ends_it_quietly(runtime: Path, number: int) -> None:
    command = [*COMMAND, "demo", "--headless"]
    with at_terminal(command, environment(runtime)) as (tty, process):
        tty.until("  > ")
        process.send_signal(number)
        process.communicate(timeout=LIMIT)
        tty.rest()

    assert process.returncode == 130
    assert "Traceback" not in tty.seen
    assert not any(runtime.glob("*.json"))


CLOSES = """
import sys
from dcc_bridge.cli import demo, main

async def attend(self, running):
    await demo._wait_for_question(running)
    running.main.post(running.window.close_now)

demo.AtWindow.attend = attend
sys.exit(main(["demo", "--window"]))
"""


@pytest.mark.long
def test_a_window_that_is_closed_while_it_asks_ends_it_with_a_sentence(runtime: Path) -> None:
    done = played(runtime, CLOSES)

    assert (done.returncode, "Traceback" in done.stderr) == (130, False)
    assert done.stdout.endswith("The window was closed before the demo had ended.\n")


@pytest.mark.long
def test_a_signal_ends_it_with_a_dialog_open(runtime: Path) -> None:
    with background(runtime, "demo", "--window", **WINDOW) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "Answer it there." in line:
                break
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=LIMIT)

    assert process.returncode == 130
    assert "Traceback" not in err
