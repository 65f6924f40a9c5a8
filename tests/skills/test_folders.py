"""Skills are looked for in the application's own folder, the user's, the project's, and others."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge.cli.interpreter import skill_folders
from dcc_bridge.config import Settings
from dcc_bridge.errors import SkillError
from dcc_bridge.skills.loader import folders, user_folder


def test_the_environment_names_the_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    more = [tmp_path / "a", tmp_path / "b"]
    monkeypatch.setenv("DCC_BRIDGE_PROJECT", str(tmp_path / "show"))
    monkeypatch.setenv("DCC_BRIDGE_USER_SKILLS", str(tmp_path / "mine"))
    monkeypatch.setenv("DCC_BRIDGE_SKILLS", os.pathsep.join(map(str, [*more, more[0]])))

    found = folders([tmp_path], Settings.load())

    assert found == [tmp_path, tmp_path / "mine", tmp_path / "show" / "skills", *more]


def test_without_settings_the_users_own_is_where_the_system_keeps_data(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    found = folders((), Settings())

    assert found == [user_folder(Settings())]
    assert found[0].name == "skills"
    assert found[0].parent.name == "dcc_bridge"


@pytest.mark.parametrize("fixed", ["skills = []", 'edit = "ask"'])
def test_folders_that_the_studio_does_not_let_in_are_told_as_such(
    fixed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(fixed)
    under: Any = Settings.under
    monkeypatch.setattr(Settings, "under", lambda self: under(self, policy))

    skill_folders(Namespace(skills=[tmp_path]))
    skill_folders(Namespace(skills=[]))

    told = capsys.readouterr().err
    assert told.count("--skills is ignored") == ("skills" in fixed)


def test_a_setting_that_is_no_list_of_folders_is_refused() -> None:
    with pytest.raises(ValueError, match="skills is a list of folders"):
        Settings(skills=("text",))  # type: ignore[arg-type]  # that is what is tried


def test_a_folder_of_the_applications_own_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(SkillError, match="no folder of skills"):
        folders([tmp_path / "nowhere"], Settings(user_skills=tmp_path))
