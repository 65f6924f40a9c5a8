"""What each act of each host promises: one undo step, and a refusal that changes nothing.

Applications run it too: it needs pytest and no more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from dcc_bridge.verbs.acts import Acts
from tests.hosts.digests import scene_digest

Edit = Callable[[Acts], Any]


@contextmanager
def one_step(acts: Acts) -> Iterator[None]:
    """See that a block is one step which changes the scene, and that undo takes all of it back."""
    host = acts.host
    before, mark = scene_digest(host), host.undo_mark()
    with host.undo_step("Ours"):
        yield
    after, changed = host.undo_mark(), scene_digest(host)
    host.undo()
    assert (after.depth, after.label) == (mark.depth + 1, "Ours")
    assert changed != before
    assert scene_digest(host) == before


def refused(acts: Acts, edit: Edit, why: str, kind: type[Exception] = ValueError) -> None:
    """See that an act says why not, and that nothing is changed once its step is taken back."""
    host = acts.host
    before, mark = scene_digest(host), host.undo_mark()
    with pytest.raises(kind, match=why), host.undo_step("Ours"):
        edit(acts)
    while host.undo_mark() != mark:
        host.take_back()
    assert scene_digest(host) == before
