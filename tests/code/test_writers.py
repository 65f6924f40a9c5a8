"""What a host's own interface can write files with is marked and refused, or known as harmless.

The modules are walked as they are installed here, so that a newer version cannot add one unnoticed.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import subprocess
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

import pytest

from dcc_bridge.code.code_text import read_code
from tests.blender import bpy_module
from tests.hosts import freecad

# Walks modules, and prints what can be called there under a name that sounds like writing.
WALK: Final = r"""
import re
NAMES = re.compile("(?i).*(write|save|export|dump|report|bake|localize|createnew|tofile|touch"
                   "|unpack|record|stitchclips|logstack|mixdown|screenshot|graphviz|gnuplot|package)")
def every(owner, path, depth=3):
    for name, it in [*vars(owner).items()]:
        if isinstance(it, type) and depth and not name.startswith("_"):
            yield from every(it, f"{path}.{name}", depth - 1)
        elif NAMES.match(name) and (callable(it) or isinstance(it, staticmethod)):
            yield f"{path}.{name}"
"""
# They write no file: a text or a value is given, printed, or set in the scene.
HARMLESS: Final = {
    "pxr": """
        *ToString *.SetPermissionToSave *.CanWrite* *EditBuilder.* *.DumpContents
        *.DumpLayerInfo *.DumpTokenStats *Dump*Diagnostics* *._Dump*Stats *._DumpType*
        *.LoadReport *.Get*Report* *.Get*Baked *.Bake* *.ReportActiveErrorMarks
        *.ReportTimes *.ReportChromeTracing *.WriteFallbackPrimTypes *Package*Attr
        *SoftwarePackage* *.IsPackage* *.SplitPackage* *.JoinPackage*
        *.ComputeAccumulatedRecords *.SparseValueWriter.* *Writer.Add* *Writer.Discard
        *.CanPackage* *.ExportToString""",
    "FreeCAD": """
        *.dumpContent *.dumpPropertyContent *ToString *Inventor *ExportType
        *.changeExportModule *ouch* *.exportUnits *.writeParametersToFeature *.isSaved
        *.Logger.report *.ConfigDump *.translateExportType *.addExport* *.getExport*""",
    "bpy": """
        *.report *.pack *FCurve.bake *.gl_touch *.overwrite_toggle *.recover_auto_save
        *.preferences.keyconfig_export *RenderEngine.bake *.template_* *Text.write
        *.action.bake_keys *.anim.channels_bake *.nla.bake *.graph.*bake*
        *.sound.bake_animation *.object.bake* *.extensions.* *.info.report*
        *.rigidbody.bake_to_keyframes *.dpaint.bake *.grease_pencil.bake*
        *.node.bake_node_item* *.file.autopack* *.collection.exporter_[ar]*
        *.object.simulation_nodes_cache_bake *.object.*bake*pack* *.object.lightprobe*
        *.ptcache.free* *.image.reload *.object.lineart* *.geometry_node_bake* *.asset.*
        *.brush.* *.uv.*pack*""",
}


def harmless(host: str, name: str) -> bool:
    """Whether it is known that a name writes no file, or is no operator of that."""
    return any(fnmatchcase(name, pattern) for pattern in HARMLESS[host].split())


def unmarked(names: Iterable[str], host: str, code: str) -> list[str]:
    """List those of which no text that calls them is said to write a file."""
    missing = []
    for name in sorted(names):
        module, _, rest = name.partition(".")
        text = code.format(module=module, rest=rest, first=rest.partition(".")[0], name=name)
        if "files" not in {it.kind for it in read_code(text, host).findings}:
            missing.append(name)
    return missing


def told(done: subprocess.CompletedProcess[str]) -> Any:
    """Give what a program printed last."""
    line = [it for it in done.stdout.splitlines() if "NAMES=" in it]
    assert line, done.stderr[-2000:]
    return json.loads(line[-1].partition("NAMES=")[2])


def test_what_usd_writes_files_with_is_marked_and_refused() -> None:
    pxr = pytest.importorskip("pxr")
    from dcc_bridge.spi import CodeContext
    from dcc_bridge_usd.host import UsdSession
    from dcc_bridge_usd.operations import operations

    made = operations(UsdSession())
    walk: dict[str, Any] = {}
    exec(WALK, walk)
    names: set[str] = set()
    for module in pkgutil.iter_modules(pxr.__path__):
        if module.ispkg:
            names |= {*walk["every"](importlib.import_module(f"pxr.{module.name}"), module.name)}
    writing = {name for name in names if not harmless("pxr", f"pxr.{name}")}

    assert isinstance(made, CodeContext)
    refused = {f"{it.__name__.rpartition('.')[2]}.{name}" for it, name, _ in made.writers()}
    assert len(writing) > 15
    marked = "from pxr import {first}\n{rest}('file')"
    assert unmarked((f"pxr.{it}" for it in writing), "usd", marked) == []
    assert {".".join(it.split(".")[-2:]) for it in writing} - refused == BY_EVENTS


# In Python, whose events are refused; the other one saves what was refused as it was made.
BY_EVENTS: Final = {
    "UsdzUpdateIterator._WritePackage",
    "UsdUtils.ExtractUsdzPackage",
    "ZipFileWriter.Save",
}

_FREECAD: Final = """
import importlib, json, sys
import FreeCAD
found = set()
for name in ("FreeCAD", "Part", "Mesh", "Import", "Points", "Sketcher", "Path", "Fem", "TechDraw"):
    try:
        found |= {*every(importlib.import_module(name), name)}
    except ImportError:
        pass
print("NAMES=" + json.dumps(sorted(found)))
"""


@pytest.mark.real
def test_what_freecad_writes_files_with_is_marked(tmp_path: Path) -> None:
    if freecad.CONSOLE is None:
        pytest.skip("FreeCAD is not installed")
    script = tmp_path / "walk.py"
    script.write_text(WALK + _FREECAD)
    at_home = {**os.environ, "HOME": str(tmp_path)}

    done = subprocess.run(
        [freecad.CONSOLE, str(script)],
        input="",
        capture_output=True,
        text=True,
        env=at_home,
        timeout=120,
    )

    writing = [name for name in told(done) if not harmless("FreeCAD", name)]
    assert len(writing) > 20
    assert unmarked(writing, "freecad", "import {module}\n{name}('file')") == []


_BLENDER: Final = """
import bpy, json
found = set()
for name in dir(bpy.types):
    rna = getattr(getattr(bpy.types, name), "bl_rna", None)
    if rna is not None and "_OT_" not in name:
        its = [it.identifier for it in rna.functions]
        found |= {f"bpy.context.scene.{rna.identifier}.{it}" for it in its if NAMES.match(it)}
for name in dir(bpy.ops):
    its = dir(getattr(bpy.ops, name))
    found |= {f"bpy.ops.{name}.{it}" for it in its if NAMES.match(it)}
print("NAMES=" + json.dumps(sorted(found)))
"""


@pytest.mark.real
@pytest.mark.parametrize("version", bpy_module.VERSIONS)
def test_what_blender_writes_files_with_is_marked(version: str) -> None:
    python = bpy_module.python(version)
    assert python is not None

    done = subprocess.run(
        [python, "-c", WALK + _BLENDER], capture_output=True, text=True, timeout=120
    )

    writing = [name for name in told(done) if not harmless("bpy", name)]
    assert len(writing) > 50
    assert unmarked(writing, "blender", "{name}('file')") == []
