"""What an application's own batch interpreter is given to do, and its scene opened there.

Main thread. The job names the module that opens scenes: inside an application nothing is searched.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, cast

from dcc_bridge.host import Host

if TYPE_CHECKING:
    from dcc_bridge.verbs.operations import HostOperations

JOB: Final = "DCC_BRIDGE_JOB"  # the environment variable that names the job's file
SAVE: Final = b"save"  # what the standard input carries before its end if the scene is to be saved


class Scenes(Protocol):
    """A leaf's module ``scenes``, which is imported in the application's own interpreter."""

    def open_scene(self, path: Path | None) -> Host:
        """Start what the application needs, and open a file; None for the scene it begins with.

        MissingExtra says that the application is not installed, OSError or ValueError that the
        file cannot be read; what else an application raises for that comes as it is.
        """

    def operations(self, host: Host) -> HostOperations:
        """Return what the application does for the verbs."""


@dataclass(frozen=True, slots=True)
class Job:
    """What a batch interpreter is to serve, as JSON carries it.

    Attributes:
        host: The application, as ``--host`` names it.
        scenes: The module of its leaf that opens scenes; see `Scenes`.
        scene: The file that is opened, or None.
        skills: Folders of skill files, which come after those of the settings.
        port: Where the server listens; None for the setting.
        unattended: What answers where nobody can be asked: the setting of that name, or None.
        allow_list: The file that says which skills go on unasked, or None.
        save_as: The file to which the scene is saved at the end if `SAVE` was sent, or None.
        report: The file that says how far it is: "url" once it is ready, "error" when it failed,
            "audit" and "saved" when it has ended.
    """

    host: str
    scenes: str
    scene: str | None
    skills: list[str]
    port: int | None
    unattended: str | None
    allow_list: str | None
    save_as: str | None
    report: str

    def write_report(self, **facts: str | None) -> None:
        """Replace the report atomically: another process polls it."""
        part = Path(f"{self.report}.part")
        part.write_text(json.dumps(facts), encoding="utf-8")
        os.replace(part, self.report)


def import_scenes(module: str) -> Scenes:
    """Import a leaf's module `Scenes`, by its dotted name."""
    return cast("Scenes", import_module(module))


@contextmanager
def opened(name: str, scenes: Scenes, scene: Path | None) -> Iterator[Host]:
    """Have a scene open in an application as long as the block lasts.

    Args:
        name: The application, for sentences.
        scenes: What opens it.
        scene: The file; None for the scene with which the application begins.

    Raises:
        MissingExtra: The application is not installed.
        OSError: The file cannot be read.
        ValueError: The same.
    """
    if scene is not None and not scene.is_file():
        raise FileNotFoundError(f"There is no file {scene}.")
    try:
        host = scenes.open_scene(scene)
    except RuntimeError as error:  # of Blender and Maya
        why = str(error).removeprefix("Error: ").strip()
        raise ValueError(f"{name} cannot open {scene or 'a new scene'}: {why}") from error
    try:
        yield host
    finally:
        if hasattr(host, "close"):  # Blender's keeps hooks that must not outlive its scene
            host.close()
