"""A plug-in runs what it brought, whatever else is on the path."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dcc_bridge.cli import leaves
from dcc_bridge.install.locations import Facts, System

PLUGINS = Path(__file__).parents[2] / "plugins"
FIND = """
import importlib.util
import {module}
print(importlib.util.find_spec("anyio").origin)
"""


@pytest.mark.parametrize(
    ("host", "module", "scripts"),
    [
        ("blender", "dcc_bridge_blender", ""),
        ("freecad", "dcc_bridge_freecad", "."),
        ("houdini", "dcc_bridge_houdini", "scripts/python"),
        ("maya", "dcc_bridge_maya", "scripts"),
    ],
)
def test_what_a_plug_in_brought_is_found_before_that_of_a_virtual_environment(
    host: str, module: str, scripts: str, tmp_path: Path
) -> None:
    """Also where the application has put its folder at the end of the path itself, as Maya does."""
    application, system = leaves.targets()[host], System.here()
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    folder = tmp_path / "dcc_bridge_blender"
    for source, target in application.sources:
        shutil.copytree(PLUGINS / host / source, folder / target, dirs_exist_ok=True)
    vendor = folder / application.vendor(system, Facts(python=python).python)
    theirs = tmp_path / "venv" / "site-packages"
    for place in (vendor, theirs):
        (place / "anyio").mkdir(parents=True)
        (place / "anyio" / "__init__.py").write_text("")
    begin = folder / scripts if scripts else tmp_path
    path = os.pathsep.join(map(str, (theirs, begin, vendor)))

    done = subprocess.run(
        [sys.executable, "-S", "-c", FIND.format(module=module)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout.strip() == str(vendor / "anyio" / "__init__.py"), done.stderr
