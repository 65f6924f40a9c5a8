"""Each run of code collects garbage twice: here what other tests have left is none of it."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.code.seat import Seat, Sit


@pytest.fixture(scope="module", autouse=True)
def frozen() -> None:
    """Have only what a module's own tests make looked at, as a host does that was idle once."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def seat(tmp_path: Path) -> Iterator[Sit]:
    """Give what starts our application with a person who answers as is said."""
    seats: list[Seat] = []

    def sit(*answers: Any, **settings: Any) -> Seat:
        seats.append(Seat(tmp_path, *answers, **settings))
        return seats[-1]

    yield sit
    for one in seats:
        one.stop()
        one.uninstall()
