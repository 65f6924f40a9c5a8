"""The account of an edit: what an agent is told of the scene, in 400 bytes at most."""

from __future__ import annotations

import pytest

from dcc_bridge.consent.account import follow_change, name_change, told, value_change
from dcc_bridge.consent.item_paths import path_changes
from dcc_bridge.consent.joined import joined
from dcc_bridge.elicitation.secret import HIDDEN, Secret
from dcc_bridge.host import Account


def test_each_kind_of_difference_is_told_with_the_values_before_and_now() -> None:
    account = Account(
        created=["Lamp"],
        changed=[value_change("Cube", "location", [0.0, 0.0, 0.0], [1.0, 0.5, 1 / 3])],
        deleted=["Old"],
        broken=["Cut"],
    )

    assert told(account) == (
        "deleted: Old. created: Lamp. "
        "changed: Cube, location: [0, 0, 0] -> [1, 0.5, 0.333333]. broken: Cut"
    )
    assert told(joined([Account(), Account()])) == ""


STEPS: dict[str, list[Account]] = {
    "created: A; B; C": [Account(["A", "B"]), Account(["B", "C"])],
    "": [Account(["A (and 2 below)"]), Account(deleted=["A (and 3 below)"])],
    "created: Box": [
        Account(["Ball", "Ball/Top"]),
        Account(["Box"], [name_change("Ball", "Tube")]),
        Account(deleted=["Tube"]),
    ],
    "created: Tube (and 1 below)": [
        Account(["Ball (and 1 below)"]),
        Account(changed=[value_change("Ball", "size", 1, 2), name_change("Ball", "Tube")]),
    ],
    "deleted: A (and 4 below). changed: B, size: 0 -> 2": [
        Account(changed=[value_change("A", "size", 0, 1), "A", "A/x, its geometry"]),
        Account(changed=[name_change("A", "C"), value_change("B", "size", 0, 1)]),
        Account(changed=[value_change("B", "size", 1, 2)], deleted=["C (and 4 below)"]),
    ],
    "changed: A is C; A/x, size: 0 -> 2": [
        Account(changed=[name_change("A", "B"), value_change("D", "size", 0, 1)]),
        Account(changed=[name_change("B", "C"), value_change("C/x", "size", 0, 1)]),
        Account(changed=[value_change("C/x", "size", 1, 2), value_change("D", "size", 1, 0)]),
    ],
    "changed: A is B; B is A": [
        Account(changed=[name_change("A", "B"), name_change("B", "A")]),
        Account(changed=[name_change("C", "D")]),
        Account(changed=[name_change("D", "C")]),
    ],
    "changed: |A is |B": [
        Account(changed=[name_change("|A", "|B")]),
        Account(["|B|child"]),
        Account(deleted=["|B|child"]),
    ],
    "created: |B|child. changed: |A is |B": [
        Account(changed=[name_change("|A", "|C")]),
        Account(["|C|child"]),
        Account(changed=[name_change("|C", "|B")]),
    ],
    "deleted: A. created: A": [Account(deleted=["A"]), Account(["A"])],
}


PATHS: dict[str, tuple[dict[int, str], dict[int, str]]] = {
    "": ({1: "/a", 2: "/a/b"}, {1: "/a", 2: "/a/b"}),
    "deleted: /a/b (and 1 below). created: /c (and 2 below)": (
        {1: "/a", 2: "/a/b", 3: "/a/b/d"},
        {1: "/a", 4: "/c", 5: "/c/e", 6: "/c/e/f"},
    ),
    "deleted: /a. created: /a": ({1: "/a"}, {2: "/a"}),
    "changed: /a is /c": ({1: "/a", 2: "/a/b", 3: "/ab"}, {1: "/c", 2: "/c/b", 3: "/ab"}),
    "changed: /a is /c; /a/b is /c/d": ({1: "/a", 2: "/a/b"}, {1: "/c", 2: "/c/d"}),
    "created: /n. changed: /a is /n/a": ({1: "/a", 2: "/a/b"}, {1: "/n/a", 2: "/n/a/b", 3: "/n"}),
    "changed: /a is /b; /b is /a": ({1: "/a", 2: "/b"}, {1: "/b", 2: "/a"}),
}


@pytest.mark.parametrize("now", PATHS)
def test_of_paths_only_the_topmost_items_that_are_others_are_told(now: str) -> None:
    assert told(path_changes(*PATHS[now], "/")) == now


@pytest.mark.parametrize("now", STEPS)
def test_of_several_steps_what_is_different_after_all_of_them_is_told(now: str) -> None:
    assert told(joined(STEPS[now])) == now


def test_why_more_is_told_than_was_edited_is_said() -> None:
    """An item with two values, and items that moved with what is above them."""
    moved = [value_change(f"Car{number}", "at", 0, 1) for number in range(30)]
    turned = [value_change(f"Car{number}", "rotation", 0, 1) for number in range(10)]
    wheels = [follow_change(f"Wheel{number}", f"Car{number}") for number in range(12)]

    assert told(Account(changed=[*moved, *turned])).startswith(
        "changed: 40 values and names of 30 items, such as Car0, at: 0 -> 1; "
    )
    assert told(Account(changed=[*moved, *wheels])).startswith(
        "changed: 42, 12 of them only with what is above them, such as Car0, at: 0 -> 1; "
    )
    assert told(Account(changed=wheels[:2])) == "changed: Wheel0, with Car0; Wheel1, with Car1"


def test_of_a_value_with_parts_the_part_that_moved_is_told() -> None:
    before = {"Base": [0, 0, 0], "Angle": 0.0}

    assert value_change("Box", "Placement", before, {**before, "Angle": 90.0}) == (
        "Box, Placement.Angle: 0 -> 90"
    )


def test_a_secret_is_taken_out_of_a_value_before_it_is_cut() -> None:
    key = Secret("sk-ant-" + "Q" * 66)

    assert value_change("Sky", "key", "", key.reveal()) == f'Sky, key: "" -> "{HIDDEN}"'


@pytest.mark.parametrize("count", [1, 20, 21, 5000])
@pytest.mark.parametrize("length", [3, 60, 900])
def test_it_is_short_however_much_there_is_and_tells_how_many(count: int, length: int) -> None:
    names = [f"{number}".rjust(length, "é") for number in range(count)]

    text = told(Account(created=names, changed=names, deleted=names, broken=names))

    assert len(text.encode()) <= 480
    first = text.partition(". ")[0]
    if count > 20:
        assert first.startswith(f"deleted: {count}, such as ")
    else:
        shown = first.removeprefix("deleted: ").split("; ")
        more = [word for word in shown if word.startswith("and ")]
        hidden = sum(int(word.split()[1]) for word in more)
        assert len(shown) - len(more) + hidden == count
