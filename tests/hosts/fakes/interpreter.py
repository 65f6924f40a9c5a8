"""A stand-in for mayapy and hython: a Python with the stand-in application in it. Run as a module.

By Autodesk's "Python from an external interpreter": ``mayapy`` takes what ``python`` takes, and
``maya.cmds`` is empty until ``maya.standalone.initialize`` was called; what began has to be ended
with ``uninitialize``. By SideFX's "Command-line scripting": ``hython`` takes what ``python`` takes,
and has ``hou`` from the start.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

from tests.hosts.fakes.houdini import Houdini
from tests.hosts.fakes.maya import Maya

ROOT: Final = Path(__file__).parents[3]
PROGRAMS: Final = {"maya": "mayapy", "houdini": "hython"}
NOTES: Final = "notes.jsonl"
"""What it was started with, and how Maya was ended, in the program's own folder."""


def put(folder: Path, host: str, *, instead: str = "") -> Path:
    """Make the program; it may run a shell command instead of a script of ours."""
    folder.mkdir(exist_ok=True)
    program = folder / PROGRAMS[host]
    module = f"PYTHONPATH='{ROOT}' exec '{sys.executable}' -m tests.hosts.fakes.interpreter"
    wrong = f'case "$1" in *start.py) {instead};; esac\n' if instead else ""
    program.write_text(f"#!/bin/sh\n{wrong}{module} {host} '{folder}' \"$@\"\n")
    program.chmod(0o755)
    return program


def notes(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / NOTES).read_text().splitlines()]


def main(host: str, folder: Path, words: list[str]) -> None:
    job = os.environ.get("DCC_BRIDGE_JOB", "")
    note(folder, words=words, job=job, stdin=os.readlink("/proc/self/fd/0"))
    patch = pytest.MonkeyPatch()
    if host == "maya":
        _begin_maya(patch, folder)
    else:
        Houdini(patch, batch=True)
    sys.argv = words
    if words[0] == "-c":
        exec(words[1], {"__name__": "__main__"})
    else:
        runpy.run_path(words[0], run_name="__main__")


def note(folder: Path, **told: Any) -> None:
    with (folder / NOTES).open("a") as out:
        out.write(f"{json.dumps(told)}\n")


def _begin_maya(patch: pytest.MonkeyPatch, folder: Path) -> None:
    Maya(patch, batch=True)
    there = {name: module for name, module in sys.modules.items() if name.startswith("maya.")}
    for name in there:
        sys.modules[name] = ModuleType(name)
    standalone: Any = ModuleType("maya.standalone")

    def initialize(name: str = "python") -> None:
        above = sys.modules["maya"]
        for each, module in there.items():
            sys.modules[each] = module
            if each.count(".") == 1:
                setattr(above, each.partition(".")[2], module)

    standalone.initialize = initialize
    standalone.uninitialize = lambda: note(folder, ended=True)
    sys.modules["maya.standalone"] = standalone
    vars(sys.modules["maya"]).update(standalone=standalone, cmds=sys.modules["maya.cmds"])


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
