"""Whoever types in a real application answers no question of an agent's, and loses no letter.

The application's windows have a window manager, and the keys come from the X server.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.hosts import freecad
from tests.hosts.application import ROOT, Application, started, until
from tests.hosts.orders import TYPED
from tests.hosts.screen import Screen, missing, screen
from tests.live import status, text

_HERE = Path(__file__).parent
_ASKS = """\
from dcc_bridge import confirm_sync, elicit_form_sync, elicit_url_sync, skill, track

NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


@skill(risk="edit")
def ask_name() -> str:
    \"\"\"Ask for a name.\"\"\"
    answer = elicit_form_sync("What should it be called?", NAME)
    return f"{answer.action} {answer.data}"


@skill(risk="destructive", confirms=True)
def ask_consent() -> str:
    \"\"\"Ask for a consent.\"\"\"
    confirm_sync("Delete 127 cameras?", verb="Delete 127 cameras")
    return "agreed"


@skill(risk="edit")
def work() -> str:
    \"\"\"Work for longer than half a second, after which Esc and the panel's Cancel work.\"\"\"
    for _ in track(range(100), message="Working"):
        sum(range(1_000_000))
    return "worked"


@skill(risk="edit")
def ask_page() -> str:
    \"\"\"Send the person to a page.\"\"\"
    answer = elicit_url_sync("Please sign in.", "https://studio.example/login")
    return f"{answer.action} {answer.data}"
"""
BEFORE = "glow = 12345 + 67890 + 11121 + 31415"
AFTER = " + 92653 + 58979 + 32384"
BOXES = {"dcc_bridge USD": "Cube", "FreeCAD": "Part::Box"}

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(300),
    pytest.mark.skipif(bool(missing()), reason=f"not installed: {missing()}"),
    pytest.mark.skipif(shutil.which("openbox") is None, reason="openbox is not installed"),
]


@contextmanager
def desktop() -> Iterator[Screen]:
    """Run a screen with a window manager."""
    with screen() as shown:
        environment = {**os.environ, "DISPLAY": shown.display}
        with subprocess.Popen(["openbox", "--sm-disable"], env=environment) as manager:
            try:
                yield shown
            finally:
                manager.terminate()


@contextmanager
def usd(home: Path, **ours: str) -> Iterator[Application]:
    command: list[str | Path] = [sys.executable, _HERE.parent / "usd" / "start.py"]
    with started(command, home, PYTHONPATH=str(ROOT), **ours) as application:
        yield application
        application.order("close")
        assert application.end() == 0, application.output


@contextmanager
def in_freecad(home: Path, **ours: str) -> Iterator[Application]:
    freecad.settle(home)
    ours |= {"LIBGL_ALWAYS_SOFTWARE": "1", "QTWEBENGINE_DISABLE_SANDBOX": "1"}
    assert freecad.PROGRAM is not None
    with started([freecad.PROGRAM], home, **ours) as application:
        assert application.instance
        application.order("new")
        application.obeyed()
        yield application
        application.order("leave")
        assert application.end() == 0, application.output


_FREECAD = pytest.mark.skipif(freecad.PROGRAM is None, reason="FreeCAD is not installed")


@pytest.fixture(
    params=[
        pytest.param(usd, id="our own"),
        pytest.param(in_freecad, id="FreeCAD", marks=_FREECAD),
    ],
    scope="module",
)
def seat(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Application, Screen]]:
    """An application with skills that ask, in front of which somebody sits."""
    home = tmp_path_factory.mktemp("typing")
    skills = home / "skills"
    skills.mkdir(mode=0o700)
    (skills / "asks.py").write_text(_ASKS, encoding="utf-8")
    with desktop() as shown:
        ours = {"DISPLAY": shown.display, "QT_QPA_PLATFORM": "xcb"}
        with request.param(home, DCC_BRIDGE_SKILLS=str(skills), **ours) as application:
            until(lambda: application.instance.state == "ready")
            yield application, shown


@pytest.mark.parametrize(
    ("asks", "keys", "answer"),
    [
        ("ask_name", ["g", "l", "o", "w", "Return"], "accept {'name': 'glow'}"),
        ("ask_consent", ["Escape"], "The question was closed in the app"),
        ("ask_page", ["Escape"], "cancel {}"),
    ],
)
def test_who_types_answers_nothing_until_f8_leads_into_the_question(
    seat: tuple[Application, Screen], asks: str, keys: list[str], answer: str
) -> None:
    """The letters that come before, as and after it appears are where they were meant."""
    application, shown = seat
    application.order("sit")
    application.obeyed()

    typing = shown.begin_to_write(BEFORE)
    with ThreadPoolExecutor(1) as agent:
        called = agent.submit(application.call, asks, {})
        application.order("read")
        application.obeyed()
        assert typing.wait(60) == 0
        shown.write(AFTER)
        shown.tap("space", "Return", "space")
        application.order("typed")
        application.obeyed()
        shown.tap("Escape")
        typed: dict[str, Any] = json.loads((application.folder / TYPED).read_text("utf-8"))
        was_answered = called.done()
        shown.tap("F8")
        application.order("listen")
        application.obeyed()
        shown.tap(*keys)
        result = text(called.result(60))

    assert BEFORE + AFTER in typed["host"]
    assert typed["dialogs"] in ([{}], [None])
    assert not was_answered
    assert answer in result


def test_who_types_loses_no_letter_while_an_agent_works_and_edits(
    seat: tuple[Application, Screen],
) -> None:
    """Its progress, its notice and the bar with Keep and Undo come beside what is typed."""
    application, shown = seat
    application.order("sit")
    application.obeyed()

    typing = shown.begin_to_write(BEFORE)
    worked = application.call("work", {})
    things = [{"type": BOXES[application.instance.host]}]
    edited = application.call("create", {"things": things})
    assert typing.wait(60) == 0
    shown.write(AFTER)
    application.order("typed")
    application.obeyed()
    typed: dict[str, Any] = json.loads((application.folder / TYPED).read_text("utf-8"))

    assert text(worked) == "worked"
    assert status(edited) == "done"
    assert BEFORE + AFTER in typed["host"]
