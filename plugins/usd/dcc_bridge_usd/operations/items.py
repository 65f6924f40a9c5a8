"""The items of a stage: prims, their bounds, values, links and users. Main thread."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, cast

from pxr import Sdf, Tf, Usd, UsdGeom, UsdLux, UsdShade

from dcc_bridge import track
from dcc_bridge.spi import (
    SCENE,
    Bounds,
    CodeContext,
    Frames,
    Host,
    Part,
    PlainNames,
    SocketLink,
    Value,
    Vector,
    digest,
    read_each,
)

from .. import frames
from ..coercion import plain
from ..host import UsdSession
from ..plain_names import PLAIN
from ..prims import branch, is_plain, prim_at, require_end
from . import links, names, schemas
from .arcs import ARCS, arcs, shown_arcs
from .notes import notes
from .transforms import FIRST, vector

_MAX_KEYS: Final = 100  # of an attribute that is looked into
_MAX_ELEMENTS: Final = 64  # of an array that is shown whole
_SHOWN_ELEMENTS: Final = 16  # of a longer array
_MAX_COMPARED_PRIMS: Final = 10_000  # with the largest layers they take some 0.2 s
_MAX_COMPARED_BYTES: Final = 20_000_000  # of each layer file
_MAX_MEASURED_AT_ONCE: Final = 500  # prims; their bounds are computed in 20 ms
_COUNTED_ARRAYS: Final = {
    "points": "points",
    "faceVertexCounts": "faces",
    "curveVertexCounts": "curves",
    "protoIndices": "instances",
}
_OF_STAGE: Final = re.compile(r" \(\w+ stage on stage .*\)$")  # with its address


@contextmanager
def refusing(what: str) -> Iterator[None]:
    """Make a sentence of an error of USD.

    Raises:
        ValueError: USD raised an error; the message begins with `what`.
    """
    try:
        yield
    except Tf.ErrorException as error:
        if "is not editable" in str(error):
            raise ValueError(f"{what}: the layer is locked; unlock it first.") from error
        reasons = re.findall(r": '(.*?)'\s*$", str(error), re.MULTILINE)
        reason = reasons[0].rstrip(".") if reasons else "USD refuses it"
        raise ValueError(f"{what}: {reason}.") from error


class _Items(CodeContext, Frames):
    """The prims of a stage.

    Attributes:
        host: The session.
        instructions: What an agent has to know of a USD stage.
    """

    instructions = (
        "A USD stage. An item is a prim's path, such as /World/Props/Lamp_01; a new one goes below "
        "the default prim unless `under` says where. Cameras and lights look along their own -Z. "
        'Properties are attributes ("focalLength", "inputs:intensity"), relationships, "kind", '
        '"active", "variant:<set>"; a transform is keyed as "xformOp:translate", '
        '"xformOp:rotateXYZ", "xformOp:scale", with shape="linear". There is no current '
        "frame: the first key of each value is shown. Materials are paths; sockets are "
        "diffuseColor, surface, rgb, without inputs:. Linked copies are instances, whose insides "
        "cannot be edited."
    )

    def __init__(self, host: Host) -> None:
        self.host = host
        self._boxes: UsdGeom.BBoxCache | None = None
        self._time = FIRST  # at which places and sizes are read
        self._posed: Usd.Stage | None = None  # the stage as it is evaluated at a frame
        self._watched: Usd.Stage | None = None  # the stage whose edits make `_boxes` invalid

    @property
    def stage(self) -> Usd.Stage:
        """The stage of the scene; another object after another file was opened."""
        return self._posed or cast("UsdSession", self.host).stage

    def namespace(self) -> dict[str, Any]:
        return {"stage": self.stage}

    def plain_names(self) -> PlainNames:
        return PLAIN

    @contextmanager
    def in_context(self, warnings: list[str]) -> Iterator[Callable[[], str | None]]:
        """Add USD's warnings, which are printed all the same; old versions cannot trap them.

        Yields a function that returns "" if the stage is as before, and None if that is unknown.
        """
        trapping = getattr(Tf, "DiagnosticTrap", nullcontext)
        stage = self.stage
        before = _digest(stage)

        def compare() -> str | None:
            if before and _digest(stage) == before:
                return ""
            return None

        with trapping() as trap:
            yield compare
            if trap is not None:
                texts = [_OF_STAGE.sub("", each.commentary) for each in trap.GetWarnings()]
                # The undo stack's own stage warns of the same.
                warnings += dict.fromkeys(texts)

    @property
    def up(self) -> Any:  # type: ignore[override]  # the port says that it may be a property
        """The axis that points up."""
        return "Z" if UsdGeom.GetStageUpAxis(self.stage) == UsdGeom.Tokens.z else "Y"

    def prim(self, item: str) -> Usd.Prim:
        """Return the prim of an item.

        Raises:
            LookupError: There is no such prim; the message names what there is instead.
        """
        prim: Usd.Prim | None = None
        # Most items are plain paths, and USD's own check of a path takes longer.
        if is_plain(item) or (item.startswith("/") and Sdf.Path.IsValidPathString(item)):
            prim = self.stage.GetPrimAtPath(item)
        if not prim or prim.IsPseudoRoot():
            raise LookupError(names.missing(self.stage, "prim at", item))
        return prim

    def root(self, under: str | None) -> Usd.Prim:
        """Return a prim; the pseudo root for None, "" and "/"."""
        if under in (None, "", "/"):
            return self.stage.GetPseudoRoot()
        return self.prim(str(under))

    def items(self, under: str | None = None) -> Iterable[str]:
        """Return the paths of the active, loaded, defined prims below a prim.

        They come in the order of the scene; prims below instances are left out.
        """
        return (str(prim.GetPath()) for prim in self.prims(under))

    def prims(self, under: str | None = None) -> Iterator[Usd.Prim]:
        """Return the prims whose paths `items` returns."""
        return islice(iter(Usd.PrimRange(self.root(under))), 1, None)

    def kind(self, item: str) -> str:
        return str(self.prim(item).GetTypeName()) or self.host.item_noun

    def name(self, item: str) -> str:
        """Return the last part of the path of a prim or a collection."""
        if is_plain(item):
            return str(self.prim(item).GetName())
        if Sdf.Path.IsValidPathString(item) and Usd.CollectionAPI.IsCollectionAPIPath(item):
            return Sdf.Path(item).name.removeprefix("collection:")
        return str(self.prim(item).GetName())

    def parent(self, item: str) -> str | None:
        above = self.prim(item).GetParent()
        return None if above.IsPseudoRoot() else str(above.GetPath())

    def named_like(self) -> list[str]:
        """Return the first prim of each kind that is named in its own way."""
        return names.examples(self.stage)

    def types(self) -> Iterable[str]:
        """Return the concrete types, and the shaders by their ids."""
        return schemas.types()

    # ---- bounds

    def bounds(self, item: str) -> Bounds | None:
        """Return the box of a prim in the world; that of hidden prims only if all are hidden."""
        prim = self.prim(item)
        boxes = self._boxes_now()
        first = list(islice(branch(prim), _MAX_MEASURED_AT_ONCE + 1))
        require_end(first)
        if len(first) > _MAX_MEASURED_AT_ONCE:
            # The leaves first: in one piece, 100,000 prims would take two seconds.
            for leaf_first in track(list(Usd.PrimRange(prim))[::-1], message="Measuring"):
                require_end([leaf_first])
                boxes.ComputeUntransformedBound(leaf_first)
        box = boxes.ComputeWorldBound(prim).ComputeAlignedRange()
        if box.IsEmpty():
            ignoring_visibility = UsdGeom.BBoxCache(
                self._time, boxes.GetIncludedPurposes(), False, True
            )
            box = ignoring_visibility.ComputeWorldBound(prim).ComputeAlignedRange()
        if box.IsEmpty():
            return None
        return vector(box.GetMin()), vector(box.GetMax())

    def _boxes_now(self) -> UsdGeom.BBoxCache:
        """Return the cache of boxes, which every edit of the stage empties."""
        stage = self.stage
        if self._watched is not stage:
            self._watched = stage
            self._boxes = None
            self._listener = Tf.Notice.Register(Usd.Notice.ObjectsChanged, self._outdate, stage)
        if self._boxes is None:
            tokens = UsdGeom.Tokens
            self._boxes = UsdGeom.BBoxCache(
                self._time, [tokens.default_, tokens.render, tokens.proxy]
            )
        return self._boxes

    @contextmanager
    def at_frame(self, frame: float) -> Iterator[None]:
        """Read places and sizes at a frame, with points as skeletons move them, in the block."""
        self._posed = frames.evaluated(self.stage, frame)
        self._time = Usd.TimeCode(frame)
        self._boxes = None
        try:
            yield
        finally:
            self._posed = None
            self._time = FIRST
            self._boxes = None

    def is_shown(self, item: str) -> bool:
        """Return whether neither a prim nor one above it is invisible."""
        imageable = UsdGeom.Imageable(self.prim(item))
        if not imageable:
            return True
        return bool(imageable.ComputeVisibility(self._time) != UsdGeom.Tokens.invisible)

    def _outdate(self, _notice: object, _stage: object) -> None:
        self._boxes = None

    # ---- one item

    def look_into(self, item: str, part: Part) -> Any:
        if part == "bounds":
            return self.bounds(item)
        return getattr(self, f"_{part}")(self.prim(item))

    def _values(self, prim: Usd.Prim) -> dict[str, Value]:
        values: dict[str, Value] = {}
        valued = (each for each in prim.GetAttributes() if each.HasValue())
        for attribute, value in read_each(valued, shown_value, _name_of):
            values[attribute.GetName()] = value
        for name, socket_of_kind in schemas.shader_inputs(prim).items():
            values.setdefault(name, default_input(socket_of_kind))
        relationships = prim.GetAuthoredRelationships()
        for relationship, value in read_each(relationships, shown_targets, _name_of):
            values[relationship.GetName()] = value
        return values | _other_values(prim)

    def _inputs(self, prim: Usd.Prim) -> list[SocketLink]:
        target = str(prim.GetPath())
        socket_links = []
        for attribute in prim.GetAuthoredAttributes():
            if not attribute.HasAuthoredConnections():
                continue
            for path in attribute.GetConnections():
                source = str(path.GetPrimPath())
                link = SocketLink(source, socket(path.name), target, socket(attribute))
                socket_links.append(link)
        return socket_links

    def _uses(self, prim: Usd.Prim) -> list[str]:
        return list(dict.fromkeys(links.used(prim)))

    def _keys(self, prim: Usd.Prim) -> dict[str, list[list[Any]]]:
        keys = {}
        for attribute in prim.GetAuthoredAttributes():
            if attribute.GetNumTimeSamples():
                times = attribute.GetTimeSamples()[:_MAX_KEYS]
                keys[attribute.GetName()] = [[time, short(attribute.Get(time))] for time in times]
        return keys

    def _counts(self, prim: Usd.Prim) -> dict[str, int]:
        counts = {}
        for name, word in _COUNTED_ARRAYS.items():
            attribute = prim.GetAttribute(name)
            if attribute:
                counts[word] = len(attribute.Get(FIRST) or ())
        children = len(prim.GetAllChildrenNames())
        if children:
            counts["children"] = children
        return counts

    def _text(self, prim: Usd.Prim) -> str | None:
        return prim.GetMetadata("comment") or prim.GetDocumentation() or None

    # ---- who uses what

    def users(self, thing: str) -> Iterable[str]:
        """Return the prims that name a prim, a material or a file.

        Args:
            thing: A path, or the name of a material.

        Raises:
            LookupError: There is no such thing; the message names what there is instead.
        """
        wanted = {thing}
        if prim_at(self.stage, thing) is None and not self._is_file(thing):
            wanted = set(self.looks_called(thing))
        if not wanted:
            raise LookupError(names.missing(self.stage, "material, file or prim", thing))
        prims = track(self.prims(), message="Looking for users")
        return (
            str(prim.GetPath())
            for prim, used in read_each(prims, _used, links.path_of)
            if not wanted.isdisjoint(used)
        )

    def _is_file(self, thing: str) -> bool:
        return thing in {path for _, _, path in self.files()}

    def looks(self) -> list[str]:
        """Return the paths of the materials."""
        prims = track(self.prims(), message="Looking for materials")
        return [str(prim.GetPath()) for prim in prims if prim.GetTypeName() == "Material"]

    def looks_called(self, name: str) -> list[str]:
        """Return the paths of the materials with a name."""
        return [path for path in self.looks() if path.rpartition("/")[2] == name]

    def materials(self) -> Iterable[str]:
        """Return the materials by their paths, and by their names where these are unique."""
        paths = self.looks()
        counts = Counter(path.rpartition("/")[2] for path in paths)
        unique_names = [name for name, count in counts.items() if count == 1]
        return [*paths, *unique_names]

    def files(self) -> Iterable[tuple[str, str, str]]:
        """Yield the sublayers, references, payloads and files in attributes.

        Yields:
            The item, its property, and the path as the scene's root layer would write it.
        """
        sublayers: Any = self.stage.GetRootLayer().subLayerPaths
        for path in sublayers:
            yield SCENE, "subLayers", path
        yield from links.files(self.stage)

    def aim(self, item: str) -> tuple[Vector, Vector]:
        """Return the axes of a prim that point ahead and up when it is aimed at something.

        For a camera or a light ahead is -Z; for anything else it is the front.
        """
        prim = self.prim(item)
        if UsdLux.LightAPI(prim) or UsdGeom.Camera(prim):
            return (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)
        if self.up == "Z":
            return (0.0, -1.0, 0.0), (0.0, 0.0, 1.0)
        return (0.0, 0.0, 1.0), (0.0, 1.0, 0.0)


def _digest(stage: Usd.Stage) -> str:
    """Return a digest of all layers in use, also of referenced ones; "" if they are too large."""
    layers = sorted(stage.GetUsedLayers(), key=attrgetter("identifier"))
    files = [Path(layer.realPath) for layer in layers if layer.realPath]
    if any(file.is_file() and file.stat().st_size > _MAX_COMPARED_BYTES for file in files):
        return ""
    has_more_prims = next(islice(stage.TraverseAll(), _MAX_COMPARED_PRIMS, None), None)
    if has_more_prims:
        return ""
    return digest([(layer.identifier, layer.ExportToString()) for layer in layers])


def _other_values(prim: Usd.Prim) -> dict[str, Value]:
    """Return the values of a prim that are neither attributes nor relationships, if it has any."""
    values: dict[str, Value] = {}
    kind = Usd.ModelAPI(prim).GetKind()
    if kind:
        values["kind"] = Value(kind, "token")
    values |= notes(prim)
    for name in ARCS:
        rows = shown_arcs(arcs(prim), name)
        if rows:
            values[name] = Value(rows, "asset[]")
    if prim.HasAuthoredPayloads() and not prim.IsLoaded():
        values["loaded"] = Value(value=False, type="bool")
    sets = prim.GetVariantSets()
    for name in sets.GetNames():
        values[f"variant:{name}"] = Value(sets.GetVariantSelection(name), "variant")
    return values


def _name_of(prop: Usd.Property) -> str:
    return str(prop.GetName())


def _used(prim: Usd.Prim) -> set[str]:
    return set(links.used(prim))


def socket(attribute: Any) -> str:
    """Return the name of an attribute as a socket: "diffuseColor" for "inputs:diffuseColor"."""
    name = attribute if isinstance(attribute, str) else attribute.GetName()
    return str(UsdShade.Utils.GetBaseNameAndType(name)[0])


def short(value: Any) -> Any:
    """Return a value as JSON carries it; of a long array its length and how it begins."""
    if hasattr(value, "__len__") and not isinstance(value, str) and len(value) > _MAX_ELEMENTS:
        return {"elements": len(value), "begin": plain(value[:_SHOWN_ELEMENTS])}
    return plain(value)


def shown_value(attribute: Usd.Attribute) -> Value:
    """Return an attribute's value as the scene shows it, with what holds the value."""
    why = holder(attribute)
    is_default = not why and not attribute.HasAuthoredValue()
    value = short(attribute.Get(FIRST))
    return Value(value, str(attribute.GetTypeName()), why, is_default=is_default)


def default_input(socket_of_kind: Any) -> Value:
    """Return the value of an input that only a shader's kind has."""
    kind = socket_of_kind.GetTypeAsSdfType().GetSdfType()
    return Value(short(socket_of_kind.GetDefaultValueAsSdfType()), str(kind), is_default=True)


def shown_targets(relationship: Usd.Relationship) -> Value:
    """Return the targets of a relationship as a value."""
    paths = [str(target) for target in relationship.GetTargets()]
    return Value(paths, "relationship")


def holder(attribute: Usd.Attribute) -> str:
    """Return what holds an attribute, so that its value alone cannot be set; "" for nothing."""
    sources = attribute.GetConnections() if attribute.HasAuthoredConnections() else []
    if sources:
        return f"connected to {sources[0]}"
    keys = attribute.GetNumTimeSamples()
    if keys:
        return f"keyed, {keys} keys"
    if attribute.GetPrim().IsInstanceProxy():
        return "locked: it is inside an instance"
    return ""
