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
from typing import Final


def _words(text: str, before: str = "") -> tuple[str, ...]:
    return tuple(before + word for word in text.split())


_MAYA_EDITS: Final = """
    addAttr aimConstraint connectAttr createNode disconnectAttr duplicate editRenderLayerGlobals
    group hide instance joint lockNode makeIdentity move orientConstraint parent parentConstraint
    pointConstraint polyCone polyCube polyCylinder polyExtrudeFacet polyPlane polySphere polyUnite
    reorder rename rotate scale scaleConstraint setAttr setKeyframe sets shadingNode showHidden
    skinCluster spaceLocator ungroup xform
"""
_USD_EDITS: Final = """
    AddApiSchema AddReference AddTransformOp AddTranslateOp ApplyAPI ClearChildren CreateAttribute
    CreateRelationship DefinePrim OverridePrim Rename Save Set SetActive SetDefaultPrim
    SetEditTarget SetInstanceable SetKind SetMetadata SetTargets SetTypeName SetVariantSelection
"""
_HOU_EDITS: Final = """
    copyItems createInputNode createNode createOutputNode insertInput moveToGoodPosition
    pressButton setColor setDisplayFlag setExpression setFirstInput setInput setKeyframe setName
    setParms setRenderFlag
"""

EDITS: Final = {  # what changes something, by the module
    "pxr": _words(_USD_EDITS, "*."),
    "maya": (*_words(_MAYA_EDITS, "maya.cmds."), *_words(_MAYA_EDITS, "pymel.core.")),
    "bpy": _words("""
        bpy.data.*.new bpy.ops.mesh.* bpy.ops.object.* bpy.ops.transform.* *.keyframe_insert
        *.objects.link *.objects.unlink
    """),
    "hou": (*_words(_HOU_EDITS, "*."), "*.parm.set", "*.parmTuple.set", "hou.setFrame"),
    "FreeCAD": _words("addObject addProperty copyObject moveObject recompute", "*."),
    "dcc_bridge.hosts.standalone": _words(f"{_USD_EDITS} prims.rename", "*."),
    "os": _words("rename replace makedirs mkdir", "os."),
    "shutil": ("shutil.move", "shutil.copy*"),
    "pathlib": ("*.write_text", "*.write_bytes"),
}
DELETES: Final = ("dcc_bridge.hosts.standalone.prims.remove",)  # beside what agreed code may lose

READS: Final = ("q", "query")  # keywords with which a Maya command only tells something

# Calls that stop the loop of a coroutine until they are done.
WAITS: Final = _words("""
    time.sleep dcc_bridge.*_sync *.apply_sync requests.* urllib.request.urlopen httpx.get httpx.post
    subprocess.run subprocess.call subprocess.check_* subprocess.getoutput os.system os.wait*
    socket.create_connection input
""")

# What a `with` enters for the whole process, and not for the code in it alone.
HOLDS: Final = _words("""
    contextlib.redirect_std* contextlib.chdir warnings.catch_warnings unittest.mock.patch*
""")

# Calls that ask the person.
ASKS: Final = _words("""
    dcc_bridge.confirm* dcc_bridge.elicit_* dcc_bridge.elicitation.sign_in.*
    dcc_bridge.elicitation.ask_secret.*
""")

# Calls that make a lock.
LOCKS: Final = ("threading.*Lock", "threading.*Semaphore", "threading.Condition")

# What something is called that is a lock, wherever it was made.
LOCK: Final = re.compile(r"(^|[._])r?(lock|mutex|semaphore)s?$", re.IGNORECASE)
