"""A list that changes while clients listen, and completions. Worker.

The list of tools changes through the bridge's own registry: see `tests.conformance.host`.
"""

from __future__ import annotations

from typing import Any, Final

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts import Prompt
from mcp_types import (
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
)

_EXTRA: Final = "test_extra_prompt"
_WORDS: Final = ("paris", "park", "party")


def add(server: MCPServer[Any]) -> None:
    """Add the tool and the completions."""

    async def test_trigger_prompt_change(context: Context[Any, Any]) -> str:
        """Add a prompt, or take it away again, and tell those who listen."""
        if any(prompt.name == _EXTRA for prompt in await server.list_prompts()):
            server.remove_prompt(_EXTRA)
        else:
            server.add_prompt(Prompt.from_function(_extra, name=_EXTRA))
        await context.notify_prompts_changed()
        return "The prompts changed."

    server.tool()(test_trigger_prompt_change)
    server.completion()(_complete)  # type: ignore[no-untyped-call]  # the SDK left it untyped


def _extra() -> str:
    """A prompt that comes and goes."""
    return "Here for now."


async def _complete(
    ref: PromptReference | ResourceTemplateReference,
    argument: CompletionArgument,
    context: CompletionContext | None,
) -> Completion:
    values = [word for word in _WORDS if word.startswith(argument.value)]
    return Completion(values=values, total=len(values), has_more=False)
