"""Where each MCP client keeps its configuration, and what our entry there looks like. Any thread.

The places were read in the clients' own documentation in November 2026:

==============  ================================================================================
Claude Code     code.claude.com/docs/en/mcp: ``~/.claude.json`` for its user,
                ``.mcp.json`` in a project; ``CLAUDE_CONFIG_DIR`` moves the former;
                ``claude mcp add-json --scope user NAME JSON``, ``claude mcp remove``
Claude Desktop  modelcontextprotocol.io/docs/develop/connect-local-servers:
                ``claude_desktop_config.json`` among the application's data
Cursor          cursor.com/docs/context/mcp: ``~/.cursor/mcp.json``, ``.cursor/mcp.json``;
                cursor.com/docs/mcp/install-links: a link with a "name", and a "config" in base64
VS Code         code.visualstudio.com/docs/copilot/reference/mcp-configuration: ``mcp.json`` in
                the user's profile, ``.vscode/mcp.json``; "servers", and a "type";
                ``code --add-mcp JSON``, where the JSON has the "name" too; the same in a link:
                code.visualstudio.com/docs/copilot/guides/mcp-developer-guide, "MCP URL handler"
Gemini CLI      github.com/google-gemini/gemini-cli, docs/tools/mcp-server.md:
                ``~/.gemini/settings.json``, ``.gemini/settings.json``;
                ``gemini mcp add -s user``, where arguments of the server follow a ``--``
Codex           developers.openai.com/codex/mcp: ``~/.codex/config.toml``, ``mcp_servers``;
                ``codex mcp add NAME --env K=V -- COMMAND``, ``codex mcp remove NAME``
goose           block.github.io/goose/docs/guides/config-files: ``config.yaml``, "extensions"; of
                its links it takes some commands only, and not ours (aaif-goose/goose/pull/5172)
==============  ================================================================================
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import quote, urlencode

NAME: Final = "dcc-bridge"  # the name of our entry
_RUNTIME: Final = "DCC_BRIDGE_RUNTIME"
_FOLDER: Final = str(Path(__file__).absolute().parents[2])  # where we are imported from
# Codex' own, 10 s for a start and 60 s for a call, are too short for a person who decides.
LIMITS: Final = "startup_timeout_sec = 30\ntool_timeout_sec = 600"
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
        if _FOLDER in os.environ.get("PYTHONPATH", "").split(os.pathsep):  # a host's own Python
            env["PYTHONPATH"] = _FOLDER
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
    # Its language. Only JSON is written; others are printed, and TOML is for `program` to write.
    syntax: Literal["json", "yaml", "toml"] = "json"
    program: str | None = None  # the client's own command, which may be on PATH

    @property
    def is_writable(self) -> bool:
        """Whether an entry can be added to it; else a person pastes it."""
        return self.syntax == "json" or self.own_command() is not None

    @property
    def is_there(self) -> bool:
        """Whether the client seems to be on this computer: its command, or a file or folder."""
        base = _folder(self.folder)
        mark = base if self.folder in ("codex", "goose") else base / Path(self.name).parts[0]
        return mark.exists() or self.own_command() is not None

    def own_command(self) -> str | None:
        """Find the client's own command on PATH, which adds an entry for its user."""
        program = shutil.which(self.program) if self.program else None
        # A batch file has its arguments read by cmd.exe, whose quoting JSON does not survive.
        return None if program and program.lower().endswith((".cmd", ".bat")) else program

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
        if self.program == "codex":
            env = [f"--env={name}={value}" for name, value in entry.env.items()]
            return ["mcp", "add", NAME, *env, "--", entry.command, *entry.args]
        env = [f"-e={name}={value}" for name, value in entry.env.items()]
        return ["mcp", "add", "-s", "user", *env, NAME, entry.command, "--", *entry.args]

    def remove_command(self) -> list[str]:
        """Give those with which it removes it; VS Code's has none: it only adds, and replaces."""
        scope = [] if self.program == "codex" else ["--scope", "user"]
        return [] if self.program == "code" else ["mcp", "remove", *scope, NAME]


def _toml(key: str, server: dict[str, Any]) -> str:
    """Give an entry in TOML, whose strings, lists and inline tables hold what JSON's do."""
    lines = [f"[{key}.{NAME}]"]
    lines += [f"{name} = {json.dumps(server[name])}" for name in ("command", "args")]
    if "env" in server:
        pairs = (f"{name} = {json.dumps(value)}" for name, value in server["env"].items())
        lines.append(f"env = {{ {', '.join(pairs)} }}")
    return "\n".join([*lines, LIMITS])


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
    "codex": ConfigFile(
        "codex", "config.toml", ".codex/config.toml", "mcp_servers", syntax="toml", program="codex"
    ),
    "goose": ConfigFile("goose", "config.yaml", None, "extensions", "extension", "yaml"),
}
OTHER: Final = ConfigFile("home", "", syntax="json")  # the form that most clients understand
LINKED: Final = ("vscode", "cursor")  # the clients that have links


def link(label: str) -> str:
    """Give the link by which a client of `LINKED` adds our entry, once its person agrees."""
    server = ClientEntry.for_client(label).as_object(CONFIG_FILES[label].kind)
    if label == "vscode":
        return f"vscode:mcp/install?{quote(json.dumps({'name': NAME, **server}), safe='')}"
    query = urlencode({"name": NAME, "config": base64.b64encode(json.dumps(server).encode())})
    return f"cursor://anysphere.cursor-deeplink/mcp/install?{query}"
