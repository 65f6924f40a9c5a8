"""What each act of each host promises: one undo step, and a refusal that changes nothing.

Applications run it too: it needs pytest and no more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import methodcaller
from typing import Any

import pytest

from dcc_bridge.consent.account import told
from tests.hosts.digests import scene_digest
from tests.verbs.every_port import EveryPort

Edit = Callable[[EveryPort], Any]


def call(method: str, *arguments: Any, **named: Any) -> Edit:
    """Return an edit that calls a method of the operations."""
    return methodcaller(method, *arguments, **named)


@contextmanager
def one_step(operations: EveryPort) -> Iterator[None]:
    """See that a block is one step which changes the scene, and that undo takes all of it back."""
    host = operations.host
    before = scene_digest(host)
    mark = host.undo_mark()
    with host.undo_step("Ours"):
        yield
    after = host.undo_mark()
    changed = scene_digest(host)
    host.undo()
    assert after.depth == mark.depth + 1
    assert after.label == "Ours"
    assert changed != before
    assert scene_digest(host) == before


def account_of(operations: EveryPort, edit: Edit) -> str:
    """Return what an agent is told of an edit, which is undone then."""
    now = account_of_kept(operations, edit)
    operations.host.undo()
    return now


def account_of_kept(operations: EveryPort, edit: Edit) -> str:
    """Return what an agent is told of an edit, which stands."""
    host = operations.host
    with host.undo_step("Ours"):
        trial = host.trial()
        assert trial is not None
        edit(operations)
        host.lost(())
        account = trial.account()
    assert account is not None
    return told(account)


def refused(
    operations: EveryPort,
    edit: Edit,
    why: str,
    kind: type[Exception] = ValueError,
    *,
    may_begin: bool = False,
) -> None:
    """See that an act says why not, in a sentence, and that the scene is as it was.

    With `may_begin` it may leave one undo step, which takes back what it began.
    """
    host = operations.host
    before = scene_digest(host)
    mark = host.undo_mark()
    with pytest.raises(kind, match=why) as said, host.undo_step("Ours"):
        edit(operations)
    assert not isinstance(said.value, KeyError)  # it says no more than the key
    assert " " in str(said.value)
    if may_begin and host.undo_mark() != mark:
        host.take_back()
    assert host.undo_mark() == mark
    assert scene_digest(host) == before
