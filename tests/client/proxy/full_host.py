"""A host with everything that a plug-in can add through the SDK: prompts, completions, notices."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mcp.shared.exceptions import MCPDeprecationWarning

from dcc_bridge import skill
from dcc_bridge.bridge import Bridge
from dcc_bridge.skills.skill import describe
from dcc_bridge.testing import FakeHost
from tests.client.proxy.until_killed import serve
from tests.conformance.plugin import extend

LARGE = 3_000_000
_SKILLS = Path(__file__).parents[2] / "conformance" / "skills"


def skills(bridge: Bridge) -> list[Callable[..., Any]]:
    """Make what the plug-in does not bring."""

    @skill(risk="read")
    def learned() -> str:
        """Be there."""
        return "learned"

    @skill(risk="read")
    def learn() -> str:
        """Add a skill to those that there are."""
        bridge.registry.add(describe(learned))
        return "There is one more."

    @skill(risk="read")
    def large() -> str:
        """Say much."""
        return "x" * LARGE

    return [learn, large]


if __name__ == "__main__":
    warnings.filterwarnings("ignore", category=MCPDeprecationWarning)
    serve(Path(sys.argv[1]), FakeHost(), skills, extend=extend, skills=[_SKILLS])
