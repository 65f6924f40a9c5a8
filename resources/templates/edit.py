"""New skill."""

from __future__ import annotations

from fnmatch import fnmatch

from dcc_bridge import skill

# Your application's API goes here, `from maya import cmds`: the file is imported on its main
# thread, when the skill is first called. Until then this list stands for the scene.
SCENE = ["camera_1", "camera_2", "light_1"]


@skill(risk="edit", undo="New skill")
def new_skill(pattern: str, prefix: str) -> dict[str, str]:
    """Say in a sentence what is changed. The person can undo it as one step.

    Args:
        pattern: A glob on the name.
        prefix: What is put before each name.

    Returns:
        The old names and the new ones.
    """
    renamed = {name: prefix + name for name in find(pattern)}
    SCENE[:] = [renamed.get(name, name) for name in SCENE]
    return renamed


def find(pattern: str) -> list[str]:
    """Give the names that match."""
    return [name for name in SCENE if fnmatch(name, pattern)]
