"""Relative file paths in a layer, when its file is saved in another folder. Any thread."""

from __future__ import annotations

import os
from pathlib import Path

from pxr import Sdf, UsdUtils


def relocate(layer: Sdf.Layer, old: Path, new: Path) -> None:
    """Make a layer's relative paths point to the same files from another folder.

    A path that USD searches for ("asset/x.usd", no dots) is changed only if it lies beside the old
    file. A path with a variable expression is left alone, since USD gives us only its inside.

    Args:
        layer: The layer, or a copy of it.
        old: The folder that its paths are relative to.
        new: The folder in which it is saved.
    """
    if old != new:
        UsdUtils.ModifyAssetPaths(layer, lambda path: _moved(path, old, new))


def _moved(path: str, old: Path, new: Path) -> str:
    if not path or "${" in path or ":" in path or os.path.isabs(path):
        return path
    outer, bracket, inner = path.partition("[")
    if not outer.startswith(("./", "../")) and not (old / outer).exists():
        return path
    try:
        moved = os.path.relpath(old / outer, new)
    except ValueError:  # another drive
        moved = os.path.abspath(old / outer)
    dots = "" if os.path.isabs(moved) or moved.startswith("..") else "./"
    return (dots + moved).replace(os.sep, "/") + bracket + inner
