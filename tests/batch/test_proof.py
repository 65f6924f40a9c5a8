"""What tells that a saved scene is another one, where a host tells more or less of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from dcc_bridge_batch import display, outcome, warm_host
from dcc_bridge_batch.ledger import TaskLedger
from dcc_bridge_batch.warm_host import SceneTools, _Snapshot
from tests.batch.conftest import write_plan


def proof(before: _Snapshot, now: _Snapshot, items: list[str]) -> str | None:
    tools = SceneTools.__new__(SceneTools)
    tools._before, tools._items = before, items
    return tools._proof(now)


@pytest.mark.parametrize(
    ("items", "before", "now", "expected"),
    [
        (["/a"], _Snapshot(["Camera"], "1", "x"), _Snapshot(["gone"], "2", "y"), "items"),
        (["/a"], _Snapshot(["Camera"], "1", "x"), _Snapshot(["Camera"], "1", "y"), "scene"),
        (["/a"], _Snapshot(["Camera"], "1", "x"), _Snapshot(["Camera"], "1", "x"), None),
        (["/a"], _Snapshot(["Camera"], "1", None), _Snapshot(["Camera"], "2", None), "items"),
        (["/a"], _Snapshot(["Camera"], "1", None), _Snapshot(["Camera"], "1", None), "file"),
        ([], _Snapshot([], "1", "x"), _Snapshot([], "1", "y"), "scene"),
        ([], _Snapshot([], "1", None), _Snapshot([], "1", None), "file"),
    ],
)
def test_a_saved_scene_differs_in_its_items_or_in_what_it_holds_or_in_its_file_alone(
    items: list[str], before: _Snapshot, now: _Snapshot, expected: str | None
) -> None:
    assert proof(before, now, items) == expected


def test_a_status_counts_the_scenes_in_which_nothing_that_was_agreed_to_is_another_one(
    tmp_path: Path,
) -> None:
    made = write_plan(tmp_path, 3)
    with TaskLedger(made, 0) as book:
        for number, name in enumerate(("items", "scene", "file")):
            book.write(number, "done", sha256="0" * 64, changed=0, proof=name)
    console = Console(width=200, record=True)

    totals = outcome.totals(made)
    display.show_totals(made, totals, console)

    assert totals.elsewhere == 2
    assert f"2 of those changed: {display._ELSEWHERE}" in console.export_text()


def test_an_item_that_is_gone_is_told_as_such() -> None:
    class Host:
        def describe(self, item: str) -> dict[str, str]:
            raise LookupError(item)

    assert warm_host._description(Host(), "/a") == "gone"  # type: ignore[arg-type]  # what it asks is there
