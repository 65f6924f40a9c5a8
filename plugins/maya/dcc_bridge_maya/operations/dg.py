"""Nodes and plugs of Maya, as the operations name them. Main thread.

What is said here of Maya comes from Autodesk's reference of its commands; it was not run in Maya. A
command gives None in place of an empty list, short names where they are unique, and numbers in the
units of the interface.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import islice
from typing import Any, Final

from maya import cmds
from maya.api import OpenMaya

from ..scene import find, is_locked, is_referenced

ask: Any = cmds  # the commands again, where the stubs have a query's type or a flag's wrong
_NAME: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_SEARCHED: Final = 5_000  # names in which near ones are looked for: 20 ms


def node(item: str) -> str:
    """Return a DAG node's long path, or another one's name; LookupError names near ones."""
    try:
        return find(item)
    except LookupError as error:
        if "is no node" not in str(error):
            raise
        names = islice((short(path) for path in ask.ls(transforms=True) or []), _SEARCHED)
        raise LookupError(f"{error}{near(short(item), names)}") from None


def near(name: str, names: Iterable[str]) -> str:
    """Say which names are near, as the end of a sentence, or nothing."""
    matches = get_close_matches(name, dict.fromkeys(names), n=3, cutoff=0.5)
    return f" Near: {', '.join(matches)}." if matches else ""


def short(path: str) -> str:
    """Return a node's own name, with its namespace."""
    return path.rpartition("|")[2]


def above(path: str) -> str | None:
    """Return the path of a node's parent."""
    return path.rpartition("|")[0] or None


def long(name: str) -> str:
    """Return the long path of a node that a command named by a short one."""
    return str(ask.ls(name, long=True)[0])


def valid(name: str) -> str:
    """Return a name as it is; ValueError for one that Maya would change in silence."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not a name: letters, digits, _, with no digit first.")
    return name


def relatives(path: str, **which: Any) -> list[str]:
    """List relatives by their long paths; none for what is not in the DAG."""
    return ask.listRelatives(path, fullPath=True, **which) or [] if path.startswith("|") else []


def shapes(path: str, **which: Any) -> list[str]:
    """List the shapes of a transform, or the shape itself; those that only feed others not."""
    if ask.ls(path, shapes=True):
        return [path]
    return relatives(path, shapes=True, noIntermediate=True, **which)


def places(path: str) -> list[str]:
    """List the nodes whose attributes an item has: itself and its shapes."""
    return list(dict.fromkeys([path, *shapes(path)]))


def of_type(*types: str) -> list[str]:
    """List nodes of types; `ls` raises for a type that no plug-in has loaded."""
    there = [name for name in types if name in set(cmds.allNodeTypes())]
    return ask.ls(type=there, long=True) or [] if there else []


def type_of(path: str) -> str:
    """Name a node's own type."""
    return str(cmds.nodeType(path))


def is_of(path: str, base: str) -> bool:
    """Return whether a node's type derives from another one."""
    return base in (ask.nodeType(path, inherited=True) or [])


def links(name: str, **which: Any) -> list[str]:
    """List the nodes that a node is connected to, or their plugs."""
    return ask.listConnections(name, skipConversionNodes=True, **which) or []


def why_fixed(path: str) -> str:
    """Say why a node can be neither renamed nor deleted, or nothing."""
    if is_referenced(path):
        return "comes from a referenced file"
    if is_locked(path):
        return "is locked"
    cameras = relatives(path, shapes=True, type="camera")
    is_startup = any(cmds.camera(shape, query=True, startupCamera=True) for shape in cameras)
    return "is Maya's own" if is_startup or ask.ls(path, defaultNodes=True) else ""


@contextmanager
def kept() -> Iterator[None]:
    """Keep the selection, which many a command changes, and have its complaint be a ValueError."""
    before = OpenMaya.MGlobal.getActiveSelectionList()
    try:
        yield
    except (RuntimeError, TypeError) as error:
        raise ValueError(str(error).strip()) from error
    finally:
        OpenMaya.MGlobal.setActiveSelectionList(before)


# ---- plugs


def plug(item: str, prop: str) -> str:
    """Return the plug of a property of an item, or of its shape; LookupError names near ones."""
    path = node(item)
    for place in places(path):
        if has(place, prop):
            return f"{place}.{prop}"
    names = (name for place in places(path) for name in ask.listAttr(place) or [])
    raise LookupError(f"{path} has no attribute {prop!r}.{near(prop, names)}")


def has(path: str, prop: str) -> bool:
    """Return whether a node has an attribute, of any depth, or an alias of one."""
    leaf = _leaf(prop)
    return leaf in (ask.aliasAttr(path, query=True) or []) or bool(
        leaf and cmds.attributeQuery(leaf, node=path, exists=True)
    )


def about(plug: str, **what: bool) -> Any:
    """Ask for something of an attribute."""
    path, _, prop = plug.partition(".")
    return ask.attributeQuery(_leaf(prop), node=path, **what)


def _leaf(prop: str) -> str:
    return prop.rpartition(".")[2].partition("[")[0]


def parts(plug: str) -> list[str]:
    """Return the parts of a compound, or the plug itself."""
    names = about(plug, listChildren=True) or []
    above = plug if "[" in plug else plug.partition(".")[0]  # of an element only by its own path
    return [f"{above}.{name}" for name in names] or [plug]


def unit(plug: str) -> float:
    """Return the degrees in one unit of a plug's numbers; 1 for what is no angle."""
    if about(parts(plug)[0], attributeType=True) != "doubleAngle":
        return 1.0
    return degrees()


def degrees() -> float:
    """Return the degrees in one unit of the interface."""
    return 180 / math.pi if str(cmds.currentUnit(query=True, angle=True))[:3] == "rad" else 1.0


def source(plug: str) -> str:
    """Return the plug that leads into one, or into its compound; "" if none does."""
    origin = str(ask.connectionInfo(plug, sourceFromDestination=True) or "")
    # Between attributes of other units Maya puts a node of its own.
    if origin and type_of(origin.partition(".")[0]) == "unitConversion":
        return source(f"{origin.partition('.')[0]}.input")
    return origin


def held(plug: str) -> str:
    """Say why a plain write of a plug would be refused or lost, or nothing.

    A keyed one takes it, and has it only until the frame is another one.
    """
    for part in dict.fromkeys([plug, *parts(plug)]):
        if ask.connectionInfo(part, getLockedAncestor=True):
            return "locked"
        if origin := source(part):
            is_keyed = is_of(origin.partition(".")[0], "animCurve")
            return "keyed" if is_keyed else f"driven by {origin}"
    return ""


def free(plug: str, what: str = "set") -> None:
    """Raise ValueError for a plug that is locked, driven or keyed."""
    if why := held(plug):
        raise ValueError(f"{plug} is {why}, so it cannot be {what}.")


def let_go(plug: str) -> None:
    """Take locks, keys and connections away that hold a plug."""
    for part in dict.fromkeys([plug, *parts(plug)]):
        while locked := ask.connectionInfo(part, getLockedAncestor=True):
            cmds.setAttr(locked, lock=False)
        if held(part) == "keyed":
            cut_keys(part)
        elif origin := ask.connectionInfo(part, sourceFromDestination=True):
            cmds.disconnectAttr(origin, ask.connectionInfo(part, getExactDestination=True) or part)


def cut_keys(plug: str) -> None:
    """Take all keys of a plug; its curve goes with the last of them."""
    path, _, prop = plug.partition(".")
    cmds.cutKey(path, attribute=prop, clear=True)


# ---- numbers


def rotation(matrix: Sequence[float]) -> tuple[float, ...]:
    """Return the angles of a matrix in degrees, about X, Y and Z in this order."""
    turn = OpenMaya.MTransformationMatrix(OpenMaya.MMatrix(matrix)).rotation()
    return tuple(math.degrees(angle) for angle in (turn.x, turn.y, turn.z))


def reordered(angles: Sequence[float], before: int, after: int) -> tuple[float, ...]:
    """Return the angles in degrees that turn the same way in another of Maya's six orders."""
    turn = OpenMaya.MEulerRotation(*(math.radians(angle) for angle in angles), before)
    turn.reorderIt(after)
    return tuple(math.degrees(angle) for angle in (turn.x, turn.y, turn.z))
