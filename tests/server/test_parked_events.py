"""What parked calls promise to each request, without a server and without waiting."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from random import Random
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolResult, ElicitResult, InputRequiredResult

from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation.caller import Client
from dcc_bridge.elicitation.question import Question, Reply, Unable
from dcc_bridge.elicitation.types import LIMIT, TOO_MANY_QUESTIONS
from dcc_bridge.server.client_channel import ClientQuestion, ProgressMeter
from dcc_bridge.server.parked_calls import (
    MAX_FINISHED,
    MAX_ROUNDS,
    RESULT_TTL_S,
    ParkedCall,
    ParkedCalls,
)
from dcc_bridge.server.unfetched_results import same_call
from tests.elicitation.brokers import FORM

YES = ElicitResult(action="accept", content={"confirm": True})
DONE = CallToolResult(content=[])


class Parking:
    """Parked calls, with all that they tell to others."""

    def __init__(self) -> None:
        self.ended: list[Call] = []
        self.cancelled: list[Call] = []
        self.states: dict[str, str] = {}
        self.calls = ParkedCalls(
            SimpleNamespace(end=self.ended.append, held_up=str),  # type: ignore[arg-type]  # a broker
            SimpleNamespace(find=self._find),  # type: ignore[arg-type]  # what it is asked for
        )

    def _find(self, call: str) -> Any:
        return SimpleNamespace(state=self.states[call]) if call in self.states else None

    def park(
        self,
        skill: str = "delete",
        session: str | None = None,
        *,
        modern: bool = True,
        label: str = "claude",
    ) -> ParkedCall:
        """Make a call that has not begun."""
        call = Call(skill, "Delete", client=Client(label))
        parked = ParkedCall(call, label, same_call(label, call.id, {}), modern=modern)
        parked.session = session
        parked.cancel = lambda: self.cancelled.append(call)
        return parked

    async def ask(
        self, session: str | None = None, label: str = "claude"
    ) -> tuple[ParkedCall, list[Any], Any]:
        """Let a call begin and ask; gives it, the list of its answers, and what its request got."""
        parked = self.park(session=session, label=label)
        asked, answers = question(parked)
        parked.offer(asked)
        return parked, answers, await self.calls.begin(parked, request())

    async def end(self, label: str = "claude") -> ParkedCall:
        """Let a call begin, ask, and end."""
        parked, *_ = await self.ask(label=label)
        self.calls.finish(parked, DONE, "done")
        return parked


class Session:
    """A client's session, which keeps what it is told of progress."""

    def __init__(self, refuses: bool = False) -> None:
        self.told: list[tuple[float, float | None, str | None]] = []
        self._refuses = refuses

    async def report_progress(self, done: float, total: float | None, text: str | None) -> None:
        if self._refuses:
            raise ConnectionError("gone")
        self.told.append((done, total, text))


def request(refuses: bool = False) -> Any:
    return SimpleNamespace(session=Session(refuses), request_id="1", request=None)


def question(parked: ParkedCall) -> tuple[ClientQuestion, list[Any]]:
    """Make a question of a call, and the list of its answers."""
    answers: list[Any] = []
    return ClientQuestion(Question("Sure?", parked.call, FORM, key="sure"), answers.append), answers


pytestmark = pytest.mark.anyio


@pytest.fixture
def shift(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Let seconds pass at once."""
    real, ahead = time.monotonic, [0.0]
    monkeypatch.setattr("time.monotonic", lambda: real() + ahead[0])

    def pass_by(seconds: float) -> None:
        ahead[0] += seconds

    return pass_by


async def test_a_call_that_asked_is_known_by_its_state_and_open_until_it_ends() -> None:
    parking = Parking()
    parked, _, asked = await parking.ask()
    assert isinstance(asked, InputRequiredResult)
    assert asked.request_state == f"{parked.call.id}.0"

    assert (parking.calls.open, parking.calls.knows(asked.request_state)) == (1, True)
    assert not parking.calls.knows("another.0")

    parking.calls.finish(parked, DONE, "done")
    assert (parking.calls.open, parking.calls.knows(asked.request_state)) == (0, True)


async def test_a_call_that_never_asked_is_forgotten_with_its_result() -> None:
    parking = Parking()
    parked = parking.park()
    parking.calls.finish(parked, DONE, "done")
    await parking.calls.begin(parked, request())

    assert not parking.calls.knows(f"{parked.call.id}.0")


@pytest.mark.parametrize(
    ("state", "label"),
    [
        ("{id}.0", "cursor"),
        ("another.0", "claude"),
        ("{id}", "claude"),
        ("{id}.x", "claude"),
        ("{id}.-1", "claude"),
        ("{id}.1", "claude"),
        ("{id}.2", "claude"),
    ],
)
async def test_a_state_that_leads_nowhere_is_an_error_that_says_so(state: str, label: str) -> None:
    parking = Parking()
    parked, answers, _ = await parking.ask()
    parking.calls.finish(parked, DONE, "done")

    with pytest.raises(MCPError, match=r"^This call is not waiting for an answer") as caught:
        await parking.calls.resume(state.format(id=parked.call.id), label, {}, request())

    assert caught.value.error.code == INVALID_PARAMS
    assert answers == []


async def test_a_retry_without_its_answer_gets_the_question_and_later_what_came_next() -> None:
    parking = Parking()
    parked, answers, first = await parking.ask()
    assert isinstance(first, InputRequiredResult)
    state = str(first.request_state)

    again = await parking.calls.resume(state, "claude", {}, request())
    parking.calls.finish(parked, DONE, "done")
    last = await parking.calls.resume(state, "claude", {}, request())

    assert isinstance(again, InputRequiredResult)
    texts = [it.model_dump_json(by_alias=True) for it in (first, again)]
    first_text, again_text = (re.sub(f'"{LIMIT}":[0-9.]+', "", it) for it in texts)
    assert again_text == first_text  # but for the seconds that are left
    assert last is DONE
    assert answers == []


async def test_the_first_answer_counts_and_brings_the_result() -> None:
    parking = Parking()
    parked, answers, _ = await parking.ask()
    state = f"{parked.call.id}.0"
    parking.calls.finish(parked, DONE, "done")
    assert parking.calls.unfetched.notice_for(parked.same) is not None

    for _ in range(2):
        assert await parking.calls.resume(state, "claude", {"sure": YES}, request()) is DONE

    assert answers == [Reply("accept", {"confirm": True})]
    assert parking.calls.unfetched.notice_for(parked.same) is None


async def test_an_answer_to_a_question_that_was_withdrawn_comes_too_late() -> None:
    asked, answers = question(Parking().park())

    asked.withdraw("timed_out")
    asked.answer(Reply("accept", {"confirm": True}))

    assert (asked.is_open, answers) == (False, [])


async def test_only_a_modern_client_is_not_asked_too_often() -> None:
    parking = Parking()
    for modern, heard in ((True, [Unable(TOO_MANY_QUESTIONS, cancels=True)]), (False, [])):
        parked = parking.park(modern=modern)
        answers: list[Any] = []
        for _ in range(MAX_ROUNDS + 1):
            asked, answers = question(parked)
            parked.offer(asked)
        assert answers == heard


async def test_the_end_of_a_session_ends_its_own_open_calls_only() -> None:
    parking = Parking()
    mine, _, over = [(await parking.ask(session))[0] for session in ("a", "b", "a")]
    parking.calls.finish(over, DONE, "done")

    parking.calls.end_session("a")

    assert parking.ended == parking.cancelled == [mine.call]


async def test_a_call_goes_on_until_the_last_of_its_requests_is_cut_off() -> None:
    parking = Parking()
    parked, scopes = parking.park(), [anyio.CancelScope(), anyio.CancelScope()]

    async def wait(scope: anyio.CancelScope) -> None:
        with scope:
            await parking.calls.begin(parked, request())

    async with anyio.create_task_group() as tasks:
        for scope in scopes:
            tasks.start_soon(wait, scope)
        await anyio.wait_all_tasks_blocked()
        scopes[0].cancel()
        await anyio.wait_all_tasks_blocked()
        assert parking.ended == parking.cancelled == []
        scopes[1].cancel()

    assert parking.ended == parking.cancelled == [parked.call]


async def test_a_call_that_is_served_plainly_is_open_until_its_result() -> None:
    parking = Parking()
    parked, results = parking.park(), list[Any]()

    async def wait() -> None:
        results.append(await parking.calls.begin_plain(parked, {}))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        meanwhile = parking.calls.open
        parking.calls.finish(parked, DONE, "done")

    assert (meanwhile, parking.calls.open, results) == (1, 0, [DONE])
    assert not parking.calls.knows(f"{parked.call.id}.0")


@pytest.mark.parametrize("ends", [False, True])
async def test_of_one_that_was_seen_to_leave_too_late_the_same_one_is_told_as_it_ends(
    ends: bool,
) -> None:
    parking = Parking()
    parked = parking.park()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(parking.calls.begin, parked, request())
        await anyio.wait_all_tasks_blocked()
        beside = parking.calls.alike(parked.same)
        before = parking.calls.late_notice_for(parked.same, beside)
        assert parking.calls.notice_for(parked.same) is None  # two at once are two calls
        tasks.cancel_scope.cancel()
    if ends:
        parking.calls.finish(parked, DONE, "done")

    assert (parking.calls.notice_for(parked.same) is None, before) == (False, None)
    told = "was done, but nobody fetched" if ends else "was already running"
    assert told in (parking.calls.late_notice_for(parked.same, beside) or "")
    assert parking.calls.late_notice_for(parked.same, []) is None


async def test_of_one_that_was_answered_the_same_one_beside_it_is_told_nothing() -> None:
    """What was said of its result is on its way."""
    parking = Parking()
    parked = parking.park()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(parking.calls.begin, parked, request())
        await anyio.wait_all_tasks_blocked()
        beside = parking.calls.alike(parked.same)
        parking.calls.finish(parked, DONE, "done")
    parking.calls.unfetched.add(parked.same, "done")

    assert parking.calls.late_notice_for(parked.same, beside) is None


async def test_of_a_call_that_was_cut_off_and_goes_on_the_same_one_alone_is_told() -> None:
    parking = Parking()
    parked, other = parking.park(), parking.park("rename")

    with anyio.move_on_after(0):
        await parking.calls.begin(parked, request())

    assert parking.calls.notice_for(other.same) is None
    assert "was already running" in (parking.calls.notice_for(parked.same) or "")


async def test_a_request_whose_client_cannot_be_told_anything_fails_and_ends_its_call() -> None:
    parking = Parking()
    parked = parking.park()
    parked.note_progress((1, 2, "half"))

    with pytest.raises(ConnectionError):
        await parking.calls.begin(parked, request(refuses=True))

    assert parking.ended == [parked.call]


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("queued", "Waiting in the queue of the host"),
        ("running", "Working in the host"),
        ("asking", "Waiting for the person's answer"),
        (None, ""),
    ],
)
async def test_a_request_that_waits_is_told_for_what(
    state: str | None, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dcc_bridge.server.parked_calls.KEEPALIVE_S", 0.005)
    parking, heard = Parking(), request()
    parked = parking.park()
    if state is not None:
        parking.states[parked.call.id] = state
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(parking.calls.begin, parked, heard)
        while len(heard.session.told) < 2:
            await anyio.sleep(0.002)
        parking.calls.finish(parked, DONE, "done")

    assert {text for _, _, text in heard.session.told} == {words}


async def test_progress_is_told_when_it_comes_and_the_last_of_it_before_the_result() -> None:
    parking, heard = Parking(), request()
    parked = parking.park()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(parking.calls.begin, parked, heard)
        await anyio.wait_all_tasks_blocked()
        parked.note_progress((1, 4, "one"))
        await anyio.wait_all_tasks_blocked()
        assert heard.session.told == [(1, 4, "one")]
        parked.note_progress((3, 4, "three"))
        parking.calls.finish(parked, DONE, "done")

    assert heard.session.told == [(1, 4, "one"), (3, 4, "three")]


@pytest.mark.parametrize(
    ("seconds", "known"), [(RESULT_TTL_S - 1, True), (RESULT_TTL_S + 1, False)]
)
async def test_a_result_can_be_fetched_for_two_minutes(
    seconds: float, known: bool, shift: Callable[[float], None]
) -> None:
    parking = Parking()
    waits, *_ = await parking.ask()
    parked = await parking.end()
    shift(seconds)
    await parking.end()

    assert parking.calls.knows(f"{parked.call.id}.0") is known
    assert parking.calls.knows(f"{waits.call.id}.0")


async def test_of_too_many_results_those_of_the_client_with_most_of_them_go() -> None:
    parking = Parking()
    another = await parking.end("cursor")

    parked = [await parking.end() for _ in range(MAX_FINISHED + 3)]

    known = [parking.calls.knows(f"{one.call.id}.0") for one in parked]
    assert parking.calls.knows(f"{another.call.id}.0")
    assert known == [False] * 3 + [True] * MAX_FINISHED


@pytest.mark.parametrize(
    ("status", "seconds", "words"),
    [
        ("done", 0, "1 min ago and was done, but nobody fetched its result."),
        ("done", 100, "2 min ago and was done"),
        ("refused", 599, "10 min ago and was refused"),
        ("failed", 0, "1 min ago and did not succeed"),
        ("done", 600.5, None),
        ("cancelled", 0, None),
        ("not_started", 0, None),
    ],
)
async def test_the_next_call_says_how_the_same_one_ended_and_when(
    status: Any, seconds: float, words: str | None, shift: Callable[[float], None]
) -> None:
    parking = Parking()
    parked = parking.park()
    parking.calls.finish(parked, DONE, status)
    shift(seconds)
    notice = parking.calls.unfetched.notice_for(parked.same)
    assert (notice is None) if words is None else f"was made {words}" in (notice or "")


def test_any_arguments_have_a_digest() -> None:
    assert same_call("claude", "x", {"a": "\ud800"})[2] != same_call("claude", "x", {"a": {1}})[2]


async def test_what_was_reported_before_a_request_came_is_told_before_the_result() -> None:
    parking, heard = Parking(), request()
    parked = parking.park()
    parked.note_progress((3, 4, "three"))
    parking.calls.finish(parked, DONE, "done")

    assert await parking.calls.begin(parked, heard) is DONE
    assert heard.session.told == [(3, 4, "three")]


def test_a_skills_own_values_are_told_as_they_are() -> None:
    meter = ProgressMeter()

    assert [meter.report(done, 3) for done in range(4)] == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_a_second_count_goes_on_above_the_first() -> None:
    meter = ProgressMeter()
    meter.report(5, 5)

    assert meter.report(0, 10)[1] == 15
    assert meter.report(4, 10) == (9, 15)


def test_notices_before_the_first_value_stay_below_one() -> None:
    meter = ProgressMeter()

    beats = [meter.beat()[0] for _ in range(1000)]

    assert beats == sorted(set(beats))
    assert beats[-1] < 1


def test_any_mixture_of_values_and_notices_rises() -> None:
    random, meter = Random(3), ProgressMeter()

    told = [
        meter.report(random.choice([0, 0.5, 1, 1, 7]), random.choice([None, 7]))[0]
        if random.random() < 0.7
        else meter.beat()[0]
        for _ in range(2000)
    ]

    assert told == sorted(set(told))
