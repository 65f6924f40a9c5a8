"""Looking things up on a stage by what people and agents write. Main thread."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from fnmatch import translate
from hashlib import sha256
from itertools import accumulate, chain, islice
from math import isfinite
from typing import Any, Final, NamedTuple, TypeVar

from pxr import Gf, Sdf, Usd, UsdGeom

from dcc_bridge import track
from dcc_bridge.spi import digest

T = TypeVar("T")
Held = Callable[[Sdf.Path], list[Any]]  # the specs at a path
MANY: Final = 500  # prims: so many are soon looked at or deleted
_AT_ONCE: Final = 50  # values of which each takes some microseconds
_COMPARED: Final = 2_000  # with more prims and properties nobody waits for what they held
MOST_COUNTED: Final = 12_000  # prims that are counted by type in 15 ms, as measured
_MOST_NAMED: Final = 200  # so many that an agent learns what there is
_MOST_ELEMENTS: Final = 16
READING: Final = "Reading the scene"
CHECKING: Final = "Checking what was deleted"
is_path: Final = Sdf.Path.IsValidPathString
is_plain: Final = re.compile(r"(?:/[A-Za-z_][A-Za-z0-9_]*)+").fullmatch
# Of the class, for one of a prim costs four times as much: USD looks whether the prim is there.
_path, _type, _children = Usd.Prim.GetPath, Usd.Prim.GetTypeName, Usd.Prim.GetAllChildren
_is_active, _is_defined = Usd.Prim.IsActive, Usd.Prim.IsDefined
_has = Usd.Prim.HasAuthoredMetadata
_EVERY: Final = Usd.TraverseInstanceProxies(Usd.PrimAllPrimsPredicate)


def prim_at(stage: Usd.Stage, path: str) -> Usd.Prim | None:
    """Give the prim at a path, or None. A path that is none, USD complains of; we do not."""
    is_prim = is_plain(path) or (
        is_path(path) and (it := Sdf.Path(path)).IsAbsolutePath() and it.IsPrimPath()
    )
    return (stage.GetPrimAtPath(path) or None) if is_prim else None


def require(stage: Usd.Stage, path: str) -> Usd.Prim:
    """Give the prim at a path; ValueError says what there is instead."""
    prim = prim_at(stage, path)
    if prim is None:
        raise ValueError(f"There is no prim at {path!r}. {_nearest(stage, path)}")
    return prim


def find_paths(
    stage: Usd.Stage, name: str = "*", type_name: str | None = None, under: str = "/"
) -> list[str]:
    """List the paths of the active, loaded, defined prims that match, in the order of the scene.

    `name` is a glob on the prim's name, or on its whole path if there is a slash in it. None or "*"
    is any type. The prim `under` which to look is not among them; ValueError where there is none.
    """
    root = stage.GetPseudoRoot() if under == "/" else require(stage, under)
    every = list(Usd.PrimRange(root))  # a walk would end in a crash if the host edits as it paints
    matches, is_whole = re.compile(translate(name)).match, "/" in name
    found = []
    for prim in tracked(every[1:], READING):
        if type_name in (None, "*") or _type(prim) == type_name:
            path = _path(prim)
            if matches(str(path) if is_whole else path.name):
                found.append(str(path))
    return found


def _nearest(stage: Usd.Stage, path: str) -> str:
    """Help with the first step of a path that is not there."""
    if not is_path(path) or not Sdf.Path(path).IsAbsolutePath():
        return 'A path looks like "/World/Cameras/cam1".'
    above = (p for p in Sdf.Path(path).GetAncestorsRange() if stage.GetPrimAtPath(p))
    parent = next(above, Sdf.Path.absoluteRootPath)
    names = [child.GetName() for child in stage.GetPrimAtPath(parent).GetChildren()]
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return f"Under {parent} there is {', '.join(names[:10]) or 'nothing'}{more}."


def remove(stage: Usd.Stage, paths: Iterable[Sdf.Path | str]) -> list[Sdf.Path]:
    """Delete prims with what is below them; gives those that were only deactivated.

    A prim that comes from a referenced file cannot be deleted from here; it is deactivated, which
    is how USD hides it from everybody who looks at this scene. ValueError names a locked layer.
    """
    every, names = dict[str, None](), defaultdict[str, set[str]](set)
    for path in map(str, tracked([*paths], READING)):
        every[path] = None
        parent, _, name = path.rpartition("/")
        names[parent or "/"].add(name)
    for parent in list(names):  # what is below another goes with it
        if not every.keys().isdisjoint(accumulate(parent.split("/"), "{}/{}".format)):
            del names[parent]
    _remove_specs(stage.GetLayerStack(includeSessionLayers=True), names)
    if not any(_present(stage, parent, it) for parent, it in names.items()):
        return []
    left = [Sdf.Path(it) for it in tracked([*every], "Deleting") if stage.GetPrimAtPath(it)]
    for at in tracked(left, "Deleting"):
        if prim := stage.GetPrimAtPath(at):  # one below another goes with it
            prim.SetActive(False)
    return left


def rename(stage: Usd.Stage, prim: Usd.Prim, name: str) -> Sdf.Path:
    """Give a prim another name, in its place among its siblings; gives its new path.

    Relationships, connections and collections that point to it or below it follow. ValueError says
    why it cannot have that name.
    """
    old = prim.GetPath()
    if not Sdf.Path.IsValidIdentifier(name):
        raise ValueError(
            f"{name!r} cannot be a prim's name: use letters, digits and _, with no digit first."
        )
    editor = Usd.NamespaceEditor(stage)
    editor.RenamePrim(prim, name)
    can_apply = editor.CanApplyEdits()
    if not can_apply:
        raise ValueError(f"{old} cannot be renamed to {name}: {can_apply.whyNot}.")
    editor.ApplyEdits()
    return old.ReplaceName(name)


def less_than(
    held: Held, stage: Usd.Stage, touched: set[Sdf.Path], resynced: set[Sdf.Path]
) -> tuple[set[Sdf.Path], bool]:
    """Give the properties that hold less than they `held`, and whether these are all."""
    tops = filter(None, map(stage.GetPrimAtPath, Sdf.Path.RemoveDescendentPaths([*resynced])))
    every = list(islice(chain.from_iterable(map(Usd.PrimRange.AllPrims, tops)), _COMPARED))
    props = {prop.path for it in every for spec in held(_path(it)) for prop in spec.properties}
    props |= {it for it in islice(touched, _COMPARED) if it.IsPrimPropertyPath()}
    if len(every) + max(len(props), len(touched)) >= _COMPARED:
        return set(), False
    layers = stage.GetLayerStack(includeSessionLayers=True)
    less, is_exact = set[Sdf.Path](), True
    for path in props:
        before, now = held(path), list(filter(None, (it.GetObjectAtPath(path) for it in layers)))
        is_hidden = (it := stage.GetAttributeAtPath(path)) and not it.HasAuthoredValue()
        kept = {it for spec in now for it in _facts(spec) if not is_hidden or it == "targets"}
        if before and not (now and kept.issuperset(it for spec in before for it in _facts(spec))):
            less.add(path)
        is_exact = is_exact and bool(before or now)  # else it is of another file, or a variant
    return less, is_exact


def _facts(spec: Any) -> Iterator[object]:
    """Name what a property holds: each frame with a key, a value, targets."""
    is_attribute = isinstance(spec, Sdf.AttributeSpec)
    if (spec.connectionPathList if is_attribute else spec.targetPathList).GetAppliedItems():
        yield "targets"
    if is_attribute:
        values = {**spec.GetInfo("timeSamples"), "value": spec.default}
        yield from (it for it, v in values.items() if not isinstance(v, Sdf.ValueBlock | None))
        yield from ["spline"] * spec.HasSpline()


def _remove_specs(layers: list[Sdf.Layer], names: dict[str, set[str]]) -> None:
    places = [(layer, *it) for layer in layers if not layer.empty for it in names.items()]
    for layer, parent, wanted in tracked(places, "Deleting", sum(len(it) for *_, it in places)):
        if gone := _present(layer, parent, wanted):
            if not layer.permissionToEdit:
                raise ValueError(f"The layer {layer.GetDisplayName()} is locked: unlock it first.")
            with Sdf.ChangeBlock():
                drop_children(layer.GetPrimAtPath(parent), gone)


def _present(scene: Any, parent: str, names: set[str]) -> Collection[str]:
    """Give those of some names that children in a layer or a stage have."""
    if len(names) > MANY:
        return names.intersection(child_names(scene, parent))
    return [it for it in names if scene.GetPrimAtPath(f"{parent.rstrip('/')}/{it}")]


def child_names(scene: Any, path: Sdf.Path | str) -> list[str]:
    """List the children that a layer or a stage has at a path, in instances too."""
    if isinstance(scene, Usd.Stage):
        prim = scene.GetPrimAtPath(path)
        return prim.GetFilteredChildrenNames(_EVERY) if prim else []
    spec = scene.GetPrimAtPath(path)
    return spec.GetInfo("primChildren") if spec and spec.HasInfo("primChildren") else []


def drop_children(prim: Any, gone: Collection[str]) -> None:  # the stubs leave edits out
    """Remove children of a prim of a layer. Give it no value for `active` meanwhile."""
    children, is_off = prim.nameChildren, len(gone) > MANY and turn_off(prim)
    count = len(children)
    if len(gone) == count:
        children.clear()  # two thirds of what the last way takes
    elif len(gone) < min(MANY, count / 2 + 1):
        for name in gone:
            del children[name]
    else:  # by name, each removal moves all that stay
        children[:] = [it for it in children if it.name not in gone]
    if is_off:
        prim.ClearActive()


def turn_off(prim: Any) -> bool:
    """Hide a prim within a change block, if it says nothing of it; gives whether it did.

    Of what is hidden USD does not look up each child among its siblings, which takes their square:
    100,000 go in 1 s in place of 78, as measured.
    """
    if is_free := not prim.path.IsAbsoluteRootPath() and not prim.HasInfo("active"):
        prim.active = False
    return is_free


def scene_summary(stage: Usd.Stage) -> dict[str, Any]:
    """Describe a stage: units, frames, layers, and how many prims of each type.

    If there are more than are counted, "counted_all" is false.
    """
    prims = iter(stage.Traverse())
    # the parts of a scene usually are below its default prim
    top = (stage.GetDefaultPrim() or stage.GetPseudoRoot()).GetChildren()
    types = Counter(p.GetTypeName() or "prim" for p in islice(prims, MOST_COUNTED))
    return {
        "default_prim": str(stage.GetDefaultPrim().GetPath()) if stage.HasDefaultPrim() else None,
        "top": [str(prim.GetPath()) for prim in top][:_MOST_NAMED],
        "prims": types.total(),
        "counted_all": next(prims, None) is None,
        "types": dict(types.most_common()),
        "up": str(UsdGeom.GetStageUpAxis(stage)),
        "units": f"{UsdGeom.GetStageMetersPerUnit(stage):g} m",
        "frames": [stage.GetStartTimeCode(), stage.GetEndTimeCode()],
        "fps": stage.GetFramesPerSecond(),
        "layers": [it.GetDisplayName() for it in stage.GetLayerStack(False)][:_MOST_NAMED],
    }


def describe_prim(stage: Usd.Stage, path: str) -> dict[str, Any]:
    """Describe a prim: its type, what is below it, its attributes and relationships.

    The slash in front of its path may be missing. LookupError says what there is instead.
    """
    try:
        prim = require(stage, f"/{path.lstrip('/')}")
    except ValueError as error:
        raise LookupError(str(error)) from error
    children = prim.GetAllChildren()
    return {
        "path": str(prim.GetPath()),
        "type": str(prim.GetTypeName()),
        "active": prim.IsActive(),
        "children": [child.GetName() for child in children][:_MOST_NAMED],
        "children_count": len(children),
        "attributes": {a.GetName(): _attribute(a) for a in prim.GetAttributes() if a.HasValue()},
        "relationships": {
            r.GetName(): [str(target) for target in r.GetTargets()][:_MOST_NAMED]
            for r in prim.GetRelationships()
        },
    }


def _attribute(attribute: Usd.Attribute) -> dict[str, Any]:
    keys = attribute.GetNumTimeSamples()
    value = attribute.Get() if not keys else attribute.Get(attribute.GetTimeSamples()[0])
    facts: dict[str, Any] = {"type": str(attribute.GetTypeName())}
    if attribute.GetTypeName().isArray and value is not None and len(value) > _MOST_ELEMENTS:
        facts |= {"elements": len(value), "value": plain(value[:_MOST_ELEMENTS])}
    else:
        facts["value"] = plain(value)
    return facts | ({"keys": keys} if keys else {})


def scene_digest(stage: Usd.Stage) -> str:
    """Digest everything that the local layers hold, the session layer too."""
    return digest([it.ExportToString() for it in stage.GetLayerStack(includeSessionLayers=True)])


class Look(NamedTuple):
    """What there is of some items at one moment."""

    fingerprint: str  # what they and all below them are, not their values; in no order
    kinds: list[str]  # the type of each, "gone" for what is no prim
    below: list[str]  # the prims that are below them and none of them


def look(stage: Usd.Stage, items: Sequence[str], locked: Collection[Sdf.Layer] = ()) -> Look:
    """Look at prims or properties, and at each prim below them once.

    In another scene's file, the same path is another thing.
    """
    facts = sha256()
    kinds = dict[str, str]()
    below = list[str]()
    top = "none"
    facts.update(stage.GetRootLayer().identifier.encode())
    for item in tracked(sorted(dict.fromkeys(tracked(items, READING))), READING):
        thing = stage.GetPrimAtPath(item) if is_plain(item) else _odd(stage, item)
        kinds[item] = fact = "gone"
        if isinstance(thing, Usd.Prim) and thing:
            kinds[item] = kind = _type(thing)
            fact = f"{_fact(thing, kind)} {_locks(thing, locked)}"
            was_seen = item.startswith(top) and not thing.IsInstanceProxy()
            if _children(thing) and not was_seen:
                top = f"{item.rstrip('/')}/"
                for it in tracked(list(branch(thing))[1:], READING):
                    path = str(_path(it))
                    facts.update(f"{path} {_fact(it, _type(it))}\n".encode())
                    below.append(path)
        elif thing:
            fact = f"{_property(thing)} {_locks(thing.GetPrim(), locked)}"
        facts.update(f"{item!r} {fact}\n".encode())
    found = [*map(kinds.__getitem__, tracked(items, READING))]
    beside = [path for path in below if path not in kinds]
    return Look(facts.hexdigest(), found, beside)


def branch(prim: Usd.Prim) -> Iterable[Usd.Prim]:
    """Give a prim and all below it: a range costs ten times the rest, and most are leaves."""
    return Usd.PrimRange.AllPrims(prim) if _children(prim) else (prim,)


def tracked(values: Sequence[T], message: str, size: int | None = None) -> Iterable[T]:
    """Show how far it is where that takes a while; each counts alone if together they have a size.

    Else some are one, for to look at the clock takes longer than what is done with most values.
    """
    if (len(values) if size is None else size) <= MANY:
        return values
    if size is not None:
        return track(values, message=message)
    parts = (values[at : at + _AT_ONCE] for at in range(0, len(values), _AT_ONCE))
    return chain.from_iterable(track(parts, message=message, total=-(-len(values) // _AT_ONCE)))


def _odd(stage: Usd.Stage, item: str) -> Any:
    path = Sdf.Path(item) if is_path(item) else Sdf.Path.emptyPath
    return stage.GetObjectAtPath(path) if path.IsAbsolutePath() else None


def _fact(prim: Usd.Prim, kind: str) -> str:
    return f"{kind!r} {_is_active(prim)} {_is_defined(prim)}"


def _property(it: Any) -> str:
    is_value = isinstance(it, Usd.Attribute)
    return f"{it.GetTypeName()} {it.GetVariability()}" if is_value else "a relationship"


def _locks(prim: Usd.Prim, locked: Collection[Sdf.Layer]) -> list[object]:
    """USD locks whole layers, and forbids edits of a prim by its permission."""
    if not locked and not _has(prim, "permission"):
        return []
    states = [(spec.layer in locked, spec.permission) for spec in prim.GetPrimStack()]
    return [it for it in enumerate(states) if it[1] != (False, Sdf.PermissionPublic)]


def plain(value: Any) -> Any:
    """Write a value as JSON can carry it: vectors as lists, quaternions with the real part first.

    What JSON has no word for, infinity and USD's rarer types, becomes text.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if isfinite(value) else str(value)
        case dict():
            return {str(key): plain(part) for key, part in value.items()}
        case Sdf.AssetPath():
            return value.path
        case Sdf.TimeCode():
            return float(value)
        case Sdf.PathExpression():
            return value.GetText()
        case Gf.Quath() | Gf.Quatf() | Gf.Quatd():
            return [value.GetReal(), *plain(value.GetImaginary())]
    return [plain(part) for part in value] if hasattr(value, "__len__") else str(value)
