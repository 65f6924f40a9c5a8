"""The words of people for the types of FreeCAD's objects. Main thread."""

from __future__ import annotations

import re
from typing import Any, Final

_NOUNS: Final = {
    "App::Annotation": "annotation",
    "App::AnnotationLabel": "label",
    "App::DocumentObjectGroup": "group",
    "App::MaterialObject": "material",
    "Fem::FemAnalysis": "analysis",
    "Fem::FemMeshObject": "FEM mesh",
    "Image::ImagePlane": "image",
    "Mesh::Feature": "mesh",
    "Part::Feature": "shape",
    "Part::FeaturePython": "object",
    "Part::MultiCommon": "intersection",
    "Part::MultiFuse": "fusion",
    "Part::Part2DObject": "drawing",
    "Part::RuledSurface": "ruled surface",
    "Points::Feature": "point cloud",
    "Sketcher::SketchObject": "sketch",
    "Spreadsheet::Sheet": "spreadsheet",
    "TechDraw::DrawPage": "drawing page",
    "TechDraw::DrawSVGTemplate": "page template",
    "TechDraw::DrawViewDimension": "dimension",
    "TechDraw::DrawViewPart": "drawing view",
}
"""The nouns of types whose own name says something else, or nothing."""
_SAYS_NOTHING: Final = re.compile("Feature|Object|FeatureBase")


def noun_of(obj: Any) -> str:
    """Return the noun of an object's type for a person: "cylinder", "sketch", "wall"."""
    proxy_type = type_of_proxy(obj)
    if isinstance(proxy_type, str) and proxy_type:
        # Draft, Arch and FEM make their types in Python, of a plain object with a proxy.
        return _in_words(proxy_type)
    kind = obj.TypeId.removesuffix("Python")
    if obj.TypeId in _NOUNS:
        return _NOUNS[obj.TypeId]
    if kind in _NOUNS:
        return _NOUNS[kind]
    return _in_words(kind)


def type_of_proxy(obj: Any) -> Any:
    """Return the type that the Python code of an object says it has; None where it says none."""
    try:
        return getattr(getattr(obj, "Proxy", None), "Type", None)
    except Exception:  # noqa: BLE001 - an add-on's code may raise anything
        return None


def _in_words(kind: str) -> str:
    """Return the name of a type as lower-case words: "TechDraw::DrawRichAnno" as "rich anno"."""
    name = re.sub("^Draw(?=[A-Z])", "", kind.rpartition("::")[2])
    if _SAYS_NOTHING.fullmatch(name):
        return "object"
    return re.sub("(?<=[a-z])(?=[A-Z])", " ", name).lower()
