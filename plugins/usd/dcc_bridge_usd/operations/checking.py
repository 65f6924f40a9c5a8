"""The findings of USD's own validators, and the schemas of USD. Main thread."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from pxr import Kind, Sdf, Usd, UsdGeom, UsdShade, UsdValidation  # type: ignore[attr-defined]  # newer than the stubs

from dcc_bridge import track
from dcc_bridge.spi import ApiEntry, ApiSearch, Checking, Rule, Said, read_each

from . import api_python, links, part_kinds, schemas, skeletons
from .items import _Items
from .said import SAID

_MAX_CHARACTERS: Final = 300  # of a reason
_PRIMS_A_STEP: Final = 100  # prims that are validated in 10 ms
_SET_VALUES: Final = "set_values(items=[prim], values={attribute: value})"
_SET_FACES: Final = 'set_values(items=[prim], values={"faceVertexCounts": [4], ...})'
_SET_DEFAULT: Final = 'set_values(items=["@scene"], values={"default_prim": "/World"})'
_ASSIGN: Final = 'assign_material(items, material="name")'
_GROUP: Final = 'group(items, under="/parent")'
_RENAME: Final = 'rename(names={prim: "new name"})'
_CLEAN_LINKS: Final = 'clean(what=["dead_links"])'
_ADD_UVS: Final = "run_python: UsdGeom.PrimvarsAPI(prim).CreatePrimvar('st', ...)"
_RULES: Final = (
    Rule(
        "default_prim",
        "The scene has no default prim, so that no other scene can refer to it as a whole; "
        f"{_SET_DEFAULT} says which prim that is.",
        _SET_DEFAULT,
    ),
    Rule(
        "dead_links",
        "Relationships, connections or references of these prims lead to nothing; "
        f"{_CLEAN_LINKS} removes them, and connect or assign_material makes new ones.",
        _CLEAN_LINKS,
    ),
    Rule(
        "ngons",
        f"Faces of these meshes have more than four corners; {_SET_FACES} parts them.",
        _SET_FACES,
    ),
    Rule(
        "non_manifold",
        f"Edges of these meshes have not two faces; {_SET_FACES} adds or removes faces.",
        _SET_FACES,
    ),
    Rule(
        "no_uvs",
        f"These meshes have no texture coordinates; {_ADD_UVS} makes them.",
        _ADD_UVS,
    ),
    Rule(
        "no_material",
        f"These prims have geometry and no material; {_ASSIGN} gives them one.",
        _ASSIGN,
    ),
    Rule(
        "duplicate_names",
        f"These components share their name with others; {_RENAME} gives each a name of its own.",
        _RENAME,
    ),
    Rule(
        "usd_core",
        "USD cannot compose these prims, or values of theirs are of a wrong type; "
        f"{_SET_VALUES} takes a value of the type that find_api tells.",
        _SET_VALUES,
    ),
    Rule(
        "usd_geom",
        "The geometry of these prims, or the scene's up axis or units, break USD's rules; "
        f"{_SET_VALUES} sets what the reason names, and {_GROUP} moves a prim.",
        _SET_VALUES,
    ),
    Rule(
        "usd_shade",
        f"These materials, shaders or bindings break USD's rules; {_ASSIGN} binds a material, and "
        "connect and set_values edit a shader.",
        _ASSIGN,
    ),
    Rule(
        "usd_skel",
        "These skeletons are bound where USD does not look for them, or arrays of theirs do not "
        f"agree; {_GROUP} moves a prim below a SkelRoot, and {_SET_VALUES} sets arrays.",
        _GROUP,
    ),
    Rule(
        "usd_lux",
        "These lights are where USD allows none; "
        f"{_GROUP} moves a light below what is no light and no shader.",
        _GROUP,
    ),
    Rule(
        "usd_physics",
        "USD cannot simulate the physics of these prims; "
        f"{_SET_VALUES} sets what the reason names, and {_GROUP} moves a prim.",
        _SET_VALUES,
    ),
)
# USD's keywords for families of validators. These few matter to people who make scenes.
_FAMILIES: Final = {
    "usd_core": "UsdCoreValidators",
    "usd_geom": "UsdGeomValidators",
    "usd_shade": "UsdShadeValidators",
    "usd_skel": "UsdSkelValidators",
    "usd_lux": "UsdLuxValidators",
    "usd_physics": "UsdPhysicsValidators",
}
_UV_TYPES: Final = (Sdf.ValueTypeNames.TexCoord2fArray, Sdf.ValueTypeNames.Float2Array)


class _Checking(_Items, ApiSearch, Checking):
    """Checks a scene, and looks things up in USD's schemas."""

    def rules(self) -> Iterable[Rule]:
        """Return our own rules, and a rule for each family of validators."""
        return _RULES

    def failures(self, rule: str, items: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield what fails, prim by prim; what fails for the scene is yielded for its first prim.

        Args:
            rule: The name of a rule.
            items: The prims that are checked.

        Yields:
            A prim and the reason; an empty reason where nothing fails.
        """
        own = {
            "default_prim": self._default_prim,
            "ngons": self._ngons,
            "non_manifold": self._non_manifold,
            "no_uvs": self._no_uvs,
            "no_material": self._no_material,
            "duplicate_names": self._duplicate_names,
            "dead_links": self._dead_links,
        }
        if rule in own:
            yield from own[rule](items)
            return
        keyword = _FAMILIES[rule]
        if items:
            yield from self._of_scene(keyword, items[0])
        context = UsdValidation.ValidationContext([keyword], False)
        for start in range(0, len(items), _PRIMS_A_STEP):
            part = items[start : start + _PRIMS_A_STEP]
            yield part[0], ""
            errors = context.Validate([self.prim(item) for item in part])
            for item, messages in _messages(errors, part[0]).items():
                yield item, " ".join(messages)[:_MAX_CHARACTERS]
        if rule == "usd_skel":
            yield from read_each(items, self._rig_faults_of)

    def _rig_faults_of(self, item: str) -> str:
        """Return which arrays of a prim of a rig do not agree; "" where all do."""
        return " ".join(skeletons.faults(self.prim(item)))[:_MAX_CHARACTERS]

    def _default_prim(self, items: Sequence[str]) -> Iterator[tuple[str, str]]:
        if items and not self.stage.GetDefaultPrim():
            yield items[0], "The scene has no default prim."

    def _dead_links(self, items: Sequence[str]) -> Iterator[tuple[str, str]]:
        yield from read_each(
            items, lambda item: ", ".join(links.dead_of(self.prim(item)))[:_MAX_CHARACTERS]
        )

    def _ngons(self, items: Sequence[str]) -> Iterator[tuple[str, str]]:
        yield from read_each(items, self._ngons_of)

    def _ngons_of(self, item: str) -> str:
        """Return how many faces of a prim have more than four corners, in words; "" for none."""
        counts = UsdGeom.Mesh(self.prim(item)).GetFaceVertexCountsAttr().Get() or ()
        ngons = sum(count > 4 for count in counts)
        return f"{ngons} faces" if ngons else ""

    def _non_manifold(self, items: Sequence[str]) -> Iterator[tuple[str, str]]:
        yield from read_each(items, self._open_edges_of)

    def _open_edges_of(self, item: str) -> str:
        """Return how many edges of a prim have not two faces, in words; "" for none."""
        count = _open_edges(UsdGeom.Mesh(self.prim(item)))
        return f"{count} edges" if count else ""

    def _no_uvs(self, items: Sequence[str]) -> Iterator[tuple[str, str]]:
        yield from read_each(items, self._lacking_uvs)

    def _lacking_uvs(self, item: str) -> str:
        """Return that a mesh has no texture coordinates; "" where it has, or is no mesh."""
        prim = self.prim(item)
        if UsdGeom.Mesh(prim) and not _has_uvs(prim):
            return "no texture coordinates"
        return ""

    def _no_material(self, items: Sequence[str]) -> Iterator[tuple[str, str]]:
        yield from read_each(items, self._lacking_material)

    def _lacking_material(self, item: str) -> str:
        """Return that geometry has no material; "" where it has, or is no geometry."""
        prim = self.prim(item)
        if UsdGeom.Gprim(prim) and not _has_material(prim):
            return "no material"
        return ""

    def _duplicate_names(self, items: Sequence[str]) -> Iterator[tuple[str, str]]:
        # Prims inside of components may have the same names.
        counts = Counter[str]()
        for prim in track(self.stage.Traverse()):
            if _is_component(prim):
                counts[prim.GetName()] += 1

        def same_named(item: str) -> str:
            prim = self.prim(item)
            name = prim.GetName()
            if _is_component(prim) and counts[name] > 1:
                return f"{counts[name]} are called {name}"
            return ""

        yield from read_each(items, same_named)

    def _of_scene(self, keyword: str, item: str) -> Iterator[tuple[str, str]]:
        """Yield what fails for the scene as a whole."""
        registry = UsdValidation.ValidationRegistry()
        for metadata in registry.GetValidatorMetadataForKeyword(keyword):
            validator = registry.GetOrLoadValidatorByName(metadata.name)
            messages = [str(error.GetMessage()) for error in validator.Validate(self.stage)]
            if messages:
                yield item, f"The scene: {' '.join(messages)}"[:_MAX_CHARACTERS]

    def api(self) -> Iterator[ApiEntry]:
        """Yield the types and shaders with their properties, and what is in USD's modules."""
        yield from schemas.entries()
        yield from part_kinds.entries()
        yield from api_python.entries()

    def said(self) -> Mapping[str, Said]:
        return SAID


def _messages(errors: Iterable[Any], first: str) -> dict[str, dict[str, None]]:
    """Return the messages of errors by the prim, in their order; those of no prim by `first`."""
    messages = defaultdict[str, dict[str, None]](dict)
    for error in errors:
        for site in error.GetSites():
            place = site.GetPrim() if site.IsPrim() else site.GetProperty()
            item = str(place.GetPath().GetPrimPath()) if place else first
            messages[item][str(error.GetMessage())] = None
    return messages


def _open_edges(mesh: UsdGeom.Mesh) -> int:
    """Return how many edges of a mesh have not two faces; 0 for a prim that is no mesh."""
    corners = mesh.GetFaceVertexIndicesAttr().Get() or ()
    faces_of_edge = Counter[tuple[int, int]]()
    start = 0
    for size in mesh.GetFaceVertexCountsAttr().Get() or ():
        face = corners[start : start + size]
        start += size
        for a, b in zip(face, (*face[1:], *face[:1]), strict=True):
            faces_of_edge[min(a, b), max(a, b)] += 1
    return sum(count != 2 for count in faces_of_edge.values())


def _has_uvs(prim: Usd.Prim) -> bool:
    primvars = UsdGeom.PrimvarsAPI(prim).FindPrimvarsWithInheritance()
    return any(primvar.GetTypeName() in _UV_TYPES for primvar in primvars)


def _has_material(prim: Usd.Prim) -> bool:
    """Return whether a material is bound to a prim, to one above it, or to each of its subsets."""
    material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()
    if material:
        return True
    subsets = UsdShade.MaterialBindingAPI(prim).GetMaterialBindSubsets()
    parts = [UsdShade.MaterialBindingAPI(subset.GetPrim()) for subset in subsets]
    return bool(parts) and all(part.ComputeBoundMaterial()[0] for part in parts)


def _is_component(prim: Usd.Prim) -> bool:
    return bool(Usd.ModelAPI(prim).GetKind() == Kind.Tokens.component)
