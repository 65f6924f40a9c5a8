"""Where each MCP client keeps its configuration; our entry added there, found, removed. Any thread.

The client's own command does it where it is on PATH. Else the file is read and written with `json`:
as a whole or not at all, after a backup was made. Comments would be lost that way, so a file that
has some is left as it is, and its owner is shown the entry to paste.

The backup is made once, before the first change; no later one overwrites it, for that would hold
our own entry. Once the file holds again what the backup holds, the backup takes its place.

The places were read in the clients' own documentation in November 2026:

==============  ================================================================================
Claude Code     code.claude.com/docs/en/mcp: ``~/.claude.json`` for its user,
                ``.mcp.json`` in a project; ``CLAUDE_CONFIG_DIR`` moves the former;
                ``claude mcp add-json --scope user NAME JSON``, ``claude mcp remove``
Claude Desktop  modelcontextprotocol.io/docs/develop/connect-local-servers:
                ``claude_desktop_config.json`` among the application's data
Cursor          cursor.com/docs/context/mcp: ``~/.cursor/mcp.json``, ``.cursor/mcp.json``
VS Code         code.visualstudio.com/docs/copilot/reference/mcp-configuration: ``mcp.json`` in
                the user's profile, ``.vscode/mcp.json``; "servers", and a "type";
                ``code --add-mcp JSON``, where the JSON has the "name" too
Gemini CLI      github.com/google-gemini/gemini-cli, docs/tools/mcp-server.md:
                ``~/.gemini/settings.json``, ``.gemini/settings.json``;
                ``gemini mcp add -s user``, where arguments of the server follow a ``--``
Codex           developers.openai.com/codex/mcp: ``~/.codex/config.toml``, ``mcp_servers``
goose           block.github.io/goose/docs/guides/config-files: ``config.yaml``, "extensions"
==============  ================================================================================
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

NAME: Final = "dcc-bridge"  # the name of our entry
_RUNTIME: Final = "DCC_BRIDGE_RUNTIME"
BACKUP: Final = ".before-dcc-bridge"  # the suffix of a backup
_COMMENT_OR_COMMA: Final = re.compile(
    r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/|,(?=(?:\s|//[^\n]*|/\*.*?\*/)*[}\]])', re.DOTALL
)
_TIMEOUT: Final = 60  # seconds for a client's own command: some start a whole runtime
Folder = Literal["home", "data", "claude", "codex", "goose"]
Kind = Literal["plain", "typed", "extension"]


@dataclass(frozen=True, slots=True)
class ClientEntry:
    """The command with which a client starts us. There is no token in it."""

    command: str  # a program, by its whole path: a client's search path is not the shell's
    args: tuple[str, ...]
    # Environment variables that it needs; clients pass hardly any of theirs on.
    env: dict[str, str]

    @classmethod
    def for_client(cls, label: str) -> ClientEntry:
        """Make the entry of a client, which hosts will know by that label."""
        env = {_RUNTIME: os.environ[_RUNTIME]} if os.environ.get(_RUNTIME) else {}
        script = Path(sys.executable).with_name(f"{NAME}.exe" if os.name == "nt" else NAME)
        arguments = ("connect", "--label", label)
        if script.is_file():
            return cls(str(script), arguments, env)
        # -P: the client's folder, which may hold a module of our name, must not be searched.
        return cls(sys.executable, ("-P", "-m", "dcc_bridge", *arguments), env)

    def as_object(self, kind: Kind) -> dict[str, Any]:
        """Give the entry as the object that a client expects."""
        if kind == "extension":
            start = {"name": NAME, "type": "stdio", "cmd": self.command, "args": [*self.args]}
            return {**start, "envs": self.env, "enabled": True, "timeout": 600}
        env = {"env": self.env} if self.env else {}
        server = {"command": self.command, "args": list(self.args), **env}
        return {"type": "stdio", **server} if kind == "typed" else server


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """The configuration file of a client."""

    folder: Folder  # the folder of the user's file, as a name that `_folder` resolves
    name: str  # the user's file below that folder
    project: str | None = None  # the file in a project's folder, or None where the client has none
    key: str = "mcpServers"  # the member that lists the servers
    kind: Kind = "plain"  # how an entry looks in it
    # The language of the file. Only JSON is written; the others are printed.
    syntax: Literal["json", "yaml", "toml"] = "json"
    program: str | None = None  # the client's own command, which may be on PATH

    @property
    def is_writable(self) -> bool:
        """Whether an entry is written into it; else a person pastes it."""
        return self.syntax == "json"

    def path(self, project: Path | None = None) -> Path:
        """Give the path of the file; ValueError where the client has none for projects."""
        if project is None:
            return _folder(self.folder) / self.name
        if self.project is None:
            raise ValueError("it has no configuration for a single project")
        return project.absolute() / self.project

    def text(self, entry: ClientEntry) -> str:
        """Give an entry as a person pastes it."""
        server = entry.as_object(self.kind)
        if self.syntax == "toml":
            return _toml(self.key, server)
        if self.syntax == "yaml":  # of which JSON is a part
            return f"{self.key}:\n  {NAME}: {json.dumps(server)}"
        return json.dumps({self.key: {NAME: server}}, indent=2)

    def add_command(self, entry: ClientEntry) -> list[str]:
        """Give the arguments with which the client's own command adds an entry for its user."""
        server = entry.as_object(self.kind)
        if self.program == "claude":
            return ["mcp", "add-json", "--scope", "user", NAME, json.dumps(server)]
        if self.program == "code":
            return ["--add-mcp", json.dumps({"name": NAME, **server})]
        env = [f"-e={name}={value}" for name, value in entry.env.items()]
        return ["mcp", "add", "-s", "user", *env, NAME, entry.command, "--", *entry.args]

    def remove_command(self) -> list[str]:
        """Give the arguments with which the client's own command removes our entry.

        There are none for VS Code's: it only adds, and replaces an entry of that name.
        """
        return [] if self.program == "code" else ["mcp", "remove", "--scope", "user", NAME]


def _toml(key: str, server: dict[str, Any]) -> str:
    """Give an entry in TOML, whose strings, lists and inline tables hold what JSON's do."""
    lines = [f"[{key}.{NAME}]"]
    lines += [f"{name} = {json.dumps(server[name])}" for name in ("command", "args")]
    if "env" in server:
        pairs = (f"{name} = {json.dumps(value)}" for name, value in server["env"].items())
        lines.append(f"env = {{ {', '.join(pairs)} }}")
    # Codex' limits of 10 s for a start and 60 s for a call are too short for a person who decides.
    return "\n".join([*lines, "startup_timeout_sec = 30", "tool_timeout_sec = 600"])


def _folder(name: Folder) -> Path:
    home, goose = Path.home(), Path.home() / ".config" / "goose"
    if sys.platform == "win32":
        data = Path(os.environ.get("APPDATA") or home / "AppData" / "Roaming")
        goose = data / "Block" / "goose" / "config"
    elif sys.platform == "darwin":
        data = home / "Library" / "Application Support"
    else:
        data = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    claude = Path(os.environ.get("CLAUDE_CONFIG_DIR") or home)
    codex = Path(os.environ.get("CODEX_HOME") or home / ".codex")
    return {"home": home, "data": data, "claude": claude, "codex": codex, "goose": goose}[name]


CONFIG_FILES: Final[dict[str, ConfigFile]] = {  # by the label under which they are set up
    "claude-code": ConfigFile(
        "claude", ".claude.json", ".mcp.json", kind="typed", program="claude"
    ),
    "claude-desktop": ConfigFile("data", "Claude/claude_desktop_config.json"),
    "cursor": ConfigFile("home", ".cursor/mcp.json", ".cursor/mcp.json"),
    "vscode": ConfigFile(
        "data", "Code/User/mcp.json", ".vscode/mcp.json", "servers", "typed", program="code"
    ),
    "gemini-cli": ConfigFile(
        "home", ".gemini/settings.json", ".gemini/settings.json", program="gemini"
    ),
    "codex": ConfigFile("codex", "config.toml", ".codex/config.toml", "mcp_servers", syntax="toml"),
    "goose": ConfigFile("goose", "config.yaml", None, "extensions", "extension", "yaml"),
}
OTHER: Final = ConfigFile("home", "", syntax="json")  # the form that most clients understand


# ---- our entry in a file


class HasComments(ValueError):
    """A file has comments or trailing commas, which `json` would lose: a person has to edit it."""


@dataclass(frozen=True, slots=True)
class Change:
    """What was done to a file."""

    file: Path
    is_new: bool  # the file is another one now; else it was as wanted before
    # What the file held before us, if that was just saved or is still needed; or None.
    backup: Path | None = None


def add(config: ConfigFile, label: str, project: Path | None = None) -> Change:
    """Add our entry for the user or in a project, or correct the one that is there.

    HasComments says that a person has to edit the file, ValueError that it is no JSON or that there
    is none for projects.
    """
    file, entry = config.path(project), ClientEntry.for_client(label)
    wanted, present = entry.as_object(config.kind), find(config, project)
    if _is_same(present, wanted):
        return Change(file, is_new=False)
    backup = None
    if program := _program(config, project):
        backup = _back_up(file)
        if present is not None:  # clients refuse a name that they have
            _run_client(program, config.remove_command())
        _run_client(program, config.add_command(entry))
    if not _is_same(find(config, project), wanted):
        data = _load(config, file, "Add this entry to")
        backup = _back_up(file) or backup
        data.setdefault(config.key, {})[NAME] = wanted
        _write(file, data)
    return Change(file, is_new=True, backup=backup)


def remove(config: ConfigFile, project: Path | None = None) -> Change:
    """Remove our entry; where nothing else was changed since, the file is what it was before us.

    It raises what `add` does.
    """
    file = config.path(project)
    if _entry(_parse(_read(file)), config.key) is None:
        return Change(file, is_new=False)
    if program := _program(config, project):
        _run_client(program, config.remove_command())
    backup = backup_of(file)
    if _is_backup_and_entry(_read(backup), _read(file), config.key):
        _replace(file, backup.read_bytes(), mode_of=file)
        backup.unlink()
    elif find(config, project) is not None:
        data = _load(config, file, f"Remove {NAME!r} from")
        del data[config.key][NAME]
        if data == {config.key: {}} and not backup.exists():  # there was no file before us
            file.unlink()
        else:
            _write(file, data)
    return Change(file, is_new=True, backup=backup if backup.exists() else None)


def find(config: ConfigFile, project: Path | None = None) -> Mapping[str, Any] | None:
    """Give our entry in a file; None where it is not there, or the file cannot be read."""
    try:
        return _entry(_parse(_read(config.path(project))), config.key)
    except (OSError, ValueError):
        return None


def backup_of(file: Path) -> Path:
    """Say where the backup of a file is, or would be."""
    real = Path(os.path.realpath(file))
    return real.with_name(real.name + BACKUP)


def _entry(data: Mapping[str, Any], key: str) -> Mapping[str, Any] | None:
    servers = data.get(key)
    entry = servers.get(NAME) if isinstance(servers, Mapping) else None
    return entry if isinstance(entry, Mapping) else None


def _is_same(entry: Mapping[str, Any] | None, wanted: Mapping[str, Any]) -> bool:
    """Whether two entries start the same; a client's own command may leave out what is usual."""
    parts = ("command", "args", "env")
    return entry is not None and all(
        (entry.get(part) or None) == (wanted.get(part) or None) for part in parts
    )


def _is_backup_and_entry(backup: str, text: str, key: str) -> bool:
    """Whether a text holds what a backup does, our entry and the list for it aside."""
    if not backup or _comments(backup) != _comments(text):
        return False
    try:
        return _others(backup, key) == _others(text, key)
    except ValueError:  # the backup is none of ours
        return False


def _others(text: str, key: str) -> dict[str, Any]:
    """Give all that a text holds but our entry, and but the list of servers if it has no other."""
    data = _parse(text)
    servers = data.pop(key, None) or {}
    others = {name: server for name, server in servers.items() if name != NAME}
    return {**data, key: others} if others else data


def _program(config: ConfigFile, project: Path | None) -> str | None:
    """Find the client's own command, which writes its user's file only."""
    program = shutil.which(config.program) if config.program and project is None else None
    # A batch file would have its arguments read by cmd.exe, whose quoting JSON does not survive.
    return None if program and program.lower().endswith((".cmd", ".bat")) else program


def _run_client(program: str, words: list[str]) -> None:
    """Run a client's own command. Whether it has done its work is seen in the file."""
    if not words:
        return
    with suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(
            [program, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT,
            check=False,
        )


# ---- the file


def _load(config: ConfigFile, file: Path, do: str) -> dict[str, Any]:
    """Read a file that is to be written; HasComments where `json` alone cannot read it.

    It says what the person has to `do` to the file.
    """
    text = _read(file)
    data = _parse(text)
    if not isinstance(data.get(config.key, {}), dict):
        raise ValueError(f"{config.key} is not an object in it")
    try:
        json.loads(text if text.strip() else "{}")
    except ValueError:
        lost = "it has comments or trailing commas, which would be lost"
        raise HasComments(f"{lost}. {do} {file} yourself") from None
    return data


def _parse(text: str) -> dict[str, Any]:
    """Read JSON, also with comments and trailing commas; ValueError where it is no object."""
    plain = _COMMENT_OR_COMMA.sub(lambda match: match[1] or "\n" * match[0].count("\n"), text)
    try:
        data = json.loads(plain) if plain.strip() else {}
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not valid JSON from line {error.lineno} on") from None
    if not isinstance(data, dict):
        raise ValueError("it does not hold a JSON object")
    return data


def _comments(text: str) -> list[str]:
    return [match[0] for match in _COMMENT_OR_COMMA.finditer(text) if match[0].startswith("/")]


def _read(file: Path) -> str:
    """Read a file; "" where there is none. Some editors begin theirs with a byte order mark."""
    try:
        return file.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return ""


def _write(file: Path, data: Mapping[str, Any]) -> None:
    text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    _replace(file, text.encode("utf-8"), mode_of=file)


def _back_up(file: Path) -> Path | None:
    """Copy a file; None where there is none, or there is a backup."""
    backup = backup_of(file)
    if not file.exists() or os.path.lexists(backup):
        return None
    _replace(backup, file.read_bytes(), mode_of=file)
    return backup


def _replace(file: Path, content: bytes, *, mode_of: Path) -> None:
    """Write a file as a whole or not at all; a link leads to the same file as before.

    It gets the permissions of `mode_of`; where that is not there, its owner's alone.
    """
    file = Path(os.path.realpath(file))
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f".{file.name}.{secrets.token_hex(4)}.new")
    try:
        with open(new, "xb", opener=partial(os.open, mode=0o600)) as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        if mode_of.exists():
            shutil.copymode(mode_of, new)
        os.replace(new, file)
    finally:
        new.unlink(missing_ok=True)
