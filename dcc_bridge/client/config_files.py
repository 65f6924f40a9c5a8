"""Where each MCP client keeps its configuration, and how an entry in it is written. Any thread.

Read in their own documentation in November 2026:

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
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

NAME: Final = "dcc-bridge"  # the name of our entry
_RUNTIME: Final = "DCC_BRIDGE_RUNTIME"

Folder = Literal["home", "data", "claude", "codex", "goose"]


@dataclass(frozen=True, slots=True)
class ClientEntry:
    """The command with which a client starts us. There is no token in it."""

    command: str  # a program, by its whole path: a client's search path is not the shell's
    args: tuple[str, ...]
    # Environment variables that it needs; clients pass hardly any of theirs on.
    env: dict[str, str] = field(default_factory=dict)

    @classmethod
    def for_client(cls, label: str) -> ClientEntry:
        """Make the entry of a client, which hosts will know by that label."""
        env = {_RUNTIME: os.environ[_RUNTIME]} if os.environ.get(_RUNTIME) else {}
        program, *words = _own_command()
        return cls(program, (*words, "connect", "--label", label), env)

    def as_object(self, kind: Literal["plain", "typed", "extension"]) -> dict[str, Any]:
        """Give the entry as the object that a client expects."""
        if kind == "extension":
            start = {"name": NAME, "type": "stdio", "cmd": self.command, "args": [*self.args]}
            return {**start, "envs": self.env, "enabled": True, "timeout": 600}
        env = {"env": self.env} if self.env else {}
        server = {"command": self.command, "args": list(self.args), **env}
        return {"type": "stdio", **server} if kind == "typed" else server


def _own_command() -> list[str]:
    script = Path(sys.executable).with_name(f"{NAME}.exe" if os.name == "nt" else NAME)
    if script.is_file():
        return [str(script)]
    # -P: the client's folder, which may hold a module of our name, must not be searched.
    return [sys.executable, "-P", "-m", "dcc_bridge"]


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """The configuration file of a client."""

    folder: Folder  # the folder of the user's file, as a name that `_folder` resolves
    name: str  # the user's file below that folder
    project: str | None = None  # the file in a project's folder, or None where the client has none
    key: str = "mcpServers"  # the member that lists the servers
    kind: Literal["plain", "typed", "extension"] = "plain"  # how an entry looks in it
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
    home = Path.home()
    if name == "claude":
        return Path(os.environ.get("CLAUDE_CONFIG_DIR") or home)
    if name == "codex":
        return Path(os.environ.get("CODEX_HOME") or home / ".codex")
    if name == "goose" and sys.platform != "win32":
        return home / ".config" / "goose"
    if name == "goose":
        return _application_data() / "Block" / "goose" / "config"
    return _application_data() if name == "data" else home


def _application_data() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")


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
