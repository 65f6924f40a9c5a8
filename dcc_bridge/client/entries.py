"""The configuration files of MCP clients, and the form of our entry in each. Any thread.

As the clients' own documentation described them in November 2026:

==============  ================================================================================
Claude Code     code.claude.com/docs/en/mcp: ``~/.claude.json`` for its user,
                ``.mcp.json`` in a project; ``CLAUDE_CONFIG_DIR`` moves the former;
                ``claude mcp add-json --scope user NAME JSON``, ``claude mcp remove``
Claude Desktop  modelcontextprotocol.io/docs/develop/connect-local-servers:
                ``claude_desktop_config.json`` among the application's data; on Windows its package
                of 2026 has data of its own (github.com/anthropics/claude-code/issues/26073)
Cursor          cursor.com/docs/context/mcp: ``~/.cursor/mcp.json``, ``.cursor/mcp.json``;
                cursor.com/docs/mcp/install-links: a link with a "name", and a "config" in base64
VS Code         code.visualstudio.com/docs/copilot/reference/mcp-configuration: ``mcp.json`` in
                the user's profile, ``.vscode/mcp.json``; "servers", and a "type";
                ``code --add-mcp JSON``, where the JSON has the "name" too; the same in a link:
                code.visualstudio.com/docs/copilot/guides/mcp-developer-guide, "MCP URL handler"
VS Code         has a user's profile of its own, "Code - Insiders", and ``code-insiders``:
Insiders        code.visualstudio.com/docs/configure/settings, "Settings file locations"
VSCodium        github.com/VSCodium/vscodium, DOCS.md, "Migrating from Visual Studio Code to
                VSCodium": its profile is "VSCodium"
Windsurf        docs.windsurf.com/windsurf/cascade/mcp: ``~/.codeium/windsurf/mcp_config.json``
LM Studio       lmstudio.ai/docs/app/mcp: ``~/.lmstudio/mcp.json``, as Cursor has it, and
                so its link: lmstudio.ai/docs/app/mcp/deeplink; older ones:
                ``~/.cache/lm-studio`` (github.com/lmstudio-ai/lmstudio-bug-tracker/issues/1371)
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
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import quote, urlencode

from dcc_bridge.client.temporary import start_again

NAME: Final = "dcc-bridge"  # the name of our entry
# -P: the client's folder, which may hold a module of our name, must not be searched.
MODULE_WORDS: Final = ("-P", "-m", "dcc_bridge")
_RUNTIME: Final = "DCC_BRIDGE_RUNTIME"
_IMPORT_FOLDER: Final = str(Path(__file__).absolute().parents[2])
"""The folder from which `dcc_bridge` is imported."""
# Codex' own limits, 10 s for a start and 60 s for a call, are too short for a person who decides.
LIMITS: Final = "startup_timeout_sec = 30\ntool_timeout_sec = 600"
Folder = Literal["home", "data", "claude", "codex", "goose", "lmstudio", "package"]
_OWN_FOLDERS: Final = ("codex", "goose", "lmstudio")  # of one client only
_CODE: Final = ("code", "code-insiders")
Kind = Literal["plain", "typed", "extension"]


@dataclass(frozen=True, slots=True)
class ClientEntry:
    """The command with which a client starts us. It contains no token.

    Attributes:
        command: The whole path of the program: a client's search path is not the shell's.
        args: The arguments of the program.
        env: The environment variables that the program needs; clients pass on hardly any.
    """

    command: str
    args: tuple[str, ...]
    env: dict[str, str]

    @classmethod
    def for_client(cls, label: str) -> ClientEntry:
        """Return the entry of a client, which starts this program again.

        Args:
            label: The name by which hosts will know the client.
        """
        env = {}
        if os.environ.get(_RUNTIME):
            env[_RUNTIME] = os.environ[_RUNTIME]
        arguments = ("connect", "--label", label)
        again = start_again(sys.prefix)
        if again:
            return cls(again[0], (*again[1:], NAME, *arguments), env)
        script_name = NAME
        if os.name == "nt":
            script_name = f"{NAME}.exe"
        script = Path(sys.executable).with_name(script_name)
        if script.is_file():
            return cls(str(script), arguments, env)
        # A host's own Python finds us only by this variable.
        if _IMPORT_FOLDER in os.environ.get("PYTHONPATH", "").split(os.pathsep):
            env["PYTHONPATH"] = _IMPORT_FOLDER
        return cls(sys.executable, (*MODULE_WORDS, *arguments), env)

    def as_object(self, kind: Kind) -> dict[str, Any]:
        """Return the entry as the object that a client expects.

        Args:
            kind: The form of the object: "plain" has the members of the entry, "typed" also has a
                "type", and "extension" is the form of goose.
        """
        if kind == "extension":
            return {
                "name": NAME,
                "type": "stdio",
                "cmd": self.command,
                "args": list(self.args),
                "envs": self.env,
                "enabled": True,
                "timeout": 600,
            }
        server: dict[str, Any] = {}
        if kind == "typed":
            server["type"] = "stdio"
        server["command"] = self.command
        server["args"] = list(self.args)
        if self.env:
            server["env"] = self.env
        return server


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """The configuration file of a client.

    Attributes:
        folder: The folder of the user's file, as a name that `_folder` resolves.
        name: The path of the user's file below that folder.
        project: The path of the file in a project's folder, if the client has one.
        key: The member that lists the servers.
        kind: The form of an entry in the file.
        syntax: The language of the file. Only JSON is written here: `program` writes TOML, and a
            person pastes any other entry.
        program: The name of the client's own command, if it has one.
        package: The name of the client's package on Windows, if it comes as one too.
    """

    folder: Folder
    name: str
    project: str | None = None
    key: str = "mcpServers"
    kind: Kind = "plain"
    syntax: Literal["json", "yaml", "toml"] = "json"
    program: str | None = None
    package: str | None = None

    @property
    def is_writable(self) -> bool:
        """Return whether an entry can be added to the file; else a person pastes the entry."""
        return self.syntax == "json" or self.own_command() is not None

    @property
    def is_there(self) -> bool:
        """Return whether the client seems to be on this computer, by its command or its files."""
        return self._settings().exists() or self.own_command() is not None

    def _settings(self) -> Path:
        """Return the folder, or else the file, that only the client makes."""
        if self.folder == "package":
            return _package_folder(str(self.package))
        file = self.path()
        is_own_folder = self.folder in _OWN_FOLDERS or Path(self.name).parent != Path()
        if is_own_folder:
            return file.parent
        return file

    def places(self) -> list[ConfigFile]:
        """Return the files that an entry belongs in, each as a `ConfigFile`.

        There are two if the client is on this computer as an ordinary program and as a package of
        Windows. A package has folders of its own, and cannot read the ordinary program's file.
        """
        if self.package is None or not _package_folder(self.package).is_dir():
            return [self]
        packaged = replace(self, folder="package")
        if self._settings().exists():
            return [self, packaged]
        return [packaged]

    def own_command(self) -> str | None:
        """Return the path of the client's own command, which adds an entry for its user.

        None if the command is not on PATH, or cannot be used.
        """
        if self.program is None:
            return None
        program = shutil.which(self.program)
        # cmd.exe reads the arguments of a batch file, and its quoting breaks JSON.
        if program is not None and program.lower().endswith((".cmd", ".bat")):
            return None
        return program

    def path(self, project: Path | None = None) -> Path:
        """Return the path of the file.

        Args:
            project: The folder of a project; None for the user's own file.

        Raises:
            ValueError: The client has no file for projects.
        """
        if project is None:
            return _folder(self.folder, self.package) / self.name
        if self.project is None:
            raise ValueError("it has no configuration for a single project")
        return project.absolute() / self.project

    def text(self, entry: ClientEntry) -> str:
        """Return the text of an entry that a person can paste into the file."""
        server = entry.as_object(self.kind)
        if self.syntax == "toml":
            return _toml(self.key, server)
        if self.syntax == "yaml":  # of which JSON is a part
            return f"{self.key}:\n  {NAME}: {json.dumps(server)}"
        return json.dumps({self.key: {NAME: server}}, indent=2)

    def add_command(self, entry: ClientEntry) -> list[str]:
        """Return the arguments with which the client's own command adds an entry for its user."""
        server = entry.as_object(self.kind)
        if self.program == "claude":
            return ["mcp", "add-json", "--scope", "user", NAME, json.dumps(server)]
        if self.program in _CODE:
            return ["--add-mcp", json.dumps({"name": NAME, **server})]
        if self.program == "codex":
            env = [f"--env={name}={value}" for name, value in entry.env.items()]
            return ["mcp", "add", NAME, *env, "--", entry.command, *entry.args]
        env = [f"-e={name}={value}" for name, value in entry.env.items()]
        return ["mcp", "add", "-s", "user", *env, NAME, entry.command, "--", *entry.args]

    def remove_command(self) -> list[str]:
        """Return the arguments with which the client's own command removes the entry.

        The list is empty for VS Code, whose command only adds entries, and replaces them.
        """
        if self.program in _CODE:
            return []
        if self.program == "codex":
            return ["mcp", "remove", NAME]
        return ["mcp", "remove", "--scope", "user", NAME]


def _toml(key: str, server: dict[str, Any]) -> str:
    """Return an entry in TOML, whose strings and lists are written as in JSON."""
    lines = [
        f"[{key}.{NAME}]",
        f"command = {json.dumps(server['command'])}",
        f"args = {json.dumps(server['args'])}",
    ]
    if "env" in server:
        pairs = [f"{name} = {json.dumps(value)}" for name, value in server["env"].items()]
        lines.append(f"env = {{ {', '.join(pairs)} }}")
    lines.append(LIMITS)
    return "\n".join(lines)


def _folder(name: Folder, package: str | None) -> Path:
    """Return the folder that a name stands for on this system, or in a package of Windows."""
    home = Path.home()
    match name:
        case "home":
            return home
        case "data":
            return _data_folder(home)
        case "claude":
            return _env_folder("CLAUDE_CONFIG_DIR", home)
        case "codex":
            return _env_folder("CODEX_HOME", home / ".codex")
        case "goose":
            return _goose_folder(home)
        case "lmstudio":
            return _lm_studio_folder(home)
        case "package":
            return _package_folder(str(package)) / "LocalCache" / "Roaming"


def _goose_folder(home: Path) -> Path:
    if sys.platform == "win32":
        return _data_folder(home) / "Block" / "goose" / "config"
    return home / ".config" / "goose"


def _lm_studio_folder(home: Path) -> Path:
    folder = home / ".lmstudio"
    older = home / ".cache" / "lm-studio"
    if older.is_dir() and not folder.is_dir():
        return older
    return folder


def _package_folder(package: str) -> Path:
    """Return the folder of a package's own data, which exists only on Windows."""
    local = _env_folder("LOCALAPPDATA", Path.home() / "AppData" / "Local")
    return local / "Packages" / package


def _data_folder(home: Path) -> Path:
    """Return the folder in which applications keep a user's settings."""
    if sys.platform == "win32":
        return _env_folder("APPDATA", home / "AppData" / "Roaming")
    if sys.platform == "darwin":
        return home / "Library" / "Application Support"
    return _env_folder("XDG_CONFIG_HOME", home / ".config")


def _env_folder(variable: str, default: Path) -> Path:
    """Return the folder that an environment variable names; else the default."""
    return Path(os.environ.get(variable) or default)


# By the label of the client, which ``dcc-bridge client add`` takes.
CONFIG_FILES: Final[dict[str, ConfigFile]] = {
    "claude-code": ConfigFile(
        "claude", ".claude.json", ".mcp.json", kind="typed", program="claude"
    ),
    "claude-desktop": ConfigFile(
        "data", "Claude/claude_desktop_config.json", package="Claude_pzs8sxrjxfjjc"
    ),
    "cursor": ConfigFile("home", ".cursor/mcp.json", ".cursor/mcp.json"),
    "vscode": ConfigFile(
        "data", "Code/User/mcp.json", ".vscode/mcp.json", "servers", "typed", program="code"
    ),
    "vscode-insiders": ConfigFile(
        "data",
        "Code - Insiders/User/mcp.json",
        ".vscode/mcp.json",
        "servers",
        "typed",
        program="code-insiders",
    ),
    "vscodium": ConfigFile(
        "data", "VSCodium/User/mcp.json", ".vscode/mcp.json", "servers", "typed"
    ),
    "windsurf": ConfigFile("home", ".codeium/windsurf/mcp_config.json"),
    "lm-studio": ConfigFile("lmstudio", "mcp.json"),
    "gemini-cli": ConfigFile(
        "home", ".gemini/settings.json", ".gemini/settings.json", program="gemini"
    ),
    "codex": ConfigFile(
        "codex", "config.toml", ".codex/config.toml", "mcp_servers", syntax="toml", program="codex"
    ),
    "goose": ConfigFile("goose", "config.yaml", None, "extensions", "extension", "yaml"),
}
OTHER: Final = ConfigFile("home", "", syntax="json")  # the form that most clients understand
LINKED: Final = ("vscode", "cursor", "lm-studio")  # the clients that have links


def link(label: str) -> str:
    """Return the link with which a client adds our entry, once its person agrees.

    Args:
        label: The label of a client in `LINKED`.
    """
    server = ClientEntry.for_client(label).as_object(CONFIG_FILES[label].kind)
    if label == "vscode":
        return f"vscode:mcp/install?{quote(json.dumps({'name': NAME, **server}), safe='')}"
    config = base64.b64encode(json.dumps(server).encode())
    query = urlencode({"name": NAME, "config": config})
    if label == "lm-studio":
        return f"lmstudio://add_mcp?{query}"
    return f"cursor://anysphere.cursor-deeplink/mcp/install?{query}"
