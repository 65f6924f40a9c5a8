"""What all modules of tasks share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.verbs import tasks
from tests.verbs.tasks import Count


@pytest.fixture(scope="module")
def counts(request: pytest.FixtureRequest) -> Iterator[dict[str, Count]]:
    """Count what each task took; ``-s`` shows it."""
    taken: dict[str, Count] = {}
    yield taken
    tasks.tell(request.module.__name__, taken)
