"""Settings come from where they are said to come from, and a studio has the last word."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge.config import Settings, data_folder


def test_an_argument_wins_over_the_environment_and_that_over_the_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DCC_BRIDGE_PORT", "4000")
    monkeypatch.setenv("DCC_BRIDGE_DEADLINE", "2.5")
    monkeypatch.setenv("DCC_BRIDGE_HOST_DIALOGS", "false")
    monkeypatch.setenv("DCC_BRIDGE_SKILLS", os.pathsep.join(("one", "two")))

    settings = Settings.load(port=5000, deadline=None)

    assert (settings.port, settings.deadline, settings.answer_bytes) == (5000, 2.5, 40_000)
    assert settings.host_dialogs is False
    assert settings.skills == (Path("one"), Path("two"))


@pytest.mark.parametrize(
    ("name", "text"), [("PORT", "high"), ("HOST_DIALOGS", "maybe"), ("UNATTENDED", "sure")]
)
def test_a_variable_that_cannot_be_read_is_named(
    name: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"DCC_BRIDGE_{name}", text)

    with pytest.raises(ValueError, match=name.lower() if name == "UNATTENDED" else name):
        Settings.load()


def test_what_a_studio_fixes_cannot_be_loosened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(
        'unattended = "refuse"\nedit = "ask"\nskills = ["hooked"]\nproject = "show"\n'
    )
    monkeypatch.setenv("DCC_BRIDGE_EDIT", "allow")

    settings = Settings.load(unattended="allow", port=7).under(policy)

    assert (settings.unattended, settings.edit, settings.port) == ("refuse", "ask", 7)
    assert (settings.skills, settings.project) == ((Path("hooked"),), Path("show"))


@pytest.mark.parametrize(
    "text",
    [
        *("unattended = 'sure'", "no_such = 1", "= broken", "host_dialogs = 1", "port = true"),
        *("dialogs_per_minute = 0", "pending_questions = 0", "deadline = -1.0"),
        *("python = 'session'", "python = 'session_hash'"),
    ],
)
def test_a_policy_that_cannot_be_read_stops_the_start(text: str, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(text)

    with pytest.raises(ValueError, match="policy"):
        Settings().under(policy)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('edti = "ask"', "line 3: there is no setting 'edti'. Did you mean 'edit'?"),
        ("[edti]", "line 3: there is no setting 'edti'. Did you mean 'edit'?"),
        ("zzz = 1", "line 3: there is no setting 'zzz'. The settings are: port, runtime, "),
        ('edit = "aks"', "line 3: edit is allow or ask, not 'aks'."),
    ],
)
def test_a_slip_in_the_policy_is_named_with_its_line(line: str, said: str, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(f"# ours\nport = 7\n{line}\n")

    with pytest.raises(ValueError, match=re.escape(f"{policy} cannot be read: {said}")):
        Settings().under(policy)


@pytest.mark.parametrize("name", ["grant_minutes", "host_deadline", "client_deadline"])
def test_a_setting_that_was_removed_is_told_once_and_stops_nothing(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(f'edit = "ask"\n{name} = 30\nmany = 20\n')

    for _ in range(2):
        settings = Settings().under(policy)
        assert (settings.edit, settings.many) == ("ask", 20)

    (record,) = caplog.records
    assert record.getMessage() == (
        f"The studio's policy {policy}, line 2: the setting {name!r} was removed and has no "
        "effect. Delete the line."
    )


@pytest.mark.parametrize("name", ["GRANT_MINUTES", "HOST_DEADLINE", "CLIENT_DEADLINE"])
def test_a_variable_whose_setting_was_removed_is_told_once_and_stops_nothing(
    name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(f"DCC_BRIDGE_{name}", "30")
    monkeypatch.setenv("DCC_BRIDGE_MANY", "20")

    for _ in range(2):
        assert Settings.load().many == 20

    (record,) = caplog.records
    assert record.getMessage() == (
        f"The variable DCC_BRIDGE_{name} has no effect: its setting was removed. Delete the "
        "variable."
    )


def test_a_bridge_takes_the_studios_policy_whatever_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dcc_bridge.bridge import Bridge
    from dcc_bridge.headless import Pump
    from tests.stand_ins import FakeHost

    policy = tmp_path / "policy.toml"
    policy.write_text('unattended = "refuse"\n')
    under: Any = Settings.under
    monkeypatch.setattr(Settings, "under", lambda self: under(self, policy))

    bridge = Bridge(FakeHost(), Pump().main, settings=Settings(unattended="allow"))

    assert bridge.settings.unattended == "refuse"


def test_the_data_that_travels_with_the_package_is_found() -> None:
    assert (data_folder("resources") / "scenes").is_dir()
    with pytest.raises(FileNotFoundError, match="nowhere"):
        data_folder("nowhere")
