"""A process that runs another version of the bridge, as far as its metadata say."""

from __future__ import annotations

import os
from importlib import metadata
from pathlib import Path

from dcc_bridge.errors import DISTRIBUTION

OLDER = "0.0.9"
NEWER = "99.1"


def folder(parent: Path, version: str) -> Path:
    """Make a folder that, where it is searched first, says that the bridge has a version."""
    info = parent / f"version-{version}" / f"dcc_bridge_mcp-{version}.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    text = f"Metadata-Version: 2.1\nName: {DISTRIBUTION}\nVersion: {version}\n"
    (info / "METADATA").write_text(text)
    own = metadata.distribution(DISTRIBUTION)
    (info / "entry_points.txt").write_text(own.read_text("entry_points.txt") or "")
    return info.parent


def environment(parent: Path, version: str) -> dict[str, str]:
    """Return the variable by which a process runs a version."""
    path = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return {"PYTHONPATH": os.pathsep.join([str(folder(parent, version)), *filter(None, path)])}
