"""What a client brings back with an answer is what it was given, to the letter."""

from __future__ import annotations

import pytest
from mcp.server.request_state import InvalidRequestState

from dcc_bridge.server.state_seal import StateSeal

PAYLOAD = b'{"s": "7.1", "t": "delete"}'


def test_a_state_comes_back_as_it_was_made() -> None:
    seal = StateSeal()

    assert [seal.unseal(seal.seal(one)) for one in (PAYLOAD, b"", b"\xff\x00")] == [
        PAYLOAD,
        b"",
        b"\xff\x00",
    ]


def test_every_changed_letter_is_noticed() -> None:
    seal = StateSeal()
    token = seal.seal(PAYLOAD)
    changed = [token[:at] + "-" + token[at + 1 :] for at in range(len(token)) if token[at] != "-"]
    changed += [token[:at] for at in range(len(token))]
    changed += [token + end for end in ("=", "A", "\n", " ", "é")]

    for one in changed:
        with pytest.raises(InvalidRequestState):
            seal.unseal(one)


def test_a_state_of_another_process_is_not_known() -> None:
    with pytest.raises(InvalidRequestState):
        StateSeal().unseal(StateSeal().seal(PAYLOAD))
