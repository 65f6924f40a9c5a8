"""Properties by name: found, and listed. Main thread."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, Final

import bpy

from dcc_bridge.spi import SCENE, readable

from ..names import custom_keys, name_of, read_custom_keys
from ..part_items import values_of
from .items import require, sockets_of
from .slot import PLAIN_TYPES, ComputedSlot, Slot, bases_of

_Step = tuple[Any, ...]  # a name, an index or a key; None for the two others
_STEP: Final = re.compile(r"""\.?(?:([A-Za-z_]\w*)|\[(\d+)\]|\[["'](.*?)["']\])""")
_AXES: Final = {"x": 0, "y": 1, "z": 2, "w": 3, "r": 0, "g": 1, "b": 2, "a": 3}
_LEFT_OUT: Final = {"use_nodes", "use_extra_user", "is_runtime_data", "tag"}
_SCENE_PARTS: Final = ("render", "view_settings", "eevee", "cycles")
_FIRST: Final = ("location", "rotation_euler", "scale", "hide_viewport", "hide_render", "parent")


# ---- found by name


def slot(item: str, prop: str) -> Slot:
    """Return a property of an item.

    Args:
        item: The item, or `SCENE`.
        prop: A path such as ``data.lens``, ``location.x`` or ``modifiers["Bevel"].width``; the name
            of a custom property; for a node, the name of an input.

    Raises:
        LookupError: There is no such item or property; the error names similar ones.
        ValueError: The input of a node has no value.
    """
    if item == SCENE:
        thing: Any = bpy.context.scene
    else:
        thing = require(item)
    found = _input(item, thing, prop) or _computed(item, thing).get(prop)
    if found is not None:
        return found
    found = slot_at(item, thing, prop)
    if found is None and _steps_of(prop) is None:
        # Not a path, so perhaps the name of a custom property without brackets.
        found = _resolved(item, thing, [(None, None, prop)])
        if found is not None and prop not in found.owner:
            found = None
    if found is None:
        raise LookupError(_no_such(item, thing, prop))
    return found


def _input(item: str, thing: Any, prop: str) -> Slot | None:
    """Return the input of a node, or None; ValueError for one that has no value."""
    if not isinstance(thing, bpy.types.Node):
        return None
    socket = sockets_of(thing.inputs).get(prop)
    if socket is None:
        return None
    if not hasattr(socket, "default_value"):
        raise ValueError(f"{item}: the input {prop!r} has no value, only a connection.")
    return Slot(item, socket, "default_value")


def _computed(item: str, thing: Any) -> dict[str, Slot]:
    """Return the values that no property of Blender's holds in the form that agents set."""
    computed: dict[str, Slot] = {}
    for name, access in values_of(thing).items():
        computed[name] = ComputedSlot(item, thing, name, access=access)
    return computed


def slot_at(item: str, owner: Any, path: str) -> Slot | None:
    """Return the property at a path below a struct of an item; None where there is none."""
    steps = _steps_of(path)
    if steps is None:
        return None
    return _resolved(item, owner, steps)


def _steps_of(prop: str) -> list[_Step] | None:
    """Return the steps of a path, or None for a text that is no path."""
    matches = list(_STEP.finditer(prop))
    text = "".join(match[0] for match in matches)
    if not prop or text != prop:
        return None
    return [match.groups() for match in matches]


def _resolved(item: str, owner: Any, steps: Sequence[_Step]) -> Slot | None:
    """Follow the steps from an owner to a property, or return None."""
    (name, index, key), *rest = steps
    if not rest:
        return _last(item, owner, name, key)
    if len(rest) == 1:
        element = _element(owner, name, rest[0])
        if element >= 0:
            return Slot(item, owner, str(name), element)
    try:
        if name:
            below = getattr(owner, name)
        elif index is not None:
            below = owner[int(index)]
        else:
            below = owner[key]
    except (AttributeError, KeyError, IndexError, TypeError):
        return None
    return _resolved(item, below, rest)


def _element(owner: Any, name: str | None, step: _Step) -> int:
    """Return the element of an array that a step means, or -1."""
    definitions = getattr(owner, "bl_rna", None)
    if definitions is None or not name:
        return -1
    rna = definitions.properties.get(name)
    if not getattr(rna, "is_array", False):
        return -1
    axis, number, _ = step
    index = int(number) if number else _AXES.get(axis, -1)
    if index >= rna.array_length:
        return -1
    return index


def _last(item: str, owner: Any, name: str | None, custom: str | None) -> Slot | None:
    """Return the property that the last step of a path means, or None."""
    if not isinstance(owner, bpy.types.bpy_struct):
        return None
    if name is not None and name in owner.bl_rna.properties:
        return Slot(item, owner, name)
    if not hasattr(owner, "keys"):
        return None
    if custom is not None or name in custom_keys(owner):
        return Slot(item, owner, str(custom or name), is_custom=True)
    return None


def _no_such(item: str, thing: Any, prop: str) -> str:
    """Return the error for a property that is not found, with similar names."""
    names = [name for name in slots(item, thing) if name != prop]
    last = prop.rpartition(".")[2]
    # By its last part first: "width" is meant for the width of a modifier.
    ends = {name.rpartition(".")[2]: name for name in reversed(names)}
    alike = [ends[end] for end in get_close_matches(last, ends, 2, 0.6)]
    alike += get_close_matches(prop, names, 4, 0.5)
    alike += [name for name in names if last in name]
    near = list(dict.fromkeys(alike))[:4]
    hint = " inspect lists them."
    if near and item == SCENE:
        hint = f" Names like it: {', '.join(near)}."
    elif near:
        hint = f" There is {', '.join(near)}."
    return f"{item} has no property {prop!r}.{hint}"


# ---- listed


def slots(item: str, thing: Any) -> dict[str, Slot]:
    """Return the properties of an item that can be set, the most wanted ones first."""
    own = _own(item, thing, "")
    listed = _inputs(item, thing) | _computed(item, thing)
    for name in _FIRST:
        if name in own:
            listed[name] = own[name]
    listed.update(_of_parts(item, thing))
    if item == SCENE:
        own |= _of_scene(item, thing)
    if hasattr(thing, "keys"):
        for key in readable("custom properties", read_custom_keys, thing) or ():
            listed[f'["{key}"]'] = Slot(item, thing, key, is_custom=True)
    return {**listed, **own}


def _of_scene(item: str, scene: Any) -> dict[str, Slot]:
    """Return the properties of how a scene is rendered and looks."""
    listed: dict[str, Slot] = {}
    for name in _SCENE_PARTS:
        part = getattr(scene, name, None)
        if part is not None:
            listed.update(_own(item, part, f"{name}."))
    return listed


def _inputs(item: str, thing: Any) -> dict[str, Slot]:
    """Return the inputs of a node that have a value."""
    if not isinstance(thing, bpy.types.Node):
        return {}
    inputs = {}
    for name, socket in sockets_of(thing.inputs).items():
        if hasattr(socket, "default_value"):
            inputs[name] = Slot(item, socket, "default_value")
    return inputs


def _of_parts(item: str, thing: Any) -> dict[str, Slot]:
    """Return the properties of an object's data and parts, or of a bone at rest."""
    listed: dict[str, Slot] = {}
    if isinstance(thing, bpy.types.PoseBone):
        listed.update(_own(item, thing.bone, "bone."))
    if isinstance(thing, bpy.types.NodesModifier):
        listed.update(_of_nodes(item, thing))
    if not isinstance(thing, bpy.types.Object):
        return listed
    if thing.data is not None:
        listed.update(_own(item, thing.data, "data."))
    for kind in ("modifiers", "constraints"):
        for part in getattr(thing, kind):
            listed.update(_own(item, part, f'{kind}["{name_of(part)}"].'))
    return listed


def _of_nodes(item: str, modifier: Any) -> dict[str, Slot]:
    """Return the inputs of a modifier of geometry nodes; until 5.1 these are custom properties."""
    listed: dict[str, Slot] = {}
    ways = getattr(modifier, "properties", None)
    if ways is None:
        return listed
    for way in ("inputs", "outputs"):
        sockets = getattr(ways, way)
        for rna in sockets.bl_rna.properties:
            if rna.type == "POINTER" and rna.identifier != "rna_type":
                prefix = f"properties.{way}.{rna.identifier}."
                listed.update(_own(item, getattr(sockets, rna.identifier), prefix))
    return listed


def _own(item: str, owner: Any, prefix: str) -> dict[str, Slot]:
    names = [rna.identifier for rna in owner.bl_rna.properties if _is_settable(rna)]
    return {prefix + name: Slot(item, owner, name) for name in names}


def _is_settable(rna: Any) -> bool:
    if rna.is_readonly or rna.identifier in _LEFT_OUT or rna.identifier.startswith("bl_"):
        return False
    if rna.type == "POINTER":
        return "ID" in bases_of(rna.fixed_type)
    return rna.type in PLAIN_TYPES
