"""No answer is larger than the client's model can take in, and each says what it leaves out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from mcp_types import CallToolResult

from dcc_bridge import skill
from dcc_bridge.server.answer_size import fitted, fitted_string, fitted_text, size
from dcc_bridge.skills.described import Described
from tests.live import ERAS, live, status, text

MOST = 40_000
ROWS: list[dict[str, Any]] = [{"item": f"/World/Box_{n}", "size": n} for n in range(5000)]
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(99)
Counted = Annotated[
    Any,
    Described({"type": "object", "properties": {"found": {"type": "integer"}}}),
]
LONG: dict[str, Any] = {
    "a text": "first " + "word " * 100_000 + "last",
    "a text of quotes": '"\n' * 100_000,
    "a text in Greek": "\u03b1" * 100_000,
    "numbers": list(range(100_000)),
    "rows": ROWS,
    "an answer of a verb": {"found": 5000, "rows": ROWS},
    "many members": {f"property {n}": n for n in range(50_000)},
    "long names": {"n" * 3000 + str(n): n for n in range(100)},
    "deep": {"a": {"b": [{"c": "word " * 30_000}] * 20}},
    "long and short": {"short": "here", "long": ["x" * 100] * 2000, "number": 7},
}


def sent(result: CallToolResult) -> int:
    """Return how many bytes the client gets."""
    return len(result.model_dump_json(exclude_none=True, by_alias=True))


@pytest.mark.parametrize("what", LONG)
@pytest.mark.parametrize("room", [4000, MOST])
def test_any_value_is_cut_to_a_size(what: str, room: int) -> None:
    told = fitted_text(LONG[what], room)

    assert size(told) <= room
    assert size(told) > room * 0.5


def test_what_is_short_enough_is_told_as_it_is() -> None:
    assert json.loads(fitted_text({"a": [1, "x"]}, 4000)) == {"a": [1, "x"]}


def test_a_long_text_keeps_its_head_and_its_tail_and_counts_the_rest() -> None:
    told = fitted_string("first " + "word " * 10_000 + "last", 1000)

    head, mark, tail = told.split("\n")
    assert head.startswith("first word")
    assert tail.endswith("word last")
    left_out = int(mark.split()[1].replace(",", ""))
    assert len(head) + left_out + len(tail) == 50_010


def test_a_text_that_was_cut_before_counts_all_that_is_left_out() -> None:
    once = fitted_string("x" * 100_000, 20_000)
    twice = fitted_string(once, 1000)

    left_out = int(twice.split("\n")[1].split()[1].replace(",", ""))
    assert twice.count("left out") == 1
    assert left_out + twice.count("x") == 100_000


def test_what_is_small_stays_whole_beside_what_is_long() -> None:
    told = json.loads(fitted_text(LONG["long and short"], 4000))

    assert (told["short"], told["number"]) == ("here", 7)
    assert told["long"][-1] == f"… {2000 - len(told['long']) + 1:,} more"
    assert told["cut"].startswith("2")


def test_an_answer_of_a_verb_counts_its_rows() -> None:
    made = fitted({"found": 5000, "rows": ROWS, "rows_left_out": 10}, 4000)
    listed = fitted({"found": 5000, "listed": 5000, "rows": ROWS}, 4000)

    assert made["rows"] == ROWS[: len(made["rows"])]
    assert made["rows_left_out"] == 5010 - len(made["rows"])
    assert listed["listed"] == len(listed["rows"])


def test_many_large_rows_are_all_there_and_each_is_shortened() -> None:
    items = [{"item": f"m{n}", "values": {f"p{k}": k for k in range(500)}} for n in range(20)]
    told = json.loads(fitted_text({"items": items}, MOST))

    assert [row["item"] for row in told["items"]] == [f"m{n}" for n in range(20)]
    assert all(row["values"]["…"].endswith(" more") for row in told["items"])


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("what", LONG)
def test_no_answer_is_sent_that_is_larger(era: str, what: str, tmp_path: Path) -> None:
    @skill(risk="read")
    def give() -> Any:
        return LONG[what]

    @skill(risk="read")
    def fail() -> Any:
        raise ValueError(str(LONG[what]))

    with live(tmp_path, give, fail) as running:
        given = running.call("give", era=era)
        failed = running.call("fail", era=era)

    assert not given.is_error
    assert sent(given) <= MOST
    assert failed.is_error
    assert sent(failed) <= MOST


class Report(TypedDict):
    name: str
    rows: list[int]


def test_a_result_with_a_schema_still_fits_it(tmp_path: Path) -> None:
    @skill(risk="read")
    def report() -> Report:
        return {"name": "x" * 50_000, "rows": list(range(50_000))}

    with live(tmp_path, report) as running:
        result = running.call("report")

    assert sent(result) <= MOST
    told = result.structured_content
    assert told is not None
    assert told.keys() == {"name", "rows"}
    assert told["rows"] == list(range(len(told["rows"])))
    assert json.loads(result.content[0].text) == told  # type: ignore[union-attr]  # a text
    assert "its long lists and texts are cut" in result.content[1].text  # type: ignore[union-attr]  # the same


def test_what_cannot_be_shortened_is_an_error_that_says_the_size(tmp_path: Path) -> None:
    @skill(risk="read")
    def report() -> dict[str, dict[str, int]]:
        return {"n" * 3000 + str(n): {"a": n} for n in range(100)}

    with live(tmp_path, report) as running:
        result = running.call("report")

    assert result.is_error
    assert "and no part of it can be left out" in text(result)


def test_an_answer_that_is_described_is_cut_alike_in_its_text_and_its_data(tmp_path: Path) -> None:
    @skill(risk="read")
    def report() -> Counted:
        return [{"found": 5000, "rows": [{"item": f"/item_{n}"} for n in range(5000)]}, PICTURE]

    with live(tmp_path, report) as running:
        result = running.call("report")

    told = result.structured_content
    assert told is not None
    assert json.loads(result.content[0].text) == told  # type: ignore[union-attr]
    assert len(told["rows"]) + told["rows_left_out"] == told["found"] == 5000
    assert [part.type for part in result.content] == ["text", "image", "text"]
    assert sent(result) <= MOST + 2 * len(PICTURE)


def test_the_studio_may_choose_another_size(tmp_path: Path) -> None:
    @skill(risk="read")
    def give() -> str:
        return "word " * 10_000

    with live(tmp_path, give, answer_bytes=5000) as running:
        result = running.call("give")

    assert sent(result) <= 5000
    assert status(result) == "done"
    assert text(result).endswith("word ")
