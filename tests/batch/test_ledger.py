"""What the ledger holds where the disk fails, and when a run pauses."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dcc_bridge_batch import ledger
from dcc_bridge_batch.ledger import LedgerError, TaskLedger
from dcc_bridge_batch.plan import Plan
from tests.batch.conftest import write_plan


def failing(*_: object) -> None:
    raise OSError(5, "Input/output error")


def test_where_a_torn_line_cannot_be_cut_off_nothing_is_written_behind_it(
    made: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    with TaskLedger(made, 0) as book:
        book.write(0, "left", why="It is locked.")
        with monkeypatch.context() as broken:
            broken.setattr(os, "fsync", failing)
            broken.setattr(os, "ftruncate", failing)
            with pytest.raises(LedgerError):
                book.write(1, "left", why="It is locked, and that takes a long line to say.")
        with pytest.raises(LedgerError):
            book.write(1, "left", why="Short.")

    with TaskLedger(made, 0) as book:
        book.write(2, "left", why="It goes on.")
    assert ledger.entries(made, 0)[0]["why"] == "It is locked."
    assert ledger.entries(made, 0)[2]["why"] == "It goes on."


@pytest.mark.parametrize(
    ("part", "failed", "is_over"),
    [(0.0, 0, False), (0.0, 1, True), (0.1, 1, False), (0.1, 2, True), (1.0, 4, False)],
)
def test_a_run_pauses_after_so_many_failures(
    tmp_path: Path, part: float, failed: int, is_over: bool
) -> None:
    made = write_plan(tmp_path, 4, failures=part)
    with TaskLedger(made, 0) as book:
        for number in range(failed):
            book.write(number, "failed", why="It is broken.", attempt=1, run="first")

    assert ledger.has_too_many_failures(made, "first") is is_over
