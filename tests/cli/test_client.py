"""``dcc-bridge client``: one command sets a client up, and another one takes it back."""

from __future__ import annotations

import base64
import json
import os
import re
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcc_bridge import known_clients
from dcc_bridge.client import registration
from dcc_bridge.client.entries import CONFIG_FILES
from tests import homes
from tests.cli.commands import Done, _run_here, environment

WRITABLE = [name for name, config in CONFIG_FILES.items() if config.syntax == "json"]
DATA = {"win32": "AppData/Roaming", "darwin": "Library/Application Support"}.get(
    sys.platform, ".config"
)
FILES = {
    "claude-code": ".claude.json",
    "claude-desktop": f"{DATA}/Claude/claude_desktop_config.json",
    "cursor": ".cursor/mcp.json",
    "vscode": f"{DATA}/Code/User/mcp.json",
    "vscode-insiders": f"{DATA}/Code - Insiders/User/mcp.json",
    "vscodium": f"{DATA}/VSCodium/User/mcp.json",
    "windsurf": ".codeium/windsurf/mcp_config.json",
    "lm-studio": ".lmstudio/mcp.json",
    "gemini-cli": ".gemini/settings.json",
}
scripts = pytest.mark.skipif(sys.platform == "win32", reason="a script is no program there")
links = pytest.mark.skipif(sys.platform == "win32", reason="not everybody can make a link there")


def put(home: Path, place: str, text: str) -> Path:
    """Write a file of a client's."""
    (file := home / place).parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def client(home: Path, *words: str | Path) -> Done:
    """Run the command for a user with that home folder, and no client's own command on PATH."""
    kept = environment(home / "runtime", PATH=str(home / "bin"), **homes.home(home))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        kept.pop(name, None)
    return _run_here(kept, ["client", *map(str, words)])


@pytest.mark.core
@pytest.mark.parametrize("name", WRITABLE)
def test_it_writes_the_entry_where_the_client_looks_for_it_and_takes_away_what_it_made(
    name: str, tmp_path: Path
) -> None:
    done = client(tmp_path, "add", name)

    file = tmp_path / FILES[name]
    (servers,) = json.loads(file.read_text()).values()
    entry = servers["dcc-bridge"]
    assert (done.code, str(file) in done.out) == (0, True)
    assert Path(entry["command"]).is_absolute()
    assert os.access(entry["command"], os.X_OK)
    assert entry["args"][-3:] == ["connect", "--label", name]
    assert entry["env"] == {"DCC_BRIDGE_RUNTIME": str(tmp_path / "runtime")}
    assert client(tmp_path, "remove", name).code == 0
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("name", WRITABLE)
def test_a_dry_run_shows_what_would_be_written_and_writes_nothing(
    name: str, tmp_path: Path
) -> None:
    shown = client(tmp_path, "add", name, "--dry-run")
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    client(tmp_path, "add", name)
    again = client(tmp_path, "add", name, "--dry-run")

    file = tmp_path / FILES[name]
    assert (shown.code, left) == (0, [])
    assert f"would be set up in {file}, by this entry:" in shown.out
    assert shown.out.endswith("Nothing was changed.\n")
    _, entry = shown.out.split("entry:\n")
    assert json.loads(entry.removesuffix("Nothing was changed.\n")) == json.loads(file.read_text())
    assert f"was set up in {file}." in again.out


def test_a_dry_run_names_the_backup_that_would_be_made(tmp_path: Path) -> None:
    file = put(tmp_path, FILES["cursor"], '{"mcpServers": {}}')

    shown = client(tmp_path, "add", "cursor", "--dry-run")

    assert f"A backup would be in {file}.before-dcc-bridge." in shown.out
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [file]


def test_a_dry_run_says_what_would_keep_the_entry_out(tmp_path: Path) -> None:
    put(tmp_path, FILES["cursor"], '{"mcpServers": [')

    shown = client(tmp_path, "add", "cursor", "--dry-run")

    assert shown.code == client(tmp_path, "add", "cursor").code == 2
    assert "is not valid JSON" in shown.err


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
    if sys.platform != "win32":
        assert [one.stat().st_mode & 0o777 for one in (file, copy)] == [0o600, 0o600]


@pytest.mark.parametrize(
    ("before", "servers", "after"),
    [
        ('{"cost": 1e400, "scale": 1.0}', ', "mcpServers": {ENTRY}', ""),
        (
            '{\n  // mine\n  "mcpServers": {\n    "git": {"a": 1}, // its\n',
            "    ENTRY,\n",
            "  },\n}\n",
        ),
        ("{" + '"a": [' + "[" * 3000 + "]" * 3001 + "}", ', "mcpServers": {ENTRY}', ""),
        ('\ufeff{\r\n\t"mcpServers": {\r\n\t\t"git": {}', ",\r\n\t\tENTRY", "\r\n\t}\r\n}"),
    ],
    ids=["numbers", "comments", "3000 levels", "mark and tabs"],
)
def test_nothing_changes_in_a_file_but_the_entry(
    before: str, servers: str, after: str, tmp_path: Path
) -> None:
    """Its numbers, comments, trailing commas, line ends and indentation stay as they were."""
    inside = "" if after else before[-1]
    text = before + after
    (tmp_path / ".cursor").mkdir()
    (file := tmp_path / ".cursor" / "mcp.json").write_bytes(text.encode())

    done = client(tmp_path, "add", "cursor")

    written = file.read_bytes().decode()
    entry = re.search(r'"dcc-bridge": \{.*?"env": \{.*?\}\s*\}', written, re.DOTALL)
    assert done.code == 0
    assert entry is not None
    head = before.removesuffix(inside)
    assert written == head + servers.replace("ENTRY", entry[0]) + inside + after
    assert json.loads("{" + entry[0] + "}")["dcc-bridge"]["args"][-1] == "cursor"
    assert client(tmp_path, "remove", "cursor").code == 0
    assert file.read_bytes().decode() == text


@links
def test_a_dangling_link_is_neither_followed_nor_deleted(tmp_path: Path) -> None:
    """The file that it led to may be on a disk that is not there just now."""
    (tmp_path / ".cursor").mkdir()
    (file := tmp_path / ".cursor" / "mcp.json").symlink_to(tmp_path / "gone.json")

    added, removed = client(tmp_path, "add", "cursor"), client(tmp_path, "remove", "cursor")

    why = f"it is a link to {tmp_path / 'gone.json'}, which is not there. Correct {file}"
    assert [(done.code, why in done.err) for done in (added, removed)] == [(2, True)] * 2
    assert file.is_symlink()
    assert not (tmp_path / "gone.json").exists()
    assert "Cursor, cannot be read: it is a link to" in client(tmp_path, "list").out


@links
def test_a_link_stays_also_where_the_backup_of_its_file_is_gone(tmp_path: Path) -> None:
    (real := tmp_path / "dotfiles.json").write_text("{}")
    (file := tmp_path / ".claude.json").symlink_to(real)
    client(tmp_path, "add", "claude-code")
    (tmp_path / "dotfiles.json.before-dcc-bridge").unlink()

    client(tmp_path, "remove", "claude-code")

    assert file.is_symlink()
    assert "dcc-bridge" not in real.read_text()


def test_what_a_person_has_added_to_the_entry_stays_in_it(tmp_path: Path) -> None:
    client(tmp_path, "add", "vscode")
    file = tmp_path / FILES["vscode"]
    told = json.loads(file.read_text())
    entry = told["servers"]["dcc-bridge"]
    whole = entry | {"env": {"MINE": "1", **entry["env"]}, "dev": {"watch": "*"}}
    told["servers"]["dcc-bridge"] = whole | {"command": "/old/dcc-bridge"}
    file.write_text(json.dumps(told))

    done, again = client(tmp_path, "add", "vscode"), client(tmp_path, "add", "vscode")

    assert "VS Code is set up" in done.out
    assert "VS Code was set up" in again.out
    assert json.loads(file.read_text())["servers"]["dcc-bridge"] == whole


def test_a_link_that_nothing_opens_says_that_alone(tmp_path: Path) -> None:
    with patch("webbrowser.open", return_value=False):
        done = client(tmp_path, "link", "vscode", "--open")

    assert done.code == 1
    assert done.err.strip() == "dcc-bridge: Nothing on this computer opens a link of vscode."


def test_an_entry_that_was_pasted_beside_comments_is_seen_and_taken_out(tmp_path: Path) -> None:
    file = put(tmp_path, ".cursor/mcp.json", "// mine\n" + client(tmp_path, "print", "cursor").out)

    added = client(tmp_path, "add", "cursor")
    listed = client(tmp_path, "list")
    removed = client(tmp_path, "remove", "cursor")

    assert added.out.startswith("Cursor was set up in")
    assert "Cursor, set up\n" in listed.out
    assert removed.code == 0
    assert file.read_text() == '// mine\n{\n  "mcpServers": {}\n}\n'


def test_of_an_entry_that_is_corrected_only_what_is_wrong_changes(tmp_path: Path) -> None:
    client(tmp_path, "add", "cursor")
    file = tmp_path / FILES["cursor"]
    right = file.read_text().replace('"env": {', '"cost": 1e400, // mine\n      "env": {')
    file.write_text(right.replace('"command": "', '"command": "/old'))

    done = client(tmp_path, "add", "cursor")

    assert done.out.startswith("Cursor is set up in")
    assert file.read_text() == right


def test_taken_back_nothing_is_left_of_it_and_all_else_is(tmp_path: Path) -> None:
    file = put(tmp_path, ".cursor/mcp.json", '{"mcpServers": {"git": {"command": "git-mcp"}}}')
    client(tmp_path, "add", "cursor")
    file.write_text(file.read_text().replace("git-mcp", "git-mcp-2"))

    done = client(tmp_path, "remove", "cursor")

    assert done.out.startswith("Cursor is no longer set up in")
    assert json.loads(file.read_text()) == {"mcpServers": {"git": {"command": "git-mcp-2"}}}
    assert client(tmp_path, "remove", "cursor").out.startswith("Cursor was not set up")


def test_the_copy_is_of_what_was_there_before_us_however_often_it_is_set_up(tmp_path: Path) -> None:
    """The file is another one each time, for the entry is."""
    (file := tmp_path / ".claude.json").write_text("{}\n")
    client(tmp_path, "add", "claude-code")
    file.write_text(file.read_text().replace("connect", "join"))

    again = client(tmp_path, "add", "claude-code")

    assert "is set up in" in again.out
    assert "backup" not in again.out
    assert (tmp_path / ".claude.json.before-dcc-bridge").read_text() == "{}\n"


@pytest.mark.parametrize(
    "text",
    [
        '{"numStartups": 7}',
        "\ufeff{\n}\n",
        '{"mcpServers": {}}',
        '{"a": 1,\t"mcpServers": {"git": {"command": "//é"}}}\r\n',
    ],
)
def test_taken_back_the_file_is_what_it_was_to_the_byte_and_the_copy_goes(
    text: str, tmp_path: Path
) -> None:
    (file := tmp_path / ".claude.json").write_bytes(text.encode())
    client(tmp_path, "add", "claude-code")

    done = client(tmp_path, "remove", "claude-code")

    assert file.read_bytes().decode() == text
    assert not (tmp_path / ".claude.json.before-dcc-bridge").exists()
    assert "before" not in done.out


def test_taken_back_no_entry_of_ours_is_left_also_where_the_copy_holds_an_older_one(
    tmp_path: Path,
) -> None:
    old = {"git": {"command": "git-mcp"}, "dcc-bridge": {"command": "/old/gone/dcc-bridge"}}
    (file := tmp_path / ".claude.json").write_text(json.dumps({"mcpServers": old}))
    client(tmp_path, "add", "claude-code")

    done = client(tmp_path, "remove", "claude-code")

    assert done.out.startswith("Claude Code is no longer set up in")
    assert json.loads(file.read_text()) == {"mcpServers": {"git": {"command": "git-mcp"}}}


def test_the_copy_stays_where_the_file_was_changed_in_between(tmp_path: Path) -> None:
    (file := tmp_path / ".claude.json").write_text('{"a": 1}')
    client(tmp_path, "add", "claude-code")
    file.write_text(file.read_text().replace('"a": 1', '"a": 2'))

    done = client(tmp_path, "remove", "claude-code")

    copy = tmp_path / ".claude.json.before-dcc-bridge"
    assert json.loads(file.read_text())["a"] == 2
    assert copy.read_text() == '{"a": 1}'
    assert f"A backup is in {copy}." in done.out


@links
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (real := tmp_path / "dotfiles.json").write_text("{}")
    (tmp_path / ".claude.json").symlink_to(real)

    client(tmp_path, "add", "claude-code")

    assert (tmp_path / ".claude.json").is_symlink()
    assert "dcc-bridge" in real.read_text()


def test_a_file_that_is_not_ours_to_write_is_named_to_who_wants_our_entry_out_of_it(
    tmp_path: Path,
) -> None:
    done = client(tmp_path, "remove", "codex")

    file = tmp_path / ".codex" / "config.toml"
    assert (done.code, done.out) == (2, "")
    assert f"emove the entry 'dcc-bridge' from {file} yourself." in done.err


def test_a_slip_does_not_look_like_success(tmp_path: Path) -> None:
    slips = [
        client(tmp_path, "print", "cursro"),
        client(tmp_path, "add", "cursor", "--project", tmp_path / "flim"),
        client(tmp_path, "add", "cursro"),
        client(tmp_path, "remove", "cursro"),
    ]

    assert [(done.code, done.out) for done in slips] == [(2, "")] * 4
    assert all("Did you mean cursor?" in slips[it].err for it in (0, 2, 3))
    assert f"there is no folder {tmp_path / 'flim'}" in slips[1].err
    assert list(tmp_path.iterdir()) == []


def test_a_project_has_an_entry_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "film").mkdir()
    client(tmp_path, "add", "vscode", "--project", tmp_path / "film")

    told = json.loads((tmp_path / "film" / ".vscode" / "mcp.json").read_text())
    assert told["servers"]["dcc-bridge"]["type"] == "stdio"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 1\n"b": 2}', "it is not valid JSON from line 2 on"),
        ('// {\n/*\n*/{"a": }', "it is not valid JSON from line 3 on"),
        ('{"mcpServers": []}', "mcpServers is not an object in it"),
        ('{"mcpServers": {}, "mcpServers": {}}', "mcpServers is in it twice"),
        ('{"a": Infinity}', "it is not valid JSON from line 1 on"),
        ("{'a': 1}", "it is not valid JSON from line 1 on"),
        ('{"a": ' + "[" * 3000, "it is not valid JSON from line 1 on"),
        ('{"a": 1,' + "/* b */" * 30 + "c}", "it is not valid JSON from line 1 on"),
        ("[]", "it does not hold a JSON object"),
    ],
)
def test_what_cannot_be_edited_safely_is_left_alone_and_listed_with_its_fault(
    text: str, why: str, tmp_path: Path
) -> None:
    (file := tmp_path / ".claude.json").write_text(text)

    done = client(tmp_path, "add", "claude-code")

    assert done.code == 2
    assert f"was not changed: {why}. Correct {file}, then try again." in done.err
    listed = "not set up" if "not an object" in why else f"cannot be read: {why}"
    assert f"Claude Code, {listed}\n" in client(tmp_path, "list").out
    assert (file.read_text(), [one.name for one in tmp_path.iterdir()]) == (text, [file.name])


@given(
    st.dictionaries(st.text(max_size=5), st.text(max_size=5) | st.integers(), max_size=4),
    st.sampled_from([None, 2, "\t"]),
)
def test_any_json_keeps_all_that_is_not_ours(others: dict[str, Any], indent: Any) -> None:
    text = json.dumps({**others, "mcpServers": {"x": others}}, indent=indent)
    with tempfile.TemporaryDirectory() as folder:
        (file := Path(folder, ".claude.json")).write_text(text)

        with patch.dict(os.environ, {"CLAUDE_CONFIG_DIR": folder, "PATH": ""}):
            registration.add(CONFIG_FILES["claude-code"], "claude-code")
            data = json.loads(file.read_text(encoding="utf-8"))
            registration.remove(CONFIG_FILES["claude-code"])

        assert data["mcpServers"].pop("dcc-bridge")["command"]
        assert (data, file.read_text()) == (json.loads(text), text)


def test_a_disk_that_is_full_leaves_no_half_backup_and_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (file := tmp_path / ".mcp.json").write_text("{}")

    def fill_the_disk(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(os, "fsync", fill_the_disk)
        done = client(tmp_path, "add", "claude-code", "--project", tmp_path)

    assert "No space left on device" in done.err
    assert ([one.name for one in tmp_path.iterdir()], file.read_text()) == ([".mcp.json"], "{}")


def stand_in(home: Path, program: str, *lines: str) -> Path:
    """Put a client's own command on PATH, in Python; give the file with the words it was given."""
    (folder := home / "bin").mkdir(exist_ok=True)
    calls = home / "calls.jsonl"
    begin = ["import json, sys", f"open({str(calls)!r}, 'a').write(json.dumps(sys.argv[1:])+'\\n')"]
    (script := folder / program).write_text("\n".join([f"#!{sys.executable}", *begin, *lines]))
    script.chmod(0o755)
    return calls


OWN_COMMANDS = {
    "claude-code": ("claude", ["mcp", "add-json", "--scope", "user", "dcc-bridge"]),
    "vscode": ("code", ["--add-mcp"]),
    "gemini-cli": ("gemini", ["mcp", "add", "-s", "user", "-e=DCC_BRIDGE_RUNTIME=RUNTIME"]),
}


@scripts
@pytest.mark.parametrize("name", OWN_COMMANDS)
def test_a_client_is_set_up_by_its_own_command_where_that_is_on_path(
    name: str, tmp_path: Path
) -> None:
    """One that does nothing does no harm: the file is written then."""
    program, words = OWN_COMMANDS[name]
    calls = stand_in(tmp_path, program)

    done = client(tmp_path, "add", name)

    given_words = json.loads(calls.read_text().replace(str(tmp_path / "runtime"), "RUNTIME"))
    assert given_words[: len(words)] == words
    assert "--label" in " ".join(given_words)
    assert done.out.startswith(f"{known_clients.CLIENTS[name].name} is set up in")
    assert "dcc-bridge" in (tmp_path / FILES[name]).read_text()


@scripts
def test_what_a_client_has_written_itself_is_not_written_again(tmp_path: Path) -> None:
    """Its comments stay, and taken back the file is what it was."""
    file = put(tmp_path, ".config/Code/User/mcp.json", "{ // mine\n}\n")
    stand_in(
        tmp_path,
        "code",
        "entry = json.loads(sys.argv[2]); entry.pop('name')",
        f"open({str(file)!r}, 'w').write("
        "'{ // mine\\n\"servers\": {\"dcc-bridge\": ' + json.dumps(entry) + '}}')",
    )

    added, written = client(tmp_path, "add", "vscode"), file.read_text()
    removed = client(tmp_path, "remove", "vscode")

    assert (added.code, removed.code) == (0, 0)
    assert written.startswith("{ // mine\n")
    assert file.read_text() == "{ // mine\n}\n"


@scripts
def test_a_client_is_taken_back_by_its_own_command_where_that_is_on_path(tmp_path: Path) -> None:
    client(tmp_path, "add", "claude-code")
    calls = stand_in(tmp_path, "claude")

    client(tmp_path, "remove", "claude-code")

    assert json.loads(calls.read_text()) == ["mcp", "remove", "--scope", "user", "dcc-bridge"]
    assert not (tmp_path / ".claude.json").exists()


CODEX = """\
import os, pathlib, tomllib
file = pathlib.Path(os.environ["HOME"], ".codex", "config.toml")
words = sys.argv[3:]
if sys.argv[2] == "add":
    text = 'model = "gpt-5" # mine\\n[mcp_servers.dcc-bridge]\\n'
    at = words.index("--")
    env = dict(word.removeprefix("--env=").split("=", 1) for word in words[1:at])
    text += f"command = {json.dumps(words[at + 1])}\\nargs = {json.dumps(words[at + 2:])}\\n"
    text += "[mcp_servers.dcc-bridge.env]\\n"
    file.write_text(text + "".join(f"{name} = {json.dumps(env[name])}\\n" for name in env))
else:
    file.write_text('model = "gpt-5" # mine\\n')
"""
"""What its command does to its file, as far as it concerns us."""


@scripts
def test_codex_is_set_up_by_its_own_command_with_time_for_a_person_to_decide(
    tmp_path: Path,
) -> None:
    file = put(tmp_path, ".codex/config.toml", 'model = "gpt-5" # mine\n')
    stand_in(tmp_path, "codex", CODEX)

    added = client(tmp_path, "add", "codex")
    entry = tomllib.loads(file.read_text())["mcp_servers"]["dcc-bridge"]
    again = client(tmp_path, "add", "codex")
    removed = client(tmp_path, "remove", "codex")

    printed = tomllib.loads(client(tmp_path, "print", "codex").out)["mcp_servers"]["dcc-bridge"]
    assert (added.code, entry) == (0, printed)
    assert entry["tool_timeout_sec"] == 600
    assert again.out.startswith("Codex was set up in")
    assert removed.out.startswith("Codex is no longer set up in")
    assert file.read_text() == 'model = "gpt-5" # mine\n'


def test_a_mark_at_the_beginning_of_a_toml_file_hides_no_entry(tmp_path: Path) -> None:
    entry = '[mcp_servers.dcc-bridge]\ncommand = "dcc-bridge"\n'
    (file := tmp_path / ".codex" / "config.toml").parent.mkdir()
    file.write_text("\ufeff" + entry, encoding="utf-8")

    assert "Codex, set up\n" in client(tmp_path, "list").out


@scripts
@pytest.mark.parametrize("removes", [False, True])
def test_where_the_command_of_codex_fails_the_entry_that_was_there_stays_as_it_is(
    removes: bool, tmp_path: Path
) -> None:
    entry = '[mcp_servers.dcc-bridge]\ncommand = "old"\nstartup_timeout_sec = 30\n'
    file = put(tmp_path, ".codex/config.toml", entry + "tool_timeout_sec = 600\n")
    empty = f"open({str(file)!r}, 'w').close()" if removes else ""
    stand_in(tmp_path, "codex", f"if sys.argv[2] == 'add': sys.exit(1)\n{empty}")

    done = client(tmp_path, "add", "codex")

    assert (done.code, "was not changed" in done.err) == (2, True)
    assert file.read_text() == entry + "tool_timeout_sec = 600\n"


@scripts
def test_where_the_command_of_codex_did_nothing_its_entry_is_printed(tmp_path: Path) -> None:
    (tmp_path / ".codex").mkdir()
    stand_in(tmp_path, "codex")

    done = client(tmp_path, "add", "codex")

    assert (done.code, done.out) == (2, client(tmp_path, "print", "codex").out)
    assert "only its own command writes that file" in done.err
    assert not (tmp_path / ".codex" / "config.toml").exists()


def test_a_link_holds_the_entry_that_the_client_would_have_in_its_file(tmp_path: Path) -> None:
    """Each is read as its client's documentation says."""
    wanted = [
        next(iter(json.loads(client(tmp_path, "print", name).out).values()))["dcc-bridge"]
        for name in ("vscode", "cursor", "lm-studio")
    ]

    vscode = client(tmp_path, "link", "vscode").out.strip()
    like_cursor = {
        "cursor": "cursor://anysphere.cursor-deeplink/mcp/install",
        "lm-studio": "lmstudio://add_mcp",
    }

    handler, _, server = vscode.partition("?")
    assert handler == "vscode:mcp/install"
    assert json.loads(unquote(server)) == {"name": "dcc-bridge", **wanted[0]}
    for (name, place), entry in zip(like_cursor.items(), wanted[1:], strict=True):
        parts = urlsplit(client(tmp_path, "link", name).out.strip())
        query = {name: values for name, (*values,) in parse_qs(parts.query).items()}
        assert f"{parts.scheme}://{parts.netloc}{parts.path}" == place
        assert query["name"] == ["dcc-bridge"]
        assert json.loads(base64.b64decode(query["config"][0], validate=True)) == entry


PACKAGE = "AppData/Local/Packages/Claude_pzs8sxrjxfjjc"
"""The folder of Claude Desktop's package, in which Windows keeps what the package writes."""


@pytest.mark.parametrize("is_plain_there", [False, True])
def test_claude_desktop_is_set_up_where_its_package_reads_and_where_the_plain_one_does(
    is_plain_there: bool, tmp_path: Path
) -> None:
    """Of the two on one computer neither can read the other's file."""
    (tmp_path / PACKAGE).mkdir(parents=True)
    plain = tmp_path / FILES["claude-desktop"]
    packaged = tmp_path / PACKAGE / "LocalCache/Roaming/Claude/claude_desktop_config.json"
    if is_plain_there:
        plain.parent.mkdir(parents=True)

    added = client(tmp_path, "add", "claude-desktop")

    written = [file for file in (plain, packaged) if file.exists()]
    assert added.code == 0
    assert written == [file for file in (plain, packaged) if is_plain_there or file == packaged]
    assert all(f"Claude Desktop is set up in {file}." in added.out for file in written)
    assert "Claude Desktop, set up\n" in client(tmp_path, "list").out
    for file in written:
        assert json.loads(file.read_text())["mcpServers"]["dcc-bridge"]["args"]
    if is_plain_there:
        plain.unlink()
        assert "Claude Desktop, not set up\n" in client(tmp_path, "list").out
    assert client(tmp_path, "remove", "claude-desktop").code == 0
    assert not packaged.exists()


@pytest.mark.parametrize(
    ("name", "traces"),
    [
        ("windsurf", {".codeium": False, ".codeium/windsurf": True}),
        ("vscode-insiders", {f"{DATA}/Code": False, f"{DATA}/Code - Insiders/User": True}),
        ("lm-studio", {".cache": False, ".cache/lm-studio": True}),
        ("gemini-cli", {".gemini": True}),
    ],
)
def test_a_client_is_there_where_its_own_folder_is(
    name: str, traces: dict[str, bool], tmp_path: Path
) -> None:
    """Other programs of the same makers use the folder above."""
    for folder, is_there in traces.items():
        (tmp_path / folder).mkdir(parents=True)
        listed = json.loads(client(tmp_path, "list", "--json").out)
        assert [it["is_there"] for it in listed if it["label"] == name] == [is_there]


def test_an_older_lm_studio_keeps_its_file_in_the_cache(tmp_path: Path) -> None:
    (tmp_path / ".cache/lm-studio").mkdir(parents=True)

    client(tmp_path, "add", "lm-studio")

    assert (tmp_path / ".cache/lm-studio/mcp.json").is_file()
    assert not (tmp_path / ".lmstudio").exists()


@pytest.mark.parametrize("name", ["vscode", "vscode-insiders", "vscodium"])
def test_a_file_of_vs_code_or_of_its_forks_gets_one_insertion_beside_its_comments(
    name: str, tmp_path: Path
) -> None:
    text = (
        '// Servers of the studio\n{\n\t"inputs": [], /* none */\n'
        '\t"servers": {\n\t\t// "old": {},\n\t\t"git": {"command": "git-mcp",},\n\t},\n}\n'
    )
    file = put(tmp_path, FILES[name], text)

    done = client(tmp_path, "add", name)

    written = file.read_text()
    length = len(written) - len(text)
    insertions = [
        written[start : start + length]
        for start in range(len(text))
        if written[:start] + written[start + length :] == text
    ]
    assert done.code == 0
    assert '"dcc-bridge"' in insertions[0]
    assert client(tmp_path, "remove", name).code == 0
    assert file.read_text() == text


def test_a_client_without_links_is_told_which_have_some(tmp_path: Path) -> None:
    done = client(tmp_path, "link", "claude-code")

    assert (done.code, done.out) == (2, "")
    assert all(name in done.err for name in ("vscode", "cursor"))


@scripts
def test_the_list_of_clients_says_which_are_on_this_computer_and_which_are_set_up(
    tmp_path: Path,
) -> None:
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".config" / "Claude").mkdir(parents=True)
    stand_in(tmp_path, "gemini")
    client(tmp_path, "add", "cursor")

    listed = json.loads(client(tmp_path, "list", "--json").out)

    assert [facts["label"] for facts in listed] == [*CONFIG_FILES]
    there = {facts["label"] for facts in listed if facts["is_there"]}
    assert there == {"codex", "claude-desktop", "gemini-cli", "cursor"}
    assert [facts["label"] for facts in listed if facts["is_set_up"]] == ["cursor"]
    assert [facts["label"] for facts in listed if not facts["is_writable"]] == ["codex", "goose"]


@links
def test_an_entry_that_a_host_makes_says_where_its_python_finds_the_bridge(tmp_path: Path) -> None:
    """As the plug-in's folder for what it brings along; no command stands beside that Python."""
    folder = str(Path(registration.__file__).parents[2])
    kept = {"HOME": str(tmp_path), "PATH": "", "PYTHONPATH": os.pathsep.join(["/x", folder])}
    (python := tmp_path / "python3").symlink_to(sys.executable)

    with patch.dict(os.environ, kept), patch.object(sys, "executable", str(python)):
        registration.add(CONFIG_FILES["cursor"], "cursor")

    entry = json.loads((tmp_path / ".cursor/mcp.json").read_text())["mcpServers"]["dcc-bridge"]
    assert entry["command"] == str(python)
    assert entry["args"][:3] == ["-P", "-m", "dcc_bridge"]
    assert entry["env"]["PYTHONPATH"] == folder


@pytest.mark.parametrize("name", [*CONFIG_FILES, "zed"])
def test_the_entry_can_be_printed_for_any_client(name: str, tmp_path: Path) -> None:
    out = client(tmp_path, "print", name).out

    assert f'"connect", "--label", "{name}"' in " ".join(out.split()).replace("[ ", "[")


def test_a_client_that_cannot_be_written_is_told_how_to_be_set_up(tmp_path: Path) -> None:
    assert "dcc-bridge client print goose" in client(tmp_path, "add", "goose").err


def test_the_list_says_which_are_set_up_and_where_questions_are_shown(tmp_path: Path) -> None:
    client(tmp_path, "add", "cursor")

    out = client(tmp_path, "list").out

    assert "Cursor, set up\n" in out
    assert "Claude Code, not set up\n" in out
    assert len(re.findall(r"as of 202\d-\d\d-\d\d", out)) == len(CONFIG_FILES)


def test_the_list_says_of_each_client_whether_it_can_have_tasks(tmp_path: Path) -> None:
    out = client(tmp_path, "list").out

    assert out.count("Its long calls can go on as tasks, since 2.1.304") == 1
    assert out.count("Its calls cannot go on as tasks: ") == len(CONFIG_FILES) - 1


@pytest.mark.parametrize("text", ['{"env": {"MCP_PROTOCOL_NEGOTIATION": "auto"}}', "[]", "{"])
def test_settings_of_claude_code_that_say_nothing_against_tasks_let_it_have_them(
    text: str, tmp_path: Path
) -> None:
    put(tmp_path, ".claude/settings.json", text)

    assert "Its long calls can go on as tasks" in client(tmp_path, "add", "claude-code").out


def test_a_setting_of_claude_code_that_keeps_tasks_away_is_named(tmp_path: Path) -> None:
    """Its own setting counts, and none in the entry of a server, which has none therefore."""
    settings = '{"env": {"MCP_PROTOCOL_NEGOTIATION": "legacy"}}'
    file = put(tmp_path, ".claude/settings.json", settings)

    added = client(tmp_path, "add", "claude-code")

    why = f"because MCP_PROTOCOL_NEGOTIATION is legacy in {file}."
    assert f"Its calls cannot go on as tasks, {why}" in added.out
    assert known_clients.NEGOTIATION not in (tmp_path / FILES["claude-code"]).read_text()
    assert file.read_text() == settings


def test_clients_that_show_nothing_have_their_questions_asked_in_the_host() -> None:
    assert set(known_clients.CLIENTS) == set(CONFIG_FILES)
    assert known_clients.SILENT == ("claude-desktop", "codex")
