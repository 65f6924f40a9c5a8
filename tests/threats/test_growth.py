"""What a call leaves behind once it is over: nothing, whatever kind it was (all rows together)."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest
from pydantic_core import from_json

from dcc_bridge import skill
from dcc_bridge.consent.call import current_run, running_call
from dcc_bridge.elicitation import rate_limits
from dcc_bridge.skills import edit_notices
from tests.bench.agent import LEGACY, Agent, Server
from tests.live import ERAS, Live, live
from tests.stand_ins import FakeHost
from tests.threats.raw import Line, Raw
from tests.threats.soak import Forgetful, Ledger, Scene, skills

CALLS: Final = 1000
LEFT: Final = 1.0
"""Blocks a call: a count is off by some hundreds, for timers and stacks differ by the moment. Of a
call that is held whole there are about two hundred."""
BATCHES: Final = 4
"""A kind that seems to leave something is called on: a leak goes on in each batch."""
# A session is held for its grace: how many are depends on the speed of the machine.
ROOM: Final[dict[str, Any]] = {"dialogs_per_minute": 10**6, "session_grace": 0.0}
Call = Callable[[Line, str], object]
_STRINGS: Final = 10**5  # the cache is full by then, but for a place or two


def fill_string_cache() -> None:
    """Fill the cache of Pydantic's reader of JSON, by which the SDK reads requests.

    It is one for the process: 16,384 strings of at most 63 bytes. It fills within hours where each
    call brings another word, one block a string, and would hide what else grows.
    """
    for number in range(_STRINGS):
        from_json(b'"%d"' % number)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_no_kind_of_call_leaves_anything_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each kind was called as often before: by then the lists of the last calls are full."""
    # What is kept for a minute is let go at once.
    monkeypatch.setattr(edit_notices, "_NOTICE_S", 0.0)
    monkeypatch.setattr(rate_limits, "WINDOW_S", 0.0)
    host, left = Scene(has_ui=True), {}
    fill_string_cache()

    with closing(Ledger(tmp_path / "host")) as ledger:
        fns = skills(host, ledger)
        with live(tmp_path, *fns, host=host, presenter=Forgetful(), **ROOM) as running:
            for name, call in kinds_of_calls(running).items():
                left[name] = left_a_call(running, call, name)

    print(left)
    assert {name: blocks for name, blocks in left.items() if blocks > LEFT} == {}


def test_an_edit_is_let_go_while_its_notice_may_still_be_shown(tmp_path: Path) -> None:
    host, runs = FakeHost(has_ui=True), []

    @skill(risk="edit")
    def edit() -> None:
        """Edit."""
        call = running_call()
        assert call is not None
        runs.append(weakref.ref(call.control))
        host.items.append("cam")

    with live(tmp_path, edit, host=host, presenter=Forgetful()) as running:
        running.call("edit")
        running.until(lambda: gc.collect() >= 0 and runs[0]() is None)

        assert len(running.bridge._notices.open) == 1


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("options", [{}, {"risk": "edit"}, {"thread": "any"}], ids=str)
def test_a_call_that_has_ended_is_freed_without_the_collector(
    options: dict[str, Any], era: str, tmp_path: Path
) -> None:
    """A full collection holds the window for as long as it takes to look at all that is left."""
    host, runs = FakeHost(), list[weakref.ref[Any]]()

    @skill(**{"risk": "read", **options})
    def note() -> None:
        """Note the run."""
        runs.append(weakref.ref(current_run.get()))
        if options.get("risk") == "edit":
            host.items.append("cam")

    with live(tmp_path, note, host=host) as running:
        gc.disable()
        try:
            running.call("note", era=era)
            running.call("note", era=era)  # the last job's context stays until the next one
            running.until(lambda: runs[0]() is None)
        finally:
            gc.enable()


def kinds_of_calls(running: Live) -> dict[str, Call]:
    """Give what makes each kind of call, on a connection and with a word of its own."""
    raw = Raw.to(running)
    server = Server(running.bridge.url, raw.token)

    def plain(tool: str) -> Call:
        return lambda line, word: line.call(tool, {"word": word})["result"]["content"]

    def asking(tool: str) -> Call:
        def ask(line: Line, word: str) -> None:
            state = line.call(tool, {"word": word})["result"]["requestState"]
            answer = {"word": {"action": "accept", "content": {"word": f"{word}!"}}}
            line.call(tool, {"word": word}, inputResponses=answer, requestState=state)

        return ask

    def session(line: Line, word: str) -> None:
        with closing(Agent(server, LEGACY)) as agent:
            agent.exchange(agent.calling("look", arguments={"word": word}))
            ending = {"Mcp-Session-Id": agent.session, "Connection": "close"}
            ended = raw.write(raw.head(0, ending, "DELETE /mcp"))
        assert ended.status == 200

    return {
        **{tool: plain(tool) for tool in ("look", "look_any", "edit", "delete")},
        **{tool: asking(tool) for tool in ("ask", "ask_any", "ask_loop")},
        "a tool that is not there": lambda line, word: line.call(word),
        "tools/list": lambda line, word: line.say("tools/list", {}),
        "session": session,
    }


def left_a_call(running: Live, call: Call, name: str) -> float:
    """Give what a call leaves on average, over more of them as long as that is too much."""
    before = blocks_after(running, call, f"{name} before")
    for batch in range(1, BATCHES + 1):
        left = (blocks_after(running, call, f"{name} {batch}") - before) / (batch * CALLS)
        if left <= LEFT:
            break
    return left


def blocks_after(running: Live, call: Call, word: str) -> int:
    """Make the calls, and count the blocks once they are over."""

    def work() -> None:
        with Raw.to(running).line() as line:
            for number in range(CALLS):
                call(line, f"{word}-{number}")

    running.beside(work, limit=300)
    broker, notices = running.bridge.broker, running.bridge._notices.open
    running.until(lambda: not (broker.open or notices))
    gc.collect()
    return sys.getallocatedblocks()
