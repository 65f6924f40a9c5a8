"""A yes for a while to plain code of an agent, in our own application over HTTP."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import anyio
import pytest
from mcp_types import CallToolResult

from dcc_bridge.code import run_python
from dcc_bridge.code.code_text import CodeText, read_code
from dcc_bridge.config import Settings
from dcc_bridge.elicitation.question import Reply
from dcc_bridge.panel import rows
from dcc_bridge.panel.row import Row
from dcc_bridge.panel.state import read
from dcc_bridge.spi import PlainNames
from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.trial import StepTrial
from tests.code.seat import GRID, NO, YES, Seat, Sit
from tests.live import accept, status, text
from tests.verbs import usd_scene

LEGACY: Final = "2025-11-25"
MODERN: Final = "2026-07-28"
FOR_A_WHILE: Final = Reply("accept", {"confirm": True}, remember=True)
HIDES: Final = "stage.GetPrimAtPath('/World/Props/Tree').SetActive(False)"
MAKES: Final = "stage.DefinePrim('/World/Made')"
Step = str | dict[str, Any] | Callable[[], object]


@pytest.fixture
def seat(seat: Sit) -> Sit:
    """Give our application where a studio has switched it on."""
    return partial(seat, grant_minutes=30)


def send(live: Seat, *steps: Step, era: str = LEGACY, **client: Any) -> list[CallToolResult]:
    """Have one client do this in one session; give what came of its code.

    A step is a text, or all arguments of the tool, or what the person does meanwhile; what gives
    something to await is another agent's.
    """

    async def agent() -> list[CallToolResult]:
        results = []
        async with live.client(era, **client) as session:
            for step in steps:
                if callable(step):
                    await do(step)
                    continue
                given = {"code": step} if isinstance(step, str) else step
                arguments = {"why": "The test wants it.", **given}
                results.append(await session.call_tool("run_python", arguments))
        return results

    async def do(step: Callable[[], object]) -> None:
        begun = await anyio.to_thread.run_sync(lambda: live.bridge.main.post(step).result(20))
        if isinstance(begun, Awaitable):
            await begun

    return live.run(agent)


def other(live: Seat, code: str, **client: Any) -> Callable[[], Awaitable[None]]:
    """Make a step in which another client sends code."""

    async def agent() -> None:
        async with live.client(LEGACY, **client) as session:
            await session.call_tool("run_python", {"code": code, "why": "Me too."})

    return agent


def asked(live: Seat) -> list[str]:
    """Give the texts that the person was asked about."""
    return [question.details.text for question in live.person.shown]


@pytest.mark.core
def test_plain_texts_run_unasked_as_undo_steps_that_are_recorded(seat: Sit) -> None:
    live = seat(FOR_A_WHILE)

    first, second, third = send(live, "1", GRID, MAKES)

    assert [status(it) for it in (first, second, third)] == ["done"] * 3
    assert asked(live) == ["1"]
    assert len(live.session.undo_labels) == 2
    granted = [line for line in live.record() if line["event"] == "granted"]
    assert [(it["by"], it.get("minutes"), it.get("grant")) for it in granted] == [
        ("host", 30, None),
        ("grant", None, granted[0]["question"]),
        ("grant", None, granted[0]["question"]),
    ]
    digest = sha256(GRID.encode()).hexdigest()
    assert granted[1]["details_sha256"] == digest
    assert (live.bridge.audit.folder / "code" / f"{digest}.py").read_text() == GRID
    (newest, *_) = live.bridge.recent.records()
    assert newest.effect.code is not None
    assert newest.effect.code.details.text == MAKES
    assert [(it.by, it.how) for it in newest.answers] == [("grant", "agreed")]
    assert live.bridge.undo(str(newest.effect.label))


def test_code_that_only_looks_is_offered_the_same(seat: Sit) -> None:
    live = seat(FOR_A_WHILE)

    results = send(live, {"code": MAKES, "read_only": True}, {"code": "2", "read_only": True}, "3")

    assert [status(it) for it in results] == ["done"] * 3
    assert asked(live) == [MAKES]
    assert not live.session.stage.GetPrimAtPath("/World/Made")


def test_the_record_keeps_the_digest_alone_where_the_studio_wants_that(seat: Sit) -> None:
    live = seat(FOR_A_WHILE, python="ask_hash")

    send(live, "1", GRID)

    assert asked(live) == ["1"]
    assert not (live.bridge.audit.folder / "code").exists()


@pytest.mark.parametrize("answer", [YES, NO])
def test_a_run_whose_losses_are_not_all_known_is_shown_and_asked_about(
    seat: Sit, monkeypatch: pytest.MonkeyPatch, answer: Reply
) -> None:
    monkeypatch.setattr(StepTrial, "is_complete", False)
    live = seat(FOR_A_WHILE, answer)

    send(live, "1", MAKES)

    assert asked(live) == ["1", MAKES]
    assert "more than could be checked" in live.person.shown[1].message
    assert bool(live.session.stage.GetPrimAtPath("/World/Made")) == (answer is YES)
    assert len(live.session.undo_labels) == (answer is YES)


@pytest.fixture
def unmarked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every text be a plain one, as if the reader saw nothing in it."""

    def read(code: str, plain: PlainNames) -> CodeText:
        return replace(read_code(code, plain), findings=())

    monkeypatch.setattr(run_python, "read_code", read)


@pytest.mark.usefixtures("unmarked")
def test_a_deletion_asks_once_with_text_and_list_and_a_yes_ends_nothing(seat: Sit) -> None:
    live = seat(FOR_A_WHILE, YES)

    _, hidden, _ = send(live, "1", HIDES, "3")

    assert status(hidden) == "done"
    assert asked(live) == ["1", HIDES]
    question = live.person.shown[1]
    assert question.items == ("/World/Props/Tree",)
    assert not question.offers.may_remember
    assert question.message.startswith("The code deletes xform /World/Props/Tree. ")
    assert "The agent says: “The test wants it.”" in question.message  # nobody has read that yet


@pytest.mark.usefixtures("unmarked")
def test_a_no_to_a_deletion_ends_it(seat: Sit) -> None:
    live = seat(FOR_A_WHILE, NO, YES)

    _, hidden, _ = send(live, "1", HIDES, "3")

    assert status(hidden) == "refused"
    assert live.session.stage.GetPrimAtPath("/World/Props/Tree").IsActive()
    assert asked(live) == ["1", HIDES, "3"]


@pytest.mark.parametrize("answer", [YES, NO, Reply("cancel")])
def test_a_text_that_is_marked_asks_and_ends_it(seat: Sit, answer: Reply) -> None:
    live = seat(FOR_A_WHILE, answer, YES)

    send(live, "1", "import os", "3")

    marked = live.person.shown[1]
    assert asked(live)[-1] == "3"
    assert marked.details.marks
    assert not marked.offers.may_remember


def test_declared_writes_ask_and_end_it(seat: Sit, tmp_path: Path) -> None:
    live = seat(FOR_A_WHILE, YES, YES)
    writes = {"code": "2", "writes": [str(tmp_path / "out.txt")]}

    send(live, "1", writes, "3")

    assert asked(live) == ["1", "2", "3"]


def test_another_client_and_another_session_are_asked_and_end_nothing(seat: Sit) -> None:
    live = seat(FOR_A_WHILE, YES, YES)

    send(live, "1", other(live, "2", label="cursor"), other(live, "3"), "4")

    assert asked(live) == ["1", "2", "3"]


def test_a_no_to_another_session_of_the_client_ends_it(seat: Sit) -> None:
    live = seat(FOR_A_WHILE, NO, YES)

    send(live, "1", other(live, "2"), "3")

    assert asked(live) == ["1", "2", "3"]


def test_a_no_to_another_client_ends_nothing(seat: Sit) -> None:
    live = seat(FOR_A_WHILE, NO, YES)

    send(live, "1", other(live, "2", label="cursor"), "3")

    assert asked(live) == ["1", "2"]


def test_another_scene_ends_it_also_the_same_file_again(seat: Sit, tmp_path: Path) -> None:
    live = seat(FOR_A_WHILE, FOR_A_WHILE, YES)
    file = live.session.path
    assert file is not None
    usd_scene.make(tmp_path / "other.usda")
    there: list[int] = []

    def away_and_back() -> None:
        live.session.open(tmp_path / "other.usda")
        there.append(len(live.bridge.grants.code.live))
        live.session.open(file)

    send(live, "1", away_and_back, "2", lambda: live.session.open(file), "3")

    assert there == [0]
    assert asked(live) == ["1", "2", "3"]


def test_saving_under_another_name_is_no_other_scene(seat: Sit, tmp_path: Path) -> None:
    live = seat(FOR_A_WHILE)

    send(live, "1", lambda: live.session.save(tmp_path / "named.usda"), MAKES)

    assert asked(live) == ["1"]


def test_a_pause_ends_it(seat: Sit) -> None:
    live = seat(FOR_A_WHILE, YES)

    def pause() -> None:
        live.bridge.pause()
        live.bridge.resume()

    send(live, "1", pause, "2")

    assert asked(live) == ["1", "2"]


def test_the_panel_lists_it_until_a_click_ends_it(seat: Sit) -> None:
    live = seat(FOR_A_WHILE, YES)
    listed: list[Row] = []

    def end() -> None:
        (row,) = rows.now(read(live.bridge))
        listed.append(row)
        (act,) = row.acts
        rows.act(live.bridge, row.key, act.verb, lambda question: None)
        listed.extend(rows.now(read(live.bridge)))

    send(live, "1", end, "2")

    (row,) = listed
    assert row.title.startswith("test may run plain scripts until ")
    assert row.acts[0].caption == "End"
    assert asked(live) == ["1", "2"]


def test_the_end_of_the_session_ends_it(seat: Sit) -> None:
    live = seat(FOR_A_WHILE)

    send(live, "1")

    live.until(lambda: not live.bridge.grants.code.live)


def test_a_client_that_answers_its_own_form_never_gets_it(seat: Sit) -> None:
    live = seat(consent="either", host_dialogs=False)

    results = send(live, "1", "2", asked=accept(confirm=True))

    assert [status(it) for it in results] == ["done", "done"]
    assert live.bridge.grants.code.live == []
    granted = [line["by"] for line in live.record() if line["event"] == "granted"]
    assert granted == ["unverified client", "unverified client"]


@pytest.mark.parametrize(("session", "texts"), [("", ["1", "2"]), ("its own", ["1"])])
def test_a_modern_client_gets_it_where_its_session_can_be_told(
    seat: Sit, session: str, texts: list[str]
) -> None:
    live = seat(FOR_A_WHILE, YES)

    send(live, "1", "2", era=MODERN, session=session)

    assert live.person.shown[0].offers.minutes == (30 if session else 0)
    assert asked(live) == texts


def test_where_the_host_cannot_revert_now_the_person_is_asked(
    seat: Sit, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = seat(FOR_A_WHILE, YES)

    send(live, "1", lambda: monkeypatch.setattr(UsdSession, "trial", lambda self: None), "2")

    assert asked(live) == ["1", "2"]
    assert [it.offers.minutes for it in live.person.shown] == [30, 0]


def test_where_no_studio_switches_it_on_it_is_not_offered(seat: Sit) -> None:
    live = seat(FOR_A_WHILE, YES, grant_minutes=Settings().grant_minutes)

    send(live, "1", "2")

    assert [it.offers.may_remember for it in live.person.shown] == [False, False]


def test_what_differs_is_told_of_the_text_that_a_person_has_read(seat: Sit) -> None:
    live = seat(FOR_A_WHILE, NO)

    send(live, "a = 1", "a = 1\nb = 2", "a = 1\nb = 2\nimport os")

    assert [it.details.previous for it in live.person.shown] == [None, "a = 1"]


def test_what_fails_is_taken_back_and_ends_nothing(seat: Sit) -> None:
    live = seat(FOR_A_WHILE)
    before = live.state

    _, failed, _ = send(live, "1", f"{MAKES}\n1 / 0", "3")

    assert status(failed) == "failed", text(failed)
    assert live.state == before
    assert asked(live) == ["1"]
