"""What a host's own batch interpreter is given to do, and its scene opened there. Main thread.

Which host it is is told, and never found out.
"""

from __future__ import annotations

import atexit
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dcc_bridge.errors import MissingExtra
from dcc_bridge.host import Host

if TYPE_CHECKING:
    from dcc_bridge.verbs.operations import HostOperations

JOB: Final = "DCC_BRIDGE_JOB"  # the environment variable that names the job's file
SAVE: Final = b"save"  # what the standard input carries before its end if the scene is to be saved


@dataclass(frozen=True, slots=True)
class Job:
    """What a batch interpreter is to serve, as JSON carries it."""

    host: str
    scene: str | None  # the file that is opened, or None
    skills: list[str]  # folders of skill files: the host's own, and those that come last
    port: int | None  # where the server listens; None for the setting
    # What answers where nobody can be asked: the setting of that name, or None.
    unattended: str | None
    allow_list: str | None  # the file that says which skills go on unasked, or None
    # The file to which the scene is saved at the end if `SAVE` was sent, or None.
    save_as: str | None
    # The file that says how far it is: "url" once it is ready, "error" when it failed, "audit" and
    # "saved" when it has ended.
    report: str

    def write_report(self, **facts: str | None) -> None:
        """Replace the report atomically: another process polls it."""
        part = Path(f"{self.report}.part")
        part.write_text(json.dumps(facts), encoding="utf-8")
        os.replace(part, self.report)


@contextmanager
def opened(name: str, scene: Path | None) -> Iterator[Host]:
    """Start what a host of `HOSTS` needs, and have a scene open in it as long as the block lasts.

    Without a file it is the empty scene with which the host begins. MissingExtra says that the
    standalone host is not installed, OSError or ValueError that the file cannot be read; what else
    a host raises for that comes as it is.
    """
    if scene is not None and not scene.is_file():
        raise FileNotFoundError(f"There is no file {scene}.")
    try:
        host = HOSTS[name](scene)
    except RuntimeError as error:  # of Blender and Maya
        why = str(error).removeprefix("Error: ").strip()
        raise ValueError(f"{name} cannot open {scene or 'a new scene'}: {why}") from error
    try:
        yield host
    finally:
        if hasattr(host, "close"):  # Blender's keeps hooks that must not outlive its scene
            host.close()


def operations_of(name: str) -> Callable[[Host], HostOperations] | None:
    """Return what makes a host's operations; None for one whose folder of skills has them."""
    if name != "blender":
        return None
    from dcc_bridge_blender.operations import operations

    return operations


def _standalone(scene: Path | None) -> Host:
    try:
        from dcc_bridge.hosts.standalone import UsdSession, install
    except ModuleNotFoundError:
        raise MissingExtra("The standalone host (or name another with --host)", "demo") from None
    session = UsdSession(scene)
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

    from dcc_bridge_blender.host import BlenderHost

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


HOSTS: Final[dict[str, Callable[[Path | None], Any]]] = {  # what opens a scene, by the host's name
    "blender": _blender,
    "freecad": _freecad,
    "houdini": _houdini,
    "maya": _maya,
    "standalone": _standalone,
}
