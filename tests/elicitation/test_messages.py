"""A message that nobody would read is refused at the call, and nobody is asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from dcc_bridge import confirm_sync, elicit_form_sync, elicit_url_sync, skill
from dcc_bridge.elicitation.question import Reply
from dcc_bridge.errors import SchemaError
from tests.live import live, text
from tests.server.skills import CONFIRM
from tests.stand_ins import FakeHost, Person

LONGEST: Final = "é" * 4096
WAYS: Final[dict[str, Callable[[str], Any]]] = {
    "form": lambda message: elicit_form_sync(message, CONFIRM),
    "url": lambda message: elicit_url_sync(message, "https://studio.com"),
    "consent": lambda message: confirm_sync(message),
    "consent about items": lambda message: confirm_sync(lambda items: message),
}
every_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


@every_way
def test_a_message_of_more_than_eight_kib_is_refused(way: Callable[[str], Any]) -> None:
    with pytest.raises(SchemaError, match="8,193 bytes; 8,192 is the most"):
        way(LONGEST + "x")


@every_way
def test_a_message_of_eight_kib_is_asked_whole(way: Callable[[str], Any], tmp_path: Path) -> None:
    person, host = Person(Reply("cancel")), FakeHost(has_ui=True)

    @skill(risk="edit", thread="any")
    def ask() -> None:
        """Ask."""
        way(LONGEST)

    with live(tmp_path, ask, host=host, presenter=person) as running:
        told = text(running.call("ask"))

    assert "bytes" not in told
    assert [one.message for one in person.shown] == [LONGEST]
