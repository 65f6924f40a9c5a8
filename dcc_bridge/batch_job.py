"""The job of an application's batch interpreter, and how a scene is opened there. Main thread.

A command writes a `Job` as JSON, and starts the interpreter with `dcc_bridge.headless`, which reads
the job and opens its scene with `opened`. The job names the leaf's module that opens scenes, as no
entry points are searched inside an application.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, cast

from dcc_bridge import held_files
from dcc_bridge.host import Host

if TYPE_CHECKING:
    from dcc_bridge.verbs.operations import HostOperations

JOB: Final = "DCC_BRIDGE_JOB"  # the environment variable that names the job's file
SAVE: Final = b"save"  # the content of the standard input if the scene is to be saved


class Scenes(Protocol):
    """A leaf's module ``scenes``, which is imported in the application's own interpreter."""

    def open_scene(self, path: Path | None) -> Host:
        """Start the application's API, and open a file.

        Args:
            path: The file; None for the scene with which the application begins.

        Returns:
            The application.

        Raises:
            MissingExtra: The application is not installed.
            OSError: The file cannot be read.
            ValueError: The file cannot be read.
            Exception: Any other error of the application.
        """

    def operations(self, host: Host) -> HostOperations:
        """Return the operations of the application for the verbs."""


@dataclass(frozen=True, slots=True)
class Job:
    """The job of a batch interpreter, as JSON carries it.

    Attributes:
        host: The application, as ``--host`` names it.
        scenes: The module of its leaf that opens scenes; see `Scenes`.
        scene: The file that is opened; None for the scene with which the application begins.
        skills: Folders of skill files, which come after those of the settings.
        port: The port of the server; None for that of the settings.
        unattended: The value of the setting ``unattended``; None for that of the settings.
        allow_list: The value of the setting ``allow_list``; None for that of the settings.
        save_as: The file to which the scene is saved at the end if `SAVE` was sent, or None.
        report: The file that reports the progress: "url" once the bridge is ready, "error" if the
            job failed, "audit" and "saved" at the end.
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
        """Replace the report atomically, as another process polls the file."""
        with held_files.replacing(Path(self.report)) as new:
            new.write_text(json.dumps(facts), encoding="utf-8")


def import_scenes(module: str) -> Scenes:
    """Import the module of a leaf that opens scenes, by its dotted name."""
    return cast("Scenes", import_module(module))


@contextmanager
def opened(name: str, scenes: Scenes, scene: Path | None) -> Iterator[Host]:
    """Open a scene in an application during the block.

    Args:
        name: The name of the application, for error messages.
        scenes: The module of the leaf that opens scenes.
        scene: The file; None for the scene with which the application begins.

    Yields:
        The application.

    Raises:
        MissingExtra: The application is not installed.
        OSError: The file cannot be read.
        ValueError: The file cannot be read.
    """
    if scene is not None and not scene.is_file():
        raise FileNotFoundError(f"There is no file {scene}.")
    try:
        host = scenes.open_scene(scene)
    except RuntimeError as error:  # as Blender and Maya raise it
        why = str(error).removeprefix("Error: ").strip()
        target = scene or "a new scene"
        raise ValueError(f"{name} cannot open {target}: {why}") from error
    try:
        yield host
    finally:
        if hasattr(host, "close"):  # in Blender the host has hooks that must not outlive the scene
            host.close()
