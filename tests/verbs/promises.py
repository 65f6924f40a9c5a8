"""What each act of each host promises: one undo step, and a refusal that changes nothing.

Applications run it too: it needs pytest and no more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dcc_bridge.verbs.acts import Acts
from tests.hosts.digests import scene_digest

Edit = Callable[[Acts], Any]


def edited(acts: Acts, *edits: Edit, see: Edit = lambda acts: None) -> Any:
    """Edit in one step that changes the scene, look, and undo: the scene is as it was.

    Gives what was seen, or else what the last edit gave.
    """
    host = acts.host
    before, mark = scene_digest(host), host.undo_mark()
    with host.undo_step("Ours"):
        made = [edit(acts) for edit in edits]
        seen = see(acts)
    after, changed = host.undo_mark(), scene_digest(host)
    host.undo()
    assert (after.depth, after.label) == (mark.depth + 1, "Ours")
    assert changed != before
    assert scene_digest(host) == before
    return made[-1] if seen is None else seen


def refused(acts: Acts, edit: Edit, why: str, kind: type[Exception] = ValueError) -> None:
    """See that an act says why not, and that nothing is changed once its step is taken back."""
    host = acts.host
    before, mark = scene_digest(host), host.undo_mark()
    with pytest.raises(kind, match=why), host.undo_step("Ours"):
        edit(acts)
    while host.undo_mark() != mark:
        host.take_back()
    assert scene_digest(host) == before
