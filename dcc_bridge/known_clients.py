"""What MCP clients do with a question, as far as it is known, with the day of that knowledge.

A client that declares elicitation and draws nothing answers for its person: mostly it declines, and
nothing can be done in the scene; at worst it agrees. The questions of such a client are asked in
the host (`dcc_bridge.config.Settings.silent_clients`). Imports nothing. Any thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class Known:
    """A client.

    Attributes:
        name: What its makers call it.
        questions: Whether it "draws" them, only "declares" that it would, or does "neither".
        asof: The day for which this was told, as an ISO date.
        source: Where.
    """

    name: str
    questions: Literal["draws", "declares", "neither"]
    asof: str
    source: str


CLIENTS: Final[dict[str, Known]] = {
    "claude-code": Known(
        "Claude Code",
        "draws",  # forms in the terminal; its VS Code panel declined by itself (issue 79174)
        "2026-09-22",
        "github.com/anthropics/claude-code/issues/96043: 2.1.251 shows an inline form",
    ),
    "claude-desktop": Known(
        "Claude Desktop",
        "declares",
        "2026-08-22",
        "github.com/anthropics/claude-code/issues/88901: declared, never rendered, 60 s of waiting",
    ),
    "cursor": Known(
        "Cursor", "draws", "2026-11-01", "cursor.com/docs/context/mcp: elicitation is supported"
    ),
    "vscode": Known(
        "VS Code", "draws", "2026-11-01", "code.visualstudio.com/updates/v1_102: elicitation"
    ),
    "codex": Known(
        "Codex",
        "declares",
        "2026-09-15",
        "github.com/openai/codex/issues/30978, 45621, 45776: declined without being shown",
    ),
    "gemini-cli": Known(
        "Gemini CLI",
        "neither",
        "2026-06-21",
        "github.com/google-gemini/gemini-cli/issues/28074: declares roots only",
    ),
    "goose": Known(
        "goose",
        "draws",
        "2026-08-12",
        "github.com/aaif-goose/goose/issues/11194: desktop and terminal, in the legacy era",
    ),
}
"""By the label under which `dcc-bridge client` sets them up."""

SILENT: Final = tuple(label for label, known in CLIENTS.items() if known.questions == "declares")
"""Labels of those whose questions go to the host."""
