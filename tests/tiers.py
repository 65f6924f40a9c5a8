"""What the quick run tries of many cases; the long one tries them all."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable
from typing import Any

import pytest


def sampled(quick: Collection[tuple[Any, ...]], *values: Iterable[Any]) -> list[Any]:
    """Give every combination of values as parameters; those not in ``quick`` are marked long."""
    return [
        case if case in quick else pytest.param(*case, marks=pytest.mark.long)
        for case in itertools.product(*values)
    ]
