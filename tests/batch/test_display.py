"""What a progress says of the time that remains."""

from __future__ import annotations

from typing import cast

import pytest
from rich.progress import Task

from dcc_bridge_batch import display


class Run:
    """What a progress knows of a run."""

    def __init__(self, elapsed: float | None, remaining: float | None, finished: bool) -> None:
        self.elapsed = elapsed
        self.time_remaining = remaining
        self.finished = finished


@pytest.mark.parametrize(
    ("elapsed", "remaining", "expected"),
    [
        (None, None, "remaining time not known yet"),
        (5.0, None, "remaining time not known yet"),
        (5.0, 3600.0, "remaining time not known yet"),
        (5.0, 4.0, "about 5 s to go"),
        (30.0, 42.0, "about 40 s to go"),
        (30.0, 89.0, "about 90 s to go"),
        (30.0, 600.0, "about 10 min to go"),
        (30.0, 5399.0, "about 90 min to go"),
        (30.0, 9000.0, "about 2.5 h to go"),
    ],
)
def test_a_remaining_time_is_told_once_the_speed_is_known_and_no_finer_than_that(
    elapsed: float | None, remaining: float | None, expected: str
) -> None:
    run = cast(Task, Run(elapsed, remaining, False))

    assert display._Remaining().render(run).plain == expected


def test_a_run_that_is_over_has_no_remaining_time() -> None:
    assert display._Remaining().render(cast(Task, Run(60.0, 0.0, True))).plain == ""
