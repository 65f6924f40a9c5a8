"""What a host's own interface can write files with is never plain; in USD it is refused as well.

The modules are walked as they are installed here, so that a newer version cannot add one unnoticed.
"""

from __future__ import annotations

import json
import os
import pkgutil
import subprocess
from collections.abc import Iterable
from fnmatch import fnmatchcase
from importlib import import_module
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
# They write no file: a text or a value is given, or printed, or set in the scene.
HARMLESS: Final = """
    *ToString *.SetPermissionToSave *.CanWrite* *EditBuilder.* *.DumpContents *.DumpLayerInfo
    *.DumpTokenStats *Dump*Diagnostics* *._Dump*Stats *._DumpType* *.LoadReport *.Get*Report*
    *.Get*Baked *.Bake* *.ReportActiveErrorMarks *.ReportTimes *.ReportChromeTracing
    *.WriteFallbackPrimTypes *Package*Attr *SoftwarePackage* *.IsPackage* *.SplitPackage*
    *.JoinPackage* *.ComputeAccumulatedRecords *.SparseValueWriter.* *Writer.Add* *Writer.Discard
    *.CanPackage* *.ExportToString
"""


def is_harmless(name: str) -> bool:
    """Return whether it is known that a name of USD writes no file."""
    return any(fnmatchcase(name, pattern) for pattern in HARMLESS.split())


def plain_among(names: Iterable[str], host: str) -> list[str]:
    """List those that plain code may use, as a module's or as any object's."""
    plain = import_module(f"dcc_bridge_{host}.plain_names").PLAIN
    found = []
    for name in sorted(names):
        path, _, last = name.rpartition(".")
        module = path.partition(".")[0]
        for text in (f"it.{last}('x')", f"import {module}\n{name}('x')"):
            if read_code(text, plain).is_plain:
                found.append(name)
    return found


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
            names |= {*walk["every"](import_module(f"pxr.{module.name}"), module.name)}
    writing = {name for name in names if not is_harmless(f"pxr.{name}")}

    assert isinstance(made, CodeContext)
    refused = {f"{it.__name__.rpartition('.')[2]}.{name}" for it, name, _ in made.writers()}
    assert len(writing) > 15
    assert plain_among((f"pxr.{it}" for it in names), "usd") == []
    assert {".".join(it.split(".")[-2:]) for it in writing} - refused == BY_EVENTS


# In Python, whose events are refused; the other one saves what was refused as it was made.
BY_EVENTS: Final = {
    "UsdzUpdateIterator._WritePackage",
    "UsdUtils.ExtractUsdzPackage",
    "ZipFileWriter.Save",
}

# They tell whether an object has to be computed again.
TOUCHES: Final = {"touch", "isTouched", "purgeTouched"}

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

    names = told(done)
    assert len(names) > 20
    assert {it.rpartition(".")[2] for it in plain_among(names, "freecad")} == TOUCHES


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

    names = told(done)
    assert len(names) > 50
    assert plain_among(names, "blender") == []
