"""Values and keys of prims, and settings of the scene. Main thread."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final, cast

from pxr import Gf, Sdf, Usd, UsdGeom, UsdShade

from dcc_bridge.spi import SCENE, CheckedValues, Keyframes, Keys, Shape, Value

from ..coercion import coerce, plain
from ..host import UsdSession
from . import names, schemas
from .arcs import ARCS, arcs, set_arcs, shown_arcs
from .items import _Items, default_input, holder, refusing, short, shown_targets, shown_value
from .layers import layer_called, view_loading, view_muting, view_unloading
from .looks import cut
from .notes import NOTES, is_note, note, set_note
from .properties import OWN, choose, fit_extent, own_value, set_own, write_keys
from .settings import change, settings
from .skeletons import check_entries, check_keys, check_rigs, check_targets, fit_layout, is_of_rig
from .transforms import FIRST

_PLACE: Final = {
    "xformOp:translate": [0.0, 0.0, 0.0],
    "xformOp:rotateXYZ": [0.0, 0.0, 0.0],
    "xformOp:scale": [1.0, 1.0, 1.0],
}
"""The attributes of a common transform, with their values where they are not authored."""
# Types of values that do not blend from key to key.
_STEPPED: Final = (bool, int, str, Sdf.AssetPath, Gf.Vec2i, Gf.Vec3i, Gf.Vec4i)
_STILL: Final = "fixed at the first key of each value"


class _Values(_Items, CheckedValues, Keyframes):
    """Reads and writes properties."""

    usual_shape = "linear"

    def attribute(self, item: str, prop: str) -> Usd.Attribute:
        """Return an attribute of a prim.

        An attribute of a transform, or an input that a shader's kind has, is made if there is none.

        Raises:
            LookupError: There is no such prim or attribute.
        """
        prim = self.prim(item)
        attribute = prim.GetAttribute(prop)
        if attribute and attribute.IsDefined():
            return attribute
        common = UsdGeom.XformCommonAPI(prim)
        if prop in _PLACE and common:
            flags = {"t": common.OpTranslate, "r": common.OpRotate, "s": common.OpScale}
            kind = prop.removeprefix("xformOp:")[0]
            with refusing(f"{item} cannot have {prop}"):
                common.CreateXformOps(flags[kind])
            attribute = prim.GetAttribute(prop)
            if attribute and attribute.IsDefined():
                return attribute
        if self._apply_schema_of(prim, prop) and prim.GetAttribute(prop):
            return prim.GetAttribute(prop)
        socket_of_kind = schemas.shader_inputs(prim).get(prop)
        if socket_of_kind:
            kind = socket_of_kind.GetTypeAsSdfType().GetSdfType()
            with refusing(f"{item} cannot have {prop}"):
                return UsdShade.Shader(prim).CreateInput(prop.partition(":")[2], kind).GetAttr()
        raise self._no_property(item, prop)

    def _apply_schema_of(self, prim: Usd.Prim, prop: str) -> bool:
        """Apply the schema that brings a property, if there is one; return whether it was."""
        schema = schemas.applicable(prim, prop)
        if schema is None:
            return False
        with refusing(f"{prim.GetPath()} cannot have {prop}"):
            return bool(prim.ApplyAPI(schema))

    def _no_property(self, item: str, prop: str) -> LookupError:
        """Return the error for a property that is not there, with the names that are like it."""
        prim = self.prim(item)
        known = [*prim.GetPropertyNames()]
        known += [f"variant:{name}" for name in prim.GetVariantSets().GetNames()]
        known += [*OWN, *NOTES, *ARCS]
        known += schemas.shader_inputs(prim)
        known += schemas.applicable_props()
        if UsdGeom.XformCommonAPI(prim):
            known += _PLACE
        hint = names.near(prop, known)
        if prop.startswith("variant") and not prim.HasVariantSets():
            hint = " It has no variant set: create one, of type VariantSet; variant:<set> selects."
        elif prop == "loaded":
            hint = ' It has no payload: import_file with how="payload" makes one.'
        return LookupError(f"{item} has no property {prop!r}.{hint}")

    def value(self, item: str, prop: str) -> Value:
        if item == SCENE:
            return self._setting(prop)
        prim = self.prim(item)
        attribute = prim.GetAttribute(prop)
        if attribute and attribute.IsDefined():
            return shown_value(attribute)
        relationship = prim.GetRelationship(prop)
        if relationship:
            return shown_targets(relationship)
        if prop in _PLACE and UsdGeom.XformCommonAPI(prim):
            return Value(list(_PLACE[prop]), "double3")
        other = self._other_value(prim, prop)
        if other is None:
            raise self._no_property(item, prop)
        return other

    def _other_value(self, prim: Usd.Prim, prop: str) -> Value | None:
        """Return a value that is neither an attribute nor a relationship; None if it is none."""
        socket_of_kind = schemas.shader_inputs(prim).get(prop)
        if socket_of_kind:
            return default_input(socket_of_kind)
        if is_note(prop):
            return note(prim, prop)
        if prop == "loaded" and prim.HasAuthoredPayloads():
            return Value(prim.IsLoaded(), "bool", is_default=prim.IsLoaded())
        if prop in OWN:
            return Value(own_value(prim, prop), OWN[prop])
        if prop in ARCS:
            rows = shown_arcs(arcs(prim), prop)
            return Value(rows, "asset[]", is_default=not rows)
        name = prop.removeprefix("variant:")
        if name != prop and prim.GetVariantSets().HasVariantSet(name):
            return Value(prim.GetVariantSets().GetVariantSelection(name), "variant")
        if schemas.applicable(prim, prop) is not None:
            return Value(None, "of a schema that is applied with it", is_default=True)
        return None

    def elements(
        self, item: str, prop: str, offset: int, most: int
    ) -> tuple[int, list[Any]] | None:
        """Return a part of an array."""
        attribute = self.prim(item).GetAttribute(prop)
        if not attribute or not attribute.GetTypeName().isArray:
            return None
        every = attribute.Get(FIRST)
        if every is None:
            return None
        return len(every), plain(every[offset : offset + most])

    def scene_props(self) -> list[str]:
        """Return the names of the settings."""
        return list(settings(self.stage))

    def _setting(self, name: str) -> Value:
        """Return a setting of the scene as a whole."""
        known = settings(self.stage)
        if name not in known:
            raise LookupError(f"The scene has no {name!r}.{names.near(name, known)}")
        value, kind = known[name]
        if name == "frame":
            return Value(value, kind, _STILL, is_fixed=True)
        return Value(value, kind)

    def set_value(self, item: str, prop: str, value: Any, *, replace: bool = False) -> None:
        with refusing(f"{prop} of {item} cannot be set to {value!r} here"):
            now = self.value(item, prop)
            if item == SCENE:
                if now.held:
                    raise ValueError(f"{prop} of the scene cannot be set: it is {now.held}.")
                self._change_setting(prop, value)
                return
            prim = self.prim(item)
            if not prim.HasProperty(prop):
                self._apply_schema_of(prim, prop)
            relationship = prim.GetRelationship(prop)
            if relationship:
                targets = [self.prim(path).GetPath() for path in _texts(prop, value)]
                check_targets(prim, prop, targets)
                _set_targets(relationship, targets)
            elif prim.GetAttribute(prop) or not self._set_other(prim, prop, value):
                _set(self.attribute(item, prop), value, replace=replace)

    def check_written(self, written: Sequence[tuple[str, str]]) -> None:
        """Check the arrays of rigs that were written against each other.

        Raises:
            ValueError: They do not agree.
        """
        props = defaultdict[Usd.Prim, list[str]](list)
        for item, prop in written:
            if is_of_rig(prop):
                props[self.prim(item)].append(prop)
        check_rigs(props)

    def _set_other(self, prim: Usd.Prim, prop: str, value: Any) -> bool:
        """Set a value that is neither an attribute nor a relationship; return whether it is one."""
        name = prop.removeprefix("variant:")
        if name != prop:
            choose(prim, name, value)
        elif prop == "loaded":
            cast("UsdSession", self.host).set_view(view_loading(prim, value))
        elif is_note(prop):
            set_note(prim, prop, value)
        elif prop in ARCS:
            set_arcs(prim, prop, value)
        elif prop in OWN:
            set_own(prim, prop, value)
        else:
            return False
        return True

    def _change_setting(self, prop: str, value: Any) -> None:
        """Change a setting of the scene as a whole."""
        session = cast("UsdSession", self.host)
        if prop == "edit_target":
            session.set_edit_target(layer_called(self.stage, value))
        elif prop == "muted_layers":
            session.set_view(view_muting(self.stage, value))
        elif prop == "unloaded":
            session.set_view(view_unloading(self.stage, value))
        else:
            change(self.stage, prop, value)

    # ---- keys

    def keys(self, item: str, prop: str) -> list[tuple[float, Any]]:
        self.value(item, prop)
        attribute = self.prim(item).GetAttribute(prop)
        times = attribute.GetTimeSamples() if attribute else []
        return [(time, short(attribute.Get(time))) for time in times]

    def set_keys(self, item: str, prop: str, keys: Keys, shape: Shape, *, clear: bool) -> None:
        """Write time samples, which USD always interpolates linearly, or not at all.

        Args:
            item: The prim.
            prop: The attribute.
            keys: Frames and values.
            shape: How the values go from key to key.
            clear: Whether the attribute keeps no other key.

        Raises:
            LookupError: There is no such attribute.
            ValueError: The attribute cannot be keyed so; the message says why.
        """
        attribute = self.attribute(item, prop)
        kind = attribute.GetTypeName()
        if attribute.GetVariability() == Sdf.VariabilityUniform:
            raise ValueError(f"{prop} of {item} cannot be keyed: it is uniform.")
        if attribute.HasAuthoredConnections():
            raise ValueError(f"{prop} of {item} is {holder(attribute)}.")
        is_stepped = isinstance(kind.scalarType.defaultValue, _STEPPED)
        own_shape = "step" if is_stepped else "linear"
        if keys and shape not in (own_shape, "linear"):
            raise ValueError(
                f"USD goes from key to key of a {kind} by {own_shape} steps, not {shape}: give "
                f'more keys, and shape="{own_shape}".'
            )
        with refusing(f"{prop} of {item} cannot be keyed here"):
            values = {time: coerce(kind, value) for time, value in keys}
            for value in values.values():
                if kind.isArray:
                    check_keys(attribute.GetPrim(), prop, value)
            write_keys(attribute, values, clear=clear)


def _set(attribute: Usd.Attribute, value: Any, *, replace: bool) -> None:
    """Set an attribute.

    Args:
        attribute: The attribute.
        value: The value as JSON has it.
        replace: Whether keys and connections of the attribute are removed for the value.

    Raises:
        ValueError: The value does not fit, or something holds the attribute.
    """
    wanted = coerce(attribute.GetTypeName(), value)
    if attribute.GetTypeName().isArray:
        check_entries(attribute.GetPrim(), attribute.GetName(), wanted)
    choices = attribute.GetMetadata("allowedTokens")
    if choices and wanted not in choices:
        raise ValueError(f"{attribute.GetName()} is one of {', '.join(choices)}, not {value!r}.")
    held = holder(attribute)
    if held:
        if not replace or held.startswith("locked"):
            raise ValueError(f"{attribute.GetPath()} is {held}.")
        for time in attribute.GetTimeSamples():
            attribute.ClearAtTime(time)
        cut(attribute)
    attribute.Set(wanted)
    now = attribute.Get(FIRST)
    # An asset path that was read knows the file as well, and is not equal.
    if now != wanted and plain(now) != plain(wanted):
        raise ValueError(f"{attribute.GetPath()} is held by {_stronger(attribute)}.")
    fit_extent(attribute)
    fit_layout(attribute)


def _stronger(attribute: Usd.Attribute) -> str:
    """Return what holds the value of an attribute against the edit target, in words."""
    stack = attribute.GetPropertyStack(Usd.TimeCode.Default())
    if not stack:
        return "a stronger layer, another layer"
    edited = attribute.GetStage().GetEditTarget().MapToSpecPath(attribute.GetPath())
    is_in_variant = stack[0].path.ContainsPrimVariantSelection()
    if edited.ContainsPrimVariantSelection() and not is_in_variant:
        return "the prim itself, outside the variant: clear the value there"
    return f"a stronger layer, {stack[0].layer.GetDisplayName()}"


def _set_targets(rel: Usd.Relationship, targets: list[Sdf.Path]) -> None:
    rel.SetTargets(targets)
    if rel.GetTargets() != targets:
        raise ValueError(f"{rel.GetPath()} is held by a stronger layer.")


def _texts(prop: str, value: Any) -> list[str]:
    """Return the texts of one text or a list of them.

    Raises:
        ValueError: The value is neither; the message begins with `prop`.
    """
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{prop} is a relationship: give the paths of prims.")
    return texts
