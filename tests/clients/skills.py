"""The skills that every client calls: real questions, and a note of how each call ended.

Main thread, but for `seen`, which says how another call ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from dcc_bridge import confirm_sync, elicit_form_sync, elicit_url_sync, skill
from tests.stand_ins import FakeHost

PAGE: Final = "https://tracker.example/approve"
AGE: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"age": {"type": "integer", "title": "Age", "minimum": 1}},
    "required": ["age"],
}


def word(name: str) -> dict[str, Any]:
    """Make a form of one text."""
    fields = {name: {"type": "string", "title": name.title()}}
    return {"type": "object", "properties": fields, "required": [name]}


def skills(host: FakeHost, ended: dict[str, str]) -> list[Callable[..., Any]]:
    """Make the skills.

    Args:
        host: Whose items are deleted.
        ended: Where each of them notes, by its case, what became of its question.
    """

    @skill(risk="destructive", confirms=True)
    def delete(case: str) -> str:
        """Delete two cameras, if the person agrees."""
        with _noting(ended, case) as note:
            cameras = confirm_sync("Delete these cameras?", items=["cam1", "cam2"], verb="Delete")
            note("agreed")
        for camera in cameras:
            host.items.remove(camera)
        return f"{len(cameras)} deleted"

    @skill(risk="read")
    def two(case: str) -> str:
        """Ask twice."""
        name = elicit_form_sync("Who are you?", word("name")).data
        color = elicit_form_sync("Which color do you like?", word("color")).data
        return f"{name['name']} likes {color['color']}" if name and color else "no answer"

    @skill(risk="read")
    def age(case: str) -> str:
        """Ask for a number."""
        with _noting(ended, case) as note:
            answer = elicit_form_sync("How old are you?", AGE)
            note(str(answer.message or answer.action))
        return f"{answer.action} {answer.data} by {answer.answered_by}"

    @skill(risk="read")
    def unasked(case: str) -> str:
        """Ask for a number, or take one that was declared."""
        answer = elicit_form_sync("How old are you?", AGE, fallback_values={"age": 7})
        return f"{answer.message} {answer.data} by {answer.answered_by}"

    @skill(risk="read")
    def page(case: str) -> str:
        """Send the person to a page."""
        answer = elicit_url_sync("Approve it, please.", PAGE)
        return f"{answer.action} {answer.message}"

    @skill(risk="read", thread="any")
    def seen(case: str) -> str:
        """Say what became of another call's question."""
        return ended.get(case, "open")

    return [delete, two, age, unasked, page, seen]


@contextmanager
def _noting(ended: dict[str, str], case: str) -> Iterator[Callable[[str], None]]:
    """Note how a question ended, and the exception that ended it instead."""
    try:
        yield lambda how: ended.__setitem__(case, how)
    except BaseException as error:
        ended[case] = type(error).__name__
        raise
