"""The window of a plan: what it shows, and what an answer in it does."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PySide6", reason="the window is Qt's")

from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication, QPushButton

from dcc_bridge.spi.batch import Details, safe_line
from dcc_bridge.spi.qt import QuestionDialog, bridge_icon
from dcc_bridge_batch import approval, report, summary, window
from dcc_bridge_batch.plan import Plan
from tests.batch.test_commands import typed
from tests.batch.test_report import odd_show, scene, show
from tests.printed import nothing_printed
from tests.qt.contrasts import dark, light
from tests.qt.measure import problems
from tests.qt.stage import armed, delete

LIMIT = 60.0  # seconds, of which a cold Python with Qt takes some


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> Iterator[QApplication]:
    app = QApplication.instance() or QApplication(["test"])
    assert isinstance(app, QApplication)
    app.setQuitOnLastWindowClosed(False)
    with nothing_printed(monkeypatch):  # where a slot raised or Qt warned
        yield app


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return odd_show(tmp_path / "plan")


@pytest.fixture
def drawn(plan: Plan, app: QApplication) -> Iterator[tuple[QuestionDialog, list[object]]]:
    heard: list[object] = []
    dialog = window.draw(plan, heard.append)
    dialog.show()
    yield dialog, heard
    dialog.dismiss()
    delete(dialog)


@pytest.mark.parametrize("palette", [dark, light])
def test_nothing_in_the_window_is_cut_or_faint(
    app: QApplication, palette: Callable[[], QPalette], tmp_path: Path
) -> None:
    made = show(tmp_path / "plan", (scene(n, ["/a"] * (1 + 9 * (n == 2))) for n in range(3)))
    before = app.palette()
    app.setPalette(palette())
    dialog = window.draw(made, lambda _: None)
    dialog.show()
    armed(dialog)
    try:
        wrong = problems(dialog)
    finally:
        dialog.dismiss()
        delete(dialog)
        app.setPalette(before)

    assert wrong == []


def test_the_window_shows_counts_and_first_the_scenes_that_differ(
    drawn: tuple[QuestionDialog, list[object]],
) -> None:
    dialog, _ = drawn
    assert dialog.details is not None

    lines = [row.text for row in dialog.details.lines.rows]

    assert dialog.view.message.startswith("Let tidy change 199 of 200 scenes below ")
    assert lines[0] == "    199 scenes: will be changed"
    assert lines[1] == "      1 scene: failed, not changed"
    assert lines[2] == "  1,088 items of type Camera"
    at = lines.index("4 scenes differ from the rest:")
    marked = [row.number - 1 for row in dialog.details.lines.rows if row.mark]
    assert marked == [at + 1, at + 2, at + 3, at + 4]
    assert lines[at + 6] == "The others:"
    assert "shot_000000.usda: 3 Camera: /World/cam_0_0, /World/cam_0_1" in lines[at + 7]


def test_a_key_that_was_meant_for_something_else_agrees_to_no_plan(
    drawn: tuple[QuestionDialog, list[object]],
) -> None:
    dialog, heard = drawn

    assert dialog.focusWidget() is dialog.exits.cancel
    dialog.reject()

    assert heard == ["cancel"]


def test_the_button_that_agrees_says_to_how_many_scenes(
    drawn: tuple[QuestionDialog, list[object]],
) -> None:
    dialog, heard = drawn

    button: QPushButton = armed(dialog)
    button.click()

    assert dialog.view.verb == "Approve 199 scenes"
    assert heard == ["accept"]


def test_a_text_of_a_scene_is_no_line_of_its_own_in_the_window(tmp_path: Path) -> None:
    evil = [scene(0, ["/a\n      0 will be changed"], "Cam\nera", path="x\ny.usda")]
    made = show(tmp_path / "plan", iter(evil))

    lines = summary.details(made).text.splitlines()

    assert [line for line in lines if "will be changed" in line and "/a" not in line] == [lines[0]]
    path, kind = safe_line("x\ny.usda"), safe_line("Cam\nera")
    assert lines[2] == f"It asks in {path}: Delete 1?"
    assert lines[-1].startswith(f"  {path}: 1 {kind}: /a")
    assert len(lines) == 9


STEPS = [
    *({"verb": "set_values", "item": f"/World/cam_{n}", "values": {"focal": n}} for n in range(12)),
    {"verb": "delete", "args": {"items": ["/World"]}},
]
CODE = "for prim in stage.Traverse():\n\tif prim.IsActive():\n\t\tprim.SetActive(False)\u202e\n"


def asking(folder: Path, arguments: dict[str, Any], *questions: tuple[str, list[str]]) -> Plan:
    """Plan scenes which ask these questions, each with its items."""
    target = [["target", "hero\nvillain"]]
    asked = enumerate(questions)
    lines = [scene(n, items, message=text, arguments=target) for n, (text, items) in asked]
    return show(folder, lines, arguments)


def test_what_the_skill_asks_and_is_called_with_is_whole_in_the_window(tmp_path: Path) -> None:
    long = f"Delete /World{' and all below it' * 40}?"
    asked = [("Delete /World?", ["/World"])] * 3 + [(long, ["/World"])]
    made = asking(tmp_path / "plan", {"steps": STEPS, "code": CODE}, *asked)

    message, text = summary.message(made), summary.details(made).text
    lines = text.splitlines()

    assert "\nIt asks in 3 scenes: Delete /World?\nIt asks in sq3/shot_000003.usda:" in message
    assert lines[2] == "[1] It asks in 3 scenes: Delete /World?"
    assert lines[3:6] == ["  target:", "    | hero", "    | villain"]
    assert " ".join(long.split()) in " ".join(text.split())
    begin = lines.index("Called with steps = [")
    end = lines.index("]", begin)
    assert json.loads("".join(["[", *lines[begin + 1 : end + 1]])) == STEPS
    code = lines[lines.index("Called with code =") + 1 :]
    assert code[:3] == [
        "    | for prim in stage.Traverse():",
        "    |     if prim.IsActive():",
        f"    |         prim.SetActive(False){safe_line(CODE[-2])}",
    ]
    assert f"Each scene: {made.folder / report.FILE}" in lines
    assert "  [2] sq3/shot_000003.usda: 1 Camera: /World" in lines
    assert max(len(line) for line in lines if str(tmp_path) not in line) <= 80


def test_scenes_that_ask_the_same_of_their_own_file_ask_one_question(tmp_path: Path) -> None:
    asked = [(f"Delete 2 cameras of shot_{n:06}.usda?", ["/a", "/b"]) for n in range(300)]
    made = asking(tmp_path / "plan", {}, *asked)

    shown = [line for line in summary.details(made).text.splitlines() if "It asks" in line]

    assert shown == ["It asks in each, as in sq0/shot_000000.usda: Delete 2 cameras of "]


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        ({"text": "x" * 40_000}, 1),
        ({"steps": [[n] * 40 for n in range(1_001)]}, 1),
        ({"text": "\n" * 1_001}, 1),
        ({}, 1_001),
    ],
)
def test_what_no_dialog_can_show_whole_is_agreed_to_in_none(
    tmp_path: Path, arguments: dict[str, Any], count: int
) -> None:
    asked = [(f"Delete {n} cameras?", ["/a"]) for n in range(count)]
    made = asking(tmp_path / "plan", arguments, *asked)

    with pytest.raises(
        summary.PlanTooLong,
        match=r"report\.html lists .* shortens .*scenes\.jsonl has the full text",
    ):
        summary.details(made)


@pytest.mark.real
@pytest.mark.skipif(sys.platform != "linux", reason="a display has a name only there")
def test_a_plan_that_is_too_long_for_a_window_is_approved_at_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = asking(tmp_path / "plan", {"text": "x" * 40_000}, ("Delete it?", ["/a"]))
    for name, value in {**SCREEN, "DISPLAY": ":4711"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("SSH_CONNECTION", raising=False)

    code, said = typed(["approve", made.folder], "1")

    assert code == 0
    assert "This plan is too long for a dialog" in said
    assert "Please answer in the window" not in said
    assert "To approve changes to 1 scene, type 1:" in said


@pytest.mark.long
def test_a_plan_of_many_scenes_says_where_the_rest_of_them_is(tmp_path: Path) -> None:
    made = show(tmp_path / "plan", (scene(n, ["/a"]) for n in range(5000)))

    text = summary.details(made).text
    lines = text.splitlines()
    listed = sum(line.startswith("  sq") for line in lines)

    assert len(lines) <= Details.max_lines
    assert listed > 1000
    assert f"and {5000 - listed:,} more scenes: {made.folder}" in lines[-1]


SCREEN = {"DISPLAY": ":0", "QT_QPA_PLATFORM": ""}


@pytest.mark.skipif(sys.platform != "linux", reason="a display has a name only there")
@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, True),
        ({"QT_QPA_PLATFORM": "offscreen:size=1x1"}, False),
        ({"DISPLAY": ""}, False),
        ({"DISPLAY": "", "WAYLAND_DISPLAY": "wayland-0"}, True),
        ({"SSH_CONNECTION": "10.0.0.1 22 10.0.0.2 22"}, False),
    ],
)
def test_a_window_is_opened_only_where_somebody_sits(
    monkeypatch: pytest.MonkeyPatch, more: dict[str, str], expected: bool
) -> None:
    for name, value in {"WAYLAND_DISPLAY": "", "SSH_CONNECTION": "", **SCREEN, **more}.items():
        monkeypatch.setenv(name, value)

    assert window.has_screen() is expected


@pytest.mark.real
@pytest.mark.skipif(sys.platform != "linux", reason="a display has a name only there")
def test_where_the_screen_cannot_be_reached_the_terminal_asks(
    made: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {**SCREEN, "DISPLAY": ":4711"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("QT_QPA_PLATFORM")

    code, said = typed(["approve", made.folder], "3")

    assert code == 0
    assert "The window could not be shown." in said
    assert "To approve changes to 3 scenes, type 3:" in said


_PAUSE = 1.0  # seconds between two keys


def act(process: subprocess.Popen[str], env: dict[str, str], agrees: bool) -> str:
    """Click the button in the lower right, or press Esc, until it ends; give the window's title.

    The button takes nothing for a moment, so that nobody agrees to what has just come up; and keys
    count only after one in which none was pressed.
    """

    def do(*words: str) -> str:
        return subprocess.check_output(["xdotool", *words], env=env, text=True, timeout=LIMIT)

    (window,) = do("search", "--sync", "--onlyvisible", "--name", "question for you").split()
    title = do("getwindowname", window).strip()
    do("windowfocus", "--sync", window)
    end = time.monotonic() + LIMIT
    with suppress(subprocess.CalledProcessError):  # the window goes with its process
        while process.poll() is None and time.monotonic() < end:
            if not agrees:
                do("key", "Escape")
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_PAUSE)
                continue
            rows = do("getwindowgeometry", "--shell", window).splitlines()
            place = {name: int(value) for name, _, value in (row.partition("=") for row in rows)}
            right, lower = place["X"] + place["WIDTH"], place["Y"] + place["HEIGHT"]
            do("mousemove", str(right - 40), str(lower - 25), "click", "1")
    return title


@pytest.mark.real
@pytest.mark.timeout(120)
@pytest.mark.skipif(
    not (shutil.which("Xvfb") and shutil.which("xdotool")), reason="there is no Xvfb or xdotool"
)
@pytest.mark.parametrize("agrees", [True, False])
def test_on_a_real_screen_the_window_takes_the_consent(made: Plan, agrees: bool) -> None:
    env = {name: value for name, value in os.environ.items() if name != "QT_QPA_PLATFORM"}
    words = [sys.executable, "-m", "dcc_bridge", "batch", "approve", str(made.folder)]
    server = ["Xvfb", "-displayfd", "1", "-screen", "0", "1280x900x24"]
    with subprocess.Popen(server, stdout=subprocess.PIPE, text=True) as screen:
        assert screen.stdout is not None
        env["DISPLAY"] = f":{screen.stdout.readline().strip()}"
        with subprocess.Popen(
            words, env=env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        ) as process:
            title = act(process, env, agrees)
            _, said = process.communicate(timeout=LIMIT)
        screen.terminate()

    assert process.returncode == (0 if agrees else 3), said
    assert "Please answer in the window that has opened." in said
    assert title == "dcc-bridge batch: a question for you"
    assert (made.folder / approval.FILE).exists() == agrees


def test_the_window_has_the_icon_of_the_bridge(app: QApplication) -> None:
    picture = bridge_icon().pixmap(32, 32)

    assert (picture.width(), picture.height()) == (32, 32)


@pytest.mark.parametrize("answer", ['{"plan": "0", "action": "accept"}', "[]", "", "yes"])
def test_what_is_no_answer_to_this_very_plan_is_none(
    plan: Plan, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    def run(*words: Any, **_: Any) -> subprocess.CompletedProcess[bytes]:
        return subprocess.CompletedProcess(words, 0, answer.encode())

    monkeypatch.setattr(subprocess, "run", run)

    assert window.ask(plan) is None
