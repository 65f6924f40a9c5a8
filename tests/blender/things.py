"""What is in Blender's scene by its name, without the types of its stubs. Main thread."""

from __future__ import annotations

from typing import Any

import bpy


def thing(name: str) -> Any:
    """Return an object."""
    return bpy.data.objects[name]


def cube() -> Any:
    """Return the cube that is there at first."""
    return thing("Cube")


def group(name: str) -> Any:
    """Return a collection."""
    return bpy.data.collections[name]


def scene() -> Any:
    """Return the scene that is there at first."""
    return bpy.data.scenes["Scene"]
