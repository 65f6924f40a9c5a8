"""An agent's code in Blender's real window, with a person who reads and clicks. It starts once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from mcp_types import CallToolResult, ImageContent

from dcc_bridge.audit import reader
from tests.blender import window
from tests.blender.seat import Seat, soon
from tests.hosts.application import until
from tests.hosts.screen import missing, screen
from tests.live import status, text

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(600),
    pytest.mark.skipif(window.PROGRAM is None, reason="Blender is not installed"),
    pytest.mark.skipif(bool(missing()), reason=f"not installed: {missing()}"),
]
PICTURES = os.environ.get("SEEN_IN")
"""A folder for pictures of the questions, if they are to be looked at."""
MOVES = 'bpy.data.objects["Cube"].location.x += 1.0'
GRID = """for n in range(100):
    cube = bpy.data.objects["Cube"].copy()
    cube.name = f"Grid{n}"
    cube.location = (n % 10 * 3, n // 10 * 3, 0)
    bpy.context.collection.objects.link(cube)
"""
ENDLESS = f"{MOVES}\nwhile True: pass"
HEAD = """bpy.ops.mesh.primitive_monkey_add(location=(0, 0, 3))
bpy.ops.object.mode_set(mode="EDIT")
bpy.ops.mesh.subdivide()
bpy.ops.object.mode_set(mode="OBJECT")
print("A head.")
bpy.ops.object.select_all(action="DESELECT")
bpy.ops.object.transform_apply()
len(bpy.context.object.data.vertices)
"""


@pytest.fixture(scope="module")
def seat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seat]:
    """Blender without Qt; it has to end well."""
    folder = tmp_path_factory.mktemp("blender")
    with (
        screen(*window.SIZE) as shown,
        window.blender(folder, shown) as application,
    ):
        seated = Seat(application, shown)
        seated.do("write")  # its window is up
        yield seated
        assert seated.close() in (0, 1), application.output


@pytest.fixture
def new(seat: Seat) -> Seat:
    """The same, with a new scene as Blender's undo leaves it, which counts users anew."""
    seat.do("dismiss", "new")
    seat.application.call("create", {"things": [{"type": "EMPTY"}]})
    assert status(seat.application.call("undo_last", {})) == "done"
    return seat


def run(seat: Seat, code: str, *answers: str, **more: Any) -> CallToolResult:
    """Have an agent send code, and answer each of its questions."""
    asked = seat.ask("run_python", code=code, why="The test wants it.", **more)
    for number, answer in enumerate(answers):
        seat.blue()
        if PICTURES:
            name = f"code_in_blender_{sha256(code.encode()).hexdigest()[:6]}_{number}.png"
            seat.screen.look().save(Path(PICTURES) / name)
        seat.answer(answer)
    return asked.result()


def state(seat: Seat) -> Any:
    """Give the digest of the scene, and how deep the undo stack is."""
    seat.do("state")
    return seat.seen()["state"]


def record(seat: Seat, code: str) -> list[dict[str, Any]]:
    """Give the lines of the record about a code that ran."""
    (log,) = reader.logs(seat.application.folder / "audit")
    lines = [line.fields for line in reader.AuditFile(log).lines()]
    digest = sha256(code.encode()).hexdigest()
    return [line for line in lines if line["event"] == "code" and line["digest"] == digest]


def test_a_grid_is_made_in_one_step_once_its_whole_text_was_agreed_to(new: Seat) -> None:
    before = state(new)
    asked = new.ask("run_python", code=GRID, why="A grid.")
    new.blue()
    shown = new.seen()["text"]
    new.answer("accept")
    told = asked.result()
    there = state(new)
    undone = new.application.call("undo_last", {})

    assert not told.is_error, text(told)
    facts = told.structured_content or {}
    assert [line for line in GRID.splitlines() if line not in shown] == []
    assert facts["changed"]["created"]["count"] == 100
    assert facts["changed"]["created"]["items"][:2] == ["Grid0", "Grid1"]
    assert there[1] == before[1] + 1
    assert status(undone) == "done"
    assert state(new) == before
    assert [line["outcome"] for line in record(new, GRID)] == ["agreed", "done"]
    digest = sha256(GRID.encode()).hexdigest()
    assert (new.application.folder / "audit" / "code" / f"{digest}.py").read_text() == GRID


def test_endless_code_ends_at_its_time_limit(new: Seat) -> None:
    before = state(new)

    told = run(new, ENDLESS, "accept", timeout=1)

    assert "1 s" in text(told)
    assert state(new) == before


def test_endless_code_ends_with_its_client(new: Seat) -> None:
    """The window stands still meanwhile, so nothing is asked of it until then."""
    before = state(new)
    code = f"{ENDLESS}\n"  # another text than that of the test before: its record is its own

    def runs() -> object:  # which is waited for: a second click would hit the view
        return record(new, code)

    def agree() -> None:
        new.blue()
        until(lambda: new.click_answer("accept") and soon(runs, 30), "it does not run")

    new.leave("run_python", {"code": code, "why": "The test wants it.", "timeout": 100}, agree)

    until(lambda: len(record(new, code)) == 2, "it did not end")
    assert state(new) == before


def test_operators_run_in_the_windows_context_and_what_they_said_comes_with_a_picture(
    new: Seat,
) -> None:
    before = new.seen()["objects"]

    told = run(new, HEAD, "accept", timeout=60, look={"view": "three_quarter", "size": 128})

    assert not told.is_error, text(told)
    assert '"stdout": "A head.\\n"' in text(told)
    (made,) = {*new.seen()["objects"]} - {*before}
    assert f'"items": ["{made}"]' in text(told)
    assert "bpy.ops.object.transform_apply returned CANCELLED" in text(told)
    assert [part for part in told.content if isinstance(part, ImageContent)]
    assert status(new.application.call("undo_last", {})) == "done"
    assert new.seen()["objects"] == before
