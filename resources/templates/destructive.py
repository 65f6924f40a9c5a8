"""New skill."""

from __future__ import annotations

from fnmatch import fnmatch

from dcc_bridge import confirm_sync, skill

# Your application's API goes here, `from maya import cmds`: the file is imported on its main
# thread, when the skill is first called. Until then this list stands for the scene.
SCENE = ["camera_1", "camera_2", "light_1"]


@skill(risk="destructive", confirms=True, undo="New skill")
def new_skill(pattern: str) -> dict[str, list[str]]:
    """Say in a sentence what is lost. The person is asked first.

    Args:
        pattern: A glob on the name.
    """
    # Nothing is changed before this line. It asks, and waits; a no ends the skill here. The
    # function is called again after the answer: if the scene has changed, it is asked again.
    agreed = confirm_sync("Delete these?", items=lambda: find(pattern), verb="Delete")
    for name in agreed:
        SCENE.remove(name)
    return {"deleted": list(agreed)}


def find(pattern: str) -> list[str]:
    """Give the names that match."""
    return [name for name in SCENE if fnmatch(name, pattern)]
