"""The package is loaded under two names, and by commands that have no Blender."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "plugins" / "blender" / "dcc_bridge_blender"


def test_it_is_imported_without_blender_and_without_the_bridge() -> None:
    """Blender imports it to read what it is, before it registers it."""
    code = (
        "import sys; sys.modules['bpy'] = None; import dcc_bridge_blender; "
        "print([n for n in sys.modules if n.startswith('dcc_bridge') and '.' in n])"
    )
    path = {"PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=path, capture_output=True, text=True, timeout=60
    )

    assert done.stdout == "[]\n", done.stderr


def test_it_imports_its_own_modules_by_relative_names() -> None:
    """As an extension it is ``bl_ext.user_default.dcc_bridge``."""
    absolute = [
        file.name
        for file in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        if PACKAGE.name in ast.unparse(node)
    ]

    assert absolute == []
