"""What calls of the hosts' own API do, as far as a reader of the text can know. Data. Any thread.

A row is a pattern, `fnmatch` on the call as it is written out: ``maya.cmds.delete``. One that
begins with a star is a method of an object that the text does not tell the type of, and counts
only in a file that imports the module it belongs to. The lists are not whole and cannot be: they
hold what skills use, and the runner's gate does not rest on them.

Sources, each the maker's own reference:

- USD: https://openusd.org/release/api/, UsdStage, UsdPrim, UsdObject, UsdAttribute, SdfLayer
- Maya: Python Commands Reference at https://help.autodesk.com/view/MAYAUL/2025/ENU/; API: MMessage
- Blender: https://docs.blender.org/api/current/, bpy.types.BlendData*, bpy.ops, bpy.app, bpy.msgbus
- Houdini: https://www.sidefx.com/docs/houdini/hom/hou/, hou.Node, hou.Parm, hou.hipFile, hou.undos
- FreeCAD: https://freecad.github.io/SourceDoc/, App::Document, and its wiki's "Document API"
- Python: https://docs.python.org/3/library/, os, shutil, pathlib, subprocess, time, sys
- Ours: `dcc_bridge.hosts.standalone.prims`
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Module:
    """What the calls of a module do."""

    name: str  # the module; its first part is what an import shows
    deletes: tuple[str, ...]  # calls that lose something
    edits: tuple[str, ...] = ()  # calls that change something


def _words(text: str, before: str = "") -> tuple[str, ...]:
    return tuple(before + word for word in text.split())


_MAYA_EDITS: Final = """
    addAttr aimConstraint connectAttr createNode disconnectAttr duplicate editRenderLayerGlobals
    group hide instance joint lockNode makeIdentity move orientConstraint parent parentConstraint
    pointConstraint polyCone polyCube polyCylinder polyExtrudeFacet polyPlane polySphere polyUnite
    reorder rename rotate scale scaleConstraint setAttr setKeyframe sets shadingNode showHidden
    skinCluster spaceLocator ungroup xform
"""
_MAYA_DELETES: Final = """
    cutKey delete deleteAttr deleteUI polyDelEdge polyDelFacet polyDelVertex removeMultiInstance
"""
_USD_EDITS: Final = """
    AddApiSchema AddReference AddTransformOp AddTranslateOp ApplyAPI ClearChildren CreateAttribute
    CreateRelationship DefinePrim OverridePrim Rename Save Set SetActive SetDefaultPrim
    SetEditTarget SetInstanceable SetKind SetMetadata SetTargets SetTypeName SetVariantSelection
"""
_HOU_EDITS: Final = """
    copyItems createInputNode createNode createOutputNode deleteItems insertInput moveToGoodPosition
    pressButton setColor setDisplayFlag setExpression setFirstInput setInput setKeyframe setName
    setParms setRenderFlag
"""

MODULES: Final = (
    Module(
        "pxr",
        _words("RemovePrim RemoveProperty RemoveSpec ClearAll RemoveAppliedSchema", "*."),
        _words(_USD_EDITS, "*."),
    ),
    Module(
        "maya",
        (
            *_words(_MAYA_DELETES, "maya.cmds."),
            *_words(_MAYA_DELETES, "pymel.core."),
            "maya.mel.eval",
        ),
        (*_words(_MAYA_EDITS, "maya.cmds."), *_words(_MAYA_EDITS, "pymel.core.")),
    ),
    Module(
        "bpy",
        (
            "bpy.data.*.remove",
            "bpy.data.batch_remove",
            "bpy.data.orphans_purge",
            "bpy.ops.*.delete",
            "bpy.ops.outliner.orphans_purge",
            "bpy.ops.wm.read_homefile",
            "bpy.ops.wm.open_mainfile",
        ),
        (
            "bpy.data.*.new",
            "bpy.ops.mesh.*",
            "bpy.ops.object.*",
            "bpy.ops.transform.*",
            "*.keyframe_insert",
            "*.objects.link",
            "*.objects.unlink",
        ),
    ),
    Module(
        "hou",
        ("*.destroy", "*.deleteItems", "hou.hipFile.clear", "hou.hipFile.load"),
        (*_words(_HOU_EDITS, "*."), "*.parm.set", "*.parmTuple.set", "hou.setFrame"),
    ),
    Module(
        "FreeCAD",
        ("*.removeObject", "*.clearDocument", "FreeCAD.closeDocument"),
        ("*.addObject", "*.addProperty", "*.copyObject", "*.moveObject", "*.recompute"),
    ),
    Module(
        "dcc_bridge.hosts.standalone",
        ("*.RemovePrim", "*.RemoveProperty", "dcc_bridge.hosts.standalone.prims.remove"),
        (*_words(_USD_EDITS, "*."), "dcc_bridge.hosts.standalone.prims.rename"),
    ),
    Module(
        "os",
        ("os.remove", "os.unlink", "os.rmdir", "os.removedirs", "os.truncate"),
        ("os.rename", "os.replace", "os.makedirs", "os.mkdir"),
    ),
    Module("shutil", ("shutil.rmtree",), ("shutil.move", "shutil.copy*")),
    Module("pathlib", ("*.unlink", "*.rmdir"), ("*.write_text", "*.write_bytes")),
)

READS: Final = ("q", "query")  # keywords with which a Maya command only tells something

WAITS: Final = (  # calls that stop the loop of a coroutine until they are done
    "time.sleep",
    "dcc_bridge.*_sync",
    "*.apply_sync",
    "requests.*",
    "urllib.request.urlopen",
    "httpx.get",
    "httpx.post",
    "subprocess.run",
    "subprocess.call",
    "subprocess.check_*",
    "subprocess.getoutput",
    "os.system",
    "os.wait*",
    "socket.create_connection",
    "input",
)

HOLDS: Final = (  # what a `with` enters for the whole process, and not for the code in it alone
    "contextlib.redirect_std*",
    "contextlib.chdir",
    "warnings.catch_warnings",
    "unittest.mock.patch*",
)

ASKS: Final = (  # calls that ask the person
    "dcc_bridge.confirm*",
    "dcc_bridge.elicit_*",
    "dcc_bridge.elicitation.sign_in.*",
    "dcc_bridge.elicitation.ask_secret.*",
)

# Calls that make a lock.
LOCKS: Final = ("threading.*Lock", "threading.*Semaphore", "threading.Condition")

# What something is called that is a lock, wherever it was made.
LOCK: Final = re.compile(r"(^|[._])r?(lock|mutex|semaphore)s?$", re.IGNORECASE)
