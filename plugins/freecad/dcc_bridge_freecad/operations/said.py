"""The words that people say for things of FreeCAD, for `find_api`, and code. Main thread."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from dcc_bridge.spi import Said

_BOX: Final = 'box = doc.addObject("Part::Box", "Box")'
_TWO: Final = (_BOX, 'ball = doc.addObject("Part::Sphere", "Ball")')
_SKETCH: Final = (
    "import Part",
    'sketch = doc.addObject("Sketcher::SketchObject", "Sketch")',
    "line = Part.LineSegment(App.Vector(0, 0, 0), App.Vector(10, 0, 0))",
    "n = sketch.addGeometry(line)",
)
_CIRCLE: Final = (
    "import Part",
    'sketch = doc.addObject("Sketcher::SketchObject", "Sketch")',
    "sketch.addGeometry(Part.Circle(App.Vector(0, 0, 0), App.Vector(0, 0, 1), 5))",
)
_SHEET: Final = 'sheet = doc.addObject("Spreadsheet::Sheet", "Sheet")'


_CURVES: Final = (
    {"line": [[0, 0], [80, 0]]},
    {"circle": [15, 15], "radius": 4},
    {"arc": [5, 5], "radius": 5, "from": 180, "to": 270},
    {"ellipse": [40, 40], "radii": [9, 4], "angle": 30},
    {"spline": [[0, 60], [20, 70], [40, 60], [60, 70]]},
)
_CONSTRAINTS: Final = (
    {"type": "Horizontal", "of": [0]},
    {"type": "Coincident", "of": [[0, 1], [-1, 1]]},
    {"type": "DistanceX", "of": [[0, 1], [0, 2]], "value": 90, "name": "length"},
)


def _sketch(**values: Any) -> str:
    """Return the call that creates a sketch with some values."""
    thing = {"type": "Sketcher::SketchObject", "name": "Sketch", "values": values}
    return f"create {json.dumps({'things': [thing]})}"


def _drawing(*things: dict[str, Any]) -> str:
    """Return the call that creates a page with the front view of a box, and further things."""
    view = {"Source": ["Box"], "Direction": [0, -1, 0]}
    begun = [
        {"type": "Part::Box", "name": "Box"},
        {"type": "TechDraw::DrawViewPart", "name": "View", "values": view},
        {"type": "TechDraw::DrawPage", "name": "Page", "values": {"Views": ["View"]}},
    ]
    return f"create {json.dumps({'things': [*begun, *things]})}"


def _sheet(**values: Any) -> str:
    """Return the call that creates a spreadsheet with some values."""
    thing = {"type": "Spreadsheet::Sheet", "name": "Sheet", "values": values}
    return f"create {json.dumps({'things': [thing]})}"


def _code(*lines: str) -> str:
    return "\n".join(lines)


def _of_box(*lines: str) -> str:
    """Return code that makes a box, and its lines about it."""
    return _code(_BOX, "doc.recompute()", *lines)


def _boolean(kind: str, **values: Any) -> str:
    """Return the call that creates two solids and what is made of them."""
    things = [
        {"type": "Part::Box", "name": "Box"},
        {"type": "Part::Sphere", "name": "Ball"},
        {"type": kind, "values": values},
    ]
    return f"create {json.dumps({'things': things})}"


def _on_a_box(kind: str) -> str:
    """Return the call that creates a box, and a fillet or chamfer of its upright edges by 2 mm."""
    things = [
        {"type": "Part::Box", "name": "Box"},
        {"type": kind, "values": {"Base": "Box", "Edges": [["vertical", 2]]}},
    ]
    return f"create {json.dumps({'things': things})}"


def _in_a_body(kind: str, **values: Any) -> str:
    """Return the call that creates a body of a block, and a fillet or chamfer in it."""
    things = [
        {"type": "PartDesign::Body", "name": "Body"},
        {"type": "PartDesign::AdditiveBox", "name": "Block", "under": "Body"},
        {"type": kind, "under": "Body", "values": values},
    ]
    return f"create {json.dumps({'things': things})}"


_OF_TWO: Final = {"Base": "Box", "Tool": "Ball"}

SAID: Final[Mapping[str, Said]] = {
    "Visibility": Said(
        "hide, hide object, hide an object, show an object, invisible, make invisible,"
        " toggle visibility"
    ),
    # Solids, and what is made of them.
    "create type Part::Box": Said("box, cube, block, cuboid, rectangular solid, make a box"),
    "create type Part::Cylinder": Said("cylinder, rod, tube"),
    "create type Part::Sphere": Said("sphere, ball"),
    "create type Part::Cone": Said("cone"),
    "create type Part::Torus": Said("torus, ring, donut"),
    "create type Part::Prism": Said("prism, hexagon, hexagonal prism"),
    "create type Part::Helix": Said("helix, spring, coil, thread path"),
    "create type Part::Wedge": Said("wedge, ramp"),
    "create type Part::RegularPolygon": Said("polygon, regular polygon, hexagon outline"),
    "create type Part::Cut": Said(
        "subtract, boolean difference, cut a hole, difference of two solids, boolean cut",
        _boolean("Part::Cut", **_OF_TWO),
    ),
    "create type Part::Fuse": Said(
        "union, fuse, boolean union, join two solids, unite, add solids, combine two shapes",
        _boolean("Part::Fuse", **_OF_TWO),
    ),
    "create type Part::MultiFuse": Said(
        "union of many shapes, fuse several objects",
        _boolean("Part::MultiFuse", Shapes=["Box", "Ball"]),
    ),
    "create type Part::Common": Said(
        "intersection, boolean intersection, common volume", _boolean("Part::Common", **_OF_TWO)
    ),
    "create type Part::Compound": Said(
        "compound, group of shapes, combine objects",
        _boolean("Part::Compound", Links=["Box", "Ball"]),
    ),
    "create type Part::Fillet": Said(
        "fillet edges, round edges, rounded corners", _on_a_box("Part::Fillet")
    ),
    "create type Part::Chamfer": Said("chamfer edges, bevel", _on_a_box("Part::Chamfer")),
    "create type PartDesign::Fillet": Said(
        "fillet in a body, round edges of a body, round the edges of a pad",
        _in_a_body("PartDesign::Fillet", Base="Block/edge:vertical", Radius=2),
    ),
    "create type PartDesign::Chamfer": Said(
        "chamfer in a body, chamfer the edges of a pad, bevel the top of a pad",
        _in_a_body("PartDesign::Chamfer", Base="Block/edge:top", Size=1),
    ),
    "PartDesign::Fillet.Base": Said(
        "edges of a fillet, which edges are rounded, change the edges of a fillet",
        _in_a_body("PartDesign::Fillet", Base=["Block/edge:z +x -y", "Block/edge:x -y +z"]),
    ),
    "create type Part::Thickness": Said(
        "shell, hollow, hollow out a solid, wall thickness, thin walls",
        _code(
            _BOX,
            'shell = doc.addObject("Part::Thickness", "Shell")',
            'shell.Faces = (box, ["Face6"])',
            "shell.Value = 1.0",
            "doc.recompute()",
        ),
    ),
    "create type Part::Offset": Said("offset a shape, 3d offset"),
    "create type Part::Offset2D": Said("offset a wire, 2d offset"),
    "create type Part::Mirroring": Said(
        "mirror, mirror a shape, mirrored copy, symmetry, reflect",
        _code(
            _BOX,
            'mirror = doc.addObject("Part::Mirroring", "Mirror")',
            "mirror.Source = box",
            "mirror.Normal = App.Vector(1, 0, 0)",
            "doc.recompute()",
        ),
    ),
    "create type Part::Extrusion": Said(
        "extrude, extrude a sketch, extrude a face, extrude a wire",
        _code(
            *_CIRCLE,
            'solid = doc.addObject("Part::Extrusion", "Extrusion")',
            "solid.Base = sketch",
            "solid.Dir = App.Vector(0, 0, 10)",
            "solid.Solid = True",
            "doc.recompute()",
        ),
    ),
    "create type Part::Revolution": Said(
        "revolve, revolve a profile, lathe, rotate a profile around an axis",
        _code(
            "import Part",
            'sketch = doc.addObject("Sketcher::SketchObject", "Sketch")',
            "sketch.addGeometry(Part.Circle(App.Vector(20, 0, 0), App.Vector(0, 0, 1), 5))",
            'ring = doc.addObject("Part::Revolution", "Ring")',
            "ring.Source = sketch",
            "ring.Axis = App.Vector(0, 1, 0)",
            "doc.recompute()",
        ),
    ),
    "create type Part::Loft": Said(
        "loft, loft between sketches, loft between profiles, blend between sections",
        _code(
            "import Part",
            'a = doc.addObject("Part::Circle", "A")',
            'b = doc.addObject("Part::Circle", "B")',
            "b.Placement.Base.z = 10",
            'loft = doc.addObject("Part::Loft", "Loft")',
            "loft.Sections = [a, b]",
            "doc.recompute()",
        ),
    ),
    "create type Part::Sweep": Said(
        "sweep, sweep along a path, pipe, extrude along a path, tube along a curve",
        _code(
            'profile = doc.addObject("Part::Circle", "Profile")',
            'path = doc.addObject("Part::Line", "Path")',
            'sweep = doc.addObject("Part::Sweep", "Sweep")',
            "sweep.Sections = [profile]",
            'sweep.Spine = (path, ["Edge1"])',
            "doc.recompute()",
        ),
    ),
    "create type Part::Section": Said(
        "section, cross section, intersect with a plane, slice",
        _boolean("Part::Section", **_OF_TWO),
    ),
    "create type Part::Feature": Said(
        "object from a shape, show a shape, add shape to document, static shape",
        _code("import Part", "Part.show(Part.makeBox(10, 10, 10))"),
    ),
    "Part.show": Said(
        "show a shape, display a shape, add shape to document",
        _code("import Part", "Part.show(Part.makeBox(10, 10, 10))"),
    ),
    # Bodies.
    "create type PartDesign::Body": Said("body, new body, part design body"),
    "create type PartDesign::Pad": Said(
        "pad, pad a sketch, extrude a sketch in a body",
        _code(
            *_CIRCLE,
            'body = doc.addObject("PartDesign::Body", "Body")',
            "body.addObject(sketch)",
            'pad = body.newObject("PartDesign::Pad", "Pad")',
            "pad.Profile = sketch",
            "pad.Length = 10",
            "doc.recompute()",
        ),
    ),
    "create type PartDesign::Pocket": Said("pocket, cut a sketch into a body, cutout"),
    "create type PartDesign::Hole": Said("hole, drill, drilled hole, threaded hole, countersink"),
    "create type PartDesign::LinearPattern": Said("linear pattern, repeat along a line, array"),
    "create type PartDesign::PolarPattern": Said(
        "array in a circle, holes in a circle, pattern around an axis, polar pattern, circular"
        " pattern, radial array"
    ),
    "create type PartDesign::ShapeBinder": Said("shape binder, reference geometry of another body"),
    "create type PartDesign::Plane": Said("datum plane, reference plane, work plane"),
    # Sketches.
    "create type Sketcher::SketchObject": Said("sketch, new sketch, empty sketch, 2d profile"),
    "Sketcher::SketchObject.addGeometry": Said(
        "sketch add line, add a line to a sketch, add circle to sketch, draw in a sketch,"
        " sketch geometry, add arc to sketch, rectangle in a sketch",
        _sketch(Geometry=_CURVES),
    ),
    "Sketcher::SketchObject.addConstraint": Said(
        "point on the origin, distance to the origin, distance constraint between points,"
        " constraint, constrain, sketch constraint, add a dimension, length of a line in a sketch,"
        " coincident, horizontal, vertical, distance constraint, constrain length",
        _sketch(Geometry=_CURVES, Constraints=_CONSTRAINTS),
    ),
    "Sketcher::SketchObject.setDatum": Said(
        "change a dimension of a sketch, set constraint value, edit a constraint",
        _sketch(Geometry=_CURVES, Constraints=_CONSTRAINTS, **{"Constraints.length": 70}),
    ),
    "Sketcher::SketchObject.toggleConstruction": Said(
        "construction line, construction geometry",
        _sketch(Geometry=({"line": [[0, 0], [80, 0]], "construction": True},)),
    ),
    "Sketcher::SketchObject.addExternal": Said("external geometry, reference an edge in a sketch"),
    "Sketcher::SketchObject.MapMode": Said("attach a sketch to a face, sketch on a face"),
    # Drawings.
    "create type TechDraw::DrawPage": Said(
        "drawing page, technical drawing, new drawing, sheet of paper", _drawing()
    ),
    "create type TechDraw::DrawViewPart": Said(
        "view of a part on a page, drawing view, front view", _drawing()
    ),
    "create type TechDraw::DrawViewDimension": Said(
        "dimension on a drawing, dimension of an edge, measure in a drawing",
        _drawing(
            {
                "type": "TechDraw::DrawViewDimension",
                "values": {"Type": "DistanceX", "References2D": "View/edge:horizontal bottom"},
            }
        ),
    ),
    # Shapes.
    "Part.Shape.Volume": Said(
        "volume, volume of a solid, measure volume, get volume",
        _of_box("box.Shape.Volume"),
    ),
    "Part.Shape.Area": Said("area, surface area, area of a face", _of_box("box.Shape.Area")),
    "Part.Shape.Length": Said(
        "length of an edge, length of a wire, perimeter, measure length",
        _of_box("box.Shape.Edges[0].Length"),
    ),
    "Part.Shape.BoundBox": Said(
        "bounding box, bounding box of an object, size of an object, dimensions, extents",
        _of_box("str(box.Shape.BoundBox)"),
    ),
    "Part.Shape.distToShape": Said(
        "distance between two objects, measure distance, minimum distance",
        _code(*_TWO, "doc.recompute()", "box.Shape.distToShape(ball.Shape)[0]"),
    ),
    "Part.Shape.CenterOfGravity": Said(
        "center of mass, center of gravity, centroid",
        _of_box("str(box.Shape.CenterOfGravity)"),
    ),
    "Part.Shape.Faces": Said(
        "faces of a shape, list faces, get faces, loop over faces",
        _of_box("[face.Area for face in box.Shape.Faces]"),
    ),
    "edge": Said(
        "name of an edge, list the edges of a shape, find an edge, vertical edges, top edges,"
        " select edges",
        _on_a_box("Part::Fillet"),
    ),
    "Part.Shape.Edges": Said(
        "edges of a shape, list edges, get edges",
        _of_box("[edge.Length for edge in box.Shape.Edges]"),
    ),
    "Part.Shape.Vertexes": Said(
        "vertices of a shape, corner points, get vertices, vertex coordinates",
        _of_box("[str(it.Point) for it in box.Shape.Vertexes]"),
    ),
    "Part.Face.normalAt": Said(
        "normal of a face, face normal",
        _of_box("str(box.Shape.Faces[0].normalAt(0, 0))"),
    ),
    "Part.Shape.copy": Said("copy a shape", _of_box("box.Shape.copy()")),
    "Part.Shape.isInside": Said(
        "point inside a solid, is a point inside",
        _of_box("box.Shape.isInside(App.Vector(1, 1, 1), 0.01, True)"),
    ),
    "Part.Shape.removeSplitter": Said(
        "refine shape, remove seams, merge coplanar faces",
        _of_box("solid = box.Shape.removeSplitter()"),
    ),
    "Part.Shape.isValid": Said(
        "check geometry, is the shape valid, valid solid",
        _of_box("box.Shape.isValid()"),
    ),
    "Part.Shape.tessellate": Said(
        "triangulate a shape, tessellate",
        _of_box("box.Shape.tessellate(0.5)[1][:3]"),
    ),
    "Part.Shape.slice": Said(
        "slice a shape, slices at heights",
        _of_box("wires = box.Shape.slice(App.Vector(0, 0, 1), 5.0)"),
    ),
    "Part.makeLine": Said(
        "line between two points, edge between two points, draw a line",
        _code("import Part", "Part.show(Part.makeLine(App.Vector(0, 0, 0), App.Vector(9, 0, 0)))"),
    ),
    "Part.makePolygon": Said(
        "polyline, wire through points, wire from points",
        _code(
            "import Part",
            "Part.show(Part.makePolygon([App.Vector(0, 0, 0), App.Vector(9, 0, 0), App.Vector(9,"
            " 9, 0)]))",
        ),
    ),
    "Part.Face": Said(
        "face from a wire, make a face from edges, fill a wire",
        _code(
            "import Part",
            "Part.show(Part.Face(Part.makePolygon([App.Vector(0, 0, 0),"
            " App.Vector(9, 0, 0), App.Vector(9, 9, 0), App.Vector(0, 0, 0)])))",
        ),
    ),
    "Part.BSplineCurve": Said(
        "bspline, spline through points, smooth curve, interpolate points",
        _code(
            "import Part",
            "curve = Part.BSplineCurve()",
            "curve.interpolate([App.Vector(0, 0, 0), App.Vector(5, 5, 0), App.Vector(9, 0, 0)])",
            "Part.show(curve.toShape())",
        ),
    ),
    "Part.makeSolid": Said(
        "solid from a shell, shell to solid, convert mesh to solid",
        _code(
            "import Part", _BOX, "doc.recompute()", "solid = Part.makeSolid(box.Shape.Shells[0])"
        ),
    ),
    # Files.
    "Import.export": Said(
        "export step, save as step, step file, iges, export to step",
        _code(
            "import Import, os, tempfile",
            _BOX,
            "doc.recompute()",
            'Import.export([box], os.path.join(tempfile.gettempdir(), "box.step"))',
        ),
    ),
    "Part.export": Said(
        "export brep, export step of shapes, export iges",
        _code(
            "import Part, os, tempfile",
            _BOX,
            "doc.recompute()",
            'Part.export([box], os.path.join(tempfile.gettempdir(), "box.brep"))',
        ),
    ),
    "Mesh.export": Said(
        "export stl, save as stl, stl file, export mesh, 3mf, obj export, 3d print",
        _code(
            "import Mesh, os, tempfile",
            _BOX,
            "doc.recompute()",
            'Mesh.export([box], os.path.join(tempfile.gettempdir(), "box.stl"))',
        ),
    ),
    "Import.insert": Said(
        "import step, open a step file, insert step file, load step",
        _code(
            "import Import, os, tempfile",
            'path = os.path.join(tempfile.gettempdir(), "box.step")',
            _BOX,
            "doc.recompute()",
            "Import.export([box], path)",
            "Import.insert(path, doc.Name)",
        ),
    ),
    "Mesh.insert": Said(
        "import stl, load stl, insert a mesh file",
        _code(
            "import Mesh, os, tempfile",
            'path = os.path.join(tempfile.gettempdir(), "box.stl")',
            _BOX,
            "doc.recompute()",
            "Mesh.export([box], path)",
            "Mesh.insert(path, doc.Name)",
        ),
    ),
    "Part.Shape.makeShapeFromMesh": Said(
        "mesh to shape, convert stl to solid, shape from mesh",
        _code(
            "import Mesh, Part",
            "mesh = Mesh.createBox(10, 10, 10)",
            "shape = Part.Shape()",
            "shape.makeShapeFromMesh(mesh.Topology, 0.1)",
            "Part.show(Part.makeSolid(shape))",
        ),
    ),
    "FreeCAD.openDocument": Said(
        "open a document, open a file, load FCStd, open document in macro",
        _code(
            "import os, tempfile",
            'path = os.path.join(tempfile.gettempdir(), "copy.FCStd")',
            "doc.saveCopy(path)",
            "App.openDocument(path).Name",
        ),
    ),
    "FreeCAD.newDocument": Said(
        "new document, create a document, new file", 'App.newDocument("Other").Name'
    ),
    "FreeCAD.closeDocument": Said(
        "close document", _code('other = App.newDocument("Other")', "App.closeDocument(other.Name)")
    ),
    "FreeCAD.Document.saveAs": Said(
        "save document, save file as",
        _code(
            "import os, tempfile", 'doc.saveAs(os.path.join(tempfile.gettempdir(), "scene.FCStd"))'
        ),
    ),
    "FreeCAD.Document.save": Said("save the document"),
    "FreeCAD.listDocuments": Said(
        "all open documents, list documents", "list(App.listDocuments())"
    ),
    # Documents and objects.
    "FreeCAD.Document.recompute": Said(
        "recompute, refresh, update the document, rebuild, regenerate", "doc.recompute()"
    ),
    "FreeCAD.Document.addObject": Said(
        "add an object, create an object, new object", 'create {"things": [{"type": "Part::Box"}]}'
    ),
    "FreeCAD.Document.removeObject": Said(
        "delete an object, remove an object", _code(_BOX, "doc.removeObject(box.Name)")
    ),
    "FreeCAD.Document.copyObject": Said(
        "copy an object, duplicate an object, clone", _code(_BOX, "doc.copyObject(box).Name")
    ),
    "FreeCAD.Document.getObject": Said(
        "get object by name, find an object, access object",
        _code(_BOX, "doc.getObject(box.Name).Label"),
    ),
    "FreeCAD.Document.getObjectsByLabel": Said(
        "get object by label, find by label", 'doc.getObjectsByLabel("Box")'
    ),
    "FreeCAD.Document.Objects": Said(
        "list all objects in document, objects in a document, objects in the document, list all"
        " objects, all objects of the document, loop over objects, iterate objects",
        "[(it.Name, it.TypeId) for it in doc.Objects]",
    ),
    "FreeCAD.Document.openTransaction": Said("undo step, transaction, one undo"),
    "App::DocumentObject.addProperty": Said(
        "custom property, add property, user property, own property, new property",
        _code(_BOX, 'box.addProperty("App::PropertyLength", "Depth", "Mine", "How deep")'),
    ),
    "App::DocumentObject.setExpression": Said(
        "driven by a spreadsheet, dimension from a cell, expression, formula, link a property to a"
        " spreadsheet, parametric, bind property to cell",
        _code(_BOX, 'box.setExpression("Height", "2 * Length")', "doc.recompute()"),
    ),
    "Part::Feature.Label": Said(
        "rename an object, label, name of an object", _code(_BOX, 'box.Label = "Lid"')
    ),
    "FreeCAD.Placement": Said(
        "move an object, position, move to a position, location, translate an object, set"
        " placement,"
        " place an object, rotate and move",
        _code(_BOX, "box.Placement = App.Placement(App.Vector(10, 0, 0), App.Rotation(0, 0, 0))"),
    ),
    "FreeCAD.Rotation": Said(
        "rotate an object, rotation, rotate around an axis, angle, euler angles, yaw pitch roll",
        _code(_BOX, "box.Placement.Rotation = App.Rotation(App.Vector(0, 0, 1), 45)"),
    ),
    "FreeCAD.Vector": Said("vector, point, coordinates", "App.Vector(1, 2, 3).Length"),
    "FreeCAD.Matrix": Said(
        "transformation matrix, scale matrix",
        _code("matrix = App.Matrix()", "matrix.scale(2, 2, 2)"),
    ),
    "create type App::DocumentObjectGroup": Said("group, folder, organize objects"),
    "create type App::Part": Said("assembly, part container, std part"),
    "create type App::Link": Said(
        "link to an object, linked copy, instance",
        'create {"things": [{"type": "Part::Box", "name": "Box"}, {"type": "App::Link",'
        ' "values": {"LinkedObject": "Box"}}]}',
    ),
    # Spreadsheets.
    "create type Spreadsheet::Sheet": Said("spreadsheet, table, new spreadsheet"),
    "Spreadsheet::Sheet.set": Said(
        "set a cell, write a cell, spreadsheet cell value, write value to cell",
        _sheet(A1="=25 mm", B1="=A1 * 2"),
    ),
    "Spreadsheet::Sheet.get": Said(
        "read a cell, get cell value, value of a cell",
        _code(_SHEET, 'sheet.set("A1", "25")', "doc.recompute()", 'sheet.get("A1")'),
    ),
    "Spreadsheet::Sheet.setAlias": Said(
        "alias of a cell, name a cell", _sheet(A1="=25 mm", **{"A1.alias": "width"})
    ),
    # Meshes.
    "create type Mesh::Feature": Said("mesh, mesh object"),
    "Mesh.Mesh": Said(
        "mesh from triangles, new mesh",
        _code("import Mesh", "Mesh.show(Mesh.Mesh([[(0, 0, 0), (1, 0, 0), (0, 1, 0)]]))"),
    ),
    "Part.Wire": Said(
        "wire from edges, make a wire, connect edges to a wire",
        _code(
            "import Part",
            "edge = Part.makeLine(App.Vector(0, 0, 0), App.Vector(9, 0, 0))",
            "Part.show(Part.Wire([edge]))",
        ),
    ),
    "PartDesign::Body.Origin": Said(
        "reference to the xy plane, origin of a body, xy plane of a body, base planes, axes of a"
        " body",
        _code(
            'body = doc.addObject("PartDesign::Body", "Body")',
            "[it.Name for it in body.Origin.OriginFeatures]",
        ),
    ),
    "Part.Arc": Said(
        "arc through three points, arc through points",
        _code(
            "import Part",
            "arc = Part.Arc(App.Vector(0, 0, 0), App.Vector(5, 5, 0), App.Vector(10, 0, 0))",
            "Part.show(arc.toShape())",
        ),
    ),
    "Sketcher::SketchObject.autoconstraint": Said(
        "add missing constraints, automatic constraints, missing coincident constraints",
        _code(*_SKETCH, "sketch.autoconstraint()"),
    ),
}
