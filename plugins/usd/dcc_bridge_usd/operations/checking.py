"""What is wrong with a scene as USD's own validators see it, and what its schemas know."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from pxr import Kind, Usd, UsdGeom, UsdValidation  # type: ignore[attr-defined]  # newer than the stubs

from dcc_bridge import track
from dcc_bridge.spi import ApiEntry, ApiSearch, Checking, Rule

from . import links, schemas
from .items import _Items

_MOST_TOLD: Final = 300
_TOGETHER: Final = 100  # prims that are validated in 10 ms
# By what a validator is called in USD, the few of them that matter to who makes scenes.
_TEXTS: Final = {
    "usd_core": (
        "UsdCoreValidators",
        "USD cannot compose it, or it has values of a wrong type",
        "set_values with a value of the type that find_api tells; run_python for what it refers to",
    ),
    "usd_geom": (
        "UsdGeomValidators",
        "Geometry that USD does not allow, or no up axis or units",
        "set_values, as the reason says; group for what must not be below another",
    ),
    "usd_shade": (
        "UsdShadeValidators",
        "A material or its binding breaks USD's rules",
        "assign_material for a binding, connect or set_values for a shader",
    ),
    "usd_skel": (
        "UsdSkelValidators",
        "A skeleton is bound where USD does not look for it",
        "group(under=a SkelRoot), or run_python: UsdSkel.BindingAPI.Apply(prim)",
    ),
    "usd_lux": (
        "UsdLuxValidators",
        "A light stands where USD does not allow it",
        "group under what is no light and no shader",
    ),
    "usd_physics": (
        "UsdPhysicsValidators",
        "Physics that USD cannot simulate",
        "set_values or group, as the reason says; run_python for schemas of UsdPhysics",
    ),
}
_CUT: Final = "clean(what=['dead_links']), or connect, or assign_material for a binding"
_MORE_FACES: Final = "set_values of faceVertexCounts and faceVertexIndices"


class _Checking(_Items, ApiSearch, Checking):
    """Checks a scene, and tells of USD."""

    def rules(self) -> Iterable[Rule]:
        """Give a rule for each family of validators, and one for the layers."""
        yield Rule(
            "default_prim",
            "The scene has no default prim, so that it cannot be referenced whole",
            'set_values(changes=[{"item": "@scene", "prop": "default_prim", "value": "/World"}])',
        )
        yield Rule("dead_links", "a relationship, connection or reference leads to nothing", _CUT)
        yield Rule("ngons", "faces of more than four corners", _MORE_FACES)
        yield Rule("duplicate_names", "components of one name, which clash in one group", "rename")
        for name, (_, text, mend) in _TEXTS.items():
            yield Rule(name, text, mend)

    def failures(self, rule: str, items: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Give what fails, prim by prim; what holds for the scene is said of its first prim."""
        own = {
            "default_prim": self._rootless,
            "ngons": self._ngons,
            "duplicate_names": self._twins,
            "dead_links": self._dead_links,
        }
        if rule in own:
            yield from own[rule](items)
            return
        keyword = _TEXTS[rule][0]
        if items:
            yield from self._of_scene(keyword, items[0])
        context = UsdValidation.ValidationContext([keyword], False)
        parts = [items[at : at + _TOGETHER] for at in range(0, len(items), _TOGETHER)]
        for part in parts:
            yield part[0], ""
            said = defaultdict[str, list[str]](list)
            for error in context.Validate([self.prim(item) for item in part]):
                for site in error.GetSites():
                    at = site.GetPrim() if site.IsPrim() else site.GetProperty()
                    said[str(at.GetPath().GetPrimPath() if at else part[0])].append(
                        str(error.GetMessage())
                    )
            for item, messages in said.items():
                yield item, " ".join(dict.fromkeys(messages))[:_MOST_TOLD]

    def _rootless(self, items: Sequence[str]) -> Iterator[tuple[str, str]]:
        if items and not self.stage.GetDefaultPrim():
            yield items[0], "The scene has no default prim."

    def _dead_links(self, items: Sequence[str]) -> Iterator[tuple[str, str]]:
        for item in items:
            yield item, ", ".join(links.dead_of(self.prim(item)))[:_MOST_TOLD]

    def _ngons(self, items: Sequence[str]) -> Iterator[tuple[str, str]]:
        for item in items:
            counts = UsdGeom.Mesh(self.prim(item)).GetFaceVertexCountsAttr().Get() or ()
            ngons = sum(it > 4 for it in counts)
            yield item, f"{ngons} faces" if ngons else ""

    def _twins(self, items: Sequence[str]) -> Iterator[tuple[str, str]]:
        # what is inside of a component may be called as in another one
        names = Counter(it.GetName() for it in track(self.stage.Traverse()) if _is_component(it))
        for item in items:
            prim = self.prim(item)
            count = names[prim.GetName()] if _is_component(prim) else 0
            yield item, f"{count} are called {prim.GetName()}" if count > 1 else ""

    def _of_scene(self, keyword: str, item: str) -> Iterator[tuple[str, str]]:
        registry = UsdValidation.ValidationRegistry()
        for each in registry.GetValidatorMetadataForKeyword(keyword):
            validator = registry.GetOrLoadValidatorByName(each.name)
            said = [str(error.GetMessage()) for error in validator.Validate(self.stage)]
            if said:
                yield item, f"The scene: {' '.join(said)}"[:_MOST_TOLD]

    def api(self) -> Iterator[ApiEntry]:
        """Give the types with their properties, and the shaders with their sockets."""
        return (ApiEntry(*entry) for entry in schemas.entries())


def _is_component(prim: Usd.Prim) -> bool:
    return bool(Usd.ModelAPI(prim).GetKind() == Kind.Tokens.component)
