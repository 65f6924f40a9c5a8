"""New skill."""

from __future__ import annotations

from fnmatch import fnmatch

from dcc_bridge import skill

# Your application's API goes here, `from maya import cmds`: the file is imported on its main
# thread, when the skill is first called. Until then this list stands for the scene.
SCENE = ["camera_1", "camera_2", "light_1"]


@skill(risk="read")
def new_skill(pattern: str = "*") -> list[str]:
    """Say in a sentence what an agent gets, and when to call it.

    Args:
        pattern: A glob on the name.
    """
    return find(pattern)


def find(pattern: str) -> list[str]:
    """Give the names that match."""
    return [name for name in SCENE if fnmatch(name, pattern)]
