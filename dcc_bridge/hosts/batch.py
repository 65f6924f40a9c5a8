"""A scene opened in each host's own batch interpreter. Main thread, there.

Which host it is is told, and never found out.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from dcc_bridge.errors import MissingExtra
from dcc_bridge.host import Host


@contextmanager
def opened(name: str, scene: Path | None) -> Iterator[Host]:
    """Start what the host needs, and have a scene open in it as long as the block lasts.

    Args:
        name: One of `HOSTS`.
        scene: A file of it; None for the empty scene with which it begins.

    Raises:
        MissingExtra: The standalone host is not installed.
        OSError: There is no such file. Whatever the host raises for one that it cannot read
            comes as it is.
    """
    if scene is not None and not scene.is_file():
        raise FileNotFoundError(f"There is no file {scene}.")
    host = HOSTS[name](scene)
    try:
        yield host
    finally:
        if hasattr(host, "close"):  # Blender's keeps hooks that must not outlive its scene
            host.close()


def _standalone(scene: Path | None) -> Host:
    try:
        from dcc_bridge.hosts.standalone import UsdSession, install
    except ModuleNotFoundError:
        raise MissingExtra("The standalone host (or name another with --host)", "demo") from None

    session = UsdSession(scene) if scene is not None else UsdSession()
    install(session)
    return session


def _freecad(scene: Path | None) -> Host:
    import FreeCAD

    from dcc_bridge.hosts.freecad import FreeCADHost

    if scene is not None:
        FreeCAD.openDocument(str(scene))
    else:
        FreeCAD.newDocument()
    return FreeCADHost()


def _blender(scene: Path | None) -> Host:
    import bpy

    from dcc_bridge.hosts.blender import BlenderHost

    if scene is not None:
        bpy.ops.wm.open_mainfile(filepath=str(scene))
    return BlenderHost()


def _maya(scene: Path | None) -> Host:
    import maya.standalone

    maya.standalone.initialize()
    # A mayapy that ends without it may crash. It is last: nothing of Maya may be used after it.
    atexit.register(maya.standalone.uninitialize)
    from maya import cmds

    from dcc_bridge.hosts.maya import MayaHost

    if scene is not None:
        cmds.file(scene.as_posix(), open=True, force=True)
    return MayaHost()


def _houdini(scene: Path | None) -> Host:
    import hou

    from dcc_bridge.hosts.houdini import HoudiniHost

    if scene is not None:
        hou.hipFile.load(scene.as_posix(), suppress_save_prompt=True)
    return HoudiniHost()


HOSTS: Final[dict[str, Callable[[Path | None], Any]]] = {
    "blender": _blender,
    "freecad": _freecad,
    "houdini": _houdini,
    "maya": _maya,
    "standalone": _standalone,
}
"""What opens a scene, by the host's name."""
