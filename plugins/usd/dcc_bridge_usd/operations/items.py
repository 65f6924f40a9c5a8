"""What there is on a stage, and what is told of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import islice
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
    SocketLink,
    Value,
    Vector,
    digest,
)

from .. import frames
from ..coercion import plain
from ..host import UsdSession
from ..prims import branch, is_plain, prim_at
from . import links, names, schemas
from .transforms import FIRST, vector

_MOST_KEYS: Final = 100
_MOST_ELEMENTS: Final = 64
_MOST_COMPARED: Final = 10_000, 20_000_000  # prims, and bytes of each layer, in some 0.2 s
_MANY: Final = 500  # prims whose bounds are computed in 20 ms
_OF_STAGE: Final = re.compile(r" \(\w+ stage on stage .*\)$")  # with its address


@contextmanager
def refusing(what: str) -> Iterator[None]:
    """Make a sentence of what USD raises."""
    try:
        yield
    except Tf.ErrorException as error:
        if "is not editable" in str(error):
            raise ValueError(f"{what}: the layer is locked; unlock it first.") from error
        reasons = re.findall(r": '(.*?)'\s*$", str(error), re.MULTILINE)
        raise ValueError(
            f"{what}: {reasons[0].rstrip('.') if reasons else 'USD refuses it'}."
        ) from error


class _Items(CodeContext, Frames):
    """A stage's prims."""

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
        self._time = FIRST  # of what is read of places and sizes
        self._posed: Usd.Stage | None = None  # the stage at that frame, where it is another one
        self._watched: Usd.Stage | None = None

    @property
    def stage(self) -> Usd.Stage:
        """The scene, which another file makes another one."""
        return self._posed or cast("UsdSession", self.host).stage

    def namespace(self) -> dict[str, Any]:
        return {"stage": self.stage}

    @contextmanager
    def in_context(self, warnings: list[str]) -> Iterator[Callable[[], str | None]]:
        """Keep what USD warns of, which it prints all the same; old versions keep nothing."""
        trapping = getattr(Tf, "DiagnosticTrap", nullcontext)
        stage, before = self.stage, _digest(self.stage)
        with trapping() as trap:
            yield lambda: "" if before and _digest(stage) == before else None
            texts = [] if trap is None else [it.commentary for it in trap.GetWarnings()]
            # The undo stack's own stage warns of the same.
            warnings += dict.fromkeys(_OF_STAGE.sub("", it) for it in texts)

    @property
    def up(self) -> Any:  # type: ignore[override]  # the port says that it may be a property
        """Where up is."""
        return "Z" if UsdGeom.GetStageUpAxis(self.stage) == UsdGeom.Tokens.z else "Y"

    def prim(self, item: str) -> Usd.Prim:
        """Give the prim of an item; LookupError says what there is instead."""
        if is_plain(item) and (prim := self.stage.GetPrimAtPath(item)):
            return prim  # most are, and USD's own look at the path takes longer than this
        is_path = item.startswith("/") and Sdf.Path.IsValidPathString(item)
        found = self.stage.GetPrimAtPath(item) if is_path else None
        if not found or found.IsPseudoRoot():
            raise LookupError(f"There is no prim at {item!r}.{names.instead(self.stage, item)}")
        return found

    def root(self, under: str | None) -> Usd.Prim:
        """Give a prim, or for none the root of all."""
        return self.stage.GetPseudoRoot() if under in (None, "", "/") else self.prim(str(under))

    def items(self, under: str | None = None) -> Iterable[str]:
        """Give prims in the order of the scene: active, loaded, defined, none below instances."""
        prims = iter(Usd.PrimRange(self.root(under)))
        return (str(prim.GetPath()) for prim in islice(prims, 1, None))

    def prims(self, under: str | None = None) -> Iterator[Usd.Prim]:
        """Give the same as prims."""
        return islice(iter(Usd.PrimRange(self.root(under))), 1, None)

    def kind(self, item: str) -> str:
        return str(self.prim(item).GetTypeName()) or self.host.item_noun

    def name(self, item: str) -> str:
        """Give the last part of the path; of a collection, too."""
        if is_plain(item):
            return str(self.prim(item).GetName())
        if Sdf.Path.IsValidPathString(item) and Usd.CollectionAPI.IsCollectionAPIPath(item):
            return Sdf.Path(item).name.removeprefix("collection:")
        return str(self.prim(item).GetName())

    def parent(self, item: str) -> str | None:
        above = self.prim(item).GetParent()
        return None if above.IsPseudoRoot() else str(above.GetPath())

    def types(self) -> Iterable[str]:
        """Give the concrete types, and the shaders by their ids."""
        return schemas.types()

    # ---- bounds

    def bounds(self, item: str) -> Bounds | None:
        """Give the box in the world; of what is hidden too, if it is asked for itself."""
        prim = self.prim(item)
        box = self._boxes_now()
        if len(list(islice(branch(prim), _MANY + 1))) > _MANY:
            # the leaves first: in one piece, 100,000 would take two seconds
            for each in track(list(Usd.PrimRange(prim))[::-1], message="Measuring"):
                box.ComputeUntransformedBound(each)
        found = box.ComputeWorldBound(prim).ComputeAlignedRange()
        if found.IsEmpty():
            hidden = UsdGeom.BBoxCache(self._time, box.GetIncludedPurposes(), False, True)
            found = hidden.ComputeWorldBound(prim).ComputeAlignedRange()
        return None if found.IsEmpty() else (vector(found.GetMin()), vector(found.GetMax()))

    def _boxes_now(self) -> UsdGeom.BBoxCache:
        stage = self.stage
        if self._watched is not stage:
            self._watched, self._boxes = stage, None
            self._listener = Tf.Notice.Register(Usd.Notice.ObjectsChanged, self._outdate, stage)
        if self._boxes is None:
            tokens = UsdGeom.Tokens
            self._boxes = UsdGeom.BBoxCache(
                self._time, [tokens.default_, tokens.render, tokens.proxy]
            )
        return self._boxes

    @contextmanager
    def at_frame(self, frame: float) -> Iterator[None]:
        """Read places and sizes at a frame, of points that a skeleton moves too."""
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
        told = {a.GetName(): told_value(a) for a in prim.GetAttributes() if a.HasValue()}
        for rel in prim.GetAuthoredRelationships():
            told[rel.GetName()] = Value(list(map(str, rel.GetTargets())), "relationship")
        if kind := Usd.ModelAPI(prim).GetKind():
            told["kind"] = Value(kind, "token")
        sets = prim.GetVariantSets()
        for name in sets.GetNames():
            told[f"variant:{name}"] = Value(sets.GetVariantSelection(name), "variant")
        return told

    def _inputs(self, prim: Usd.Prim) -> list[SocketLink]:
        attributes = [a for a in prim.GetAuthoredAttributes() if a.HasAuthoredConnections()]
        return [
            SocketLink(
                str(source.GetPrimPath()), socket(source.name), str(prim.GetPath()), socket(a)
            )
            for a in attributes
            for source in a.GetConnections()
        ]

    def _uses(self, prim: Usd.Prim) -> list[str]:
        return list(dict.fromkeys(links.used(prim)))

    def _keys(self, prim: Usd.Prim) -> dict[str, list[list[Any]]]:
        keyed = [a for a in prim.GetAuthoredAttributes() if a.GetNumTimeSamples()]
        return {
            a.GetName(): [[at, short(a.Get(at))] for at in a.GetTimeSamples()[:_MOST_KEYS]]
            for a in keyed
        }

    def _counts(self, prim: Usd.Prim) -> dict[str, int]:
        arrays = {
            "points": "points",
            "faceVertexCounts": "faces",
            "curveVertexCounts": "curves",
            "protoIndices": "instances",
        }
        found = {word: prim.GetAttribute(name) for name, word in arrays.items()}
        counts = {word: len(it.Get(FIRST) or ()) for word, it in found.items() if it}
        children = len(prim.GetAllChildrenNames())
        return counts | ({"children": children} if children else {})

    def _text(self, prim: Usd.Prim) -> str | None:
        return prim.GetMetadata("comment") or prim.GetDocumentation() or None

    # ---- who uses what

    def users(self, thing: str) -> Iterable[str]:
        """Give the prims that name a prim, a material or a file."""
        wanted = {thing}
        if prim_at(self.stage, thing) is None and thing not in {it[2] for it in self.files()}:
            wanted = {path for path in self.looks() if path.rpartition("/")[2] == thing}
        if not wanted:
            instead = names.instead(self.stage, thing)
            raise LookupError(f"There is no material, file or prim {thing!r}.{instead}")
        every = track(self.prims(), message="Looking for users")
        return (str(it.GetPath()) for it in every if not wanted.isdisjoint(links.used(it)))

    def looks(self) -> list[str]:
        """Give the paths of the materials."""
        every = track(self.prims(), message="Looking for materials")
        return [str(it.GetPath()) for it in every if it.GetTypeName() == "Material"]

    def materials(self) -> Iterable[str]:
        """Give the materials by their paths, and by their names where these are unique."""
        paths = self.looks()
        counts = Counter(path.rpartition("/")[2] for path in paths)
        return [*paths, *(name for name, count in counts.items() if count == 1)]

    def files(self) -> Iterable[tuple[str, str, str]]:
        """Give the sublayers, references, payloads and files in attributes, seen from the scene."""
        below: Any = self.stage.GetRootLayer().subLayerPaths
        yield from ((SCENE, "subLayers", path) for path in below)
        yield from links.files(self.stage)

    def aim(self, item: str) -> tuple[Vector, Vector]:
        """Turn a camera's or a light's -Z, and of anything else its front."""
        prim = self.prim(item)
        if UsdLux.LightAPI(prim) or UsdGeom.Camera(prim):
            return (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)
        is_z = self.up == "Z"
        return ((0.0, -1.0, 0.0), (0.0, 0.0, 1.0)) if is_z else ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0))


def _digest(stage: Usd.Stage) -> str:
    """Digest all that the layers in use hold, the referenced ones too; "" where it is too much."""
    layers, prims = sorted(stage.GetUsedLayers(), key=lambda it: it.identifier), stage.TraverseAll()
    files = [Path(it.realPath) for it in layers if it.realPath]
    is_big = any(it.is_file() and it.stat().st_size > _MOST_COMPARED[1] for it in files)
    if is_big or next(islice(prims, _MOST_COMPARED[0], None), None):
        return ""
    return digest([(it.identifier, it.ExportToString()) for it in layers])


def socket(attribute: Any) -> str:
    """Call an attribute as a socket: "diffuseColor" for "inputs:diffuseColor"."""
    name = attribute if isinstance(attribute, str) else attribute.GetName()
    return str(UsdShade.Utils.GetBaseNameAndType(name)[0])


def short(value: Any) -> Any:
    """Give what JSON carries; of a long array its length and how it begins."""
    if hasattr(value, "__len__") and not isinstance(value, str) and len(value) > _MOST_ELEMENTS:
        return {"elements": len(value), "begin": plain(value[:16])}
    return plain(value)


def told_value(attribute: Usd.Attribute) -> Value:
    """Give an attribute as the scene shows it."""
    held = ""
    if attribute.HasAuthoredConnections() and (sources := attribute.GetConnections()):
        held = f"connected to {sources[0]}"
    elif count := attribute.GetNumTimeSamples():
        held = f"keyed, {count} keys"
    elif attribute.GetPrim().IsInstanceProxy():
        held = "locked: it is inside an instance"
    return Value(short(attribute.Get(FIRST)), str(attribute.GetTypeName()), held)
