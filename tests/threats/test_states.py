"""The state that a client brings back with an answer: changed, used again, another one's (row 10).

10  `test_ten_thousand_changed_states`, `test_a_thousand_replays`,
    `test_a_state_is_for_one_call_of_one_client_on_one_host`, `test_a_state_ends`
"""

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
from tests.live import live
from tests.server.skills import CONFIRM
from tests.threats.raw import Line, Raw, in_thread

FLIPS = 10_000
REPLAYS = 1_000
INVALID = -32602
YES = {"action": "accept", "content": {"confirm": True}}


class Asking:
    """A skill that asks, and another one."""

    def __init__(self) -> None:
        self.ran = 0
        self.agreed = 0

    @property
    def tools(self) -> Iterator[Callable[..., Any]]:
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

        yield wipe
        yield other


def begin(line: Line | Raw) -> str:
    """Call the skill, and give the state that comes with its question."""
    return str(line.call("wipe")["result"]["requestState"])


def outcome(said: dict[str, Any]) -> Any:
    """Give the code of an error, or what the result says."""
    if "error" in said:
        return said["error"]["code"]
    return said["result"]["content"][0]["text"]


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


@pytest.mark.long
@pytest.mark.timeout(180)
def test_ten_thousand_changed_states(tmp_path: Path) -> None:
    """None is taken, and the question still waits for its own."""
    asking, chance = Asking(), random.Random(10)
    with live(tmp_path, *asking.tools) as running:

        def attack() -> tuple[Counter[Any], Any]:
            ends: Counter[Any] = Counter()
            with Raw.to(running).line() as line:
                state = begin(line)
                for _ in range(FLIPS):
                    bad = flipped(state, chance)
                    said = line.call("wipe", inputResponses={"sure": YES}, requestState=bad)
                    ends[outcome(said)] += 1
                assert asking.agreed == 0
                said = line.call("wipe", inputResponses={"sure": YES}, requestState=state)
                return ends, outcome(said)

        ends, own = running.run(in_thread(attack), limit=150)

    assert ends == {INVALID: FLIPS}
    assert (own, asking.ran, asking.agreed) == ("a: accept", 1, 1)


@pytest.mark.timeout(120)
def test_a_thousand_replays(tmp_path: Path) -> None:
    """Each is given what came of the first answer, whatever it says itself."""
    asking = Asking()
    answers = [YES, {"action": "decline"}, {"action": "cancel"}]
    with live(tmp_path, *asking.tools) as running:

        def attack() -> Counter[Any]:
            ends: Counter[Any] = Counter()
            with Raw.to(running).line() as line:
                state = begin(line)
                for number in range(REPLAYS + 1):
                    told = {"sure": answers[number % 3]}
                    said = line.call("wipe", inputResponses=told, requestState=state)
                    ends[outcome(said)] += 1
            return ends

        ends = running.run(in_thread(attack), limit=100)

    assert ends == {"a: accept": REPLAYS + 1}
    assert (asking.ran, asking.agreed) == (1, 1)


@pytest.mark.parametrize(
    "answers", [[], [YES], "yes", 1, True, False, {"dcc-bridge/malformed": YES}], ids=str
)
def test_answers_that_are_no_object_are_an_invalid_answer_and_no_consent(
    answers: Any, tmp_path: Path
) -> None:
    """The call is asked once more, and a second such answer ends it: it waits for no deadline."""
    asking = Asking()
    with live(tmp_path, *asking.tools) as running:

        def attack() -> list[Any]:
            raw = Raw.to(running)
            again = raw.call("wipe", inputResponses=answers, requestState=begin(raw))["result"]
            state = again["requestState"]
            return [again, raw.call("wipe", inputResponses=answers, requestState=state)]

        again, ended = running.run(in_thread(attack))

    assert "That was not accepted" in json.dumps(again["inputRequests"])
    assert (outcome(ended), asking.ran, asking.agreed) == ("a: cancel", 1, 0)


def test_a_state_is_for_one_call_of_one_client_on_one_host(tmp_path: Path) -> None:
    asking = Asking()
    with live(tmp_path, *asking.tools) as running:
        state = running.run(in_thread(lambda: begin(Raw.to(running))))
    with live(tmp_path, *asking.tools) as running:

        def attack() -> list[Any]:
            raw, told = Raw.to(running), {"inputResponses": {"sure": YES}}
            own = begin(raw)
            there, here = ({**told, "requestState": given} for given in (state, own))
            return [
                raw.call("wipe", **there),
                raw.call("wipe", {"what": "b"}, **here),
                raw.call("other", **here),
                Raw.to(running, "cursor").call("wipe", **here),
                raw.call("wipe", **told),
                raw.call("wipe", **told, requestState=""),
                raw.call("wipe", **told, requestState="0.0"),
                raw.call("wipe", **told, requestState=own[:-4] + "AAAA"),
            ]

        ends = [outcome(said) for said in running.run(in_thread(attack))]

    assert ends == [INVALID] * 8
    assert (asking.ran, asking.agreed) == (2, 0)


def test_a_state_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After its time no answer is taken with it."""
    monkeypatch.setattr("dcc_bridge.server.mcp_server._HOUR", 1.0)
    asking = Asking()
    with live(tmp_path, *asking.tools) as running:

        def attack() -> Any:
            raw = Raw.to(running)
            state, end = begin(raw), time.monotonic() + 10
            while "result" in raw.call("wipe", inputResponses={}, requestState=state):
                assert time.monotonic() < end
            return outcome(raw.call("wipe", inputResponses={"sure": YES}, requestState=state))

        assert running.run(in_thread(attack)) == INVALID

    assert (asking.ran, asking.agreed) == (1, 0)
