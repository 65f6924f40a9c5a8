"""A question as a dialog of Blender's own: an operator that is made for it.

It opens once the person goes to it. Its header is ours. A click on an answer gives it. A letter, of
which Blender gives each button one, only chooses an answer, and Enter gives the one that is chosen:
at first none that loses something. What comes in the dialog's first moment was meant for something
else. Esc, and a click beside it, cancel. Main thread.

Until 4.0 Blender puts an OK below every dialog: our own buttons stand above it, and it is drawn as
flat as Blender lets us. From 4.1 on its own two buttons say what we want.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, ClassVar, Final

import bpy

from dcc_bridge.spi.drawing import (
    ArgumentView,
    Consent,
    HandOver,
    InvalidAnswer,
    PresenterEvent,
    Question,
    QuestionView,
    Reply,
    argument_views,
    item_counts,
    safe_line,
)

from ..loop import redraw
from .drawing import say, scaled, stir, wrapped
from .fields import NAMES, WIDE_NAME, WIDE_VALUE, Fields
from .pages import Pages

WIDTH: Final = 540
_COLUMNS: Final = 84  # characters of a line in it
_INSET: Final = 2  # characters fewer in a box
_TICK: Final = 4  # characters fewer beside what can be ticked
_LINE: Final = 21
_FIXED_LINES: Final = 19
"""Those of the header, the answers and what stands between, which have to be seen."""
_MOST_LINES: Final = 24
_ARM: Final = 0.5  # seconds after which a dialog takes an answer
_AGAIN: Final = 1.0
"""Seconds until a dialog is opened again: Blender takes it away as long as its window is made."""
_SETTLES: Final = 0.1
_ENTER: Final = ("RET", "NUMPAD_ENTER")
_TIPS: Final = {"mute": "Decline this question and all its other questions for 10 minutes"}
_CHOOSE: Final = "Press one of the answers below."
_NO_ANSWER: Final = "The OK button of Blender below does not answer."


class OperatorDialog:
    """A question's dialog; it opens again where an answer does not fit."""

    _operators: ClassVar[list[type[bpy.types.Operator]]] = []
    _running: ClassVar[list[bpy.types.Operator]] = []

    def __init__(
        self, question: Question, view: QuestionView, answered: Callable[[PresenterEvent], None]
    ) -> None:
        """Open nothing yet."""
        self.question = question  # what is asked
        self.answered = answered  # called with the answer
        # What was wrong with the last answer, or why it is asked again; or "".
        self.wrong = view.reason
        self.is_open = False  # it was opened, and neither answered nor dismissed
        self.is_called = False  # the person goes to it: it may be opened
        self._view = view
        self._fields = Fields(view.fields)
        self._pages = Pages(view.details) if view.details else None
        self._columns = max(self._fields.columns, 1.4 if view.details else 1)
        self._typed: dict[str, Any] = {}
        self._initial: dict[str, Any] | None = None  # what was filled in at first
        self._is_touched = False
        self.place = ""  # which one of several questions it is
        self._begun = 0.0
        self._made = time.monotonic()
        self._opened = self._changed = 0.0
        self._closes = False  # by itself: Blender's own button was pressed
        # What Enter gives.
        self._chosen = "accept" if question.consent is None else "cancel"

    @property
    def deadline(self) -> float:
        """When it ends: the time begins with its notice, and there is more for who answers."""
        offers = self.question.offers
        latest = self._made + offers.latest
        counts = self._begun > 0 and not self._is_touched
        return min(self._begun + offers.soon, latest) if counts else latest

    @property
    def is_shown(self) -> bool:
        """Whether it can be seen; what pops up goes without a word with another file."""
        try:
            return self.is_open and bool(self._running and self._running[0].as_pointer())
        except ReferenceError:
            return False

    @property
    def typed(self) -> dict[str, Any] | None:
        """What is filled in, or None where that is only what was there at first."""
        content = self._fields.content(SimpleNamespace(**self._typed)) if self._typed else None
        return content if content != self._initial else None

    def begin(self, now: float) -> None:
        """Let the time begin in which it waits: the person can see that it is there."""
        self._begun = self._begun or now

    def may_open(self, now: float) -> bool:
        """Return whether the person goes to it, and it is not shown."""
        return self.is_called and not self.is_shown and now >= self._opened + _AGAIN

    def refresh(self, now: float) -> None:
        """Have a change of a field drawn, which Blender else does when the mouse moves."""
        if self._changed and now > self._changed + _SETTLES:
            self._changed = 0.0
            redraw()

    def open(self, title: str) -> None:
        """Open it. A window has to be the current one."""
        self.forget()
        for operator in self._make_operators(title):
            bpy.utils.register_class(operator)
            self._operators.append(operator)
        self._running.clear()
        self.is_called = False
        self.is_open = True
        self._opened = time.monotonic()
        operators: Any = bpy.ops
        operators.dcc_bridge.question("INVOKE_DEFAULT", **self._typed)
        redraw()  # it is drawn with the next event only

    def dismiss(self) -> None:
        """Close it: putting the screen in its place again closes what pops up."""
        self.keep()
        was_open, self.is_open = self.is_open, False
        windows = bpy.context.window_manager
        for window in windows.windows if was_open and windows is not None else ():
            with bpy.context.temp_override(window=window):
                window.screen = window.screen

    @classmethod
    def forget(cls) -> None:
        """Unregister the operators of the last question, which must not be running."""
        while cls._operators:
            bpy.utils.unregister_class(cls._operators.pop())

    def _make_operators(self, title: str) -> tuple[type[bpy.types.Operator], ...]:
        dialog, running = self, self._running

        class Ask(bpy.types.Operator):
            """Answers an agent's question."""

            bl_idname = "dcc_bridge.question"
            bl_label = safe_line(title)
            bl_options = {"INTERNAL"}  # noqa: RUF012 - Blender's own shape
            __annotations__ = dialog._properties()

            def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Any:
                running[:] = [self]
                if dialog._initial is None:
                    dialog._initial = dialog._fields.content(self)
                windows: Any = context.window_manager
                width = int(WIDTH * dialog._columns)
                return windows.invoke_props_dialog(self, width=width, **dialog._native)

            def draw(self, context: bpy.types.Context) -> None:
                dialog._draw(self, self.layout, context)

            def execute(self, context: bpy.types.Context) -> Any:
                return dialog._take_ok()

            def cancel(self, context: bpy.types.Context) -> None:
                dialog._cancel()

        class Press(bpy.types.Operator):
            """Gives an answer to an agent's question."""

            bl_idname = "dcc_bridge.press"
            bl_label = "Answer"
            bl_description = "Give this answer"  # Blender puts a full stop after it
            bl_options = {"INTERNAL"}  # noqa: RUF012 - Blender's own shape
            __annotations__ = {"answer": bpy.props.StringProperty()}

            @classmethod
            def description(cls, context: bpy.types.Context, properties: Any) -> str:
                return _TIPS.get(properties.answer, "")

            def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Any:
                pressed: Any = self
                dialog._press(pressed.answer, event.type)
                redraw()  # else the dialog shows what has changed when the mouse moves
                stir(context, event)
                return {"FINISHED"}

        return Ask, Press

    def _properties(self) -> dict[str, Any]:
        """Return the operator's properties: the fields, and what goes with an answer."""

        def touch(_: Any, __: Any) -> None:
            self._is_touched, self._changed = True, time.monotonic()

        more: dict[str, Any] = {"options": {"SKIP_SAVE"}, "update": touch}
        return {
            **self._fields.properties(touch),
            "word": bpy.props.StringProperty(**more),
            "remember": bpy.props.BoolProperty(**more),
            "reason": bpy.props.StringProperty(**more),
        }

    # ---- the answer

    @property
    def _native(self) -> dict[str, Any]:
        """What Blender's own buttons say, where they can be told."""
        manager: Any = bpy.types.WindowManager
        if "confirm_text" not in manager.bl_rna.functions["invoke_props_dialog"].parameters:
            return {}
        return {"confirm_text": self._view.verb, "cancel_default": self._chosen != "accept"}

    def _take_ok(self) -> set[str]:
        """Take Blender's own button, which closes the dialog; a letter may have pressed it."""
        self._closes = True
        if self._native or self.question.consent is None:
            operators: Any = bpy.ops
            operators.dcc_bridge.press("INVOKE_DEFAULT", answer="accept")
        else:
            self.wrong = _CHOOSE
            self.keep()
        self.is_open = self._closes = False
        self.is_called = True  # it opens again, unless that was an answer
        return {"FINISHED"}

    def _press(self, answer: str, key: str) -> None:
        """Take an answer, given with the mouse or Enter, or chosen by its letter."""
        self.keep()
        self._is_touched = True
        if self._pages is not None and self._pages.turn(answer):
            self._opened = time.monotonic()  # the answers may have moved below the mouse
            return
        if time.monotonic() < self._opened + _ARM:
            if key != "LEFTMOUSE":
                self._opened = time.monotonic()  # none of the keys counts until there is a pause
            return
        if key != "LEFTMOUSE" and not (key in _ENTER and answer == self._chosen):
            self._chosen, self._opened = answer, time.monotonic()  # Enter is not typed at once
            return
        try:
            event = self._event(answer)
        except InvalidAnswer as error:
            self.wrong = str(error)
        else:
            self._end(event)

    def keep(self) -> None:
        """Keep what was typed, for when it is drawn again."""
        if not self.is_shown:
            return
        operator = self._running[0]
        self._typed = {name: getattr(operator, name) for name in type(operator).__annotations__}

    def _cancel(self) -> None:
        """Take that it was closed, unless by what was meant for something else."""
        if time.monotonic() < self._opened + _ARM:
            self.keep()
            self.is_open = False
        else:
            self._end(Reply("cancel"))

    def _end(self, event: PresenterEvent) -> None:
        if self.is_open:
            self.is_open = not self._closes
            self.dismiss()
            self.answered(event)

    def _event(self, answer: str) -> PresenterEvent:
        """Return what an answer says; InvalidAnswer where what they filled in does not fit."""
        operator: Any = self._running[0]
        match answer:
            case "cancel":
                return Reply("cancel")
            case "decline":
                return Reply("decline", reason=operator.reason.strip() or None)
            case "mute":
                return Reply("decline", mute=True)
            case "hand_over":
                return HandOver()
        word, confirmation = self._view.word, self.question.confirmation
        if word and operator.word.strip() != word:
            raise InvalidAnswer(f"This cannot be undone: type {safe_line(word)} to continue.")
        content = {confirmation.name: True} if confirmation else self._fields.content(operator)
        if not confirmation and self._fields.check(operator):
            raise InvalidAnswer("Check the marked fields above.")
        if self.question.form is not None:
            self.question.form.check(content)
        return Reply("accept", content, remember=operator.remember)

    # ---- how it looks

    def _draw(self, operator: Any, layout: Any, context: bpy.types.Context) -> None:
        view, question = self._view, self.question
        height = context.window.height if context.window is not None else 0
        lines = scaled(context, height) / _LINE - _FIXED_LINES  # for the message and the items
        most = max(3, min(_MOST_LINES, int(lines / 2)))
        wide = int(_COLUMNS * self._columns)
        column = layout.box().column(align=True)
        for caption, text in view.header:
            icon = "NONE" if caption else "BLENDER"
            line = f"{caption}: {text}" if caption else f"{text}{self.place}"
            column.label(text=line, icon=icon, translate=False)
        asked = layout.box().column(align=True)  # a text in a box is as bright as the items
        for text in (view.title, view.message, view.agreement, view.explanation):
            say(asked, text, wide - _INSET, most=most)
        lines -= len(wrapped(view.message, wide - _INSET)) - 1
        self._draw_subject(layout, int(lines), most, wide - _INSET)
        self._fields.draw(operator, layout, lines - bool(self.wrong))
        say(layout, view.undo, wide, icon="ERROR" if view.word else "NONE")
        if view.word:
            row = layout.row()
            row.activate_init = True  # the keys go there at first
            row.prop(operator, "word", text=f"Type {safe_line(view.word, 40)}")
        if view.offers.remember:
            _draw_box(operator, layout, view.offers.remember, wide - _TICK)
        layout.separator()
        say(layout, self.wrong, wide, icon="ERROR", red=True)
        self._draw_answers(operator, layout)
        left = self.deadline - time.monotonic()
        until = time.strftime("%H:%M:%S", time.localtime(time.time() + left))
        foot = f"Open until {until}. Esc closes it without an answer. Call {question.call.id}"
        layout.label(text=foot, translate=False)
        if not self._native:
            if self.question.consent is not None:
                layout.label(text=_NO_ANSWER, translate=False)
            layout.emboss = "NONE"  # what Blender adds to it below: its OK

    def _draw_subject(self, layout: Any, room: int, most: int, wide: int) -> None:
        """Draw what it is about: arguments, a text, items."""
        question = self.question
        if question.arguments:
            _draw_arguments(layout.box(), argument_views(question.arguments))
        if self._pages is not None:
            room -= len(question.arguments) + (most if question.items else 0)
            self._pages.draw(layout.box(), wide, room, self._draw_answer)
        if question.consent is not None and question.items:
            self._draw_items(layout.box(), question.consent, most)

    def _draw_answers(self, operator: Any, layout: Any) -> None:
        """Draw a button for each answer; the one that Enter gives is the blue one."""
        offers, is_guarded = self._view.offers, self.question.consent is not None
        row = layout.row()
        row.scale_y = 1.3
        if not self._native:
            self._draw_answer(row, "accept", self._view.verb, red=is_guarded)
        self._draw_answer(row, "decline", "Decline")
        if not self._native:
            self._draw_answer(row, "cancel", "Cancel")
        layout.prop(operator, "reason", text="Why, if you decline")
        row = layout.row()
        for answer, caption in (("hand_over", offers.hand_over), ("mute", offers.mute)):
            if caption:
                self._draw_answer(row, answer, caption)

    def _draw_answer(self, row: Any, answer: str, caption: str, *, red: bool = False) -> None:
        part = row.row()
        part.active_default = answer == self._chosen
        part.alert = red and not part.active_default
        part.operator("dcc_bridge.press", text=caption, translate=False).answer = answer

    def _draw_items(self, box: Any, consent: Consent, most: int) -> None:
        items, kinds = consent.shown_items, consent.kinds
        box.label(text=item_counts(consent), translate=False)
        columns = 1 if len(items) <= most // 2 else 2
        shown = list(zip(items, kinds or ("",) * len(items), strict=False))[: columns * most - 1]
        grid = box.grid_flow(columns=columns, even_columns=True, align=True)
        for item, kind in shown:
            grid.label(text=safe_line(item, 40), icon=_icon(kind), translate=False)
        if len(items) > len(shown):
            box.label(text=f"… and {len(items) - len(shown):,} more", translate=False)


def _draw_box(operator: Any, layout: Any, caption: str, wide: int) -> None:
    """Draw the box that agrees in advance; Blender cuts off what is longer than a line."""
    first, *more = wrapped(caption, wide)
    column = layout.column(align=True)
    column.prop(operator, "remember", text=first)
    for line in more:
        column.label(text=line, icon="BLANK1", translate=False)


def _draw_arguments(box: Any, arguments: tuple[ArgumentView, ...]) -> None:
    """Draw a row for each; a value stays in its column, however long it is."""
    for number, argument in enumerate(arguments):
        if number:
            box.separator(factor=0.2)
        row = box.split(factor=NAMES)
        say(row, argument.name, WIDE_NAME)
        say(row, " ".join(filter(None, (argument.value, argument.rest))), WIDE_VALUE)


def _icon(kind: str) -> str:
    layout: Any = bpy.types.UILayout
    known = layout.bl_rna.functions["label"].parameters["icon"]
    icon = f"OUTLINER_OB_{kind}"
    return icon if icon in known.enum_items else "OBJECT_DATA"
