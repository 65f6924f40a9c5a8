"""Where which client keeps its configuration, and in which words. Any thread.

Read in their own documentation in November 2026:

==============  ================================================================================
Claude Code     code.claude.com/docs/en/mcp: ``~/.claude.json`` for its user,
                ``.mcp.json`` in a project; ``CLAUDE_CONFIG_DIR`` moves the former
Claude Desktop  modelcontextprotocol.io/docs/develop/connect-local-servers:
                ``claude_desktop_config.json`` among the application's data
Cursor          cursor.com/docs/context/mcp: ``~/.cursor/mcp.json``, ``.cursor/mcp.json``
VS Code         code.visualstudio.com/docs/copilot/reference/mcp-configuration: ``mcp.json`` in
                the user's profile, ``.vscode/mcp.json``; "servers", and a "type"
Gemini CLI      github.com/google-gemini/gemini-cli, docs/tools/mcp-server.md:
                ``~/.gemini/settings.json``, ``.gemini/settings.json``
Codex           developers.openai.com/codex/mcp: ``~/.codex/config.toml``, ``mcp_servers``
goose           block.github.io/goose/docs/guides/config-files: ``config.yaml``, "extensions"
==============  ================================================================================
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from dcc_bridge.client.configs.entry import NAME, Entry
from dcc_bridge.client.configs.yamlish import yaml


@dataclass(frozen=True, slots=True)
class Place:
    """A client's configuration.

    Attributes:
        user: Gives the file that holds for all that its user does.
        project: The file in a project's folder, or None where it has none.
        key: Under which it lists its servers.
        entry: Puts an entry in its words.
        text: Puts an entry as it is pasted.
        writes: We can write it; else it is pasted by hand.
    """

    user: Callable[[], Path]
    project: Path | None
    key: str
    entry: Callable[[Entry], dict[str, Any]]
    text: Callable[[Place, Entry], str]
    writes: bool = True

    @property
    def path(self) -> tuple[str, str]:
        """Where in it our entry stands."""
        return self.key, NAME

    def file(self, project: Path | None) -> Path:
        """Give the file.

        Args:
            project: A project's folder; None for the user's own.

        Raises:
            ValueError: The client has none for projects.
        """
        if project is None:
            return self.user()
        if self.project is None:
            raise ValueError("it has no configuration for a single project")
        return project.absolute() / self.project


def _plain(entry: Entry) -> dict[str, Any]:
    told: dict[str, Any] = {"command": entry.command, "args": list(entry.args)}
    return told | ({"env": entry.env} if entry.env else {})


def _typed(entry: Entry) -> dict[str, Any]:
    return {"type": "stdio", **_plain(entry)}


def _extension(entry: Entry) -> dict[str, Any]:
    return {
        "name": NAME,
        "type": "stdio",
        "cmd": entry.command,
        "args": list(entry.args),
        "envs": entry.env,
        "enabled": True,
        "timeout": 600,
    }


def _as_json(place: Place, entry: Entry) -> str:
    return json.dumps({place.key: {NAME: place.entry(entry)}}, indent=2)


def _as_yaml(place: Place, entry: Entry) -> str:
    return yaml({place.key: {NAME: place.entry(entry)}})


def _as_toml(place: Place, entry: Entry) -> str:
    """Write it in TOML, whose strings, lists and inline tables hold what JSON's do."""
    lines = [f"[{place.key}.{NAME}]"]
    lines += [f"command = {json.dumps(entry.command)}", f"args = {json.dumps(list(entry.args))}"]
    if entry.env:
        told = ", ".join(f"{name} = {json.dumps(value)}" for name, value in entry.env.items())
        lines.append(f"env = {{ {told} }}")
    # Its limits of 10 s for a start and 60 s for a call are too short for a person who decides.
    return "\n".join([*lines, "startup_timeout_sec = 30", "tool_timeout_sec = 600"])


def _home(*parts: str) -> Callable[[], Path]:
    return lambda: Path.home().joinpath(*parts)


def _data(*parts: str) -> Callable[[], Path]:
    """Give a place among the data of applications."""

    def find() -> Path:
        if sys.platform == "win32":
            root = Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
        elif sys.platform == "darwin":
            root = Path.home() / "Library" / "Application Support"
        else:
            root = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
        return root.joinpath(*parts)

    return find


def _claude_code() -> Path:
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home()) / ".claude.json"


def _goose() -> Path:
    words = ("Block", "goose", "config") if sys.platform == "win32" else ("goose",)
    base = _data(*words) if sys.platform == "win32" else _home(".config", *words)
    return base() / "config.yaml"


def _codex() -> Path:
    return Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex") / "config.toml"


_SERVERS: Final = "mcpServers"
PLACES: Final[dict[str, Place]] = {
    "claude-code": Place(_claude_code, Path(".mcp.json"), _SERVERS, _typed, _as_json),
    "claude-desktop": Place(
        _data("Claude", "claude_desktop_config.json"), None, _SERVERS, _plain, _as_json
    ),
    "cursor": Place(
        _home(".cursor", "mcp.json"), Path(".cursor", "mcp.json"), _SERVERS, _plain, _as_json
    ),
    "vscode": Place(
        _data("Code", "User", "mcp.json"), Path(".vscode", "mcp.json"), "servers", _typed, _as_json
    ),
    "gemini-cli": Place(
        _home(".gemini", "settings.json"),
        Path(".gemini", "settings.json"),
        _SERVERS,
        _plain,
        _as_json,
    ),
    "codex": Place(_codex, Path(".codex", "config.toml"), "mcp_servers", _plain, _as_toml, False),
    "goose": Place(_goose, None, "extensions", _extension, _as_yaml, False),
}
"""By the label under which they are set up."""
OTHER: Final = Place(Path, None, _SERVERS, _plain, _as_json, False)
"""The words that most clients have taken over."""
