"""The plain part of FreeCAD's interface: it reads and edits the document, within undo.

Left out is all that takes a path, other documents, commands of the window, parameters of the
application, and objects whose own Python runs (``Proxy``, ``Part::FeaturePython``). Expressions
compute and no more, so they are plain as long as they are written out and name no other document.
Any thread.
"""

from __future__ import annotations

from typing import Final

from dcc_bridge.spi import LiteralArgument, PlainNames

_PATHS: Final = """
    FreeCAD.ActiveDocument FreeCAD.BoundBox FreeCAD.Console.PrintError FreeCAD.Console.PrintMessage
    FreeCAD.Console.PrintWarning FreeCAD.Matrix FreeCAD.Placement FreeCAD.Rotation
    FreeCAD.Units.Quantity FreeCAD.Units.parseQuantity FreeCAD.Vector Part.Arc Part.ArcOfCircle
    Part.ArcOfEllipse Part.BSplineCurve Part.BezierCurve Part.Circle Part.Compound Part.Edge
    Part.Ellipse Part.Face Part.Line Part.LineSegment Part.Point Part.Shell Part.Solid Part.Vertex
    Part.Wire Part.makeBox Part.makeCircle Part.makeCompound Part.makeCone Part.makeCylinder
    Part.makeFace Part.makeFilledFace Part.makeHelix Part.makeLine Part.makeLoft Part.makePlane
    Part.makePolygon Part.makeRevolution Part.makeRuledSurface Part.makeShell Part.makeSolid
    Part.makeSphere Part.makeSweepSurface Part.makeThread Part.makeTorus Part.makeTube
    Part.makeWedge Part.show Part.sortEdges Sketcher.Constraint
"""
_ASSIGNED: Final = """
    AllowCompound Angle Angle1 Angle2 Angle3 AttachmentOffset Axis Base Depth Diameter Dir
    DisplayMode Edges FirstAngle Group Height Height2 Label LastAngle Length Length2 Length3
    LengthFwd LengthRev LineColor LineWidth LocalCoord MapMode MapReversed Midplane Mode Normal
    Objects Occurrences Offset Originals Pitch Placement Plane PointColor PointSize Points Polygon
    Profile Radius Radius1 Radius2 Radius3 Refine Reversed Rotation Ruled Sections Shape ShapeColor
    Shapes Size Solid Source SpineLength Support Symmetric TaperAngle Tool Transparency Type Value
    Visibility Width X1 X2 X2max X2min Xmax Xmin Y1 Y2 Ymax Ymin Z1 Z2 Z2max Z2min Zmax Zmin x y z
"""
_READ: Final = """
    A11 A12 A13 A14 A21 A22 A23 A24 A31 A32 A33 A34 Angle Area BoundBox Center CenterOfMass
    Compounds ConstraintCount Constraints Content Curve DiagonalLength Edges EndPoint Faces
    FirstParameter FullName Geometry GeometryCount ID LastParameter Mass Matrix MatrixOfInertia Name
    Normal Objects OrderedEdges OrderedVertexes Parameter Points PropertiesList Q RootObjects
    ShapeType Shells Solids StartPoint State SubShapes Surface TypeId Unit UserString Vertexes
    ViewObject Volume Wires XAxis XLength XMax XMin YLength YMax YMin ZLength ZMax ZMin add
    addConstraint addGeometry addObject addObjects addProperty analyze check common copy copyObject
    cross cut delConstraint delGeometry derivative1At discretize distToShape distanceToLine
    distanceToPlane distanceToPoint dot enlarge extrude fuse generalFuse getAngle getDatum
    getDocumentationOfProperty getEnumerationsOfProperty getGlobalPlacement getObject
    getObjectsByLabel getParameterByLength getTypeIdOfProperty getTypeOfProperty getUserPreferred
    getValueAs getYawPitchRoll intersect inverse isClosed isCoplanar isDerivedFrom isEqual isInside
    isNull isOnLineSegment isPlanar isSame isTouched isValid length makeChamfer makeFillet
    makeOffset makeOffset2D makeOffsetShape makeThickness mirror move multVec multiply newObject
    normalAt normalize projectToLine projectToPlane purgeTouched recompute removeObject
    removeProperty removeSplitter renameConstraint reverse reversed revolve rotate rotated scale
    scaled section setConstruction setDatum setDriving setExpression slice solve sub
    supportedProperties tangentAt toEulerAngles toMatrix toShape toggleConstruction touch
    transformGeometry transformShape translate translated transposed valueAt
"""
_KINDS: Final = (
    r"App::(DocumentObjectGroup|Part|Plane|Line|Annotation|AnnotationLabel|MaterialObject)"
    r"|Part::(Box|Chamfer|Circle|Common|Compound|Cone|Cut|Cylinder|Ellipse|Ellipsoid|Extrusion"
    r"|Feature|Fillet|Fuse|Helix|Line|Loft|Mirroring|MultiCommon|MultiFuse|Offset|Offset2D|Plane"
    r"|Polygon|Prism|RegularPolygon|Revolution|RuledSurface|Section|Sphere|Spiral|Sweep|Thickness"
    r"|Torus|Vertex|Wedge)"
    r"|PartDesign::(Additive|Subtractive)\w+"
    r"|PartDesign::(Body|Chamfer|Draft|Fillet|Groove|Hole|LinearPattern|Mirrored|MultiTransform|Pad"
    r"|Plane|Pocket|PolarPattern|Revolution|Scaled|Thickness)"
    r"|Sketcher::SketchObject|Spreadsheet::Sheet"
)
_PROPERTIES: Final = (
    r"App::Property(Angle|Area|Bool|Color|Distance|Enumeration|Float|Integer|Length|Link|LinkList"
    r"|Percent|Placement|Position|Speed|String|StringList|Vector|VectorList|Volume)"
)
# No other document, and no inner name: "_app" and "_self" lead to all that Python has of it.
_EXPRESSION: Final = r"(?!.*(?<![A-Za-z0-9])_)[^#]*"
_CLOSES: Final = """
    UndoMode abortTransaction clearDocument clearUndos closeActiveTransaction closeDocument
    commitTransaction loadFile newDocument open openDocument openTransaction redo restore
    setActiveTransaction undo
"""

PLAIN: Final = PlainNames(
    given={"App": "FreeCAD", "FreeCAD": "FreeCAD", "Gui": "FreeCADGui"},
    modules=frozenset({"FreeCAD", "Part", "Sketcher"}),
    paths=frozenset(_PATHS.split()),
    types=frozenset({"Part.*", "FreeCAD.*"}),
    names=frozenset(_READ.split()),
    assigned=frozenset(_ASSIGNED.split()),
    # Undo brings back no property of the document itself.
    fixed=frozenset({"doc.Label", "FreeCAD.ActiveDocument.Label"}),
    literals={
        "addObject": (
            LiteralArgument(_KINDS, 0, ("type",), most=2),
            LiteralArgument(r"(?!)", None, ("objProxy", "viewProxy", "viewType")),
        ),
        "newObject": (LiteralArgument(_KINDS, 0, ("type",)),),
        "addProperty": (LiteralArgument(_PROPERTIES, 0, ("type",)),),
        "setExpression": (LiteralArgument(_EXPRESSION, 1, ("expression",)),),
    },
    closes_scene=frozenset(_CLOSES.split()),
)
