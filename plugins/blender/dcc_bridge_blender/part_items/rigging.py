"""Modifiers, constraints, bones, vertex groups and shape keys. Main thread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

import bpy

from ..names import name_of
from . import vertices
from .kind import Access, PartKind, by_name, ending, named, of_type

_MODIFIER: Final = "_MODIFIER"
_CONSTRAINT: Final = "_CONSTRAINT"
_BASIS: Final = "Basis"  # the shape key that the others differ from


# ---- modifiers and constraints


def _modifiers(owner: Any) -> dict[str, Any]:
    if not isinstance(owner, bpy.types.Object):
        return {}
    return by_name(owner.modifiers)


def _make_modifier(thing: Any, kind: str, name: str | None) -> str:
    modifier = thing.modifiers.new(name or "", kind)  # without a name, Blender's own
    if modifier is None:
        raise ValueError(f"a {thing.type} takes no {kind}{_MODIFIER}")
    return name_of(modifier)


def _clone_modifier(thing: Any, modifier: Any) -> str:
    """Copy a modifier behind itself, with what no value tells, such as a curve that is drawn."""
    name = name_of(modifier)
    before = set(_modifiers(thing))
    context: Any = bpy.context
    with context.temp_override(object=thing):
        try:
            bpy.ops.object.modifier_copy(modifier=name)
        except RuntimeError as error:
            raise ValueError(str(error).strip()) from error
    for other, copy in _modifiers(thing).items():
        if other not in before:
            copy.name = name  # 3.4 takes that of the type; Blender numbers it
            return name_of(copy)
    raise ValueError("Blender does not copy it")


def _remove_modifiers(thing: Any, modifiers: Sequence[Any]) -> None:
    _check_not_inherited(modifiers)
    for modifier in modifiers:
        thing.modifiers.remove(modifier)


def _check_not_inherited(parts: Sequence[Any]) -> None:
    """Raise ValueError for parts of a library override that come again with its file."""
    inherited: list[str] = []
    for part in parts:
        override = part.id_data.override_library
        if override is None or override.reference is None:
            continue
        with suppress(ValueError):  # `is_override_data` is wrong for constraints in 3.4
            override.reference.path_resolve(part.path_from_id())
            inherited.append(name_of(part))
    if inherited:
        raise ValueError(f"{', '.join(inherited)} is the library's: turn it off in place of that")


def _constraints(owner: Any) -> dict[str, Any]:
    """Return the constraints of an object, or of a bone."""
    if not isinstance(owner, bpy.types.Object | bpy.types.PoseBone):
        return {}
    return by_name(owner.constraints)


def _make_constraint(owner: Any, kind: str, name: str | None) -> str:
    try:
        constraint = owner.constraints.new(kind)
    except (RuntimeError, TypeError) as error:
        raise ValueError(f"it takes no {kind}{_CONSTRAINT}: {str(error).strip()}") from error
    if name:
        constraint.name = name
    return name_of(constraint)


def _clone_constraint(owner: Any, constraint: Any) -> str:
    return name_of(owner.constraints.copy(constraint))


def _remove_constraints(owner: Any, constraints: Sequence[Any]) -> None:
    _check_not_inherited(constraints)
    for constraint in constraints:
        owner.constraints.remove(constraint)


def _words_of_constraint(constraint: Any) -> str:
    """Return the words for a constraint; one of a bone is told with the bone."""
    words = f"constraint {name_of(constraint)}"
    thing = constraint.id_data
    if thing.pose is not None:
        for bone in thing.pose.bones:
            if constraint in list(bone.constraints):
                return f"{words} of bone {name_of(bone)}"
    return words


# ---- bones: their rest is edited in edit mode, and all else as Blender shows it in a pose


def _bones(owner: Any) -> dict[str, Any]:
    if not isinstance(owner, bpy.types.Object) or owner.pose is None:
        return {}
    return by_name(owner.pose.bones)


@contextmanager
def _editing(thing: Any) -> Iterator[Any]:
    """Yield the bones of an armature in its edit mode; the mode and the active object come back.

    Raises:
        ValueError: The armature is in edit mode already, or cannot be.
    """
    layer: Any = bpy.context.view_layer
    vertices.check_own(thing)
    if thing.data.is_editmode:
        raise ValueError(f"{name_of(thing)} is in edit mode: leave it first")
    if not thing.visible_get():
        layer.update()  # an armature that was created in this step is shown from then on
    if layer.objects.get(thing.name) != thing or not thing.visible_get():
        raise ValueError(f"{name_of(thing)} is hidden: its bones can be edited once it is shown")
    active = layer.objects.active
    mode = thing.mode
    # Modes of selected armatures are set along.
    others = [each for each in layer.objects.selected if each != thing and each.type == thing.type]
    for each in others:
        each.select_set(False)
    layer.objects.active = thing
    try:
        bpy.ops.object.mode_set(mode="EDIT")
        try:
            yield thing.data.edit_bones
        finally:
            bpy.ops.object.mode_set(mode=mode)
    finally:
        layer.objects.active = active
        for each in others:
            each.select_set(True)


def _make_bone(owner: Any, kind: str, name: str | None) -> str:
    """Create a bone; below another one it is its child and begins where that one ends."""
    thing = owner.id_data
    if thing.type != "ARMATURE":
        raise ValueError(f"a {thing.type} has no bones, only an ARMATURE has")
    parent = name_of(owner) if isinstance(owner, bpy.types.PoseBone) else None
    with _editing(thing) as bones:
        bone = bones.new(name or "Bone")
        bone.tail = (0.0, 0.0, 1.0)
        if parent is not None:
            bone.parent = bones[parent]
            bone.head = bone.parent.tail
            bone.tail = bone.parent.tail + (bone.parent.tail - bone.parent.head)
        made = name_of(bone)
    return made


_POSED: Final = (
    *("rotation_mode", "location", "rotation_quaternion", "rotation_axis_angle"),
    *("rotation_euler", "scale"),
)


def _clone_bone(thing: Any, pose: Any) -> str:
    """Copy a bone beside itself, with its place, constraints and custom properties.

    Its keys, drivers and children stay its own, and so does the vertex group that it moves.
    """
    name = name_of(pose)
    with _editing(thing) as bones:
        active = bones.active
        selected = {bone: (bone.select, bone.select_head, bone.select_tail) for bone in bones}
        for bone in bones:
            _select(bone, is_selected=False)
        _select(bones[name], is_selected=True)
        if bones[name].use_connect:  # its head is the tail of its parent
            bones[name].parent.select_tail = True
        before = set(bones)
        bpy.ops.armature.duplicate(do_flip_names=False)
        made = [bone.name for bone in bones if bone not in before]
        for copied in made:
            bones[copied].use_connect = bones[name].use_connect  # Blender frees a copy
        for bone in bones:
            _select(bone, is_selected=False)
        for bone, (body, head, tail) in selected.items():
            bone.select = body
            bone.select_head = head
            bone.select_tail = tail
        bones.active = active
    if not made:
        raise ValueError("Blender copies only bones that it shows in edit mode")
    own = thing.pose.bones[name]
    copy = thing.pose.bones[made[0]]
    for value in _POSED:
        setattr(copy, value, getattr(own, value))
    return str(made[0])


def _select(bone: Any, *, is_selected: bool) -> None:
    bone.select = is_selected
    bone.select_head = is_selected
    bone.select_tail = is_selected


def _remove_bones(thing: Any, poses: Sequence[Any]) -> None:
    names = [name_of(bone) for bone in poses]
    with _editing(thing) as bones:
        for name in names:
            bones.remove(bones[name])


def _at_rest(name: str) -> Access:
    """Return the access to an end of a bone at rest, in the space of the armature.

    A head that is put where the tail is takes the tail along.
    """

    def read(pose: Any) -> list[float]:
        return [round(number, 6) + 0.0 for number in getattr(pose.bone, f"{name}_local")]

    def write(pose: Any, value: Any) -> None:
        place = vertices.point(value, name)
        bone_name = pose.name
        with _editing(pose.id_data) as bones:
            bone = bones[bone_name]
            along = bone.tail - bone.head
            setattr(bone, name, place)
            if bone.length < _SHORTEST and name == "tail":
                bone.tail = bone.head + along
                raise ValueError("tail is where the head is: Blender drops such a bone")
            if bone.length < _SHORTEST:  # the tail is to be set next
                bone.tail = bone.head + along

    return Access(read, write)


_SHORTEST: Final = 1e-6  # of a bone: Blender removes a shorter one as edit mode ends


def _read_roll(pose: Any) -> float:
    _, roll = bpy.types.Bone.AxisRollFromMatrix(pose.bone.matrix_local.to_3x3())
    return vertices.degrees(roll)


def _write_roll(pose: Any, value: Any) -> None:
    roll = vertices.radians(value, "roll")
    name = pose.name
    with _editing(pose.id_data) as bones:
        bones[name].roll = roll


def _read_parent(pose: Any) -> str | None:
    return name_of(pose.parent) if pose.parent is not None else None


def _write_parent(pose: Any, value: Any) -> None:
    """Put a bone below another one of its armature, by the name of that; None for none."""
    name = pose.name
    others = pose.id_data.pose.bones
    parent = None
    if value:
        parent = str(value).rpartition("/bone:")[2]
        if parent not in others:
            raise ValueError(f"parent is the name of another bone, and {value!r} is none")
        if parent == name or others[parent] in pose.children_recursive:
            raise ValueError(f"{value!r} is the bone itself or below it")
    with _editing(pose.id_data) as bones:
        bones[name].parent = bones[parent] if parent else None


def _read_connect(pose: Any) -> bool:
    return bool(pose.bone.use_connect)


def _write_connect(pose: Any, value: Any) -> None:
    if not isinstance(value, bool):
        raise ValueError(f"use_connect takes true or false, and not {value!r}")
    if value and pose.parent is None:
        raise ValueError("use_connect needs a parent")
    name = pose.name
    with _editing(pose.id_data) as bones:
        bone = bones[name]
        bone.use_connect = value


_BONE_VALUES: Final = {
    "head": _at_rest("head"),
    "tail": _at_rest("tail"),
    "roll": Access(_read_roll, _write_roll),
    "parent": Access(_read_parent, _write_parent),
    "use_connect": Access(_read_connect, _write_connect),
}


# ---- vertex groups and shape keys


def _vertex_groups(owner: Any) -> dict[str, Any]:
    return by_name(owner.vertex_groups) if isinstance(owner, bpy.types.Object) else {}


def _make_vertex_group(thing: Any, kind: str, name: str | None) -> str:
    if thing.type not in vertices.GROUPED:
        raise ValueError(f"a {thing.type} has no vertex groups")
    vertices.check_own(thing)
    return name_of(thing.vertex_groups.new(name=name or "Group"))


def _remove_vertex_groups(thing: Any, groups: Sequence[Any]) -> None:
    vertices.check_own(thing)
    names = [name_of(group) for group in groups]
    for name in names:  # the groups after a removed one move up
        thing.vertex_groups.remove(thing.vertex_groups[name])


def _shape_keys(owner: Any) -> dict[str, Any]:
    keys = getattr(getattr(owner, "data", None), "shape_keys", None)
    if not isinstance(owner, bpy.types.Object) or keys is None:
        return {}
    return by_name(keys.key_blocks)


def _make_shape_key(thing: Any, kind: str, name: str | None) -> str:
    """Create a shape key like the shape of the object; the first one comes with the basis."""
    if not hasattr(thing.data, "shape_keys"):
        raise ValueError(f"a {thing.type} has no shape keys")
    vertices.check_shown(thing)
    if thing.data.shape_keys is None and name != _BASIS:
        thing.shape_key_add(name=_BASIS, from_mix=False)
    return name_of(thing.shape_key_add(name=name or "Key", from_mix=False))


def _remove_shape_keys(thing: Any, keys: Sequence[Any]) -> None:
    vertices.check_shown(thing)  # as edit mode ends, Blender makes removed keys anew
    names = [name_of(key) for key in keys]
    for name in names:
        thing.shape_key_remove(thing.data.shape_keys.key_blocks[name])


RIGGING: Final[dict[str, PartKind]] = {
    "modifier": PartKind(
        structs=(bpy.types.Modifier,),
        parts=_modifiers,
        type_of=of_type(_MODIFIER),
        words=named("modifier"),
        types=ending("Modifier", _MODIFIER),
        make=_make_modifier,
        owners=(bpy.types.Object,),
        owner_words="an object, such as Cube",
        remove=_remove_modifiers,
        clone=_clone_modifier,
    ),
    "constraint": PartKind(
        structs=(bpy.types.Constraint,),
        parts=_constraints,
        type_of=of_type(_CONSTRAINT),
        words=_words_of_constraint,
        types=ending("Constraint", _CONSTRAINT),
        make=_make_constraint,
        owners=(bpy.types.Object, bpy.types.PoseBone),
        owner_words="an object or a bone, such as Cube or Rig/bone:Arm",
        remove=_remove_constraints,
        clone=_clone_constraint,
    ),
    "bone": PartKind(
        structs=(bpy.types.PoseBone,),
        parts=_bones,
        type_of=lambda _: "BONE",
        words=named("bone"),
        types=lambda: {"BONE": "BONE"},
        make=_make_bone,
        owners=(bpy.types.Object, bpy.types.PoseBone),
        owner_words="an armature object or one of its bones, such as Rig or Rig/bone:Arm",
        remove=_remove_bones,
        clone=_clone_bone,
        values=_BONE_VALUES,
        naming=frozenset({"subtarget", "pole_subtarget", "parent_bone"}),
    ),
    "vertex_group": PartKind(
        structs=(bpy.types.VertexGroup,),
        parts=_vertex_groups,
        type_of=lambda _: "VERTEX_GROUP",
        words=named("vertex group"),
        types=lambda: {"VERTEX_GROUP": "VERTEX_GROUP"},
        make=_make_vertex_group,
        owners=(bpy.types.Object,),
        owner_words="an object, such as Cube",
        remove=_remove_vertex_groups,
        values={"weights": Access(vertices.read_weights, vertices.write_weights)},
        copy=vertices.copy_weights,
        naming=frozenset({"vertex_group"}),
    ),
    "shape_key": PartKind(
        structs=(bpy.types.ShapeKey,),
        parts=_shape_keys,
        type_of=lambda _: "SHAPE_KEY",
        words=named("shape key"),
        types=lambda: {"SHAPE_KEY": "SHAPE_KEY"},
        make=_make_shape_key,
        owners=(bpy.types.Object,),
        owner_words="an object, such as Cube",
        remove=_remove_shape_keys,
        values={"points": Access(vertices.read_shape, vertices.write_shape)},
        copy=vertices.copy_shape,
    ),
}
