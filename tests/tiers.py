"""What the quick run tries of many cases; the long one tries them all."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable
from typing import Any

import pytest

from tests.live import ERAS


def sampled(quick: Collection[Any], *values: Iterable[Any]) -> list[Any]:
    """Give every combination of values as parameters; those not in ``quick`` are marked long.

    Of one parameter alone ``quick`` holds values, of several tuples of them.
    """
    cases = itertools.product(*values)
    return [
        pytest.param(*case, marks=() if quick_case in quick else pytest.mark.long)
        for case in cases
        for quick_case in [case if len(values) > 1 else case[0]]
    ]


def repeated(quick: int, whole: int) -> list[Any]:
    """Give how often the quick run tries something, and how often the long one does."""
    return [quick, pytest.param(whole, marks=pytest.mark.long)]


every_era = pytest.mark.parametrize("era", sampled(ERAS[1:], ERAS))
"""The oldest is in the long run alone: there a question travels as it does in 2025-11-25."""
