"""The folders in which skills are looked for, the most trusted first. Any thread."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dcc_bridge.config import Settings
from dcc_bridge.errors import SkillError


def folders(own: Sequence[Path], settings: Settings) -> list[Path]:
    """Give the folders: the application's own, the user's, the project's, then those of a setting.

    Args:
        own: What the plug-in brings; they must be there.
        settings: Where the others are. They may come later.

    Raises:
        SkillError: One of the application's own is not there.
    """
    for folder in own:
        if not folder.is_dir():
            raise SkillError(f"There is no folder of skills at {folder}.")
    project = [settings.project / "skills"] if settings.project is not None else []
    every = [*own, user_folder(settings), *project, *settings.skills]
    return [folder.absolute() for folder in dict.fromkeys(every)]


def user_folder(settings: Settings) -> Path:
    """Give the folder of the user's own skills."""
    if settings.user_skills is not None:
        return settings.user_skills
    from platformdirs import user_data_path  # 6 ms that a host with a setting need not

    return user_data_path("dcc_bridge", appauthor=False) / "skills"
