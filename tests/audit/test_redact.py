"""What a schema hides is not written down, wherever it turns up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, SecretStr

from dcc_bridge.audit import reader
from dcc_bridge.audit.log import AuditLog
from dcc_bridge.audit.redact import HIDDEN, Redacted
from dcc_bridge.elicitation.secret import Secret
from dcc_bridge.skills.signature import Signature

CANARY = "canary-7f3a"
Hidden = Annotated[str, Field(json_schema_extra={"redact": True})]


class Account(BaseModel):
    user: str
    word: SecretStr


def takes(
    name: str,
    plain: Hidden = "",
    secret: SecretStr | None = None,
    account: Account | None = None,
    accounts: list[Account] = [],  # noqa: B006 - as a skill's author writes it
    by_name: dict[str, Hidden] = {},  # noqa: B006 - likewise
    pair: tuple[int, SecretStr] | None = None,
) -> None:
    """Take much."""


@pytest.mark.parametrize(
    ("name", "value", "left"),
    [
        ("plain", CANARY, HIDDEN),
        ("secret", CANARY, HIDDEN),
        ("account", {"user": "u", "word": CANARY}, {"user": "u", "word": HIDDEN}),
        ("accounts", [{"user": "u", "word": CANARY}], [{"user": "u", "word": HIDDEN}]),
        ("by_name", {"a": CANARY}, {"a": HIDDEN}),
        ("pair", [7, CANARY], [7, HIDDEN]),
    ],
)
def test_what_a_signature_hides_is_left_out(name: str, value: Any, left: Any) -> None:
    arguments = Redacted({"name": "shown", name: value}, Signature.of(takes, "takes").schema)

    assert arguments.value == {"name": "shown", name: left}
    assert arguments.scrub({"error": f"no {CANARY}!"}) == {"error": f"no {HIDDEN}!"}


@pytest.mark.parametrize(
    "schema",
    [{"writeOnly": True}, {"format": "password"}, {"x-redact": True}, {"redact": True}],
    ids=str,
)
def test_the_rule(schema: dict[str, Any]) -> None:
    assert Redacted({"a": 1}, {"properties": {"a": schema}}).value == {"a": HIDDEN}


def test_a_schema_that_refers_to_itself_is_followed_once() -> None:
    node = {"properties": {"next": {"$ref": "#/$defs/Node"}, "word": {"format": "password"}}}
    schema = {
        "$ref": "#/$defs/Node",
        "$defs": {"Node": node | {"allOf": [{"$ref": "#/$defs/Node"}]}},
    }

    arguments = Redacted({"next": {"word": CANARY, "next": {}}}, schema)

    assert arguments.value == {"next": {"word": HIDDEN, "next": {}}}


def test_what_is_hidden_somewhere_is_written_nowhere_for_as_long_as_it_lives(
    tmp_path: Path,
) -> None:
    """But for the fields that say who did what: nobody hides behind an argument of that text."""
    schema = {"properties": {"a": {"writeOnly": True}}}
    arguments = Redacted({"a": "cursor"}, schema)
    secret = Secret(CANARY)
    log = AuditLog(tmp_path)

    log(("begin", {"client": "cursor", "undo": [f"for cursor: {CANARY}"], "names": {CANARY: 1}}))
    del arguments, secret
    log(("end", {"client": "cursor", "undo": ["for cursor"]}))
    log.close()

    _, begin, end, _ = map(json.loads, (log.file or tmp_path).read_text().splitlines())
    assert begin["client"] == end["client"] == "cursor"
    assert begin["undo"] == [f"for {HIDDEN}: {HIDDEN}"]
    assert begin["names"] == {HIDDEN: 1}
    assert end["undo"] == ["for cursor"]


def test_a_short_value_does_not_tear_holes_into_other_texts() -> None:
    arguments = Redacted({"a": "no"}, {"properties": {"a": {"writeOnly": True}}})

    assert arguments.scrub("nobody knows") == "nobody knows"


def test_an_argument_that_one_call_hides_stays_in_the_record_of_another(tmp_path: Path) -> None:
    schema = {"properties": {"word": {"writeOnly": True}}}
    arguments = Redacted({"word": "Lamp"}, schema, "c1")
    log = AuditLog(tmp_path)

    for call in ("c1", "c2"):
        log(("begin", {"call": call, "message": "Delete /World/Lamp?"}))

    assert arguments.hidden
    (file,) = reader.logs(tmp_path)
    _, *begun = reader.read(file).lines()
    messages = [line.fields["message"] for line in begun]
    assert messages == [f"Delete /World/{HIDDEN}?", "Delete /World/Lamp?"]
