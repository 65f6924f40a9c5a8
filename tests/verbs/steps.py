"""The steps of a batch, as an agent writes them."""

from __future__ import annotations

from typing import Any


def step(verb: str, name: str | None = None, /, **arguments: Any) -> dict[str, Any]:
    """Return a step that calls a verb; later ones refer to it by its name."""
    told: dict[str, Any] = {"do": verb}
    if name is not None:
        told["id"] = name
    if arguments:
        told["with"] = arguments
    return told
