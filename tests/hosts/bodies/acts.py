"""The acts of a body, which every kind of body is made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Act:
    """One act of a body.

    Attributes:
        kind: What is done: an edit of the port, or one of those that its kind of body has.
        what: How it is done, and with which items.
        inside: The acts that are done in it.
    """

    kind: str
    what: tuple[str, ...] = ()
    inside: tuple[Act, ...] = ()


Acts = tuple[Act, ...]


def every(acts: Acts) -> Iterator[Act]:
    """Yield acts and all that is in them."""
    for act in acts:
        yield act
        yield from every(act.inside)


def shorter(acts: Acts) -> Iterator[Acts]:
    """Yield the acts without one of them, or with what is in it in its place."""
    for place, act in enumerate(acts):
        before = acts[:place]
        after = acts[place + 1 :]
        yield (*before, *after)
        if act.inside:
            yield (*before, *act.inside, *after)
            for inside in shorter(act.inside):
                yield (*before, replace(act, inside=inside), *after)
