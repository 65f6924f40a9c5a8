"""Each host that can run here, as a process with the bridge in it, or without it.

Whoever sits at them in the tests looks at a file all the time; here nobody does.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from tests.hosts import blender_window, bpy_module, freecad, screen
from tests.hosts.application import ROOT, Application, started
from tests.hosts.qt_host import build

PING: Final = '''\
"""What costs nothing by itself."""

from dcc_bridge import skill


@skill(risk="read")
def ping() -> str:
    """Say that the server is there."""
    return "pong"
'''
_WAIT: Final = "import threading; threading.Event().wait()"
_SESSION: Final = """\
from dcc_bridge.hosts.standalone import UsdSession
session = UsdSession({scene!r}, has_ui={has_ui}, as_copy=True)
"""
_SCENE: Final = str(ROOT / "resources" / "scenes" / "shot_010_layout.usda")
_QT_HOST: Final = """\
from dcc_bridge.plugin import PlugIn
from tests.hosts.qt_host.adapter import QtHost
plug_in = PlugIn(QtHost(), [])
plug_in.host.when_ready(plug_in.start)
"""
Running = AbstractContextManager[Application]


@dataclass(frozen=True)
class Place:
    """A host.

    Attributes:
        name: What it is called in the table.
        start: Runs it in an empty folder, with the bridge or without.
        missing: Says what keeps it from running here, or None.
    """

    name: str
    start: Callable[[Path, bool], Running]
    missing: Callable[[], str | None] = lambda: None


def _run(
    command: Sequence[str | Path],
    folder: Path,
    statements: str,
    paths: Sequence[Path] = (),
    **more: str,
) -> Running:
    """Start an interpreter with a script; of a host's own not every one reads PYTHONPATH."""
    script = folder / "start.py"
    found = [str(path) for path in (ROOT, *paths)]
    script.write_text(f"import sys\nsys.path[:0] = {found!r}\n{statements}\n", encoding="utf-8")
    return _started([*command, script], folder, **more)


def _started(command: Sequence[str | Path], folder: Path, **more: str) -> Running:
    skills = folder / "ping"
    skills.mkdir()
    (skills / "ping.py").write_text(PING, encoding="utf-8")
    return started(command, folder, DCC_BRIDGE_SKILLS=str(skills), **more)


def _standalone(folder: Path, bridged: bool, *, window: bool) -> Running:
    path = {"QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(ROOT)}
    if bridged:
        word = "--window" if window else "--headless"
        return _started([sys.executable, "-m", "dcc_bridge", "serve", word], folder, **path)
    shown = "from dcc_standalone.app import run; run(session)" if window else _WAIT
    opened = _SESSION.format(scene=_SCENE, has_ui=window)
    return _run([sys.executable], folder, opened + shown, [ROOT / "plugins" / "standalone"], **path)


def _qt_host(folder: Path, bridged: bool, *, version: str | None) -> Running:
    environment = build.environment(version)
    paths = [Path(one) for one in environment["QT_HOST_PATH"].split(":")]
    return _run([build.built()], folder, _QT_HOST if bridged else "", paths, **environment)


@contextmanager
def _freecad(folder: Path, bridged: bool) -> Iterator[Application]:
    assert freecad.PROGRAM is not None
    freecad.settle(folder)
    modules = folder / ".local/share/FreeCAD/Mod"
    (modules / "person" / "InitGui.py").unlink()
    if not bridged:
        (modules / "dcc_bridge").unlink()
    more = {"LIBGL_ALWAYS_SOFTWARE": "1", "QTWEBENGINE_DISABLE_SANDBOX": "1"}
    with ExitStack() as stack:
        shown = stack.enter_context(screen.screen())
        more |= {"DISPLAY": shown.display, "QT_QPA_PLATFORM": "xcb"}
        yield stack.enter_context(_started([freecad.PROGRAM], folder, **more))


def _freecadcmd(folder: Path, bridged: bool) -> Running:
    assert freecad.CONSOLE is not None
    serving = (
        "from dcc_bridge_freecad import SKILLS; from dcc_bridge import headless; "
        "from dcc_bridge.hosts.freecad import FreeCADHost; "
        "headless.serve(FreeCADHost(), [SKILLS], lambda: False)"
    )
    paths = [freecad.dependencies(), ROOT / "plugins" / "freecad"]
    return _run([freecad.CONSOLE], folder, serving if bridged else _WAIT, paths)


@contextmanager
def _blender(folder: Path, bridged: bool) -> Iterator[Application]:
    assert blender_window.PROGRAM is not None
    scripts = folder / "scripts"
    blender_window.install(scripts / "addons" / "dcc_bridge_blender", qt=False)
    words = [blender_window.PROGRAM, "--factory-startup", "--window-geometry", "0", "0"]
    words += ["1280", "800", *(["--addons", "dcc_bridge_blender"] if bridged else [])]
    with ExitStack() as stack:
        shown = stack.enter_context(screen.screen(*blender_window.SIZE))
        ours = {"DISPLAY": shown.display, "LIBGL_ALWAYS_SOFTWARE": "1"}
        ours["BLENDER_USER_SCRIPTS"] = str(scripts)
        yield stack.enter_context(_started(words, folder, **ours))


def _bpy(folder: Path, bridged: bool, *, version: str) -> Running:
    python = bpy_module.python(version)
    assert python is not None
    serving = "from dcc_bridge_blender import plugin; plugin.serve(lambda: False)"
    statements = serving if bridged else f"import bpy; {_WAIT}"
    return _run([python], folder, statements, [ROOT / "plugins" / "blender"])


def _lacking(*programs: str) -> Callable[[], str | None]:
    def missing() -> str | None:
        lacking = [name for name in programs if shutil.which(name) is None]
        return f"not installed: {', '.join(lacking)}" if lacking else None

    return missing


def _no_python(version: str) -> str | None:
    minor = bpy_module.VERSIONS[version]
    return None if bpy_module.python(version) else f"Python {minor} is not installed"


STANDALONE: Final = Place("standalone", partial(_standalone, window=True))
PLACES: Final = (
    STANDALONE,
    Place("standalone, headless", partial(_standalone, window=False)),
    Place("C++ Qt host, PySide6 6.5.3", partial(_qt_host, version="6.5.3"), build.missing),
    Place("C++ Qt host, PySide6 newest", partial(_qt_host, version=None), build.missing),
    Place("FreeCAD in a window", _freecad, _lacking("freecad", "Xvfb")),
    Place("freecadcmd", _freecadcmd, _lacking("freecadcmd")),
    Place("Blender in a window", _blender, _lacking("blender", "Xvfb")),
    *(
        Place(f"bpy {version}", partial(_bpy, version=version), partial(_no_python, version))
        for version in bpy_module.VERSIONS
    ),
)
