"""What people call the types of FreeCAD's objects. Main thread."""

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
"""Those whose name says something else, or nothing."""
_SAYS_NOTHING: Final = re.compile("Feature|Object|FeatureBase")


def noun_of(obj: Any) -> str:
    """Return what people call the type of an object: "cylinder", "sketch", "wall"."""
    proxy = getattr(getattr(obj, "Proxy", None), "Type", None)
    if isinstance(proxy, str) and proxy:  # of Draft, Arch, FEM: what Python makes of a plain object
        return _in_words(proxy)
    kind = obj.TypeId.removesuffix("Python")
    return _NOUNS.get(obj.TypeId) or _NOUNS.get(kind) or _in_words(kind)


def _in_words(kind: str) -> str:
    own = re.sub("^Draw(?=[A-Z])", "", kind.rpartition("::")[2])
    if _SAYS_NOTHING.fullmatch(own):
        return "object"
    return re.sub("(?<=[a-z])(?=[A-Z])", " ", own).lower()
