"""Runs a benchmark inside of each host, on a large scene.

USD runs in one thread here (``PXR_WORK_THREAD_LIMIT``), bpy in the first interpreter that
`tests.blender.bpy_module` makes, or in this one where it has ``bpy``, FreeCAD in ``freecadcmd``.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

HOSTS: Final = ("usd", "bpy", "freecad")


def run(module: str, host: str, **facts: Any) -> None:
    """Have the `measure` of a module called with a host and these facts, where that host runs."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ.setdefault("PXR_WORK_THREAD_LIMIT", "1")
    statement = f"from {module} import measure; measure({host!r}, **{facts!r})"
    if host == "freecad":
        _in_freecad(statement)
    elif host == "usd" or find_spec("bpy") is not None:
        importlib.import_module(module).measure(host, **facts)
    else:
        _in_bpy(statement)


def _in_freecad(statement: str) -> None:
    from tests.freecad import launch

    if launch.CONSOLE is None:
        print("freecadcmd is not installed", file=sys.stderr)
        return
    with TemporaryDirectory() as folder:
        script = str(launch.script(statement, Path(folder)))
        subprocess.run([launch.CONSOLE, script], stdin=subprocess.DEVNULL, check=True)


def _in_bpy(statement: str) -> None:
    from tests.blender import bpy_module

    python = bpy_module.python(next(iter(bpy_module.VERSIONS)))
    assert python is not None, "its Python is not installed"
    command = [str(python), "-c", statement]
    subprocess.run(command, cwd=bpy_module.ROOT, env=bpy_module.environment(), check=True)


@contextmanager
def opened(host: str, items: int) -> Iterator[tuple[Any, Path]]:
    """Have a host with a scene of so many items, whose files are in a folder."""
    with _ending(host), TemporaryDirectory() as folder:
        # Copies of what is written over, and what Qt and Blender keep, are kept in there too.
        os.environ.update(dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"), folder))
        large = importlib.import_module(f"tests.bench.verbs_{host}").Large
        yield large(Path(folder), items), Path(folder)


@contextmanager
def _ending(host: str) -> Iterator[None]:
    """Say what went wrong before bpy 4.5 is left, which may hang as its interpreter ends."""
    try:
        yield
    except Exception:
        if host == "bpy":
            traceback.print_exc()
            leave(host, 1)
        raise


def leave(host: str, code: int = 0) -> None:
    """End the process at once after bpy, once all is printed."""
    if host == "bpy":
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def version_of(scene: Any) -> str:
    """Return the host of a scene with its version."""
    return f"{scene.host.name} {scene.host.version}"
