"""Which clients are there: as each one's last message showed it."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcc_bridge.elicitation.call import Client
from dcc_bridge.server.clients import MOST, ClientRegistry, SeenClient
from tests.live import ERAS, Live, accept, live
from tests.tiers import every_era


def tell(running: Live, era: str, **how: object) -> None:
    """Have a client come, list the tools, and go."""

    async def agent() -> None:
        async with running.client(era, **how) as session:  # type: ignore[arg-type]  # as given
            await session.list_tools()

    running.run(agent)


@every_era
@pytest.mark.parametrize("asked", [None, accept()])
def test_a_client_is_known_by_its_label_era_and_capabilities(
    tmp_path: Path, era: str, asked: object
) -> None:
    """A client that never called a tool is known too."""
    told: list[int] = []

    with live(tmp_path) as running:
        running.bridge.clients.watch(lambda: told.append(1))
        tell(running, era, label="claude-code", asked=asked)
        (seen,) = running.bridge.clients.seen

    assert (seen.client.label, seen.era, seen.form) == ("claude-code", era, asked is not None)
    assert seen.client.name
    assert told == [1]


def test_programs_with_one_label_are_told_apart(tmp_path: Path) -> None:
    with live(tmp_path) as running:
        for era in ERAS:
            tell(running, era, label="mine")
        seen = running.bridge.clients.seen

    assert [one.era for one in seen] == list(reversed(ERAS))


def test_only_so_many_are_remembered_the_last_ones() -> None:
    clients = ClientRegistry()

    for number in range(MOST + 3):
        clients.note(
            SeenClient(Client(f"client{number}"), "2026-07-28", True, False, float(number))
        )

    assert len(clients.seen) == MOST
    assert clients.seen[0].client.label == f"client{MOST + 2}"
    assert clients.seen[-1].client.label == "client3"
