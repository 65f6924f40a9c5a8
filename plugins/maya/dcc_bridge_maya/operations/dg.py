"""Nodes and plugs of Maya, as the operations name them. Main thread.

All statements about Maya come from Autodesk's reference of its commands; none was run in Maya. A
command returns None in place of an empty list, short names if they are unique, and numbers in the
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

ask: Any = cmds  # for calls whose types are wrong in the stubs
_NAME: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_MAX_SEARCHED: Final = 5_000  # names that are compared with an unknown name, in 20 ms


def node(item: str) -> str:
    """Return a DAG node's long path, or another node's name.

    Raises:
        LookupError: There is no such node, or there are several. The message names near ones.
    """
    try:
        return find(item)
    except LookupError as error:
        if "is no node" not in str(error):
            raise
        names = islice((short_name(path) for path in ask.ls(transforms=True) or []), _MAX_SEARCHED)
        raise LookupError(f"{error}{near(short_name(item), names)}") from None


def near(name: str, names: Iterable[str]) -> str:
    """Return a sentence with names that are similar to a name, after a space; "" if none is."""
    matches = get_close_matches(name, dict.fromkeys(names), n=3, cutoff=0.5)
    return f" Names like it: {', '.join(matches)}." if matches else ""


def short_name(path: str) -> str:
    """Return a node's own name, with its namespace."""
    return path.rpartition("|")[2]


def parent_of(path: str) -> str | None:
    """Return the path of a node's parent; None if it has none."""
    return path.rpartition("|")[0] or None


def long_path(name: str) -> str:
    """Return the long path of a node that a command has named by its short name."""
    return str(ask.ls(name, long=True)[0])


def valid_name(name: str) -> str:
    """Return a name unchanged; ValueError for a name that Maya would change in silence."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not a name: letters, digits, _, with no digit first.")
    return name


def relatives(path: str, **which: Any) -> list[str]:
    """Return the long paths of relatives; [] for a node that is not in the DAG."""
    if not path.startswith("|"):
        return []
    return ask.listRelatives(path, fullPath=True, **which) or []


def shapes(path: str, **which: Any) -> list[str]:
    """Return the shapes of a transform except intermediate ones; of a shape the shape itself."""
    if ask.ls(path, shapes=True):
        return [path]
    return relatives(path, shapes=True, noIntermediate=True, **which)


def attribute_nodes(path: str) -> list[str]:
    """Return the nodes whose attributes an item has: the node itself and its shapes."""
    return list(dict.fromkeys([path, *shapes(path)]))


def nodes_of_type(*types: str) -> list[str]:
    """Return the nodes of some types; types that Maya has not loaded are ignored."""
    loaded = set(cmds.allNodeTypes())
    present = [name for name in types if name in loaded]  # `ls` raises for any other type
    if not present:
        return []
    return ask.ls(type=present, long=True) or []


def type_of(path: str) -> str:
    """Return a node's own type."""
    return str(cmds.nodeType(path))


def is_of(path: str, base: str) -> bool:
    """Return whether a node's type derives from another one."""
    return base in (ask.nodeType(path, inherited=True) or [])


def links(name: str, **which: Any) -> list[str]:
    """Return the nodes that a node or plug is connected to, or their plugs."""
    return ask.listConnections(name, skipConversionNodes=True, **which) or []


def why_fixed(path: str) -> str:
    """Return why a node cannot be renamed or deleted; "" if it can."""
    if is_referenced(path):
        return "comes from a referenced file"
    if is_locked(path):
        return "is locked"
    cameras = relatives(path, shapes=True, type="camera")
    is_startup = any(cmds.camera(shape, query=True, startupCamera=True) for shape in cameras)
    if is_startup or ask.ls(path, defaultNodes=True):
        return "is Maya's own"
    return ""


@contextmanager
def restored_selection() -> Iterator[None]:
    """Restore the selection after the block, because many commands change it.

    Raises:
        ValueError: A command in the block failed. The message is Maya's.
    """
    before = OpenMaya.MGlobal.getActiveSelectionList()
    try:
        yield
    except (RuntimeError, TypeError) as error:
        raise ValueError(str(error).strip()) from error
    finally:
        OpenMaya.MGlobal.setActiveSelectionList(before)


# ---- plugs


def plug(item: str, prop: str) -> str:
    """Return the plug of a property of an item or of its shape.

    Raises:
        LookupError: There is no such node or attribute. The message names near ones.
    """
    path = node(item)
    owners = attribute_nodes(path)
    for owner in owners:
        if has(owner, prop):
            return f"{owner}.{prop}"
    names = list[str]()
    for owner in owners:
        names += ask.listAttr(owner) or []
    raise LookupError(f"{path} has no attribute {prop!r}.{near(prop, names)}")


def has(path: str, prop: str) -> bool:
    """Return whether a node has an attribute of any depth, or an alias of that name."""
    leaf = _leaf(prop)
    if leaf in (ask.aliasAttr(path, query=True) or []):
        return True
    if not leaf:
        return False
    return bool(cmds.attributeQuery(leaf, node=path, exists=True))


def about(plug: str, **what: bool) -> Any:
    """Return Maya's answer to a query about a plug's attribute, by the flags of the command."""
    path, _, prop = plug.partition(".")
    return ask.attributeQuery(_leaf(prop), node=path, **what)


def _leaf(prop: str) -> str:
    """Return the last name of a property without its index: "b" of "a[1].b[2]"."""
    return prop.rpartition(".")[2].partition("[")[0]


def parts(plug: str) -> list[str]:
    """Return the plugs of a compound's parts, or the plug itself."""
    names = about(plug, listChildren=True) or []
    # Only the part of an array's element needs the path of the element.
    owner = plug if "[" in plug else plug.partition(".")[0]
    return [f"{owner}.{name}" for name in names] or [plug]


def unit(plug: str) -> float:
    """Return the degrees in one unit of a plug's numbers; 1 for a plug that is no angle."""
    if about(parts(plug)[0], attributeType=True) != "doubleAngle":
        return 1.0
    return degrees()


def degrees() -> float:
    """Return the degrees in one unit of the interface."""
    angle_unit = str(cmds.currentUnit(query=True, angle=True))
    return 180 / math.pi if angle_unit.startswith("rad") else 1.0


def source(plug: str) -> str:
    """Return the plug that is connected into a plug or its compound; "" if none is."""
    origin = str(ask.connectionInfo(plug, sourceFromDestination=True) or "")
    name = origin.partition(".")[0]
    # Maya puts a node of its own between attributes of different units.
    if origin and type_of(name) == "unitConversion":
        return source(f"{name}.input")
    return origin


def lock_reason(plug: str) -> str:
    """Return why Maya would refuse or lose a plain write of a plug; "" if a write lasts.

    A keyed plug takes a value, but has it only until the frame changes.
    """
    for part in dict.fromkeys([plug, *parts(plug)]):
        if ask.connectionInfo(part, getLockedAncestor=True):
            return "locked"
        origin = source(part)
        if origin:
            is_keyed = is_of(origin.partition(".")[0], "animCurve")
            return "keyed" if is_keyed else f"driven by {origin}"
    return ""


def check_free(plug: str, what: str = "set") -> None:
    """Raise ValueError for a plug that is locked, driven or keyed, and so cannot be `what`."""
    reason = lock_reason(plug)
    if reason:
        raise ValueError(f"{plug} is {reason}, so it cannot be {what}.")


def release(plug: str) -> None:
    """Remove the locks, keys and connections that lock a plug."""
    for part in dict.fromkeys([plug, *parts(plug)]):
        while locked := ask.connectionInfo(part, getLockedAncestor=True):
            cmds.setAttr(locked, lock=False)
        if lock_reason(part) == "keyed":
            cut_keys(part)
            continue
        origin = ask.connectionInfo(part, sourceFromDestination=True)
        if origin:
            target = ask.connectionInfo(part, getExactDestination=True) or part
            cmds.disconnectAttr(origin, target)


def cut_keys(plug: str) -> None:
    """Remove all keys of a plug, and with the last key its curve."""
    path, _, prop = plug.partition(".")
    cmds.cutKey(path, attribute=prop, clear=True)


# ---- numbers


def rotation(matrix: Sequence[float]) -> tuple[float, ...]:
    """Return the rotation of a matrix in degrees, about X, Y and Z in this order."""
    turn = OpenMaya.MTransformationMatrix(OpenMaya.MMatrix(matrix)).rotation()
    return tuple(math.degrees(angle) for angle in (turn.x, turn.y, turn.z))


def reordered(angles: Sequence[float], before: int, after: int) -> tuple[float, ...]:
    """Return the same rotation in another order.

    Args:
        angles: The angles about X, Y and Z in degrees.
        before: Their order, as the number that `rotateOrder` has.
        after: The order of the angles to return.
    """
    turn = OpenMaya.MEulerRotation(*(math.radians(angle) for angle in angles), before)
    turn.reorderIt(after)
    return tuple(math.degrees(angle) for angle in (turn.x, turn.y, turn.z))
