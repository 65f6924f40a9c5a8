"""What several modules of tests of the verbs need."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.verbs.studio import OpenStudio, Studio, studio


@pytest.fixture
def open_studio(tmp_path: Path) -> Iterator[OpenStudio]:
    """Return what runs a bridge until the test ends; the person gives the answers in turn."""
    with ExitStack() as running:

        def opened(*answers: Any, **more: Any) -> Studio:
            return running.enter_context(studio(tmp_path, *answers, **more))

        yield opened


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with studio(tmp_path_factory.mktemp("studio")) as running:
        yield running


@pytest.fixture
def scene(running: Studio) -> Iterator[Studio]:
    """Return the scene as it is at first, whatever a test did."""
    depth = len(running.host.labels)
    yield running
    while len(running.host.labels) > depth:
        running.host.undo()
