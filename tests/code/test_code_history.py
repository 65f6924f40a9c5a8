"""What the history of calls keeps of an agent's code, for the card that the panel shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dcc_bridge.elicitation.secret import Secret
from dcc_bridge.panel import rows
from tests.code.seat import GRID, NO, REMOVES, YES, Seat, Sit
from tests.live import status, text


def facts(live: Seat) -> list[str]:
    """Give what the newest card says."""
    record = next(it for it in live.bridge.recent.records() if it.skill == "run_python")
    return [*rows.facts(record, 50)]


def test_the_history_has_why_code_ran_its_text_its_marks_and_what_it_changed(seat: Sit) -> None:
    live = seat(YES, YES)
    loses = f"{GRID}{REMOVES}\nimport os\n"

    live.ran(loses)

    (record,) = live.bridge.recent.records()
    code = record.effect.code
    assert code is not None
    assert (code.why, code.details.text, code.is_exact) == ("The test wants it.", loses, True)
    assert [line for line, _ in code.details.marks] == [7]
    lines = facts(live)
    assert lines[0] == "test · done · approved in the app"
    assert lines[2].startswith("Marked 1: line 7: imports os")
    assert lines[3].startswith("Created 101: /World/Grid, /World/Grid/c00, ")
    assert lines[3].endswith("/World/Grid/c48, 51 more")
    assert lines[4].startswith("Deleted 3: /World/Props/Tree, ")
    assert "Run 7 lines of code? · approved in the app" in lines
    assert [line for line in lines if line.startswith("The code deletes 2 cubes and 1 xform.")]


@pytest.mark.parametrize(
    ("answer", "code", "outcome"),
    [
        (NO, GRID, "test · declined in the app"),
        (YES, f"{GRID}1 / 0\n", "test · failed, nothing was changed · approved in the app"),
    ],
)
def test_code_that_was_refused_or_failed_is_there_with_its_text_and_without_changes(
    seat: Sit, answer: Any, code: str, outcome: str
) -> None:
    live = seat(answer)

    live.code(code)

    (record,) = live.bridge.recent.records()
    assert record.effect.code is not None
    assert record.effect.code.details.text == code
    assert facts(live)[0] == outcome
    assert not [line for line in facts(live) if line.startswith("Created")]


def test_a_file_that_code_wrote_stands_in_its_card_also_where_it_failed(
    seat: Sit, tmp_path: Path
) -> None:
    live, file = seat(YES), tmp_path / "report.txt"

    live.code(f"open({str(file)!r}, 'w').write('x')\n1 / 0", writes=[str(file)])

    assert f"Wrote 1: {file}" in facts(live)


@pytest.mark.core
def test_code_that_is_undone_is_known_as_undone(seat: Sit) -> None:
    live = seat(YES)
    live.ran(GRID)

    live.call("undo_last")

    live.bridge.recent.follow_undo(live.session)
    assert facts(live)[0].startswith("test · undone by test")
    assert any(line.startswith("Created 101") for line in facts(live))


def test_code_with_a_secret_in_it_is_refused_and_not_kept(seat: Sit) -> None:
    live, secret = seat(YES), Secret("hunter2-hunter2")

    result = live.code(f"key = {secret.reveal()!r}")

    assert status(result) == "failed"
    assert "the code" in text(result)
    assert live.person.shown == []
    assert "hunter2" not in repr(live.bridge.recent.records())


def test_other_clients_and_the_agent_itself_are_not_sent_the_text_again(seat: Sit) -> None:
    live = seat(YES)
    live.ran(GRID)

    listed = text(live.call("recent_calls"))

    assert "UsdGeom" not in listed
    assert "Ran 5 lines of code: 101 created" in listed
