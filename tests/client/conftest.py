"""Tests here may be coroutines."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run them on the loop that the product has."""
    return "asyncio"
