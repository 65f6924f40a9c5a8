"""What the text of agreed code may reach, as data. Any thread.

`REACHES`, `PYTHON` and `ASSIGNED` are patterns, `fnmatch` on what is called as it is written out:
``maya.cmds.delete``. One that begins with a star is a method of an object that the text does not
tell the type of. Each has a class and what a person is told.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from dcc_bridge.consent.audit_events import words

READS: Final = ("q", "query")  # keywords with which a Maya command only tells something

# ---- what a text reaches


@dataclass(frozen=True, slots=True)
class ReachRow:
    """What a person is told of a call, a mention or an assignment before the code runs."""

    kind: str  # files, scene, loses, stays or beyond
    does: str
    patterns: tuple[str, ...]
    keywords: tuple[str, ...]  # a call counts with one of these only; patterns too


def _reaches(text: str) -> tuple[ReachRow, ...]:
    reaches = []
    for kind, does, row in re.findall(r"^(\w+): (.+?) =((?:\n? .+)+)", text, re.MULTILINE):
        keywords = tuple(word[:-1] for word in row.split() if word.endswith("="))
        patterns = [it for word in row.split() for it in _spread(word) if word[-1] != "="]
        reaches.append(ReachRow(kind, does, tuple(patterns), keywords))
    return tuple(reaches)


def _spread(word: str) -> list[str]:
    head, _, rest = word.partition("{")
    options, _, tail = rest.partition("}")
    return [head + option + tail for option in options.split("|")]


# The names that agreed code finds without an import, and what they stand for.
GIVEN: Final = {
    "blender": {"bpy": "bpy"},
    "freecad": dict.fromkeys(("App", "FreeCAD"), "FreeCAD")
    | {"doc": "FreeCAD.ActiveDocument", "Gui": "FreeCADGui"},
    "houdini": {"hou": "hou"},
    "maya": {"cmds": "maya.cmds", "om": "maya.api.OpenMaya"},
    "usd": {"stage": "pxr.stage"},
}
QUIET_MODULES: Final = words("""
    __future__ abc array base64 bisect bmesh builtins bpy_extras cmath collections colorsys copy csv
    contextlib dataclasses datetime decimal difflib enum fnmatch fractions functools glob hashlib io
    heapq itertools json keyword locale logging math mathutils numbers numpy operator os pathlib re
    platform pprint random secrets shutil statistics string struct sys textwrap time traceback types
    typing unicodedata urllib.parse uuid warnings zlib Draft Mesh Part PartDesign Sketcher TechDraw
""")  # that only compute, build what undo holds, or have rows below for what they do
HOST_MODULES: Final = words("bpy maya pymel hou pxr FreeCAD FreeCADGui")
# Found in others too: `shutil.os` is `os`.
INNER_MODULES: Final = words("""
    os sys shutil subprocess builtins importlib ctypes inspect pickle copyreg weakref threading
""")
QUIET: Final = words("""
    os.path* os.listdir os.walk os.scandir os.getcwd os.stat os.access os.fspath os.sep os.getenv
    os.environ os.environ.get os.name os.linesep os.getpid os.getlogin os.cpu_count os.PathLike
    bpy.*.unlink *.objects.unlink *.children.unlink bpy.app.timers.is_* ~self.*.clear *Cache.Clear
    bpy.data.materials.new.*nodes.* bpy.data.materials.new.*links.* bpy.data.worlds.new.*nodes.*
    hou.hipFile hou.hipFile.path hou.hipFile.name hou.hipFile.basename hou.hipFile.is* hou.undos
    hou.hipFile.hasUnsavedChanges hou.undos.group hou.undos.areEnabled hou.undos.*Labels
    pxr.Usd.Stage.CreateInMemory pxr.Sdf.Layer.CreateAnonymous maya.cmds.undo.* ~self.*.remove
""")

PYTHON: Final = _reaches("""
beyond: reaches into the bridge itself = dcc_bridge* bl_ext.*.dcc_bridge* bpy.ops.dcc_bridge*
beyond: runs text that cannot be read in advance = builtins.{eval|exec|compile} code codeop runpy*
 pdb* timeit* types.{CodeType|FunctionType}
beyond: imports what cannot be read in advance = builtins.{__import__|__loader__*|__spec__*}
 importlib* pkgutil* imp sys.{modules*|meta_path*|path_hooks*} *.{__loader__*|__spec__*}
beyond: looks behind the names, which cannot be read in advance = builtins.{globals|locals|vars}
 builtins.__builtins__* *.{__dict__*|__globals__*|__subclasses__*|__builtins__*|__code__*}
 *.{__closure__*|__getattribute__*|__mro__*|__bases__*|__base__*|f_globals*|f_locals*|f_back*}
 *.{f_builtins*|gi_frame*|tb_frame*|__self__*|__reduce*|__setattr__|__delattr__} sys._* inspect* gc
 operator.{attrgetter|methodcaller} string.Formatter* typing.{get_type_hints|ForwardRef*|_*}
 functools.singledispatch* traceback.walk_* logging.{config*|handlers*} weakref copyreg*
beyond: holds the host up while it waits = time.sleep
beyond: starts another program = subprocess* multiprocessing* pty* webbrowser* os.{system|popen}
 os.{exec*|spawn*|posix_spawn*|fork*|startfile|kill*|_exit} bpy.ops.wm.{url_*|path_open}
beyond: uses the network = socket* http* urllib urllib.request* requests* ftplib* smtplib* ssl*
 xmlrpc* asyncio* aiohttp* maya.cmds.{commandPort|launch*}
beyond: waits at the terminal = builtins.{breakpoint|input} sys.stdin*
beyond: calls native code = ctypes* _ctypes* cffi* mmap* numpy.ctypeslib*
beyond: loads objects that can run code = pickle* marshal* shelve* numpy.load
stays: starts a thread or leaves a call for later = threading* _thread* concurrent* atexit* signal*
 sched* weakref.finalize
stays: changes the whole application's Python = sys.{path*|set*|addaudithook} os.{chdir|fchdir}
 os.{umask|putenv|unsetenv} os.environ.* unittest.mock* logging.{*Handler*|basicConfig|disable}
 locale.setlocale warnings.{filterwarnings|simplefilter}
stays: opens windows or timers of its own = PySide* PyQt* qtpy* shiboken* tkinter*
files: removes a file or folder = os.{remove*|unlink|rmdir} shutil.rmtree* pathlib.*.{unlink|rmdir}
files: writes or moves files = shutil.* tempfile* zipfile* tarfile* gzip* bz2* lzma*
 sqlite3* os.{open|fdopen|write|mk*|rename*|replace|truncate|link|symlink|ch*|utime}
 pathlib.*.{rename|replace|touch|mkdir|*chmod|*link_to} *.{write_text|write_bytes|tofile}
 numpy.{save*|memmap}
beyond: uses the operating system = os.* posix* nt winreg* msvcrt*
""")
REACHES: Final = {  # by the module
    "pathlib": _reaches("files: removes a file or folder = *.{unlink|rmdir}"),
    "bpy": _reaches("""
scene: opens, closes or reverts the file, or steps through undo = bpy.ops.wm.{read_*|open_mainfile}
 bpy.ops.wm.{revert_mainfile|recover_*|quit_blender|window_close} bpy.ops.ed.*
stays: leaves a handler, a timer or a callback behind = bpy.app.{handlers*|driver_namespace*}
 bpy.app.timers.* bpy.msgbus.* *.{draw_handler_add|event_timer_add|modal_handler_add}
stays: registers classes, add-ons or settings of the application = bpy.utils.*register*
 bpy.ops.preferences.* bpy.ops.extensions.* addon_utils* bpy.types.*.{append|prepend|remove}
 bpy.context.preferences.*.{new|remove} bpy.context.window_manager.keyconfigs.*.new
beyond: can crash Blender up to 5.0, which reads it beside other threads = *.temp_override
beyond: runs text that cannot be read in advance = bpy.ops.{script.*|text.run_script|_*}
 bpy.utils.{execfile|load_scripts} *.as_module
files: writes a file = bpy.ops.wm.save_* bpy.ops.export_* bpy.ops.file.* bpy.ops.sound.mixdown
 bpy.ops.render.opengl bpy.ops.ptcache.bake* bpy.ops.{fluid.*|*preset_*|*.*unpack*|*.*export*}
 bpy.ops.{*.save*|*.*_save*|screen.screenshot*|*.ocean_bake} imbuf.write aud.*.write
 *.{save|save_render|unpack|alembic_export|debug_*} bpy.data.libraries.write
files: writes a picture = bpy.ops.render.render write_still= animation=
files: writes pictures where the compositor has a File Output = bpy.ops.render.render
loses: changes the pixels of an image, which undo does not bring back = *.pixels.foreach_set
 bpy.ops.object.bake* bpy.ops.paint.* bpy.ops.image.*
loses: removes objects or data = bpy.*.{remove|clear|pop} *.*.{remove|clear}
 *.{user_clear|user_remap|clear_geometry|animation_data_clear|keyframe_delete|shape_key_remove}
 *.{shape_key_clear|batch_remove|orphans_purge} bpy.ops.{*delete*|*_remove*|*purge*}
 bpy.ops.*keyframe_clear* bpy.ops.object.join bmesh.ops.delete
"""),
    "maya": _reaches("""
files: writes a file = maya.cmds.file save= s= export*= ea= es= ean= esa= ear=
scene: opens, brings in or replaces a file = maya.cmds.file
scene: steps through undo or switches it off = maya.cmds.{undo|redo|undoInfo|flushUndo|quit|newFile}
 maya.cmds.{openFile|renameFile} maya.standalone* *MFileIO.{*[oO]pen*|new*|import*|*eference*|set*}
files: writes a file = maya.cmds.{sysFile|saveImage|*render|*Render|playblast|save*|*acheFile}
 maya.cmds.{diskCache|*[eE]xport*} *MFileIO.{save*|export*} *.writeToFile
beyond: runs text that cannot be read in advance = maya.cmds.{evalDeferred|python|mel*|scriptNode}
 maya.cmds.loadUI maya.{mel*|app*} *MGlobal.{execute*|source*}
beyond: runs text that cannot be read in advance = maya.cmds.expression string= s=
stays: leaves a callback, a plug-in or a setting behind = maya.cmds.{scriptJob|*loadPlugin}
 maya.cmds.{optionVar|runTimeCommand|hotkey|nameCommand|shelfButton|workspace*} maya.utils.*
 *Message.{add*|remove*} *MFnPlugin*
stays: edits around Maya's undo = maya.*MFn*.{set*|create*|add*} *MPlug*.set*
loses: removes a namespace = maya.cmds.namespace removeNamespace= rm= deleteNamespaceContent= dnc=
loses: removes objects or data = maya.cmds.{delete*|Delete*|remove*|cutKey|polyDel*}
 *.{deleteNode|deleteKey}
"""),
    "hou": _reaches("""
files: writes a file = hou.hipFile.save* *.{render|saveToFile|saveItemsToFile|saveChildrenToFile}
 *.{createDigitalAsset|updateFromNode} hou.*.saveImage* hou.hda.*save* hou.*.definition.*
stays: leaves a callback, an asset or a setting behind = *.{add*Callback|remove*Callback*}
 *.postEventCallback hou.hda.* hou.{session*|setSession*|appendSession*|putenv|unsetenv}
 hou.setPreference hou.shelves.* hou.hotkeys.* hdefereval*
scene: opens, clears or renames the file, or steps through undo = hou.hipFile.* hou.undos.* hou.exit
beyond: runs text that cannot be read in advance = hou.{hscript*|phm*} hou.exprLanguage.Python
 *.{pressButton|hdaModule*} *.hm.*
loses: removes nodes or data = *.{destroy|delete*|removeSpare*|destroyUserData} hou.*.clear
"""),
    "FreeCAD": _reaches("""
scene: opens or closes a document, or steps through undo = FreeCAD.{newDocument|openDocument}
 FreeCAD.{closeDocument|loadFile|open|*ActiveTransaction} *.{undo|redo|*Transaction|clearUndos}
 *.restore
files: writes a file = *.{save|saveAs|saveCopy|saveImage|export*|write*|dumpSymbol} Import.export
 Mesh.{export*|*.write} Part.{export*|*.export*} Points.* FreeCAD.{saveParameter|ParamGet.Export}
 Fem.write* TechDraw.write* Import.write*
beyond: runs a command that cannot be read in advance = FreeCAD*Gui.{runC*|doCommand*|*endMsg*}
stays: leaves an observer, a command or a setting behind = *.{add*Observer|remove*Observer}
 FreeCAD*Gui.{add*|remove*|activateWorkbench} FreeCAD.ParamGet.{Set*|Rem*|Import|Clear}
loses: removes objects or data = *.{removeObject*|clearDocument|removeProperty|deleteAll*}
 *.{delGeomet*|delConstraint*}
"""),
    "pxr": _reaches("""
files: writes a file = *.{Save|SaveSessionLayers|Export|WriteDotFile|DumpToDotGraph|Report}
 *.{*ToFile|_Write*|Log*|TouchFile} pxr.*.CreateNew* pxr.UsdUtils.{Create*|Localize*|*Clips*|Extr*}
 pxr.*ZipFileWriter*
scene: opens or reloads a layer outside the undo step = pxr.Usd.Stage.Open* pxr.Sdf.Layer.*
 *.{Reload|SetPermissionTo*}
stays: leaves a listener or a plug-in behind = pxr.Tf.Notice.* *.RegisterPlugins pxr.Ar.SetPref*
stays: changes where later edits go = *.SetEditTarget
loses: takes prims or layers out of the scene = *.{SetActive|Unload|MuteLayer|LoadAndUnload}
 *.MuteAndUnmuteLayers
loses: removes or replaces prims or data = *.{Remove?*|Clear*|Erase*|Block|CopySpec|TransferContent}
 *.{ImportFromString|Import} pxr.Sdf.*NamespaceEdit* pxr.Usd.NamespaceEditor*
 *.{rootPrims|nameChildren|properties|subLayerPaths}.[cpr][leo][emp]*
"""),
}

ASSIGNED: Final = _reaches("""
scene: switches undo off or shortens it = bpy.context.preferences.edit.*undo* *.UndoMode
stays: changes the application's preferences = bpy.context.preferences.* bpy.app.*
stays: changes what holds for the whole session = bpy.types.* hou.session* os.environ* sys.path*
 *.Proxy
loses: changes the pixels of an image, which undo does not bring back = *.pixels
loses: removes or replaces prims or data = *.{rootPrims|nameChildren|subLayerPaths} pxr.*.properties
beyond: looks behind the names, which cannot be read in advance = sys.modules*
 *.{__dict__*|__class__|__code__|__builtins__*|__globals__*}
""")
