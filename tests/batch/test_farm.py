"""A farm's workers share a folder: each writes the ledger of its own tasks, all at once."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dcc_bridge_batch import outcome
from tests.batch import workers
from tests.batch.conftest import write_plan

if sys.platform == "win32":
    pytest.skip("Windows has neither fork nor such a signal", allow_module_level=True)

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(300),
    pytest.mark.usefixtures("new_interpreter"),
]


def test_a_ledger_is_exact_where_a_hundred_workers_write_at_once_and_half_are_killed(
    tmp_path: Path,
) -> None:
    read = write_plan(tmp_path, 5_000)

    killed = workers.crowd(read, kills=50)
    first = outcome.totals(read)
    workers.crowd(read)

    assert killed == 50
    assert not first.is_over
    assert first.states["done"] >= 100
    assert workers.inexact(read) == []
    assert outcome.totals(read).states == {"done": 5_000}
