"""FreeCAD with a module of ours in it: a real host, with Qt 5, PySide2 and a Python of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import tomllib
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

import platformdirs

ROOT: Final = Path(__file__).parents[2]
PROGRAM: Final = shutil.which("freecad")
CONSOLE: Final = shutil.which("freecadcmd")
_PYTHON: Final = "/usr/bin/python3"  # the interpreter whose library FreeCAD embeds
_LIMIT: Final = 900  # seconds: it only ends a hang, before pytest does
WITHOUT_A_SCREEN: Final = {
    "QT_QPA_PLATFORM": "offscreen",
    "QT_SCALE_FACTOR_ROUNDING_POLICY": "Round",  # lines of a pixel are drawn as such
    "QTWEBENGINE_DISABLE_SANDBOX": "1",
    # No memory is zero by chance: what PySide2 forgot to write is wrong each time.
    "GLIBC_TUNABLES": "glibc.malloc.perturb=1:glibc.malloc.tcache_count=0",
}
# Its start page wants a browser that cannot run here; a part's workbench is up sooner.
_SETTINGS: Final = """\
<?xml version="1.0" encoding="UTF-8" standalone="no" ?>
<FCParameters><FCParamGroup Name="Root"><FCParamGroup Name="BaseApp">
<FCParamGroup Name="Preferences"><FCParamGroup Name="General">
<FCText Name="AutoloadModule">PartWorkbench</FCText>
</FCParamGroup></FCParamGroup></FCParamGroup></FCParamGroup></FCParameters>
"""
# FreeCAD does not look at PYTHONPATH, and goes on where a script fails.
_START: Final = """\
import os, sys, traceback
sys.path[:0] = {paths!r}
try:
    {statement}
except BaseException:
    traceback.print_exc()
    sys.stdout.flush()
    os._exit(1)
"""


def run(module: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Start FreeCAD without a screen, and have it import a module, which closes its window."""
    assert PROGRAM is not None
    settings = folder / "user.cfg"
    start = script(f"import {module}", folder)
    settings.write_text(_SETTINGS)
    return subprocess.run(
        [PROGRAM, "-u", str(settings), str(start)],
        env={**os.environ, **WITHOUT_A_SCREEN, **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=_LIMIT,
        check=False,
    )


def in_window(module: str, folder: Path, **environment: str) -> None:
    """Start FreeCAD, have it run a module's promises in its window, and see that all are kept."""
    ours = {"PROMISES": module, "SEEN_IN": str(folder)}
    done = run("tests.freecad.in_window", folder, **ours, **environment)
    file = folder / "told"
    told = file.read_text(encoding="utf-8") if file.exists() else ""
    assert (done.returncode, told) == (0, "0"), done.stdout + done.stderr


def in_console(
    statement: str, folder: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Start freecadcmd, have it do something, and wait for its end."""
    assert CONSOLE is not None
    return subprocess.run(
        [CONSOLE, str(script(statement, folder))],
        env={**os.environ, "HOME": str(folder), **environment},
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_LIMIT,
        check=False,
    )


def script(statement: str, folder: Path) -> Path:
    """Write a script for FreeCAD that finds the bridge, the plug-in and the tests."""
    start = folder / "start.py"
    paths = [str(ROOT), str(ROOT / "plugins/freecad"), str(dependencies())]
    start.write_text(_START.format(paths=paths, statement=statement), encoding="utf-8")
    return start


def settle(home: Path, *, installed: bool = False) -> None:
    """Make a home in which FreeCAD loads our plug-in, and somebody sits at it.

    Where it was not installed there, it and the bridge are found where this repository is.
    """
    settings = home / ".config/FreeCAD/user.cfg"
    settings.parent.mkdir(parents=True)
    settings.write_text(_SETTINGS)
    ours, person = (home / ".local/share/FreeCAD/Mod" / name for name in ("dcc_bridge", "person"))
    person.mkdir(parents=True)
    paths = [str(ROOT), str(dependencies())]
    # FreeCAD runs every Init.py before it runs an InitGui.py.
    first = "" if installed else f"import sys; sys.path[:0] = {paths!r}"
    (person / "Init.py").write_text(first)
    sits = f"import sys, dcc_bridge_freecad; sys.path.append({str(ROOT)!r})"
    (person / "InitGui.py").write_text(f"{sits}; import tests.freecad.person")
    if not installed:
        ours.symlink_to(ROOT / "plugins/freecad")


def dependencies() -> Path:
    """Install what the bridge needs in a host, once; another test run may do the same."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    # The promises that every host keeps are run by pytest, inside of FreeCAD.
    wanted: list[str] = [*project["dependencies"], "pytest>=8.4"]
    cache = platformdirs.user_cache_path("dcc_bridge_tests", ensure_exists=True)
    folder = cache / f"freecad-{sha256(repr(wanted).encode()).hexdigest()[:12]}"
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=cache, ignore_cleanup_errors=True) as new:
            command = [_PYTHON, "-m", "pip", "install", "--quiet", "--target", f"{new}/it"]
            subprocess.run([*command, *wanted], check=True, timeout=240)
            with suppress(OSError):
                os.rename(f"{new}/it", folder)
    return folder
