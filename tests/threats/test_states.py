"""The state that a client brings with an answer: changed, used again, another one's (row 10)."""

from __future__ import annotations

import base64
import json
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge import elicit_form_sync, skill
from tests.live import Live
from tests.server.skills import CONFIRM
from tests.threats.raw import Raw, Sender
from tests.tiers import repeated

FLIPS = 10_000
INVALID = -32602
YES = {"action": "accept", "content": {"confirm": True}}
ACCEPTING = {"inputResponses": {"sure": YES}}


class Asked:
    """A bridge with a skill that asks, and another one.

    Attributes:
        ran: How often it began.
        agreed: How often it was told yes.
    """

    def __init__(self, folder: Path) -> None:
        @skill(risk="read", thread="any")
        def wipe(what: str = "a") -> str:
            """Ask."""
            self.ran += 1
            answer = elicit_form_sync("Wipe?", CONFIRM, key="sure")
            self.agreed += answer.accepted
            return f"{what}: {answer.action}"

        @skill(risk="read", thread="any")
        def other(what: str = "a") -> str:
            """Ask something else."""
            return wipe(what)

        self.ran = self.agreed = 0
        self.running = Live(folder, wipe, other)
        self.raw = Raw.to(self.running)


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Asked]:
    bridge = Asked(tmp_path)
    yield bridge
    bridge.running.stop()


def begin(sender: Sender) -> str:
    """Call the skill, and give the state that comes with its question."""
    return str(sender.call("wipe")["result"]["requestState"])


def outcome(message: dict[str, Any]) -> Any:
    """Give the code of an error, or what the result says."""
    if "error" in message:
        return message["error"]["code"]
    return message["result"]["content"][0]["text"]


def flipped(state: str, chance: random.Random) -> str:
    """Change up to three bits of a sealed state, or its letters, or its end."""
    version, _, sealed = state.partition(".")
    data = bytearray(base64.urlsafe_b64decode(sealed + "=" * (-len(sealed) % 4)))
    match chance.randrange(8):
        case 0:
            data = data[: chance.randrange(len(data))]
        case 1:
            data += chance.randbytes(chance.randint(1, 16))
        case 2:
            return f"v{chance.randint(2, 9)}.{sealed}"
        case _:
            for at in chance.sample(range(len(data) * 8), chance.randint(1, 3)):
                data[at // 8] ^= 1 << at % 8
    return f"{version}.{base64.urlsafe_b64encode(bytes(data)).decode().rstrip('=')}"


def attempts(asked: Asked, times: int, make: Callable[[str, int], dict[str, Any]]) -> Any:
    """Answer one question again and again, as ``make`` says; gives what came of it, and its state.

    Args:
        asked: The bridge.
        times: How often.
        make: Makes the parameters of an answer of the question's state and a number.
    """

    def attack() -> tuple[Counter[Any], str]:
        with asked.raw.line() as line:
            state = begin(line)
            calls = (line.call("wipe", **make(state, number)) for number in range(times))
            return Counter(map(outcome, calls)), state

    return asked.running.beside(attack, limit=150)


@pytest.mark.long
@pytest.mark.timeout(180)
def test_ten_thousand_changed_states(asked: Asked) -> None:
    """None is taken, and the question still waits for its own."""
    chance = random.Random(10)

    ends, state = attempts(
        asked, FLIPS, lambda state, _: {**ACCEPTING, "requestState": flipped(state, chance)}
    )
    agreed = asked.agreed
    own = asked.running.beside(lambda: asked.raw.call("wipe", **ACCEPTING, requestState=state))

    assert ends == {INVALID: FLIPS}
    assert (agreed, outcome(own), asked.ran, asked.agreed) == (0, "a: accept", 1, 1)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("replays", repeated(100, 1_000))
def test_a_thousand_replays(replays: int, asked: Asked) -> None:
    """Each is given what came of the first answer, whatever it says itself."""
    answers = [YES, {"action": "decline"}, {"action": "cancel"}]

    ends, _ = attempts(
        asked,
        replays + 1,
        lambda state, n: {"inputResponses": {"sure": answers[n % 3]}, "requestState": state},
    )

    assert ends == {"a: accept": replays + 1}
    assert (asked.ran, asked.agreed) == (1, 1)


@pytest.mark.parametrize(
    "answers", [[], [YES], "yes", 1, True, False, {"dcc-bridge/malformed": YES}], ids=str
)
def test_answers_that_are_no_object_are_an_invalid_answer_and_no_consent(
    answers: Any, asked: Asked
) -> None:
    """The call is asked once more, and a second such answer ends it: it waits for no deadline."""

    def answer(state: str) -> Any:
        call = asked.raw.call
        return asked.running.beside(
            lambda: call("wipe", inputResponses=answers, requestState=state)
        )

    again = answer(asked.running.beside(lambda: begin(asked.raw)))["result"]
    ended = answer(again["requestState"])

    assert "This answer was not accepted" in json.dumps(again["inputRequests"])
    assert (outcome(ended), asked.ran, asked.agreed) == ("a: cancel", 1, 0)


def test_a_state_is_for_one_call_of_one_client_on_one_host(tmp_path: Path) -> None:
    before = Asked(tmp_path)
    theirs = before.running.beside(lambda: begin(before.raw))
    before.running.stop()
    asked = Asked(tmp_path)

    def attack() -> list[Any]:
        raw, state = asked.raw, begin(asked.raw)
        own = {**ACCEPTING, "requestState": state}
        return [
            raw.call("wipe", **ACCEPTING, requestState=theirs),
            raw.call("wipe", {"what": "b"}, **own),
            raw.call("other", **own),
            Raw.to(asked.running, "cursor").call("wipe", **own),
            raw.call("wipe", **ACCEPTING),
            raw.call("wipe", **ACCEPTING, requestState=""),
            raw.call("wipe", **ACCEPTING, requestState="0.0"),
            raw.call("wipe", **ACCEPTING, requestState=state[:-4] + "AAAA"),
        ]

    ends = [outcome(message) for message in asked.running.beside(attack)]
    asked.running.stop()

    assert ends == [INVALID] * 8
    assert (asked.ran, asked.agreed) == (1, 0)


def test_a_state_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After its time no answer is taken with it."""
    monkeypatch.setattr("dcc_bridge.server.mcp_server._REQUEST_STATE_TTL_S", 1.0)
    asked = Asked(tmp_path)

    def attack() -> Any:
        state, end = begin(asked.raw), time.monotonic() + 10
        while "result" in asked.raw.call("wipe", inputResponses={}, requestState=state):
            assert time.monotonic() < end
        return outcome(asked.raw.call("wipe", **ACCEPTING, requestState=state))

    assert asked.running.beside(attack) == INVALID
    asked.running.stop()
    assert (asked.ran, asked.agreed) == (1, 0)
