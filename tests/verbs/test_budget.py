"""What the list of tools costs an agent, in each host as it is served there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.live import Live
from tests.verbs.test_bridge import TOKEN
from tests.verbs.test_houdini_tasks import bridge as houdini_bridge  # noqa: F401 - a fixture
from tests.verbs.test_maya_tasks import bridge as maya_bridge  # noqa: F401 - a fixture
from tests.verbs.test_maya_tasks import maya  # noqa: F401 - a fixture
from tests.verbs.test_tasks import bridge as usd_bridge  # noqa: F401 - a fixture
from tests.verbs.test_tasks_real import HOSTS


def check_costs(tools: list[Any]) -> None:
    """See that each tool is short, and all of them are."""
    texts = {it.name: it.model_dump_json(exclude_none=True, by_alias=True) for it in tools}
    costs = {name: len(text) / TOKEN for name, text in texts.items()}
    assert {"run_python", "batch", "undo_last"} <= costs.keys()
    assert {name: cost for name, cost in costs.items() if cost > 300} == {}
    assert sum(costs.values()) < 8000


@pytest.mark.parametrize("name", ["usd", "maya", "houdini"])
def test_a_list_of_tools_with_run_python_in_it_is_short(
    name: str, request: pytest.FixtureRequest
) -> None:
    running: Live = request.getfixturevalue(f"{name}_bridge")

    async def work() -> list[Any]:
        async with running.client() as client:
            return list((await client.list_tools()).tools)

    check_costs(running.run(work))


@pytest.mark.real
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", HOSTS)
def test_so_it_is_in_blender_and_freecad(name: str, tmp_path: Path) -> None:
    with HOSTS[name][1](tmp_path) as running:

        async def work() -> list[Any]:
            async with running.client() as client:
                return list((await client.list_tools()).tools)

        check_costs(running.run(work))
        running.order("close")
        assert running.end() == 0, running.output
