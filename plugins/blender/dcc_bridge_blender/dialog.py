"""A question as a dialog of Blender's own: an operator that is made for it.

Its header is ours. Nothing is chosen at first where something may be lost, so Enter and OK alone
agree to nothing: they show the dialog again. Nor does what is pressed in its first moment: Blender
gives each choice a letter, and that was meant for something else. Esc, and a click beside it,
cancel. Main thread.
"""

from __future__ import annotations

import textwrap
import time
from collections.abc import Callable
from typing import Any, ClassVar, Final

import bpy

from dcc_bridge.elicitation.question import HandOver, PresenterEvent, Question, Reply
from dcc_bridge.elicitation.text import safe_line
from dcc_bridge.elicitation.validation import InvalidAnswer
from dcc_bridge.elicitation.view import ArgumentView, QuestionView, argument_views
from dcc_bridge.hosts.blender.blender_loop import redraw

from .fields import Fields

WIDTH: Final = 520
_COLUMNS: Final = 84
"""Characters of a line in it."""
_NAMES: Final = 0.3
"""The part of a row of arguments that their names have."""
_COLUMNS_OF_VALUE: Final = 54
_MOST_LINES: Final = 24
_MOST_ITEMS: Final = 20
_CHOOSE: Final = "Choose below what you want, then press OK."
_ARM: Final = 0.4
"""Seconds after which a dialog takes an answer."""
_AGAIN: Final = 1.0
"""Seconds until a dialog is opened again: Blender takes it away as long as its window is made."""
_MUTES: Final = "Decline this, and every question it asks here in that time"


class OperatorDialog:
    """A question's dialog; it opens again where an answer does not fit.

    Attributes:
        question: What is asked.
        answered: Called with the answer.
        wrong: What was wrong with the last answer, or why it is asked again; or "".
        is_open: It was opened, and neither answered nor dismissed.
    """

    _operators: ClassVar[list[type[bpy.types.Operator]]] = []
    _running: ClassVar[list[bpy.types.Operator]] = []

    def __init__(
        self, question: Question, view: QuestionView, answered: Callable[[PresenterEvent], None]
    ) -> None:
        """Open nothing yet."""
        self.question = question
        self.answered = answered
        self.wrong = view.reason
        self.is_open = False
        self._view = view
        self._fields = Fields(view.fields)
        self._typed: dict[str, Any] = {}
        self._is_touched = False
        self._begun = time.monotonic()
        self._opened = 0.0

    @property
    def deadline(self) -> float:
        """When it ends: later once the person has begun to answer."""
        offers = self.question.offers
        return self._begun + (
            offers.latest if self._is_touched else min(offers.soon, offers.latest)
        )

    @property
    def is_shown(self) -> bool:
        """Whether it can be seen; what pops up goes without a word with another file."""
        try:
            return self.is_open and bool(self._running and self._running[0].as_pointer())
        except ReferenceError:
            return False

    def may_open(self, now: float) -> bool:
        """Return whether it is not shown, and may be opened again."""
        return not self.is_shown and now >= self._opened + _AGAIN

    def open(self, title: str) -> None:
        """Open it. A window has to be the current one."""
        self.forget()
        operator = self._operator(title)
        bpy.utils.register_class(operator)
        self._operators.append(operator)
        self._running.clear()
        self.is_open = True
        self._opened = time.monotonic()
        operators: Any = bpy.ops
        operators.dcc_bridge.question("INVOKE_DEFAULT", **self._typed)
        redraw()  # it is drawn with the next event only

    def dismiss(self) -> None:
        """Close it: putting the screen in its place again closes what pops up."""
        was_open, self.is_open = self.is_open, False
        windows = bpy.context.window_manager
        for window in windows.windows if was_open and windows is not None else ():
            with bpy.context.temp_override(window=window):
                window.screen = window.screen

    @classmethod
    def forget(cls) -> None:
        """Unregister the operator of the last question, which must not be running."""
        while cls._operators:
            bpy.utils.unregister_class(cls._operators.pop())

    def _operator(self, title: str) -> type[bpy.types.Operator]:
        dialog, running = self, self._running

        class Ask(bpy.types.Operator):
            """Answers an agent's question."""

            bl_idname = "dcc_bridge.question"
            bl_label = safe_line(title)
            bl_options = {"INTERNAL"}  # noqa: RUF012 - Blender's own shape
            __annotations__ = dialog._properties()

            def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Any:
                running[:] = [self]
                windows: Any = context.window_manager
                return windows.invoke_props_dialog(self, width=WIDTH)

            def draw(self, context: bpy.types.Context) -> None:
                dialog._draw(self, self.layout)

            def execute(self, context: bpy.types.Context) -> Any:
                return dialog._take(self)

            def cancel(self, context: bpy.types.Context) -> None:
                dialog._end(Reply("cancel"))

        return Ask

    def _properties(self) -> dict[str, Any]:
        """Return the operator's properties: the fields, the choice, and what goes with it."""

        def touch(_: Any, __: Any) -> None:
            self._is_touched = True

        def choose(operator: Any, _: Any) -> None:
            self._is_touched = True
            if not self._is_armed and "answer" in operator:
                del operator["answer"]

        view = self._view
        choices = [("accept", view.verb, ""), ("decline", "Decline", "")]
        choices += [("hand_over", view.offers.hand_over, "")] if view.offers.hand_over else []
        choices += [("mute", view.offers.mute, _MUTES)] if view.offers.mute else []
        more: dict[str, Any] = {"options": {"SKIP_SAVE"}, "update": touch}
        return {
            **self._fields.properties(touch),
            "answer": bpy.props.EnumProperty(
                items=choices,
                default=set() if self.question.consent else {"accept"},
                options={"ENUM_FLAG", "SKIP_SAVE"},
                update=choose,
            ),
            "word": bpy.props.StringProperty(**more),
            "remember": bpy.props.BoolProperty(**more),
        }

    @property
    def _is_armed(self) -> bool:
        return time.monotonic() > self._opened + _ARM

    # ---- the answer

    def _take(self, operator: Any) -> set[str]:
        # The choice is made anew each time, but what stands in the fields is drawn again.
        names = [name for name in type(operator).__annotations__ if name != "answer"]
        self._typed = {name: getattr(operator, name) for name in names}
        try:
            return self._end(self._answer(operator))
        except InvalidAnswer as error:
            self.is_open, self.wrong = False, str(error)
            return {"FINISHED"}

    def _end(self, event: PresenterEvent) -> set[str]:
        if self.is_open:
            self.is_open = False
            self.answered(event)
        return {"FINISHED"}

    def _answer(self, operator: Any) -> PresenterEvent:
        """Return what the person chose.

        Raises:
            InvalidAnswer: They chose nothing, or what they filled in does not fit.
        """
        chosen = set(operator.answer)
        if len(chosen) != 1 or not self._is_armed:
            raise InvalidAnswer(_CHOOSE)
        match chosen.pop():
            case "decline":
                return Reply("decline")
            case "mute":
                return Reply("decline", mute=True)
            case "hand_over":
                return HandOver()
        word, confirmation = self._view.word, self.question.confirmation
        if word and operator.word.strip() != word:
            raise InvalidAnswer(f"This cannot be undone: type {safe_line(word)} to go on.")
        content = {confirmation.name: True} if confirmation else self._fields.content(operator)
        if self.question.form is not None:
            self.question.form.check(content)
        return Reply("accept", content, remember=operator.remember)

    # ---- how it looks

    def _draw(self, operator: Any, layout: Any) -> None:
        view = self._view
        column = layout.box().column(align=True)
        for caption, text in view.header:
            icon = "NONE" if caption else "BLENDER"
            line = f"{caption}: {text}" if caption else text
            column.label(text=line, icon=icon, translate=False)
        _say(layout, self.wrong, icon="ERROR")
        for text in (view.title, view.message, view.agreement, view.explanation):
            _say(layout, text)
        if self.question.arguments:
            _draw_arguments(layout.box(), argument_views(self.question.arguments))
        if self.question.consent is not None and self.question.items:
            self._draw_items(layout.box(), self.question.consent.kinds)
        self._fields.draw(operator, layout)
        _say(layout, view.undo, icon="ERROR" if view.word else "NONE")
        if view.word:
            layout.prop(operator, "word", text=f"Type {safe_line(view.word, 40)}")
        if view.offers.remember:
            layout.prop(operator, "remember", text=view.offers.remember)
        layout.separator()
        layout.column().prop(operator, "answer", expand=True)
        left = self.deadline - time.monotonic()
        until = time.strftime("%H:%M:%S", time.localtime(time.time() + left))
        layout.label(text=f"Waits until {until}. Esc gives no answer.", translate=False)

    def _draw_items(self, box: Any, kinds: tuple[str, ...]) -> None:
        items = self.question.items
        box.label(text=self._view.counts, translate=False)
        shown = list(zip(items, kinds or ("",) * len(items), strict=False))[:_MOST_ITEMS]
        columns = 1 if len(shown) <= _MOST_ITEMS // 2 else 2
        grid = box.grid_flow(columns=columns, even_columns=True, align=True)
        for item, kind in shown:
            grid.label(text=safe_line(item, 40), icon=_icon(kind), translate=False)
        if len(items) > len(shown):
            box.label(text=f"… and {len(items) - len(shown):,} more", translate=False)


def _draw_arguments(box: Any, arguments: tuple[ArgumentView, ...]) -> None:
    """Draw a row for each; a value stays in its column, however long it is."""
    for number, argument in enumerate(arguments):
        if number:
            box.separator(factor=0.2)
        row = box.split(factor=_NAMES)
        row.label(text=argument.name, translate=False)
        value = " ".join(filter(None, (argument.value, argument.rest)))
        _say(row, value, columns=_COLUMNS_OF_VALUE)


def _say(layout: Any, text: str, icon: str = "NONE", columns: int = _COLUMNS) -> None:
    """Draw a text, if there is one; Blender does not break lines by itself."""
    if not text:
        return
    lines = [part for line in text.split("\n") for part in textwrap.wrap(line, columns) or [""]]
    if len(lines) > _MOST_LINES:
        more = len(lines) - _MOST_LINES
        lines = [*lines[:_MOST_LINES], f"… {more} more lines are not shown here"]
    column = layout.column(align=True)
    for number, line in enumerate(lines):
        column.label(text=line, icon=icon if number == 0 else "NONE", translate=False)


def _icon(kind: str) -> str:
    layout: Any = bpy.types.UILayout
    known = layout.bl_rna.functions["label"].parameters["icon"]
    icon = f"OUTLINER_OB_{kind}"
    return icon if icon in known.enum_items else "OBJECT_DATA"
