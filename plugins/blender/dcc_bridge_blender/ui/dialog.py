"""A question as a dialog of Blender's own, and its form in the sidebar.

The dialog opens once the person goes to the question, and opens at the same place again. A click on
an answer gives that answer. Blender gives each button a letter. A letter only chooses an answer,
and Enter gives the chosen answer; at first an answer that loses nothing is chosen. A click or key
in the dialog's first moment was meant for something else, and does not count. Esc cancels, and so
does a click beside the dialog. Main thread.

Until 4.0 Blender puts an OK below every dialog, which cannot say what it does. There the OK has no
height, and our own buttons answer. From 4.1 on the captions of Blender's own two buttons are ours.

Blender reads the annotations of these classes, so this module must not postpone annotations.
"""

import time
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

from ..loop import redraw
from . import panel
from .drawing import say, scaled, stir, wrapped
from .fields import Fields
from .items import Items
from .pages import Pages
from .pictures import LINES as PICTURE_LINES
from .pictures import Pictures
from .subject import draw_arguments, draw_briefly
from .values import Values
from .values import unregister as unregister_values

_WIDTH: Final = 540  # pixels of a dialog with one column
_EDGE: Final = 40  # pixels of the window beside a dialog
_DETAILS_COLUMNS: Final = 1.4  # the width of a dialog with a text, in columns
_COLUMN_CHARACTERS: Final = 84  # characters of a line of a column
_INSET: Final = 2  # characters fewer in a box
_LIST_LINES: Final = 12  # of the list in the sidebar
_TICK: Final = 4  # characters fewer beside a check box
_LINE_HEIGHT: Final = 21  # pixels
_FIXED_LINES: Final = 14
"""Lines of the title, the answers and the rest that has to be seen."""
_MAX_LINES: Final = 24  # of a message
_MAX_ITEM_LINES: Final = 10  # of the list of the items, which scrolls
_MIN_ITEM_LINES: Final = 3
_ARM: Final = 0.5  # seconds after which a dialog takes an answer
_REOPEN_S: Final = 1.0
"""Seconds until a dialog is opened again: Blender closes a popup while its window is being made."""
_SETTLE_S: Final = 0.1  # seconds after which a changed field is drawn
_CLOSING_TURNS: Final = 2
"""Turns of the timer until a popup is closed: Blender calls the timer before it closes one."""
_ENTER: Final = ("RET", "NUMPAD_ENTER")
_TIPS: Final = {
    "mute": "Decline this question and all its other questions for 10 minutes",
    "decline": "Decline. The agent is told that you do not want this",
    "cancel": "Close without an answer. Nothing is changed",
    "show_list": "Read all of them, search and untick them in the sidebar (N), tab Agents",
    "show_form": "Fill in the form in the sidebar (N), tab Agents, and work on meanwhile",
    "say_why": "Decline and tell the agent why",
}
_CHOOSE: Final = "Press one of the answers below."
_TOO_LONG: Final = "The window is too low for the {n} fields. Fill them in in the sidebar."
_WHY: Final = "Why not? The agent sees your reason. Then press Decline."
_FLAT: Final = 0.01
"""The scale at which Blender's own OK has a height of no pixel."""


class OperatorDialog:
    """A question's dialog; it opens again where an answer is not valid.

    Attributes:
        question: The question.
        answered: Called with the answer.
        wrong: What was wrong with the last answer, or why the question is asked again; or "".
        is_open: Whether the dialog was opened, and neither answered nor dismissed since.
        is_called: Whether the person goes to the question, so that the dialog may open.
        place: Which of several questions this is, such as " · 2 of 3"; or "".
    """

    def __init__(
        self, question: Question, view: QuestionView, answered: Callable[[PresenterEvent], None]
    ) -> None:
        """Prepare a closed dialog."""
        self.question = question
        self.answered = answered
        self.wrong = view.reason
        self.is_open = False
        self.is_called = False
        self.place = ""
        self._view = view
        self._fields = Fields(view.fields)
        self._columns = float(self._fields.columns)
        self._items: Items | None = None
        pictures: tuple[tuple[bytes, str], ...] = ()
        if question.consent is not None:
            pictures = question.consent.pictures
            if question.items:
                self._items = Items(question.consent, self._note_touch)
        self._pictures = Pictures(pictures)
        self._values = Values()
        self._shows_why = False  # the field for a reason
        self._pages: Pages | None = None
        if view.details:
            self._pages = Pages(view.details)
            self._columns = max(self._columns, _DETAILS_COLUMNS)
        self._initial: dict[str, Any] | None = None  # the fields as they were filled in at first
        self._is_touched = False
        self._begun = 0.0
        self._made = time.monotonic()
        self._opened = 0.0
        self._may_open_at = 0.0
        self._turns = 0  # of the timer, until Blender has closed the last dialog
        self._changed = 0.0
        self._is_closing = False  # Blender closes the dialog, as its own button was pressed
        self._has_ended = False
        self._in_sidebar = 0.0  # since when the sidebar has the form
        self._mouse: tuple[int, int] | None = None  # where the mouse was when the dialog opened
        self._chosen = "accept"  # the answer that Enter gives
        if question.consent is not None:
            self._chosen = "cancel"

    @property
    def deadline(self) -> float:
        """When the question ends, by the monotonic clock.

        The time begins with the question's notice. A person who answers has more of it.
        """
        offers = self.question.offers
        latest = self._made + offers.latest
        if self._begun > 0 and not self._is_touched:
            return min(self._begun + offers.soon, latest)
        return latest

    @property
    def is_shown(self) -> bool:
        """Whether the dialog can be seen. A popup goes without an event when a file is opened."""
        if not self.is_open or not _running:
            return False
        try:
            return bool(_running[0].as_pointer())
        except ReferenceError:
            return False

    @property
    def typed(self) -> dict[str, Any] | None:
        """The values of the fields; None where they are what was filled in at first."""
        if not self._values.kept:
            return None
        content = self._fields.content(SimpleNamespace(**self._values.kept))
        if content == self._initial:
            return None
        return content

    def begin(self, now: float) -> None:
        """Let the time of the question begin: the person can see its notice."""
        self._begun = self._begun or now

    def may_open(self, now: float) -> bool:
        """Return whether the person goes to the question, and the dialog is not shown."""
        may_open = now >= self._may_open_at and not self._turns
        return self.is_called and not self.is_shown and may_open

    def refresh(self, now: float) -> None:
        """Have a changed field drawn; Blender would only draw it when the mouse moves.

        Called once in each turn of the timer, before `may_open`.
        """
        self._turns = max(0, self._turns - 1)
        if self._changed and now > self._changed + _SETTLE_S:
            self._changed = 0.0
            redraw()

    def prepare(self) -> None:
        """Make the values and the rows of the items, and load the pictures, unless they are there.

        Blender drops values and rows where a file is opened.
        """
        global current
        current = self
        if not self._values.is_made:
            self._values.make(self._properties())
            self._initial = self._fields.content(self._values.group)
        self._values.put_back()
        if self._items is not None:
            self._items.fill()
        self._pictures.load()

    def close(self) -> None:
        """Forget what is only drawn for this question."""
        global current
        self._pictures.close()
        self._values.drop()
        if current is self:
            current = None
        redraw()

    def open(self) -> None:
        """Open the dialog. A window has to be the current one."""
        self.keep()
        self.prepare()
        _running.clear()
        self.is_called = False
        self.is_open = True
        self._opened = time.monotonic()
        self._may_open_at = self._opened + _REOPEN_S
        operators: Any = bpy.ops
        operators.dcc_bridge.question("INVOKE_DEFAULT")
        redraw()  # Blender draws the dialog with the next event only

    def dismiss(self) -> None:
        """Close the dialog. Setting a window's screen anew closes the popups on it."""
        self.keep()
        was_open = self.is_open
        self.is_open = False
        windows = bpy.context.window_manager
        if not was_open or windows is None:
            return
        for window in windows.windows:
            with bpy.context.temp_override(window=window):
                window.screen = window.screen

    def invoke(self, operator: Any, context: bpy.types.Context, event: bpy.types.Event) -> Any:
        """Have Blender open the dialog, where it was opened first.

        Blender opens a dialog at the mouse, so the mouse is there meanwhile.
        """
        _running[:] = [operator]
        windows: Any = context.window_manager
        width = self._width(context)
        options = self._native
        if self._has_title:
            options["title"] = safe_line(self._view.heading)
        mouse = (event.mouse_x, event.mouse_y)
        self._mouse = self._mouse or mouse
        window = context.window
        if window is not None and mouse != self._mouse:
            window.cursor_warp(*self._mouse)
        result = windows.invoke_props_dialog(operator, width=width, **options)
        if window is not None and mouse != self._mouse:
            window.cursor_warp(*mouse)
        return result

    def _properties(self) -> dict[str, Any]:
        """Return the properties of the fields, and of what goes with an answer."""

        def touch(_: Any, __: Any) -> None:
            self._note_touch()

        options: dict[str, Any] = {"options": {"SKIP_SAVE"}, "update": touch}
        return {
            **self._fields.properties(touch),
            "word": bpy.props.StringProperty(**options),
            "remember": bpy.props.BoolProperty(**options),
            "reason": bpy.props.StringProperty(**options),
            "about": bpy.props.BoolProperty(
                name="About", description="Show more about who asks", **options
            ),
        }

    def _note_touch(self) -> None:
        """Note that the person changed a value, which is drawn soon."""
        if self._values.is_quiet:
            return
        self._is_touched = True
        self._changed = time.monotonic()

    def _width(self, context: bpy.types.Context) -> int:
        """Return the width of the dialog; it fits into the window, in one column if need be."""
        wanted = int(_WIDTH * self._columns)
        if context.window is None:
            return wanted
        room = int(scaled(context, context.window.width)) - _EDGE
        if wanted > room:
            self._fields.columns = 1
            self._columns = min(self._columns, room / _WIDTH)
        return int(_WIDTH * self._columns)

    # ---- the answer

    @property
    def _native(self) -> dict[str, Any]:
        """The options for the captions of Blender's own buttons; none before 4.1."""
        if "confirm_text" not in _dialog_options():
            return {}
        return {"confirm_text": self._verb, "cancel_default": self._chosen != "accept"}

    @property
    def _has_title(self) -> bool:
        """Whether Blender draws the title that a dialog is given."""
        return "title" in _dialog_options()

    def take_ok(self) -> set[str]:
        """Take a press of Blender's own button, which closes the dialog.

        Before 4.1 nobody sees the button, but the letter O still presses it: that is no answer.
        """
        self._is_closing = True
        if self._native:
            operators: Any = bpy.ops
            operators.dcc_bridge.press("INVOKE_DEFAULT", answer="accept")
        else:
            self.wrong = _CHOOSE
            self.keep()
        self.is_open = False
        self._is_closing = False
        self.is_called = True  # the dialog opens again, unless that was an answer
        return {"FINISHED"}

    def press(self, answer: str, key: str) -> None:
        """Take an answer: given with the mouse or Enter, or chosen by its letter.

        Args:
            answer: The name of the button.
            key: The type of Blender's event that pressed the button.
        """
        self.keep()
        self._is_touched = True
        if self._shows(answer):
            return
        is_click = key == "LEFTMOUSE"
        if not self.is_shown and time.monotonic() < self._in_sidebar + _ARM:
            return
        if time.monotonic() < self._opened + _ARM:
            if not is_click:
                self._opened = time.monotonic()  # no key counts until the person pauses
            return
        is_enter = key in _ENTER and answer == self._chosen
        if not is_click and not is_enter:
            self._chosen = answer
            self._opened = time.monotonic()  # an Enter that follows at once does not count
            return
        try:
            event = self._event(answer)
        except InvalidAnswer as error:
            self.wrong = str(error)
        else:
            self._end(event)

    def _shows(self, answer: str) -> bool:
        """Do what a button says that only shows something, and return whether it was one."""
        if answer in ("show_list", "show_form"):
            self.dismiss()  # the question goes on, and is opened from the sidebar again
            panel.open_sidebar()
            return True
        if answer == "say_why":
            self._ask_why()
        elif self._pages is None or not self._pages.turn(answer):
            return False
        self._opened = time.monotonic()  # the answers may have moved below the mouse
        return True

    def _ask_why(self) -> None:
        """Show the field for a reason. A dialog is opened again, so that the field has the keys."""
        self._shows_why = True
        self._chosen = "decline"
        if self.is_shown:
            self.dismiss()
            self.is_called = True
            self._may_open_at = 0.0
            self._turns = _CLOSING_TURNS

    def keep(self) -> None:
        """Keep what was typed, for when the dialog opens again."""
        self._values.keep()

    def cancel(self) -> None:
        """Take that the dialog was closed as a cancel, unless it has just opened."""
        if not self.is_open:
            return
        if time.monotonic() < self._opened + _ARM:
            self.keep()
            self.is_open = False
        else:
            self._end(Reply("cancel"))

    def _end(self, event: PresenterEvent) -> None:
        if self._has_ended:
            return
        self._has_ended = True
        self.is_open = self.is_open and not self._is_closing
        self.dismiss()
        self.answered(event)

    def _event(self, answer: str) -> PresenterEvent:
        """Return the event for an answer.

        Raises:
            InvalidAnswer: The person accepts, and what they filled in is not valid.
        """
        values = self._values.group
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
        word = self._word
        if self._items is not None and not self._items.kept():
            raise InvalidAnswer("Tick at least one of the items, or choose another answer.")
        if word and values.word.strip() != word:
            raise InvalidAnswer(f"This cannot be undone: type {safe_line(word)} to continue.")
        confirmation = self.question.confirmation
        if confirmation:
            content: dict[str, Any] = {confirmation.name: True}
        else:
            content = self._fields.content(values)
            if self._fields.check(values):
                raise InvalidAnswer("Check the marked fields.")
        if self.question.form is not None:
            self.question.form.check(content)
        left_out: tuple[str, ...] = ()
        if self._items is not None:
            left_out = self._items.left_out()
        return Reply("accept", content, remember=values.remember, left_out=left_out)

    @property
    def _word(self) -> str:
        """The word to type before an edit that cannot be undone, or ""."""
        if not self._view.word or self._items is None:
            return self._view.word
        return word_to_type(self._items.kept(), self._view.verb)

    @property
    def _verb(self) -> str:
        """The caption that agrees; it says to how many of the items."""
        if self._items is None:
            return self._view.verb
        return fewer(self._view.verb, len(self._items.kept()), self._items.total)

    # ---- how it looks

    def draw(self, root: Any, context: bpy.types.Context) -> None:
        """Draw the dialog.

        Args:
            root: The layout of the dialog.
            context: The context that Blender draws in.
        """
        layout = self._content(root)
        values = self._values.group
        view = self._view
        height = 0
        if context.window is not None:
            height = context.window.height
        lines = scaled(context, height) / _LINE_HEIGHT - _FIXED_LINES
        most = max(3, min(_MAX_LINES, int(lines / 2)))
        wide = int(_COLUMN_CHARACTERS * self._columns)
        self._draw_who(values, layout, wide)
        texts = [view.title, view.text, view.agreement, view.explanation]
        if any(texts):
            column = layout.box().column(align=True)  # a text in a box is as bright as the items
            for text in texts:
                say(column, text, wide - _INSET, most=most)
                lines -= len(wrapped(text, wide - _INSET)) if text else 0
        if values.about:
            lines -= len(view.header) + len(view.source)
        self._draw_subject(layout, int(lines), wide - _INSET)
        if self.wrong:
            lines -= 1
        if self._fields.fits(lines):
            self._fields.draw(values, layout, lines)
        else:
            say(layout, _TOO_LONG.format(n=len(view.fields)), wide, icon="INFO")
        self._draw_undo(values, layout, wide)
        if view.offers.remember:
            _draw_remember(values, layout, view.offers.remember, wide - _TICK)
        say(layout, self.wrong, wide, icon="ERROR", red=True)
        self._draw_answers(values, layout)
        self._draw_foot(layout)

    def _content(self, root: Any) -> Any:
        """Return the layout to draw on. Before 4.1 it hides Blender's own title and OK.

        Blender puts its title and its OK on the root, and scales all of that.
        """
        layout = root
        if not self._native:
            root.scale_y = _FLAT
            layout = root.column()
            layout.scale_y = 1 / _FLAT
            layout.emboss = "NORMAL"
            root.emboss = "NONE"
        if not self._has_title:
            layout.label(text=safe_line(self._view.heading), translate=False)
        return layout

    def _draw_who(self, values: Any, layout: Any, wide: int) -> None:
        """Draw who asks in one line, and more about that if the person wants to read it."""
        row = layout.row()
        line = row.row()
        line.label(
            text=f"{self._view.who_asks}{self.place}"[:wide], icon="BLENDER", translate=False
        )
        row.prop(values, "about", text="", icon="INFO", emboss=False)
        if not values.about:
            return
        column = layout.box().column(align=True)
        for caption, text in (*self._view.header, *self._view.source):
            told = f"{caption}: {text}" if caption else text
            say(column, told, wide - _INSET)
        say(column, f"Call {self.question.call.id}", wide)

    def _draw_subject(self, layout: Any, room: int, wide: int) -> None:
        """Draw what the question is about: pictures, arguments, a text, items."""
        question = self.question
        lines = _MIN_ITEM_LINES
        has_room = room - PICTURE_LINES >= _MIN_ITEM_LINES
        if question.consent is not None and question.consent.pictures and has_room:
            self._pictures.draw(layout, wide)
            room -= PICTURE_LINES
        if question.arguments:
            draw_arguments(layout.box(), self._view.arguments)
            room -= len(self._view.arguments)
        elif self._view.arguments:
            box = layout.box().column(align=True)
            room -= draw_briefly(box, self._view.arguments, wide)
        if self._pages is not None:
            if self._items is not None:
                room -= lines
            self._pages.draw(layout.box(), wide, room, self._draw_answer)
        elif self._items is not None:
            lines = max(_MIN_ITEM_LINES, min(_MAX_ITEM_LINES, room))
        if self._items is not None:
            self._items.draw_first(layout, lines, self._draw_answer)

    def _draw_undo(self, values: Any, layout: Any, wide: int) -> None:
        """Draw whether the edit can be undone, and the word to type where it cannot."""
        view = self._view
        if not view.warns:
            say(layout, view.undo, wide)
            return
        say(layout, view.undo, wide, icon="ERROR")
        if not view.word:
            return
        row = layout.row()
        row.activate_init = True  # the field has the keys at first
        row.prop(values, "word", text=f"Type {safe_line(self._word, 40)}")

    def _draw_answers(self, values: Any, layout: Any) -> None:
        """Draw a button for each answer; the button of the answer that Enter gives is blue."""
        row = layout.row()
        row.scale_y = 1.3
        if not self._native:
            self._draw_answer(row, "accept", self._verb, red=self._view.loses)
        self._draw_decline(row)
        if not self._native:
            self._draw_answer(row, "cancel", "Not now")
        self._draw_others(values, layout)

    def _draw_decline(self, row: Any) -> None:
        """Draw *Decline* with the menu of the other ways to decline."""
        part = row.row(align=True)
        self._draw_answer(part, "decline", "Decline")
        part.menu("DCC_BRIDGE_MT_decline", text="", icon="DOWNARROW_HLT")

    def _draw_others(self, values: Any, layout: Any) -> None:
        """Draw what is offered besides the answers, and the field for a reason."""
        offers = self._view.offers
        if self._shows_why:
            layout.label(text=_WHY, translate=False)
            row = layout.row()
            row.activate_init = True  # the field has the keys at first
            row.prop(values, "reason", text="")
        row = layout.row()
        if self._view.fields:
            self._draw_answer(row, "show_form", "Fill in in the sidebar")
        if offers.hand_over:
            self._draw_answer(row, "hand_over", offers.hand_over)

    def draw_menu(self, layout: Any) -> None:
        """Draw the other ways to decline.

        Args:
            layout: The layout of the menu.
        """
        self._draw_answer(layout, "say_why", "Decline and say why…")
        if self._view.offers.mute:
            self._draw_answer(layout, "mute", self._view.offers.mute)

    def draw_in_sidebar(self, layout: Any, wide: int) -> None:
        """Draw the list of the items, or the form with its answers; no form below a dialog.

        Args:
            layout: The layout of the sidebar.
            wide: How many characters a line has.
        """
        if self._items is not None:
            self._items.draw_list(layout.box(), _LIST_LINES)
        if not self._view.fields or self.is_shown:
            return
        self._in_sidebar = self._in_sidebar or time.monotonic()
        values = self._values.group
        box = layout.box()
        say(box, self._view.text, wide, most=_MAX_LINES)
        self._fields.draw_narrow(values, box, wide)
        say(box, self.wrong, wide, icon="ERROR", red=True)
        column = box.column()
        self._draw_answer(column, "accept", self._verb)
        self._draw_decline(column)
        self._draw_answer(column, "cancel", "Not now")
        if self._shows_why:
            say(column, _WHY, wide)
            column.prop(values, "reason", text="")

    def _draw_answer(self, row: Any, answer: str, caption: str, *, red: bool = False) -> None:
        part = row.row()
        part.active_default = answer == self._chosen
        part.alert = red and not part.active_default
        part.operator("dcc_bridge.press", text=caption, translate=False).answer = answer

    def _draw_foot(self, layout: Any) -> None:
        left = self.deadline - time.monotonic()
        until = time.strftime("%H:%M:%S", time.localtime(time.time() + left))
        foot = f"Open until {until}. Esc closes it without an answer."
        layout.label(text=foot, translate=False)


def _draw_remember(values: Any, layout: Any, caption: str, wide: int) -> None:
    """Draw the check box that agrees in advance; Blender cuts a caption longer than a line."""
    first, *rest = wrapped(caption, wide)
    column = layout.column(align=True)
    column.prop(values, "remember", text=first)
    for line in rest:
        column.label(text=line, icon="BLANK1", translate=False)


def _dialog_options() -> Any:
    """Return the parameters of Blender's function that opens a dialog."""
    manager: Any = bpy.types.WindowManager
    return manager.bl_rna.functions["invoke_props_dialog"].parameters


current: OperatorDialog | None = None  # of the question whose turn it is
_running: list[bpy.types.Operator] = []  # the operator of the dialog that was opened last


class DCC_BRIDGE_OT_question(bpy.types.Operator):
    """Shows an agent's question."""

    bl_idname = "dcc_bridge.question"
    bl_label = "A question for you"
    bl_options = {"INTERNAL"}  # noqa: RUF012 - Blender's own shape

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Any:
        """Open the dialog."""
        if current is None:
            return {"CANCELLED"}
        return current.invoke(self, context, event)

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the dialog."""
        if current is not None:
            current.draw(self.layout, context)

    def execute(self, context: bpy.types.Context) -> Any:
        """Take a press of Blender's own button."""
        if current is None:
            return {"CANCELLED"}
        return current.take_ok()

    def cancel(self, context: bpy.types.Context) -> None:
        """Take that the dialog was closed, unless another one was opened since."""
        if current is not None and _running == [self]:
            current.cancel()


class DCC_BRIDGE_OT_press(bpy.types.Operator):
    """Gives an answer to an agent's question."""

    bl_idname = "dcc_bridge.press"
    bl_label = "Answer"
    bl_description = "Give this answer"  # Blender puts a full stop after it
    bl_options = {"INTERNAL"}  # noqa: RUF012 - Blender's own shape

    answer: bpy.props.StringProperty()  # type: ignore[valid-type]  # how Blender declares properties

    @classmethod
    def description(cls, context: bpy.types.Context, properties: Any) -> str:
        """Return what the answer does."""
        return _TIPS.get(properties.answer, "")

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Any:
        """Take the answer, and have the dialog drawn: Blender would do so when the mouse moves."""
        if current is not None:
            current.press(self.answer, event.type)
        redraw()
        stir(context, event)
        return {"FINISHED"}


class DCC_BRIDGE_MT_decline(bpy.types.Menu):
    """The menu beside Decline."""

    bl_label = "Other ways to decline"
    bl_description = "Decline and say why, or mute the client"

    def draw(self, context: bpy.types.Context | None) -> None:
        """Draw the menu."""
        if current is not None:
            current.draw_menu(self.layout)


_CLASSES: Final = (DCC_BRIDGE_OT_question, DCC_BRIDGE_OT_press, DCC_BRIDGE_MT_decline)


def register() -> None:
    """Let Blender know the dialog."""
    for each in _CLASSES:
        bpy.utils.register_class(each)


def unregister() -> None:
    """Take the dialog out."""
    for each in _CLASSES:
        bpy.utils.unregister_class(each)
    unregister_values()
