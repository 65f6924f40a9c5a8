"""A few nested names and values in YAML, for a person to paste. Any thread."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any


def yaml(data: Mapping[str, Any]) -> str:
    """Write it; what is no mapping is written as JSON, which YAML contains."""
    return "\n".join(_lines(data, ""))


def _lines(data: Mapping[str, Any], margin: str) -> Iterator[str]:
    for key, value in data.items():
        if isinstance(value, Mapping) and value:
            yield f"{margin}{key}:"
            yield from _lines(value, margin + "  ")
        else:
            yield f"{margin}{key}: {json.dumps(value)}"
