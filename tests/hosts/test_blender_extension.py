"""The plug-in is an extension that Blender's own tool accepts."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.hosts import bpy_module

PLUG_IN = bpy_module.ROOT / "plugins" / "blender"


@pytest.mark.real
@pytest.mark.timeout(600)
@pytest.mark.parametrize("version", bpy_module.VERSIONS)
def test_blenders_own_tool_packs_it(version: str, tmp_path: Path) -> None:
    """It checks the manifest first."""
    python = bpy_module.python(version)
    if python is None:
        pytest.skip(f"Python {bpy_module.VERSIONS[version]} is not installed")
    (tool,) = python.parents[1].glob("lib/**/cli/blender_ext.py")
    source, made = tmp_path / "source", tmp_path / "made"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PLUG_IN / "dcc_bridge_blender", source, ignore=ignored)
    shutil.copytree(PLUG_IN / "skills", source / "skills", ignore=ignored)
    made.mkdir()

    words = (python, tool, "build", "--source-dir", source, "--output-dir", made)
    command = [str(word) for word in words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    assert [file.name for file in made.iterdir()] == ["dcc_bridge-0.1.0.zip"]
