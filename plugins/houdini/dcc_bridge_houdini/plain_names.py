"""The plain part of Houdini's `hou`: it reads and edits nodes, within undo.

Nodes are made of listed types alone: none that reads or writes a file or runs text. Parameters are
reached by listed names alone, as others hold files, expressions or code. Left out are expressions,
buttons, HScript, assets, the session, callbacks and the file itself. Any thread.
"""

from __future__ import annotations

from typing import Final

from dcc_bridge.spi import LiteralArgument, PlainNames

_PATHS: Final = """
    hou.BoundingBox hou.Color hou.Keyframe hou.Matrix3 hou.Matrix4 hou.Quaternion hou.Vector2
    hou.Vector3 hou.Vector4 hou.fps hou.frame hou.hmath.* hou.node hou.selectedNodes hou.setFrame
    hou.undos.group
"""
_NAMES: Final = """
    allSubChildren asTuple attribValue attribs b boundingBox center children collapse color comment
    connectorInputs createInputNode createNetworkBox createNode createPoint createPolygon
    createStickyNote cross degrees destroy distanceTo dot evalAsFloat evalAsFloats evalAsInt
    evalAsInts extractRotates extractScales extractTranslates findPointAttrib frame g geometry
    indexOf input inputConnections inputConnectors inputs inverted isDisplayFlagSet isEmpty isLocked
    isRenderFlagSet isTemplateFlagSet keyframes layoutChildren length lengthSquared maxvec minvec
    moveToGoodPosition name node nodeTypeName nodes normalized numVertices number output
    outputConnections outputs parent parm parmTransform parmTuple path pointAttribs points position
    primAttribs prims r rgb rotate scale set setColor setComment setDisplayFlag setFirstInput
    setFrame setInput setKeyframe setKeyframes setName setNextInput setParmTransform setPosition
    setRenderFlag setSelected setTemplateFlag setTime setValue setWorldTransform size sizevec
    sortchildren time transpose type value vertices w worldTransform x y z
"""
_NODES: Final = """
    add align attribcreate attribdelete attribpromote attribrandomize attribtransfer bend blast
    boolean bound box cam cap carve circle circlefromedges clean clip color connectivity convert
    convertline convertvdb cookie copy copytopoints copyxform curve delete dissolve divide
    edgecollapse ends enumerate explodedview extract facet fillet followpath foreach_begin
    foreach_end fuse geo grid group groupcombine groupcreate groupdelete groupexpand grouprange
    hlight intersectionanalysis isooffset join knife lattice line magnet matchaxis matchsize matnet
    measure merge metaball mirror mountain normal null objnet orientalongcurve pack path peak
    platonic pointjitter polybevel polybridge polycap polycut polydoctor polyexpand2d polyextrude
    polyfill polyloft polypath polyreduce polysplit polywire primitive principledshader project
    rails ray refine remesh resample rest reverse revolve scatter sculpt sequenceblend skin smooth
    soften sort sphere spiral splitpoints stitch subdiv subdivide subnet surfsect sweep switch
    toposurface torus transform triangulate2d tube twist unpack uvflatten uvlayout uvproject
    uvtransform uvunwrap vdbfrompolygons vdbsmooth visibility voronoifracture wireframe xform
"""
# Numbers alone are set: in a parameter that holds a text, HScript in backticks is run.
_PARMS: Final = (
    r"[trsp][xyz]?|p[rx][xyz]?|[uvw]|scale|size[xyz]?|rad[xyz12]?|radscale|height|length|dist|width"
    r"|rows|cols|divs[xyz]?|divrate[xyz]?|divisions|iterations|npts|ncy|seed|angle|amount|offset"
    r"|level|lod|ratio|percentage|thickness|inset|color[rgb]?|dim[xyz]|light_color[rgb]?"
    r"|light_intensity|light_exposure|focal|aperture|near|far|res[xy]?|elementsize|freq|rough"
    r"|n[xyz]|origin[xyz]?|dir[xyz]?|center[xyz]?|dolocal|basecolor[rgb]?|metallic|ior|input"
)
_NO_TEXT: Final = r"(?!)"
_CLOSES: Final = """
    clear clearUndos disabler exit load merge performRedo performUndo saveAsBackup
"""


PLAIN: Final = PlainNames(
    given={"hou": "hou"},
    modules=frozenset({"hou"}),
    paths=frozenset(_PATHS.split()),
    types=frozenset({"hou.*"}),
    names=frozenset(_NAMES.split()),
    literals={
        "createNode": (LiteralArgument("|".join(_NODES.split()), 0, ("node_type_name",)),),
        "createInputNode": (LiteralArgument("|".join(_NODES.split()), 1, ("node_type_name",)),),
        "parm": (LiteralArgument(_PARMS, 0, ("parm_path",)),),
        "parmTuple": (LiteralArgument(_PARMS, 0, ("parm_path",)),),
        "set": (LiteralArgument(_NO_TEXT, 0, ("value",), or_number=True),),
    },
    closes_scene=frozenset(_CLOSES.split()),
)
