"""The words that people say for nodes of Houdini, for `find_api`. Main thread."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from dcc_bridge.spi import Said

_KEYS: Final = 'set_keys {"item": "<geo|null|cam>", "prop": "tx", "keys": [[1, 0], [24, 5]]}'
_WORDS: Final[Mapping[str, str]] = {
    # Objects.
    "geo": "geometry object, empty geometry, container of shapes",
    "cam": "camera, render camera",
    "hlight": "light, area light, spot light, point light, sun, lamp",
    "envlight": "environment light, hdri, sky light, dome light, image based lighting",
    "null": "empty, locator, controller, pivot",
    # Shapes.
    "box": "cube, block",
    "sphere": "ball",
    "grid": "plane, floor, ground plane",
    "tube": "cylinder, cone, pipe",
    "torus": "donut, ring",
    "line": "straight line, line of points",
    "curve": "spline, draw a curve, bezier, nurbs curve",
    "font": "text, 3d text, letters, type",
    "file": "read geometry from disk, load a bgeo, read a file of geometry",
    "alembic": "alembic, abc, load an alembic",
    # What changes shapes.
    "xform": "transform geometry, move points of a shape, rotate geometry",
    "polyextrude": "extrude, extrude faces, inset, thicken, give a surface thickness",
    "polybevel": "bevel, round edges, chamfer, fillet",
    "boolean": "boolean, subtract, cut a hole, union of two shapes, intersect",
    "subdivide": "subdivision surface, smooth subdivision, catmull clark, turbosmooth",
    "remesh": "remesh, triangulate evenly, retopology",
    "polyreduce": "reduce polygons, decimate, lower the polycount, simplify a mesh",
    "mountain": "noise displacement, displace with noise, terrain, bumpy surface",
    "attribnoise": "noise on an attribute, random attribute by noise",
    "attribwrangle": "vex, wrangle, write vex code, run vex over points, attribute expression",
    "attribrandomize": "randomize an attribute, random colour, random scale per point",
    "scatter": "scatter points, random points on a surface, distribute points",
    "copytopoints": "copy to points, instance on points, scatter objects, instancing",
    "copyxform": "array, duplicate in a row, copies with an offset, radial array",
    "merge": "join, combine shapes, combine several inputs",
    "blast": "delete faces, delete a group, remove points",
    "groupcreate": "group of points, select faces by a box, make a group, primitive group",
    "fuse": "merge close points, weld points, snap points, remove doubles",
    "normal": "normals, recompute normals, smooth shading, cusp",
    "mirror": "mirror geometry, symmetry, reflect",
    "sweep": "sweep along a curve, tube along a curve, pipe along a path",
    "resample": "resample a curve, points at equal distances",
    "polyfill": "fill holes, cap, close a hole",
    "uvunwrap": "unwrap uvs, uv unwrap, automatic uvs",
    "uvflatten": "flatten uvs, uv seams",
    "vdbfrompolygons": "convert to vdb, voxelize, sdf, volume from a mesh",
    "convertvdb": "vdb to polygons, mesh a volume",
    "voronoifracture": "fracture, break apart, shatter, voronoi",
    "color": "point colour, vertex colour, colour of a shape",
    "material": "assign a material in a shape, material per face",
    "timeshift": "freeze a frame, offset time, retime",
    "filecache": "cache to disk, bake a simulation, write a bgeo sequence",
    "switch": "choose between inputs, toggle between two shapes",
    # Materials and pictures.
    "principledshader": "pbr material, principled material, metallic and roughness",
    "mtlxstandard_surface": "materialx, standard surface, karma material",
    "ifd": "mantra, render to a file with mantra",
    "karma": "karma, render with karma",
}
"""Phrases by the names of types, without their versions."""
_ENTRIES: Final[Mapping[str, Said]] = {
    "set_keys": Said("", _KEYS),
    "cam.focal": Said("focal length, focal length of a camera, lens, field of view, zoom"),
    "cam.resx": Said("resolution, render size, width of the picture"),
    "hlight.light_intensity": Said("brightness of a light, light intensity"),
    "geo.shop_materialpath": Said("material of an object, which material an object has"),
}
"""The words that are no type of nodes."""


def said_of(types: Iterable[str]) -> Mapping[str, Said]:
    """Return what people say for types of nodes and more, by the names of their entries.

    Args:
        types: The types of this Houdini. Of several versions of a type the newest is meant.
    """
    newest: dict[str, str] = {}
    for name in types:
        base = name.partition("::")[0]
        newest[base] = max(newest.get(base, name), name, key=_version)
    said = dict(_ENTRIES)
    for base, words in _WORDS.items():
        if base in newest:
            said[f"create type {newest[base]}"] = Said(words)
    return said


def _version(name: str) -> list[int]:
    """Return the version of a type for a comparison: [2, 0] of "scatter::2.0"."""
    version = name.partition("::")[2]
    return [int(number) for number in version.split(".") if number.isdecimal()]
