"""``dcc-bridge client``: one command sets a client up, and another one takes it back."""

from __future__ import annotations

import json
import os
import re
import sys
import tomllib
from pathlib import Path

import pytest

from dcc_bridge import known_clients
from dcc_bridge.client.configs.places import PLACES
from dcc_bridge.config import Settings
from tests.cli.commands import Done, _run_here, environment

WRITABLE = [name for name, place in PLACES.items() if place.writes]
FILES = {
    "claude-code": ".claude.json",
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".config/Code/User/mcp.json",
    "gemini-cli": ".gemini/settings.json",
}
linux = pytest.mark.skipif(sys.platform != "linux", reason="these are Linux's places")


def client(home: Path, *words: str | Path) -> Done:
    """Run the command for a user with that home folder."""
    kept = environment(home / "runtime", HOME=str(home))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        kept.pop(name, None)
    return _run_here(kept, ["client", *map(str, words)])


@linux
@pytest.mark.parametrize("name", WRITABLE)
def test_it_writes_the_entry_where_the_client_looks_for_it(name: str, tmp_path: Path) -> None:
    done = client(tmp_path, "add", name)

    file = tmp_path / FILES[name]
    (servers,) = json.loads(file.read_text()).values()
    entry = servers["dcc-bridge"]
    assert (done.code, str(file) in done.out) == (0, True)
    assert Path(entry["command"]).is_absolute()
    assert os.access(entry["command"], os.X_OK)
    assert entry["args"][-3:] == ["connect", "--label", name]
    assert entry["env"] == {"DCC_BRIDGE_RUNTIME": str(tmp_path / "runtime")}


@linux
def test_a_second_time_changes_nothing_and_a_copy_of_the_first_state_is_kept(
    tmp_path: Path,
) -> None:
    (file := tmp_path / ".claude.json").write_text('{\n  "numStartups": 7\n}\n')
    file.chmod(0o600)
    client(tmp_path, "add", "claude-code")
    before = file.read_bytes(), file.stat().st_mtime_ns

    again = client(tmp_path, "add", "claude-code")

    copy = tmp_path / ".claude.json.before-dcc-bridge"
    assert again.out.startswith("Claude Code was set up in")
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before
    assert copy.read_text() == '{\n  "numStartups": 7\n}\n'
    assert [one.stat().st_mode & 0o777 for one in (file, copy)] == [0o600, 0o600]


@linux
def test_taken_back_nothing_is_left_of_it_and_all_else_is(tmp_path: Path) -> None:
    (file := tmp_path / ".cursor" / "mcp.json").parent.mkdir()
    text = '{\n  // mine\n  "mcpServers": {\n    "git": {"command": "git-mcp"},\n  },\n}\n'
    file.write_text(text)
    client(tmp_path, "add", "cursor")

    done = client(tmp_path, "remove", "cursor")

    assert done.out.startswith("Cursor is set up no more in")
    assert file.read_text() == text
    assert client(tmp_path, "remove", "cursor").out.startswith("Cursor was not set up")


@linux
def test_the_copy_is_of_what_was_there_before_us_however_often_it_is_set_up(tmp_path: Path) -> None:
    """The file is another one each time, for the entry is."""
    (file := tmp_path / ".claude.json").write_text("{}\n")
    client(tmp_path, "add", "claude-code")
    file.write_text(file.read_text().replace("connect", "join"))

    again = client(tmp_path, "add", "claude-code")

    assert "is set up in" in again.out
    assert "What it held before" not in again.out
    assert (tmp_path / ".claude.json.before-dcc-bridge").read_text() == "{}\n"


@linux
@pytest.mark.parametrize("text", ['{"numStartups": 7}', "\ufeff{\n}\n", '{"mcpServers": {}}'])
def test_taken_back_the_file_is_what_it_was_to_the_byte_and_the_copy_goes(
    text: str, tmp_path: Path
) -> None:
    (file := tmp_path / ".claude.json").write_text(text)
    client(tmp_path, "add", "claude-code")

    done = client(tmp_path, "remove", "claude-code")

    assert file.read_text() == text
    assert not (tmp_path / ".claude.json.before-dcc-bridge").exists()
    assert "before" not in done.out


@linux
def test_the_copy_stays_where_the_file_was_changed_in_between(tmp_path: Path) -> None:
    (file := tmp_path / ".claude.json").write_text('{"a": 1}')
    client(tmp_path, "add", "claude-code")
    file.write_text(file.read_text().replace('"a": 1', '"a": 2'))

    done = client(tmp_path, "remove", "claude-code")

    copy = tmp_path / ".claude.json.before-dcc-bridge"
    assert json.loads(file.read_text())["a"] == 2
    assert copy.read_text() == '{"a": 1}'
    assert f"What it held before is in {copy}." in done.out


@linux
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (real := tmp_path / "dotfiles.json").write_text("{}")
    (tmp_path / ".claude.json").symlink_to(real)

    client(tmp_path, "add", "claude-code")

    assert (tmp_path / ".claude.json").is_symlink()
    assert "dcc-bridge" in real.read_text()


def test_a_project_has_an_entry_of_its_own(tmp_path: Path) -> None:
    client(tmp_path, "add", "vscode", "--project", tmp_path / "film")

    told = json.loads((tmp_path / "film" / ".vscode" / "mcp.json").read_text())
    assert told["servers"]["dcc-bridge"]["type"] == "stdio"


@linux
def test_what_cannot_be_edited_safely_is_left_alone(tmp_path: Path) -> None:
    (file := tmp_path / ".claude.json").write_text('{"a": 1\n"b": 2}')

    done = client(tmp_path, "add", "claude-code")

    assert done.code == 2
    assert "was not changed: it is no JSON from line 2 on." in done.err
    assert [one.name for one in tmp_path.iterdir()] == [file.name]


@pytest.mark.parametrize("name", [*PLACES, "windsurf"])
def test_the_entry_can_be_printed_for_any_client(name: str, tmp_path: Path) -> None:
    out = client(tmp_path, "print", name).out

    assert f'"connect", "--label", "{name}"' in " ".join(out.split()).replace("[ ", "[")


def test_codex_is_printed_as_toml(tmp_path: Path) -> None:
    entry = tomllib.loads(client(tmp_path, "print", "codex").out)["mcp_servers"]["dcc-bridge"]

    assert entry["args"][-3:] == ["connect", "--label", "codex"]


def test_a_client_that_cannot_be_written_is_told_how_to_be_set_up(tmp_path: Path) -> None:
    assert "dcc-bridge client print goose" in client(tmp_path, "add", "goose").err


def test_the_list_says_which_are_set_up_and_where_questions_are_shown(tmp_path: Path) -> None:
    client(tmp_path, "add", "cursor")

    out = client(tmp_path, "list").out

    assert "Cursor, set up\n" in out
    assert "Claude Code, not set up\n" in out
    assert len(re.findall(r"as of 202\d-\d\d-\d\d", out)) == len(PLACES)


def test_clients_that_show_nothing_have_their_questions_asked_in_the_host() -> None:
    assert set(known_clients.CLIENTS) == set(PLACES)
    assert Settings().silent_clients == ("claude-desktop", "codex")
