"""A secret is not read by accident."""

from __future__ import annotations

import copy
import json
import logging
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from dcc_bridge.elicitation.ask_secret import Secret, ask_secret_sync
from dcc_bridge.elicitation.secret import HIDDEN, redact, refuse_secrets
from dcc_bridge.errors import LeakedSecret, NobodyToAsk

TEXT = "canary-0f5c"


def test_it_prints_as_hidden(caplog: pytest.LogCaptureFixture) -> None:
    secret = Secret(TEXT)

    logging.getLogger("test").warning("%s %r %s", secret, [secret], {"it": secret})

    said = [repr(secret), str(secret), f"{secret}", f"{secret:>20}"]
    assert all(HIDDEN in one and TEXT not in one for one in said)
    assert caplog.text.count(HIDDEN) == 3
    assert TEXT not in caplog.text
    assert secret.reveal() == TEXT


@pytest.mark.parametrize(
    "write", [pickle.dumps, json.dumps, copy.copy, copy.deepcopy, lambda it: vars(it)]
)
def test_it_is_not_written_down(write: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError):
        write(Secret(TEXT))


def test_it_is_found_however_deep_and_in_a_circle() -> None:
    secret = Secret(TEXT)
    circle: list[Any] = []
    circle.append(circle)
    deep: Any = secret
    for _ in range(5000):
        deep = [deep]

    assert refuse_secrets(circle, "it") is circle
    for value in (deep, [circle, {"a": {1: (secret,)}}], f"x{TEXT}y", [TEXT.encode()]):
        with pytest.raises(LeakedSecret, match="a secret in the result of it"):
            refuse_secrets(value, "the result of it")


def test_a_form_of_a_dataclass_is_looked_through_while_one_lives() -> None:
    """Its class, not an instance: a field without a default has no value there."""

    @dataclass
    class Form:
        samples: int
        note: str = ""

    @dataclass
    class Leaking:
        samples: int
        note: str = TEXT

    secret = Secret(TEXT)

    refuse_secrets(Form, "a question")
    with pytest.raises(LeakedSecret):
        refuse_secrets(Leaking, "a question")
    assert secret.reveal() == TEXT


def test_a_text_is_freed_of_it_as_long_as_it_lives() -> None:
    secret = Secret(TEXT)

    assert redact(f"<{TEXT}>") == f"<{HIDDEN}>"
    del secret
    assert redact(f"<{TEXT}>") == f"<{TEXT}>"


def test_a_short_one_is_not_looked_for() -> None:
    secret = Secret("1234")

    assert refuse_secrets({"frames": "1234"}, "it") == {"frames": "1234"}
    assert redact("frame 1234") == "frame 1234"
    assert secret.reveal() == "1234"


def test_without_a_bridge_nobody_can_be_asked() -> None:
    with pytest.raises(NobodyToAsk):
        ask_secret_sync("The tracker needs a key.", label="Key")
