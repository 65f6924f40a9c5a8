"""Two tasks of the acceptance set; ``python -m tests.tasks`` plays all twenty."""

from __future__ import annotations

import pytest

from tests.tasks import usd
from tests.tasks.playing import play
from tests.tasks.task import Task

QUICK = ("animate a camera", "dress a set")


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "task", [it for it in usd.TASKS if it.name in QUICK], ids=lambda it: it.name
)
def test_a_task_is_done_and_undone_and_mistakes_lose_nothing(task: Task) -> None:
    """The outcome is read from the saved file, in a process of its own."""
    row = play(task)

    assert row.wrong == []
    assert row.by == "verbs"
    assert (row.steps, row.slips) == (1, 3)
