"""What is played in a Blender that is the module ``bpy``: an extension's whole life. Main thread.

Run by Blender's own Python with the extension's file, in a home that `BLENDER_USER_RESOURCES`
names. It has nothing of ours on its path but what the extension brings.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from importlib import import_module
from pathlib import Path
from typing import Any

FILE = sys.argv[1]
BPY = sys.argv[2]
HOME = Path(os.environ["HOME"])
sys.path.insert(0, BPY)

import bpy  # noqa: E402 - found on the path above

NAME = "bl_ext.user_default.dcc_bridge"


def serve() -> None:
    """Serve until somebody orders something: there is one order."""
    enough = threading.Event()

    def ready(bridge: Any) -> None:
        def wait() -> None:
            while not (HOME / "orders").exists():
                time.sleep(0.02)
            enough.set()
            bridge.main.post(lambda: None)

        threading.Thread(target=wait, daemon=True).start()
        found = {name: str(sys.modules[name].__file__) for name in ("dcc_bridge", "mcp")}
        found["pydantic_core"] = str(import_module("pydantic_core._pydantic_core").__file__)
        (HOME / "found.json").write_text(json.dumps(found))

    import_module(f"{NAME}.plugin").serve(enough.is_set, ready)


def is_enabled() -> bool:
    preferences: Any = bpy.context.preferences
    return NAME in preferences.addons


operators: Any = bpy.ops.extensions
operators.package_install_files(filepath=FILE, repo="user_default", enable_on_install=True)
assert is_enabled(), "it is not enabled"
serve()
bpy.ops.preferences.addon_disable(module=NAME)
assert not is_enabled()
bpy.ops.preferences.addon_enable(module=NAME)  # and once more: nothing of the first time hinders
assert is_enabled()
preferences: Any = bpy.context.preferences
number = [each.module for each in preferences.extensions.repos].index("user_default")
operators.package_uninstall(repo_index=number, pkg_id="dcc_bridge")
assert not is_enabled(), "it is enabled still"
