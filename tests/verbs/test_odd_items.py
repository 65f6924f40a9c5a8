"""What an item that cannot be read costs: its own facts, each with a reason, and no answer."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any, Final

import pytest

from dcc_bridge.consent.call import Call
from dcc_bridge.errors import Stopped
from dcc_bridge.skills.call_history import outcome_of_failure
from dcc_bridge.verbs import tools, unreadable
from dcc_bridge.verbs.operations import Bounds, HostOperations
from tests.verbs.memory import node
from tests.verbs.reading_scene import ReadingOperations

ODD: Final = "room/Odd"
_METHODS: Final = ("kind", "name", "parent", "look_into", "bounds", "placement", "value")
_ERRORS: Final[dict[str, tuple[Exception, str]]] = {
    "a mistake": (AttributeError("'NoneType' object has no attribute 'x'"), "failed on it"),
    "a key": (KeyError("Type"), "failed on it"),
    "an end": (StopIteration(), "failed on it"),
    "a full disk": (OSError(28, "No space left on device"), "No space left on device"),
    "a file": (PermissionError(13, "Permission denied", "/x.usd"), "Permission denied: /x.usd"),
    "no UTF-8": (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), "not UTF-8"),
    "a cycle": (RecursionError("maximum recursion depth exceeded"), "leads back to itself"),
    "a number": (OverflowError("cannot convert float infinity to integer"), "too large"),
    "its own words": (RuntimeError("The shape is broken."), "The shape is broken"),
    "words of FreeCAD": (RuntimeError({"sErrMsg": "No such thing."}), "No such thing"),
    "words of USD": (RuntimeError("\n\tError in 'X' at line 1 : 'Bad op here.'\n"), "Bad op here"),
}
_CALLS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "summary": ("summary", {}),
    "list": ("list_items", {"name": "room/*", "fields": ["name", "parent", "size", "uses", "at"]}),
    "by type": ("list_items", {"type": "mesh", "where": {"faces": ">0"}, "sort": "-height"}),
    "inspect": ("inspect", {"items": ["room/Table", ODD]}),
    "check": ("check", {}),
}


class _OddOperations(ReadingOperations):
    """A scene in which one method raises an error for one item."""

    fails: tuple[str, Exception] = ("", ValueError())

    def __getattribute__(self, method: str) -> Any:
        found = super().__getattribute__(method)
        fails, error = super().__getattribute__("fails")
        if method != fails:
            return found

        def fail(item: str, *more: Any) -> Any:
            if item == ODD:
                raise error
            return found(item, *more)

        return fail


def scene(method: str, error: Exception) -> _OddOperations:
    """A table, and an item for which a method raises an error."""
    parts = {"counts": {"faces": 6}, "uses": ["Wood"]}
    operations = _OddOperations(
        {
            "room": node("Group", values={}),
            "room/Table": node("Mesh", values={"height": 0.75}, half=(1, 1, 1), parts=parts),
            ODD: node("Mesh", values={"height": 0.5}, half=(1, 1, 1), parts=parts),
        }
    )
    operations.fails = (method, error)
    return operations


def verb(operations: HostOperations, name: str) -> Callable[..., Any]:
    return next(tool.fn for tool in tools(operations) if tool.name == name)


@pytest.mark.parametrize("name", _CALLS)
@pytest.mark.parametrize("method", _METHODS)
@pytest.mark.parametrize("kind", _ERRORS)
def test_what_cannot_be_read_stands_beside_the_rest_with_its_reason(
    kind: str, method: str, name: str
) -> None:
    error, why = _ERRORS[kind]
    called, arguments = _CALLS[name]

    answer = verb(scene(method, error), called)(**arguments)

    text = json.dumps(answer, allow_nan=False)
    assert "object has no attribute" not in text
    assert "Mesh" in text or "Table" in text or answer["looked_at"] == 3
    unread = "unreadable" in text or '"error"' in text
    assert not unread or why in text
    if (name, method) in _TOLD:
        assert unread, answer


_TOLD: Final = {
    *(("summary", "kind"), ("check", "name"), ("by type", "kind"), ("by type", "look_into")),
    *(("list", method) for method in ("name", "parent", "bounds", "look_into")),
    *(("inspect", method) for method in ("kind", "parent", "bounds", "look_into")),
}
"""The calls that read what a method tells."""


@pytest.mark.parametrize("name", _CALLS)
def test_a_call_that_was_stopped_ends(name: str) -> None:
    called, arguments = _CALLS[name]
    operations = scene("", ValueError())
    read = verb(operations, called)
    for method in ("kind", "name"):
        operations.fails = (method, Stopped("The call"))
        if (name, method) in _TOLD:
            with pytest.raises(Stopped):
                read(**arguments)


@pytest.mark.parametrize(
    ("box", "why"),
    [
        (((float("nan"), 0, 0), (1, 1, 1)), "nan or inf"),
        (((0, 0, 0), (float("inf"), 1, 1)), "nan or inf"),
        (((-2e100, 0, 0), (2e100, 1, 1)), "endless"),
    ],
)
def test_a_box_that_cannot_be_computed_with_leaves_the_group_that_of_the_others(
    monkeypatch: pytest.MonkeyPatch, box: Bounds, why: str
) -> None:
    operations = scene("", ValueError())
    sound = ((-1.0, -1.0, -1.0), (1.0, 1.0, 1.0))
    boxes = {"room": box, "room/Table": sound, ODD: box}
    monkeypatch.setattr(operations, "bounds", boxes.get)

    answer = verb(operations, "inspect")(items=["room", ODD], parts=["bounds"])

    room, odd = answer["items"]
    assert room["bounds"] == [[-1, -1, -1], [1, 1, 1]]
    assert why in room["unreadable"][ODD]
    assert "bounds" not in odd
    assert why in odd["unreadable"]["bounds"]


def test_an_item_that_spoils_its_own_box_is_told_beside_the_box_of_those_below_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    operations = scene("", ValueError())
    sound = ((-1.0, -1.0, -1.0), (1.0, 1.0, 1.0))
    spoiled = ((float("nan"), 0.0, 0.0), (1.0, 1.0, 1.0))
    boxes = {"room": spoiled, "room/Table": sound, ODD: sound}
    monkeypatch.setattr(operations, "bounds", boxes.get)

    (room,) = verb(operations, "inspect")(items=["room"], parts=["bounds"])["items"]

    assert room["bounds"] == [[-1, -1, -1], [1, 1, 1]]
    assert "nan or inf" in room["unreadable"]["room"]


def test_an_edit_that_the_application_fails_on_is_refused_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*arguments: Any) -> None:
        raise AttributeError("'NoneType' object has no attribute 'x'")

    told = unreadable.telling(fail)

    with pytest.raises(ValueError, match="Code of the application or of an add-on failed on it"):
        told()


def logged(verb: Callable[..., Any], caplog: pytest.LogCaptureFixture) -> str:
    """Return what is logged of a call whose verb fails."""
    caplog.set_level(logging.INFO, logger="dcc_bridge")
    with pytest.raises(ValueError) as caught:
        unreadable.telling(verb)()
    outcome_of_failure(Call("look", "Look"), caught.value)
    return caplog.text


def test_a_mistake_of_the_caller_is_logged_in_a_line(caplog: pytest.LogCaptureFixture) -> None:
    def find() -> None:
        raise LookupError("There is no item 'Tabel'.")

    def look() -> None:
        try:
            find()
        except LookupError as error:
            raise ValueError(f"items[0]: {error}") from error

    (line,) = logged(look, caplog).splitlines()
    assert line.startswith("INFO")
    assert line.endswith("look failed: items[0]: There is no item 'Tabel'.")


@pytest.mark.parametrize("error", [TypeError("not callable"), ValueError("invalid literal for x")])
def test_a_fault_of_ours_keeps_its_traceback_in_the_log_whatever_is_said_of_it(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    def compute() -> None:
        raise error

    def look() -> None:
        try:
            compute()
        except Exception as failure:
            raise ValueError(f"step 1: {failure}") from failure

    text = logged(look, caplog)

    assert text.startswith("WARNING")
    assert "in compute" in text


def test_of_many_the_first_are_told_and_the_rest_is_counted() -> None:
    found = {f"Item{number}": "it is gone" for number in range(30)}

    answer = unreadable.beside({}, found)

    assert len(answer["unreadable"]) == 21
    assert answer["unreadable"]["..."] == "10 more"
