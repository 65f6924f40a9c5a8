"""Scenes on disk: read whole or not at all, written whole or not at all. Main thread.

Two traps, both measured with usd-core 26.11:

- ``Sdf.Layer.Save`` and ``Export`` write to a file beside the target, but move it there even when
  writing failed: with a full disk the good scene is replaced by a part of the new one. So we let
  USD write to a file of ours, and move it only after it said that all went well.
- Opening a file that USD has in memory gives what is in memory, unsaved edits included. So we
  reload.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Final

from pxr import Sdf, Tf, Usd

SUFFIXES: Final = (".usd", ".usda", ".usdc")
_CRATE: Final = b"PXR-USDC"


def absolute(path: Path | str) -> Path:
    """Give the path of a scene as it is kept.

    Raises:
        ValueError: It has no suffix of a scene.
    """
    whole = Path(os.path.abspath(Path(path).expanduser()))
    if whole.suffix.lower() not in SUFFIXES:
        raise ValueError(f"{whole.name} is no scene: its name must end in {', '.join(SUFFIXES)}.")
    return whole


def read(path: Path) -> Usd.Stage:
    """Open what is on disk, not what somebody made of it in memory.

    Raises:
        OSError: It is not there, or must not be read.
        ValueError: It is not a USD file.
    """
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    if not path.is_file() or not os.access(path, os.R_OK):
        raise PermissionError(f"{path} cannot be read.")
    is_known = bool(Sdf.Layer.Find(str(path)))
    try:
        stage = Usd.Stage.Open(str(path))
    except Tf.ErrorException as error:
        raise _unreadable(path, error) from error
    if is_known:
        _check_all(stage)
    stage.Reload()
    return stage


def _check_all(stage: Usd.Stage) -> None:
    """See that a reload will go well; one that stops at a broken file has harmed others by then."""
    for layer in stage.GetUsedLayers():
        try:
            if not layer.anonymous:
                Sdf.Layer.OpenAsAnonymous(layer.realPath)
        except Tf.ErrorException as error:
            raise _unreadable(Path(layer.realPath), error) from error


def write(layer: Sdf.Layer, path: Path) -> None:
    """Write a layer to a file, or leave the file as it was.

    Raises:
        OSError: It cannot be written; says why.
    """
    target = path.resolve()
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{path.name} cannot be saved: there is no folder {target.parent}.")
    if target.exists() and not (os.access(target, os.W_OK) and target.stat().st_mode & 0o222):
        raise PermissionError(f"{path.name} cannot be saved: the file is read-only.")
    part = target.with_name(f".{target.stem}.{os.getpid()}.part{target.suffix}")
    try:
        _export(layer, part, target)
        os.replace(part, target)
    except (OSError, Tf.ErrorException) as error:
        raise OSError(f"{path.name} cannot be saved: {_reason(error)}. It is as it was.") from error
    finally:
        part.unlink(missing_ok=True)


def _export(layer: Sdf.Layer, part: Path, target: Path) -> None:
    layer.Export(str(part), args={"format": "usda"} if _is_text(target) else {})
    if target.exists():
        shutil.copymode(target, part)
    with part.open("rb") as file:
        os.fsync(file.fileno())


def _is_text(target: Path) -> bool:
    """Whether it is a .usd file that holds text, which USD by itself would make binary."""
    if target.suffix != ".usd" or not target.exists():
        return False
    with target.open("rb") as file:
        return file.read(len(_CRATE)) != _CRATE


def _unreadable(path: Path, error: Tf.ErrorException) -> ValueError:
    found = re.search(r":(\d+):\d+: ", str(error))
    line = f" (line {found[1]})" if found else ""
    return ValueError(f"{path.name} is not a readable USD file{line}.")


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    said = re.findall(r": '(.*?)'\s*$", str(error), re.MULTILINE)
    return str(said[0]) if said else "USD could not write it"
