"""Each run of code collects garbage twice: here what other tests have left is none of it."""

from __future__ import annotations

import gc

import pytest


@pytest.fixture(scope="module", autouse=True)
def frozen() -> None:
    """Have only what a module's own tests make looked at, as a host does that was idle once."""
    gc.collect()
    gc.freeze()
