"""What MCP clients do with a question, as far as it is known, with the day of that knowledge.

A client that declares elicitation and draws nothing answers for its person: mostly it declines, and
nothing can be done in the scene; at worst it agrees. The questions of such a client are asked in
the host (`SILENT`). What a client is told of us stands here too. Imports nothing. Any thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

REVISIONS: Final = ("2026-07-28", "2025-11-25", "2025-06-18")  # of MCP that we are tried with
ICON: Final = {  # what a client may show beside our name: a bridge, 32 x 32
    "mimeType": "image/png",
    "sizes": ["32x32"],
    "src": "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAACAAAAAgBAMAAACBVGfHAAAAGFBMVEX////0omHzomHhmWCmf1xPWVYnRlMmRl"
    "PXjF/uAAAAoUlEQVR42r3Rzw2CMBiH4bfVARonILiAsQOYuBTbESdAB5DSBdTPhKO2Hlog6oGT9vjk13z/VMX7"
    "0/wAlgBE5+5laSZoa7jKfvxyqQHOxwFiy3rXb2kkQzgtbKHt5ukzOKwBZWkSxC4eAB4SJIEvck/Bg4aAGZq8gQ"
    "anckIVHWgQnRPKxFRFDXOYVEWmyb4SUdDgR1hF4GPJ1fzG1F/uMg8vDL4wMa3Ha+UAAAAASUVORK5CYII=",
}
CLI_LABEL: Final = "cli"  # the person's own commands, which draw questions or know the answer


@dataclass(frozen=True, slots=True)
class Known:
    """A client."""

    name: str  # what its makers call it
    questions: Literal["draws", "declares", "neither"]  # draws them, or only says that it would
    servers: str  # where it lists its servers, and whether they work
    asof: str  # the day on which somebody saw it, as an ISO date
    source: str


CLIENTS: Final[dict[str, Known]] = {  # by the label under which `dcc-bridge client` sets them up
    "claude-code": Known(
        "Claude Code",
        "draws",  # forms in the terminal; its VS Code panel declined by itself (issue 79174)
        "its command /mcp",
        "2026-09-22",
        "github.com/anthropics/claude-code/issues/96043: 2.1.251 shows an inline form",
    ),
    "claude-desktop": Known(
        "Claude Desktop",
        "declares",
        "its Settings > Developer",
        "2026-08-22",
        "github.com/anthropics/claude-code/issues/88901: declared, never rendered, 60 s of waiting",
    ),
    "cursor": Known(
        "Cursor",
        "draws",  # forms; whether it opens pages nobody tells, nor have we a later report
        "its Customize > MCPs",
        "2025-08-27",
        "github.com/modelcontextprotocol/modelcontextprotocol/pull/1396: seen inline with the call "
        "in 1.5; cursor.com/docs/context/mcp lists it as supported",
    ),
    "vscode": Known(
        "VS Code",
        "draws",  # its button "Cancel" sends a decline; its Claude agent asks since pull 325908
        "its command MCP: List Servers",
        "2026-04-13",
        "github.com/microsoft/vscode/issues/307962: the chat asks field by field, and the terminal "
        "agent in a row of questions",
    ),
    "codex": Known(
        "Codex",
        "declares",
        "its command /mcp",
        "2026-09-15",
        "github.com/openai/codex/issues/30978, 45621, 45776: declined without being shown",
    ),
    "gemini-cli": Known(
        "Gemini CLI",
        "neither",
        "its command /mcp",
        "2026-06-21",
        "github.com/google-gemini/gemini-cli/issues/28074: declares roots only",
    ),
    "goose": Known(
        "goose",
        "draws",
        "Extensions in its sidebar",
        "2026-08-12",
        "github.com/aaif-goose/goose/issues/11194: desktop and terminal, in the legacy era",
    ),
}

SILENT: Final = tuple(label for label, known in CLIENTS.items() if known.questions == "declares")
