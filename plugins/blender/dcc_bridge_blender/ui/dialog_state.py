"""The state of a question's dialog: its view, and what the person has filled in. Main thread."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Final

import bpy

from dcc_bridge.spi.drawing import (
    HandOver,
    InvalidAnswer,
    PresenterEvent,
    Question,
    QuestionView,
    Reply,
    fewer,
    safe_line,
    word_to_type,
)

from .fields import Fields
from .items import Items
from .pages import Pages
from .pictures import Pictures
from .values import Values

_COLUMN_PX: Final = 540  # the width of a dialog with one column
_DETAILS_COLUMNS: Final = 1.4  # the width of a dialog with a text, in columns


class DialogState:
    """The contents of a question's dialog: what it shows, and what the person has filled in so far.

    The dialog and the sidebar draw the same state.

    Attributes:
        question: The question.
        view: The words of the question.
        values: The values that the person fills in.
        fields: The fields of the form.
        items: The items that may be unticked; None where there are none.
        pictures: The pictures of what the question is about.
        pages: The text to read, in pages; None where there is none.
        columns: The width of the dialog, in columns.
        chosen: The answer that Enter gives. At first it loses nothing.
        shows_why: Whether there is a field for the reason of a *Decline*.
        wrong: What was wrong with the last answer, or why the question is asked again; or "".
        place: Which of several questions this is, such as " · 2 of 3"; or "".
    """

    def __init__(self, question: Question, view: QuestionView, touched: Callable[[], None]) -> None:
        """Begin with nothing filled in.

        Args:
            question: The question.
            view: Its words.
            touched: Called when a value or a tick has changed.
        """
        self.question = question
        self.view = view
        self.values = Values()
        self.fields = Fields(view.fields)
        self.columns = float(self.fields.columns)
        self.items: Items | None = None
        self.chosen = "accept"
        pictures: tuple[tuple[bytes, str], ...] = ()
        if question.consent is not None:
            self.chosen = "cancel"
            pictures = question.consent.pictures
            if question.items:
                self.items = Items(question.consent, touched)
        self.pictures = Pictures(pictures)
        self.pages: Pages | None = None
        if view.details:
            self.pages = Pages(view.details)
            self.columns = max(self.columns, _DETAILS_COLUMNS)
        self.shows_why = False
        self.wrong = view.reason
        self.place = ""
        self._touched = touched
        self._initial: dict[str, Any] | None = None  # the fields as they were filled in at first

    def prepare(self) -> None:
        """Make the values and the rows of the items, and load the pictures, unless they are there.

        Blender drops values and rows where a file is opened.
        """
        if not self.values.is_made:
            self.values.make(self._properties())
            self._initial = self.fields.content(self.values.group)
        self.values.put_back()
        if self.items is not None:
            self.items.fill()
        self.pictures.load()

    def close(self) -> None:
        """Forget what is only drawn for this question."""
        self.pictures.close()
        self.values.drop()

    def fit(self, room: float) -> int:
        """Return the width of the dialog in pixels: in one column if the room is too narrow.

        Args:
            room: The pixels that the window has for the dialog.
        """
        if _COLUMN_PX * self.columns > room:
            self.fields.columns = 1
            self.columns = min(self.columns, room / _COLUMN_PX)
        return int(_COLUMN_PX * self.columns)

    @property
    def typed(self) -> dict[str, Any] | None:
        """The values of the fields; None where they are what was filled in at first."""
        if not self.values.kept:
            return None
        content = self.fields.content(SimpleNamespace(**self.values.kept))
        if content == self._initial:
            return None
        return content

    @property
    def word(self) -> str:
        """The word to type before an edit that cannot be undone, or ""."""
        if not self.view.word or self.items is None:
            return self.view.word
        return word_to_type(self.items.kept(), self.view.verb)

    @property
    def verb(self) -> str:
        """The caption that agrees; it says to how many of the items."""
        if self.items is None:
            return self.view.verb
        return fewer(self.view.verb, len(self.items.kept()), self.items.total)

    def event(self, answer: str) -> PresenterEvent:
        """Return the event for an answer.

        Args:
            answer: The name of the button.

        Raises:
            InvalidAnswer: The person accepts, and what they filled in is not valid.
        """
        values = self.values.group
        match answer:
            case "cancel":
                return Reply("cancel")
            case "decline":
                return Reply("decline", reason=values.reason.strip() or None)
            case "mute":
                return Reply("decline", mute=True)
            case "hand_over":
                return HandOver()
        return self._acceptance(values)

    def _acceptance(self, values: Any) -> Reply:
        word = self.word
        if self.items is not None and not self.items.kept():
            raise InvalidAnswer("Tick at least one of the items, or choose another answer.")
        if word and values.word.strip() != word:
            raise InvalidAnswer(f"This cannot be undone: type {safe_line(word)} to continue.")
        confirmation = self.question.confirmation
        if confirmation:
            content: dict[str, Any] = {confirmation.name: True}
        else:
            content = self.fields.content(values)
            if self.fields.check(values):
                raise InvalidAnswer("Check the marked fields.")
        if self.question.form is not None:
            self.question.form.check(content)
        left_out: tuple[str, ...] = ()
        if self.items is not None:
            left_out = self.items.left_out()
        return Reply("accept", content, remember=values.remember, left_out=left_out)

    def _properties(self) -> dict[str, Any]:
        """Return the properties of the fields, and of what goes with an answer."""

        def touch(_: Any, __: Any) -> None:
            self._touched()

        options: dict[str, Any] = {"options": {"SKIP_SAVE"}, "update": touch}
        return {
            **self.fields.properties(touch),
            "word": bpy.props.StringProperty(**options),
            "remember": bpy.props.BoolProperty(**options),
            "reason": bpy.props.StringProperty(**options),
            "about": bpy.props.BoolProperty(
                name="About", description="Show more about who asks", **options
            ),
        }
