"""A folder of a thousand skills, with one that is broken, one that shadows and one that raises."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.live import live, text
from tests.skills.shelf import save
from tests.tiers import repeated

SKILL = '''
from dcc_bridge import skill

@skill(risk="read")
def skill_{n}(pattern: str = "*") -> dict[str, int]:
    """Count what matches."""
    return {{"count": {n}}}
'''
RAISES = SKILL.format(n="raises") + '\nraise RuntimeError("no licence")\n'


def imported() -> int:
    return sum(name.startswith("dcc_bridge_skill_skill_") for name in sys.modules)


async def tools(client: Client) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for tool in (await client.list_tools()).tools:
        assert tool.name not in found
        found[tool.name] = tool
    return found


@pytest.mark.parametrize("count", repeated(150, 1000))
def test_a_thousand_are_listed_without_an_import_and_three_bad_ones_harm_none(
    count: int, tmp_path: Path
) -> None:
    own, mine = tmp_path / "own", tmp_path / "mine"
    for n in range(count):
        save(own / f"skill_{n}.py", SKILL.format(n=n))
    save(own / "broken.py", "def broken(:\n")
    save(own / "raises.py", RAISES)
    shadow = save(mine / "aaa.py", SKILL.format(n=7).replace('"count": 7', '"count": 666'))
    before = imported()

    async def agent() -> tuple[Any, ...]:
        async with running.client() as client:
            first = await tools(client)
            unimported = imported()
            raised = await client.call_tool("skill_raises", {})
            called = await client.call_tool("skill_7", {})
        async with running.client() as another:  # the first one may keep its list for a minute
            return first, unimported, raised, called, await tools(another)

    with live(tmp_path, skills=[own], user_skills=mine) as running:
        first, unimported, raised, called, after = running.run(agent)
        (refusal,) = map(str, running.bridge.registry.refused.values())

    assert {f"skill_{n}" for n in range(count)} <= first.keys()
    assert unimported == before
    assert first["broken"].description.startswith("Unavailable: its file could not be loaded.")
    assert "broken.py, line 1: SyntaxError" in first["broken"].description
    assert first["skill_raises"].description == "Count what matches."
    assert raised.is_error
    assert "raises.py, line 9: RuntimeError: no licence" in text(raised)
    assert "no licence" in after["skill_raises"].description
    assert called.structured_content == {"count": 7}
    assert str(shadow) in refusal
    assert str(own / "skill_7.py") in refusal
