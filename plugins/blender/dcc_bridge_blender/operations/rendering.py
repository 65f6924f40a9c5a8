"""The operation of `render`: a Blender without a window renders a copy of the file.

The person's own Blender goes on meanwhile, keeps its settings, and does not end if the renderer
crashes. Main thread, but for `_run`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import bpy

from dcc_bridge.spi import Render, Rendering, Shot

from .. import render_process
from ..names import name_of
from .items import require, scene
from .pictures import check_frame, facing
from .seeing import _Seeing

_LOOK_S: Final = 0.1  # seconds from one look at the renderer to the next
_SAMPLE: Final = re.compile(r"(?:Sample|Rendering) (\d+) ?/ ?(\d+)")
"""Blender before 5 writes that as it works on a picture."""
_MAX_LOG: Final = 500  # characters of what the renderer wrote last, in an error
_TEMPORARY: Final = ("TMPDIR", "TEMP", "TMP")  # where Blender has a folder of its own
Told = Callable[[float], None]


class _Rendering(_Seeing, Rendering):
    """The operation of `render`."""

    def render_formats(self) -> Sequence[str]:
        return tuple(render_process.FORMATS)

    def rendering(self, wanted: Render) -> Callable[[Told], list[str]]:
        """Save a copy for the renderer; what is painted into an image and not saved is not in it.

        Raises:
            LookupError: There is no such camera.
            ValueError: Blender does not have one of the frames.
        """
        pictures = []
        for shot, file in zip(wanted.shots, wanted.files, strict=True):
            pictures.append({"file": str(file), **self._picture(shot)})
        job = {
            "scene": name_of(scene()),
            "size": [wanted.width, wanted.height],
            "samples": wanted.samples,
            "max_bytes": wanted.max_bytes,
            "pictures": pictures,
        }
        folder = Path(tempfile.mkdtemp(prefix="dcc_bridge-"))
        try:
            with self.host.unnoticed():
                self.host.save_copy(folder / render_process.FILE)
            (folder / render_process.JOB).write_text(json.dumps(job), encoding="utf-8")
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return partial(_run, folder)

    def _picture(self, shot: Shot) -> dict[str, Any]:
        """Return what the renderer has to know of a viewpoint."""
        frame = scene().frame_current
        if shot.frame is not None:
            frame = int(shot.frame)
            check_frame(scene(), frame)
        if shot.camera:
            camera = require(shot.camera)
            return {"frame": frame, "camera": name_of(camera), "linked": bool(camera.library)}
        matrix: Any = facing(shot)  # its stub does not say that it has rows
        return {
            "frame": frame,
            "matrix": [[*row] for row in matrix],
            "angle": shot.angle,
            "height": shot.height,
        }


def _command(folder: Path) -> list[str]:
    """Return the command of the renderer: Blender itself, or Python where it is a module."""
    script = str(Path(render_process.__file__))
    if bpy.app.binary_path:
        return [bpy.app.binary_path, "-b", "--python", script, "--", str(folder)]
    return [sys.executable, script, "--", str(folder)]


def _run(folder: Path, told: Told) -> list[str]:
    """Run the renderer in a folder that is removed afterwards. See `Rendering.rendering`."""
    try:
        with _Renderer(folder) as renderer:
            while renderer.is_running():
                told(renderer.done())
            told(renderer.done())
            renderer.check()
            return renderer.notes
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _Renderer:
    """The second Blender, as long as the ``with`` block lasts. Not the main thread.

    Attributes:
        notes: Sentences about what is not as the scene says.
    """

    def __init__(self, folder: Path) -> None:
        self.notes: list[str] = []
        self._error = ""
        self._has_ended = False
        self._done = 0
        self._share = 0.0  # of the next picture
        self._log = folder / "log.txt"
        self._told = folder / render_process.TOLD
        self._told.touch()
        with self._log.open("wb") as out:
            self._process = subprocess.Popen(
                _command(folder),
                stdin=subprocess.PIPE,  # its end is that of this process
                stdout=out,
                stderr=subprocess.STDOUT,
                env={**os.environ, **dict.fromkeys(_TEMPORARY, str(folder))},
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        self._read_log = self._log.open("rb")
        self._read_told = self._told.open("rb")

    def __enter__(self) -> _Renderer:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()
        self._read_log.close()
        self._read_told.close()

    def is_running(self) -> bool:
        """Wait for a moment, and return whether it still runs."""
        try:
            self._process.wait(_LOOK_S)
        except subprocess.TimeoutExpired:
            return True
        return False

    def done(self) -> float:
        """Return how many pictures are done, with the share of the next one."""
        before = self._done
        for line in self._read_told:
            if not line.endswith(b"\n"):  # the rest is being written
                self._read_told.seek(-len(line), os.SEEK_CUR)
                break
            self._take(json.loads(line))
        if self._done > before:
            self._share = 0.0
        samples = _SAMPLE.findall(self._read_log.read().decode("utf-8", "replace"))
        if samples:
            at, of = map(int, samples[-1])
            self._share = min(at / max(of, 1), 0.99)
        if self._has_ended:
            self._share = 0.0
        return self._done + self._share

    def _take(self, told: dict[str, Any]) -> None:
        self._done = told.get("done", self._done)
        self._error = told.get("error", self._error)
        self._has_ended = told.get("ended", self._has_ended)
        if "note" in told:
            self.notes.append(told["note"])

    def check(self) -> None:
        """Raise ValueError if it has not rendered all, and say why."""
        if self._error:
            raise ValueError(f"Blender did not render it: {self._error}")
        if not self._has_ended:
            written = self._log.read_text(encoding="utf-8", errors="replace")
            last = written[-_MAX_LOG:].strip()
            code = self._process.returncode
            raise ValueError(f"The Blender that renders ended with code {code}. It wrote: {last}")
