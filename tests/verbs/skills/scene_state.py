"""What only a test wants to know of a scene."""

from __future__ import annotations

import sys
from collections.abc import Callable
from inspect import isabstract
from pathlib import Path
from typing import Any, Final

from dcc_bridge import skill
from dcc_bridge.elicitation.context import current_context

sys.path.append(str(Path(__file__).parents[3]))  # where the host has none of our packages

from dcc_bridge.verbs.operations import HostOperations
from tests.hosts.digests import scene_digest, shape_of

EDITS: Final = (
    *("create", "place", "duplicate", "set_value", "set_parent", "collect", "material", "assign"),
    *("connect", "cut", "set_keys", "rename", "apply", "delete"),
)
patched: list[tuple[type, str, Any]] = []
fails_at = 0
done = 0


@skill(risk="read")
def scene_state() -> dict[str, Any]:
    """Digest the scene, and tell how deep the undo stack is."""
    installed = current_context()
    assert installed is not None
    host = installed.host
    return {"digest": scene_digest(host), "depth": host.undo_mark().depth}


@skill(risk="read")
def shapes_of(items: list[str]) -> dict[str, Any]:
    """Tell which data each item shows: those of instances are the same."""
    installed = current_context()
    assert installed is not None
    return {"shapes": [shape_of(installed.host, item) for item in items]}


@skill(risk="read")
def fail_at(number: int) -> dict[str, int]:
    """Have the host fall over after so many operations from now on, at none for 0; -1 ends that.

    Gives how many were done since the last time.
    """
    global fails_at, done
    fails_at = number
    before = done
    done = 0
    while number < 0 and patched:
        setattr(*patched.pop())
    if number >= 0 and not patched:
        hosts = [it for it in _below(HostOperations) if not isabstract(it)]
        every = [(it, name) for it in hosts for name in EDITS if hasattr(it, name)]
        patched.extend((kind, name, getattr(kind, name)) for kind, name in every)
        for kind, name, act in patched:
            setattr(kind, name, _failing(act))
    return {"done": before}


def _below(kind: type) -> list[type]:
    below = kind.__subclasses__()
    return list(dict.fromkeys([*below, *(it for each in below for it in _below(each))]))


def _failing(act: Callable[..., Any]) -> Callable[..., Any]:
    def then_fail(*arguments: Any, **named: Any) -> Any:
        global done
        result = act(*arguments, **named)
        done += 1
        if done == fails_at:
            raise RuntimeError("the host fell over")
        return result

    return then_fail
