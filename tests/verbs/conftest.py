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
