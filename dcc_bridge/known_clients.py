"""The MCP clients that are known, how each draws a question, and which have tasks. Any thread.

A client that declares elicitation and draws nothing answers by itself: mostly it declines, and
nothing can be done in the scene; at worst it agrees. The questions of such a client (`SILENT`) are
asked in the host. The facts that a client gets about us are here too, and whether it draws pages.
This module imports nothing of ours.

A call goes on as a task, after its request has ended, only for a client that declares
``io.modelcontextprotocol/tasks``, which there is at 2026-07-28 alone. Claude Code asks a server on
stdio for that revision as its variable `NEGOTIATION` says. It reads the variable in its own
environment, which its settings.json may set, and never in the entry of a server: 2.1.281, 2.1.304,
2.1.319 and 2.1.332 were started here with an entry that has it, and with settings that have it
(``claude mcp list``, an empty home). Unset, it means "auto" from 2.1.304 at the latest, and meant
"legacy" in 2.1.281.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

REVISIONS: Final = ("2026-07-28", "2025-11-25", "2025-06-18")  # of MCP, with which we are tested
ICON: Final = {  # the icon that a client may show beside our name: a bridge, 32 x 32
    "mimeType": "image/png",
    "sizes": ["32x32"],
    "src": "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAACAAAAAgBAMAAACBVGfHAAAAGFBMVEX////0omHzomHhmWCmf1xPWVYnRlMmRl"
    "PXjF/uAAAAoUlEQVR42r3Rzw2CMBiH4bfVARonILiAsQOYuBTbESdAB5DSBdTPhKO2Hlog6oGT9vjk13z/VMX7"
    "0/wAlgBE5+5laSZoa7jKfvxyqQHOxwFiy3rXb2kkQzgtbKHt5ukzOKwBZWkSxC4eAB4SJIEvck/Bg4aAGZq8gQ"
    "anckIVHWgQnRPKxFRFDXOYVEWmyb4SUdDgR1hF4GPJ1fzG1F/uMg8vDL4wMa3Ha+UAAAAASUVORK5CYII=",
}
NEGOTIATION: Final = "MCP_PROTOCOL_NEGOTIATION"  # of Claude Code: "auto" or "legacy"
APPS: Final = "io.modelcontextprotocol/ui"  # SEP-1865, MCP Apps: pages that a chat draws
PAGE_TYPE: Final = "text/html;profile=mcp-app"  # the MIME type of these pages
CLI_LABEL: Final = "cli"  # the person's own commands, which draw questions or know the answer


@dataclass(frozen=True, slots=True)
class KnownClient:
    """A client.

    Attributes:
        name: The name that its makers use.
        questions: Whether the client draws questions, only declares that it can, or neither.
        servers: The place in the client that lists its servers, and whether they work.
        asof: The day on which somebody saw how the client draws questions, as an ISO date.
        source: The report of that, and what was seen.
        tasks_since: Since when the client lets calls go on as tasks; "" if it does not.
        no_tasks: Why it does not, as the end of a sentence.
    """

    name: str
    questions: Literal["draws", "declares", "neither"]
    servers: str
    asof: str
    source: str
    tasks_since: str = ""
    no_tasks: str = "it does not speak MCP's tasks of 2026-07-28, as far as is known"


_OLDER_TASKS: Final = "it speaks MCP's tasks of 2025-11-25 only, which are others"
# By the label under which `dcc-bridge client` sets them up.
CLIENTS: Final[dict[str, KnownClient]] = {
    "claude-code": KnownClient(
        "Claude Code",
        "draws",  # forms in the terminal; its VS Code panel declined by itself (issue 79174)
        "its command /mcp",
        "2026-09-22",
        "github.com/anthropics/claude-code/issues/96043: 2.1.251 shows an inline form",
        # Its changelog; dev.to/gabrielanhaia, "Claude Code Now Runs MCP Tasks in the Background".
        tasks_since="2.1.304 in part, and 2.1.319 (November 2026) for everybody",
    ),
    "claude-desktop": KnownClient(
        "Claude Desktop",
        "declares",
        "its Settings > Developer",
        "2026-08-22",
        "github.com/anthropics/claude-code/issues/88901: declared, never rendered, 60 s of waiting",
    ),
    "cursor": KnownClient(
        "Cursor",
        "draws",  # forms; whether it opens pages nobody tells, nor have we a later report
        "its Customize > MCPs",
        "2025-08-27",
        "github.com/modelcontextprotocol/modelcontextprotocol/pull/1396: seen inline with the call "
        "in 1.5; cursor.com/docs/context/mcp lists it as supported",
    ),
    "vscode": KnownClient(
        "VS Code",
        "draws",  # its button "Cancel" sends a decline; its Claude agent asks since pull 325908
        "its command MCP: List Servers",
        "2026-04-13",
        "github.com/microsoft/vscode/issues/307962: the chat asks field by field, and the terminal "
        "agent in a row of questions",
        no_tasks=_OLDER_TASKS,  # github.com/microsoft/vscode/pull/277888
    ),
    "vscode-insiders": KnownClient(
        "VS Code Insiders",
        "draws",
        "its command MCP: List Servers",
        "2026-04-13",
        "as VS Code, of which it is the next version",
        no_tasks=_OLDER_TASKS,
    ),
    "vscodium": KnownClient(
        "VSCodium",
        "draws",
        "its command MCP: List Servers",
        "2026-04-13",
        "as VS Code, whose source it is built from; not seen there",
        no_tasks=_OLDER_TASKS,
    ),
    "windsurf": KnownClient(
        "Windsurf",
        "neither",
        "its Settings > Cascade > MCP Servers",
        "2025-09-19",
        "github.com/DefangLabs/defang/issues/1448: its documentation names tools and resources "
        "only",
    ),
    "lm-studio": KnownClient(
        "LM Studio",
        "neither",
        "its tab Program",
        "2025-09-05",
        "github.com/lmstudio-ai/lmstudio-bug-tracker/issues/977, 817: no elicitation",
    ),
    "codex": KnownClient(
        "Codex",
        "declares",
        "its command /mcp",
        "2026-09-15",
        "github.com/openai/codex/issues/30978, 45621, 45776: declined without being shown",
        no_tasks="it speaks 2026-07-28 only if its feature mcp_2026_07_28 is enabled, and no tasks",
    ),
    "gemini-cli": KnownClient(
        "Gemini CLI",
        "neither",
        "its command /mcp",
        "2026-06-21",
        "github.com/google-gemini/gemini-cli/issues/28074: declares roots only",
    ),
    "goose": KnownClient(
        "goose",
        "draws",
        "Extensions in its sidebar",
        "2026-08-12",
        "github.com/aaif-goose/goose/issues/11194: desktop and terminal, in the legacy era",
    ),
}

# The labels of the clients that declare elicitation and draw nothing.
SILENT: Final = tuple(label for label, client in CLIENTS.items() if client.questions == "declares")


def draws_pages(capabilities: Mapping[str, Any]) -> bool:
    """Return whether a client draws the pages of MCP Apps, by the capabilities that it declares."""
    extensions = capabilities.get("extensions")
    if not isinstance(extensions, Mapping):
        return False
    settings = extensions.get(APPS)
    if not isinstance(settings, Mapping):
        return False
    kinds = settings.get("mimeTypes")
    return isinstance(kinds, list) and PAGE_TYPE in kinds


def handshake_capabilities(own: Mapping[str, Any], client: Mapping[str, Any]) -> dict[str, Any]:
    """Return our capabilities in a handshake of the legacy era, whose schema has no extensions.

    A client that draws pages is told of that one all the same: Claude Desktop draws none of a
    server that does not declare it (github.com/anthropics/claude-ai-mcp/issues/165).

    Args:
        own: Our other capabilities.
        client: The client's capabilities.
    """
    if not draws_pages(client):
        return dict(own)
    return {**own, "extensions": {APPS: {}}}
