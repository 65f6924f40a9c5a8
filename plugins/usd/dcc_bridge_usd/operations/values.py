"""Values, keys, and what holds for the scene as a whole."""

from __future__ import annotations

from typing import Any, Final

from pxr import Gf, Sdf, Usd, UsdGeom

from dcc_bridge.spi import SCENE, Keyframes, Keys, Shape, Value

from ..coercion import coerce, plain
from . import names
from .items import _Items, refusing, short, told_value
from .looks import cut
from .properties import OWN, choose, fit_extent, own_value, set_own, write_keys
from .settings import change, settings
from .transforms import FIRST

_PLACE: Final = {"xformOp:translate", "xformOp:rotateXYZ", "xformOp:scale"}
# What does not blend from key to key.
_HELD: Final = (bool, int, str, Sdf.AssetPath, Gf.Vec2i, Gf.Vec3i, Gf.Vec4i)
_STILL: Final = "locked: the window shows the first key of each value"


class _Values(_Items, Keyframes):
    """Reads and writes properties."""

    def attribute(self, item: str, prop: str) -> Usd.Attribute:
        """Give an attribute, one of a transform made if there is none; LookupError."""
        prim = self.prim(item)
        attribute = prim.GetAttribute(prop)
        if not (attribute and attribute.IsDefined()) and prop in _PLACE:
            common = UsdGeom.XformCommonAPI(prim)
            if common:
                flags = {"t": common.OpTranslate, "r": common.OpRotate, "s": common.OpScale}
                with refusing(f"{item} cannot have {prop}"):
                    common.CreateXformOps(flags[prop[8]])
                attribute = prim.GetAttribute(prop)
        if attribute and attribute.IsDefined():
            return attribute
        raise LookupError(f"{item} has no property {prop!r}.{names.near(prop, self._names(prim))}")

    def _names(self, prim: Usd.Prim) -> list[str]:
        sets = [f"variant:{name}" for name in prim.GetVariantSets().GetNames()]
        place = _PLACE if UsdGeom.XformCommonAPI(prim) else ()
        return [*prim.GetPropertyNames(), *sets, *OWN, *place]

    def value(self, item: str, prop: str) -> Value:
        if item == SCENE:
            if (known := settings(self.stage).get(prop)) is None:
                raise LookupError(
                    f"The scene has no {prop!r}. It has {', '.join(settings(self.stage))}."
                )
            return Value(*known, _STILL if prop == "frame" else "")
        prim = self.prim(item)
        attribute = prim.GetAttribute(prop)
        if attribute and attribute.IsDefined():
            return told_value(attribute)
        if rel := prim.GetRelationship(prop):
            return Value(list(map(str, rel.GetTargets())), "relationship")
        if prop in _PLACE and UsdGeom.XformCommonAPI(prim):
            return Value([1.0, 1.0, 1.0] if prop.endswith("scale") else [0.0, 0.0, 0.0], "double3")
        if prop in OWN and (own := own_value(prim, prop)) is not None:
            return Value(own, OWN[prop])
        name = prop.removeprefix("variant:")
        if name != prop and prim.GetVariantSets().HasVariantSet(name):
            return Value(prim.GetVariantSets().GetVariantSelection(name), "variant")
        raise LookupError(f"{item} has no property {prop!r}.{names.near(prop, self._names(prim))}")

    def set_value(self, item: str, prop: str, value: Any, *, replace: bool = False) -> None:
        with refusing(f"{prop} of {item} cannot be set to {value!r} here"):
            found = self.value(item, prop)
            if item == SCENE:
                if found.held:
                    raise ValueError(f"{prop} of the scene cannot be set: it is {found.held}.")
                change(self.stage, prop, value)
                return
            kind, prim = found.type, self.prim(item)
            if rel := prim.GetRelationship(prop):
                _set_targets(rel, [self.prim(it).GetPath() for it in _texts(prop, value)])
            elif kind == "variant":
                choose(prim, prop.removeprefix("variant:"), value)
            elif prop in OWN and not prim.GetAttribute(prop):
                set_own(prim, prop, value)
            else:
                _set(self.attribute(item, prop), value, replace=replace)

    # ---- keys

    def keys(self, item: str, prop: str) -> list[tuple[float, Any]]:
        self.value(item, prop)
        attribute = self.prim(item).GetAttribute(prop)
        every = attribute.GetTimeSamples() if attribute else []
        return [(at, short(attribute.Get(at))) for at in every]

    def set_keys(self, item: str, prop: str, keys: Keys, shape: Shape, *, clear: bool) -> None:
        """Write time samples, which USD always interpolates linearly, or not at all."""
        attribute = self.attribute(item, prop)
        kind = attribute.GetTypeName()
        if attribute.GetVariability() == Sdf.VariabilityUniform:
            raise ValueError(f"{prop} of {item} cannot be keyed: it is uniform.")
        if attribute.HasAuthoredConnections():
            raise ValueError(f"{prop} of {item} is {told_value(attribute).held}.")
        wanted = "step" if isinstance(kind.scalarType.defaultValue, _HELD) else "linear"
        if keys and shape not in (wanted, "linear"):
            raise ValueError(
                f"USD goes from key to key of a {kind} by {wanted} steps, not {shape}: give more "
                f'keys, and shape="{wanted}".'
            )
        with refusing(f"{prop} of {item} cannot be keyed here"):
            write_keys(attribute, {at: coerce(kind, value) for at, value in keys}, clear=clear)


def _set(attribute: Usd.Attribute, value: Any, *, replace: bool) -> None:
    wanted = coerce(attribute.GetTypeName(), value)
    choices = attribute.GetMetadata("allowedTokens")
    if choices and wanted not in choices:
        raise ValueError(f"{attribute.GetName()} is one of {', '.join(choices)}, not {value!r}.")
    if held := told_value(attribute).held:
        if not replace or held.startswith("locked"):
            raise ValueError(f"{attribute.GetPath()} is {held}.")
        for at in attribute.GetTimeSamples():
            attribute.ClearAtTime(at)
        cut(attribute)
    attribute.Set(wanted)
    now = attribute.Get(FIRST)
    if now != wanted and plain(now) != plain(wanted):  # a path also knows where it leads
        stack = attribute.GetPropertyStack(Usd.TimeCode.Default())
        layer = stack[0].layer.GetDisplayName() if stack else "another layer"
        raise ValueError(f"{attribute.GetPath()} is held by a stronger layer, {layer}.")
    fit_extent(attribute)


def _set_targets(rel: Usd.Relationship, targets: list[Sdf.Path]) -> None:
    rel.SetTargets(targets)
    if rel.GetTargets() != targets:
        raise ValueError(f"{rel.GetPath()} is held by a stronger layer.")


def _texts(prop: str, value: Any) -> list[str]:
    every = [value] if isinstance(value, str) else value
    if not isinstance(every, list) or not all(isinstance(each, str) for each in every):
        raise ValueError(f"{prop} is a relationship: give the paths of prims.")
    return every
