"""The operation of `render`: a Blender without a window renders a copy of the file.

The person's own Blender goes on meanwhile, keeps its settings, and does not end if the renderer
crashes. Main thread, but for `_run`.
"""

from __future__ import annotations

import json
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
from .pictures import facing
from .seeing import _Seeing

_LOOK_S: Final = 0.1  # seconds from one look at the renderer to the next
_SAMPLE: Final = re.compile(r"(?:Sample|Rendering) (\d+) ?/ ?(\d+)")
"""Cycles and EEVEE write that as they work: a share of the picture."""
_ERROR: Final = re.compile(r"^(?:Error|\w+Error): (.+)$", re.MULTILINE)
_NOTE: Final = re.compile(f"^{render_process.NOTE}(.+)$", re.MULTILINE)
_MAX_LOG: Final = 500  # characters of what the renderer wrote last, in an error
Told = Callable[[float], None]


class _Rendering(_Seeing, Rendering):
    """The operation of `render`."""

    def render_formats(self) -> Sequence[str]:
        return tuple(render_process.FORMATS)

    def rendering(self, wanted: Render) -> Callable[[Told], list[str]]:
        """Save a copy for the renderer; what is painted into an image and not saved is not in it.

        Raises:
            LookupError: There is no such camera.
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
    log = folder / "log.txt"
    try:
        with log.open("wb") as out:
            process = subprocess.Popen(
                _command(folder),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        try:
            _watch(process, log, told)
        finally:
            process.kill()
            process.wait()
        written = _read(log)
        if process.returncode or render_process.END not in written:
            raise ValueError(f"Blender did not render it: {_why(written)}")
        told(float(written.count(render_process.DONE)))
        return _NOTE.findall(written)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _watch(process: subprocess.Popen[bytes], log: Path, told: Told) -> None:
    """Tell how far the renderer is, until it ends."""
    while True:
        try:
            process.wait(_LOOK_S)
        except subprocess.TimeoutExpired:
            told(_done(_read(log)))
        else:
            return


def _done(written: str) -> float:
    """Return how many pictures are done, by what the renderer wrote."""
    _, _, current = written.rpartition(render_process.DONE)
    done = written.count(render_process.DONE)
    samples = _SAMPLE.findall(current)
    if not samples:
        return float(done)
    at, of = map(int, samples[-1])
    return done + min(at / max(of, 1), 0.99)


def _why(written: str) -> str:
    """Return why the renderer failed, by what it wrote."""
    errors = _ERROR.findall(written)
    if errors:
        return str(errors[-1])
    return written[-_MAX_LOG:].strip() or "it said nothing."


def _read(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace")
