"""A question as a dialog of Blender's own, and its form in the sidebar.

The dialog opens once the person goes to the question, and opens at the same place again. A click on
an answer gives that answer. Blender gives each button a letter. A letter only chooses an answer,
and Enter gives the chosen answer; at first an answer that loses nothing is chosen. A click or key
in the dialog's first moment was meant for something else, and does not count. Esc cancels, and so
does a click beside the dialog. Main thread.

Blender reads the annotations of these classes, so this module must not postpone annotations.
"""

import math
import time
from collections.abc import Callable
from typing import Any, Final

import bpy

from dcc_bridge.spi.drawing import (
    InvalidAnswer,
    PresenterEvent,
    Question,
    QuestionView,
    Reply,
    safe_line,
)

from ..loop import redraw
from . import panel
from .dialog_drawing import DialogDrawing, has_captions, has_title
from .dialog_state import DialogState
from .drawing import scaled, stir
from .values import unregister as unregister_values

_EDGE: Final = 40  # pixels of the window beside a dialog
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


class OperatorDialog:
    """A question's dialog; it opens again where an answer is not valid.

    Attributes:
        question: The question.
        state: What the dialog shows, and what the person has filled in.
        answered: Called with the answer.
        is_open: Whether the dialog was opened, and neither answered nor dismissed since.
        is_called: Whether the person goes to the question, so that the dialog may open.
    """

    def __init__(
        self, question: Question, view: QuestionView, answered: Callable[[PresenterEvent], None]
    ) -> None:
        """Prepare a closed dialog."""
        self.question = question
        self.state = DialogState(question, view, self._note_touch)
        self.answered = answered
        self.is_open = False
        self.is_called = False
        self._drawing = DialogDrawing(self.state)
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
        self.state.prepare()

    def close(self) -> None:
        """Forget what is only drawn for this question."""
        global current
        self.state.close()
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
        width = self.state.fit(_room(context))
        mouse = (event.mouse_x, event.mouse_y)
        self._mouse = self._mouse or mouse
        window = context.window
        if window is not None and mouse != self._mouse:
            window.cursor_warp(*self._mouse)
        result = windows.invoke_props_dialog(operator, width=width, **self._options())
        if window is not None and mouse != self._mouse:
            window.cursor_warp(*mouse)
        return result

    def _options(self) -> dict[str, Any]:
        """Return the title, and the captions of Blender's own buttons, where it takes them."""
        options: dict[str, Any] = {}
        if has_captions():
            options["confirm_text"] = self.state.verb
            options["cancel_default"] = self.state.chosen != "accept"
        if has_title():
            options["title"] = safe_line(self.state.view.heading)
        return options

    def _note_touch(self) -> None:
        """Note that the person changed a value, which is drawn soon."""
        if self.state.values.is_quiet:
            return
        self._is_touched = True
        self._changed = time.monotonic()

    def take_ok(self) -> set[str]:
        """Take a press of Blender's own button, which closes the dialog.

        Before 4.1 nobody sees the button, but the letter O still presses it: that is no answer.
        """
        self._is_closing = True
        if has_captions():
            operators: Any = bpy.ops
            operators.dcc_bridge.press("INVOKE_DEFAULT", answer="accept")
        else:
            self.state.wrong = _CHOOSE
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
        is_enter = key in _ENTER and answer == self.state.chosen
        if not is_click and not is_enter:
            self.state.chosen = answer
            self._opened = time.monotonic()  # an Enter that follows at once does not count
            return
        try:
            event = self.state.event(answer)
        except InvalidAnswer as error:
            self.state.wrong = str(error)
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
        elif self.state.pages is None or not self.state.pages.turn(answer):
            return False
        self._opened = time.monotonic()  # the answers may have moved below the mouse
        return True

    def _ask_why(self) -> None:
        """Show the field for a reason. A dialog is opened again, so that the field has the keys."""
        self.state.shows_why = True
        self.state.chosen = "decline"
        if self.is_shown:
            self.dismiss()
            self.is_called = True
            self._may_open_at = 0.0
            self._turns = _CLOSING_TURNS

    def keep(self) -> None:
        """Keep what was typed, for when the dialog opens again."""
        self.state.values.keep()

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

    def draw(self, root: Any, context: bpy.types.Context) -> None:
        """Draw the dialog.

        Args:
            root: The layout of the dialog.
            context: The context that Blender draws in.
        """
        self._drawing.draw(root, context, self.deadline)

    def draw_menu(self, layout: Any) -> None:
        """Draw the other ways to decline.

        Args:
            layout: The layout of the menu.
        """
        self._drawing.draw_menu(layout)

    def draw_in_sidebar(self, layout: Any, wide: int) -> None:
        """Draw the list of the items, or the form with its answers; no form below a dialog.

        Args:
            layout: The layout of the sidebar.
            wide: How many characters a line has.
        """
        self._drawing.draw_list_in_sidebar(layout)
        if not self.state.view.fields or self.is_shown:
            return
        self._in_sidebar = self._in_sidebar or time.monotonic()
        self._drawing.draw_form_in_sidebar(layout, wide)


def _room(context: bpy.types.Context) -> float:
    """Return the pixels of the window's width that a dialog may have, before scaling."""
    if context.window is None:
        return math.inf
    return int(scaled(context, context.window.width)) - _EDGE


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
