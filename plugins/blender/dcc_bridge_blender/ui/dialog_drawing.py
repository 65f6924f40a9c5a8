"""How a question's dialog looks, and its form in the sidebar. Main thread.

Until 4.0 Blender puts an OK below every dialog, which cannot say what it does. There the OK has no
height, and our own buttons answer. From 4.1 on the captions of Blender's own two buttons are ours.
"""

from __future__ import annotations

import time
from typing import Any, Final

import bpy

from dcc_bridge.spi.drawing import safe_line

from .dialog_state import DialogState
from .drawing import say, scaled, wrapped
from .pictures import LINES as PICTURE_LINES
from .subject import draw_arguments, draw_briefly

_COLUMN_CHARACTERS: Final = 84  # characters of a line of a column
_INSET: Final = 2  # characters fewer in a box
_TICK: Final = 4  # characters fewer beside a check box
_LINE_HEIGHT: Final = 21  # pixels
_FIXED_LINES: Final = 14
"""Lines of the title, the answers and the rest that has to be seen."""
_MAX_LINES: Final = 24  # of a message
_MIN_LINES: Final = 3  # of a message
_MAX_ITEM_LINES: Final = 10  # of the list of the items, which scrolls
_MIN_ITEM_LINES: Final = 3
_SIDEBAR_ITEM_LINES: Final = 12  # of the list in the sidebar
_TOO_LONG: Final = "The window is too low for the {n} fields. Fill them in in the sidebar."
_WHY: Final = "Why not? The agent sees your reason. Then press Decline."
_FLAT: Final = 0.01
"""The scale at which Blender's own OK has a height of no pixel."""


def has_captions() -> bool:
    """Return whether a dialog's own two buttons take captions, as from Blender 4.1 on."""
    return "confirm_text" in _dialog_options()


def has_title() -> bool:
    """Return whether Blender draws the title that a dialog is given."""
    return "title" in _dialog_options()


def _dialog_options() -> Any:
    """Return the parameters of Blender's function that opens a dialog."""
    manager: Any = bpy.types.WindowManager
    return manager.bl_rna.functions["invoke_props_dialog"].parameters


class DialogDrawing:
    """Draws the state of a question's dialog."""

    def __init__(self, state: DialogState) -> None:
        """Draw nothing yet."""
        self._state = state
        self._view = state.view

    def draw(self, root: Any, context: bpy.types.Context, deadline: float) -> None:
        """Draw the dialog.

        Args:
            root: The layout of the dialog.
            context: The context that Blender draws in.
            deadline: When the question ends, by the monotonic clock.
        """
        state = self._state
        layout = self._content(root)
        wide = int(_COLUMN_CHARACTERS * state.columns)
        room = _free_lines(context)
        self._draw_who(layout, wide)
        room -= self._draw_texts(layout, wide, room)
        if state.values.group.about:
            room -= len(self._view.header) + len(self._view.source)
        self._draw_subject(layout, int(room), wide - _INSET)
        if state.wrong:
            room -= 1
        self._draw_fields(layout, wide, room)
        self._draw_undo(layout, wide)
        self._draw_remember(layout, wide - _TICK)
        say(layout, state.wrong, wide, icon="ERROR", red=True)
        self._draw_answers(layout)
        _draw_deadline(layout, deadline)

    def draw_menu(self, layout: Any) -> None:
        """Draw the other ways to decline.

        Args:
            layout: The layout of the menu.
        """
        self._draw_answer(layout, "say_why", "Decline and say why…")
        if self._view.offers.mute:
            self._draw_answer(layout, "mute", self._view.offers.mute)

    def draw_list_in_sidebar(self, layout: Any) -> None:
        """Draw the list of the items, if there are any.

        Args:
            layout: The layout of the sidebar.
        """
        if self._state.items is not None:
            self._state.items.draw_list(layout.box(), _SIDEBAR_ITEM_LINES)

    def draw_form_in_sidebar(self, layout: Any, wide: int) -> None:
        """Draw the form with its answers.

        Args:
            layout: The layout of the sidebar.
            wide: How many characters a line has.
        """
        state = self._state
        box = layout.box()
        say(box, self._view.text, wide, most=_MAX_LINES)
        state.fields.draw_narrow(state.values.group, box, wide)
        say(box, state.wrong, wide, icon="ERROR", red=True)
        column = box.column()
        self._draw_answer(column, "accept", state.verb)
        self._draw_decline(column)
        self._draw_answer(column, "cancel", "Not now")
        if state.shows_why:
            say(column, _WHY, wide)
            column.prop(state.values.group, "reason", text="")

    def _content(self, root: Any) -> Any:
        """Return the layout to draw on. Before 4.1 it hides Blender's own title and OK.

        Blender puts its title and its OK on the root, and scales all of that.
        """
        layout = root
        if not has_captions():
            root.scale_y = _FLAT
            layout = root.column()
            layout.scale_y = 1 / _FLAT
            layout.emboss = "NORMAL"
            root.emboss = "NONE"
        if not has_title():
            layout.label(text=safe_line(self._view.heading), translate=False)
        return layout

    def _draw_who(self, layout: Any, wide: int) -> None:
        """Draw who asks in one line, and more about that if the person wants to read it."""
        values = self._state.values.group
        who_asks = f"{self._view.who_asks}{self._state.place}"
        row = layout.row()
        line = row.row()
        line.label(text=who_asks[:wide], icon="BLENDER", translate=False)
        row.prop(values, "about", text="", icon="INFO", emboss=False)
        if not values.about:
            return
        column = layout.box().column(align=True)
        for caption, text in (*self._view.header, *self._view.source):
            told = f"{caption}: {text}" if caption else text
            say(column, told, wide - _INSET)
        say(column, f"Call {self._state.question.call.id}", wide)

    def _draw_texts(self, layout: Any, wide: int, room: float) -> int:
        """Draw the question itself, and return how many lines it takes."""
        view = self._view
        texts = [text for text in (view.title, view.text, view.agreement, view.explanation) if text]
        if not texts:
            return 0
        most = max(_MIN_LINES, min(_MAX_LINES, int(room / 2)))
        column = layout.box().column(align=True)  # a text in a box is as bright as the items
        lines = 0
        for text in texts:
            say(column, text, wide - _INSET, most=most)
            lines += len(wrapped(text, wide - _INSET))
        return lines

    def _draw_subject(self, layout: Any, room: int, wide: int) -> None:
        """Draw what the question is about: pictures, arguments, a text, items."""
        state = self._state
        question = state.question
        lines = _MIN_ITEM_LINES
        has_room = room - PICTURE_LINES >= _MIN_ITEM_LINES
        if question.consent is not None and question.consent.pictures and has_room:
            state.pictures.draw(layout, wide)
            room -= PICTURE_LINES
        if question.arguments:
            draw_arguments(layout.box(), self._view.arguments)
            room -= len(self._view.arguments)
        elif self._view.arguments:
            box = layout.box().column(align=True)
            room -= draw_briefly(box, self._view.arguments, wide)
        if state.pages is not None:
            if state.items is not None:
                room -= lines
            state.pages.draw(layout.box(), wide, room, self._draw_answer)
        elif state.items is not None:
            lines = max(_MIN_ITEM_LINES, min(_MAX_ITEM_LINES, room))
        if state.items is not None:
            state.items.draw_first(layout, lines, self._draw_answer)

    def _draw_fields(self, layout: Any, wide: int, room: float) -> None:
        """Draw the fields, or where they are if the window is too low for them."""
        fields = self._state.fields
        if fields.fits(room):
            fields.draw(self._state.values.group, layout, room)
        else:
            say(layout, _TOO_LONG.format(n=len(self._view.fields)), wide, icon="INFO")

    def _draw_undo(self, layout: Any, wide: int) -> None:
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
        caption = f"Type {safe_line(self._state.word, 40)}"
        row.prop(self._state.values.group, "word", text=caption)

    def _draw_remember(self, layout: Any, wide: int) -> None:
        """Draw the check box that agrees in advance; Blender cuts a caption longer than a line."""
        caption = self._view.offers.remember
        if not caption:
            return
        first, *rest = wrapped(caption, wide)
        column = layout.column(align=True)
        column.prop(self._state.values.group, "remember", text=first)
        for line in rest:
            column.label(text=line, icon="BLANK1", translate=False)

    def _draw_answers(self, layout: Any) -> None:
        """Draw a button for each answer; the button of the answer that Enter gives is blue."""
        row = layout.row()
        row.scale_y = 1.3
        if not has_captions():
            self._draw_answer(row, "accept", self._state.verb, red=self._view.loses)
        self._draw_decline(row)
        if not has_captions():
            self._draw_answer(row, "cancel", "Not now")
        self._draw_others(layout)

    def _draw_decline(self, row: Any) -> None:
        """Draw *Decline* with the menu of the other ways to decline."""
        part = row.row(align=True)
        self._draw_answer(part, "decline", "Decline")
        part.menu("DCC_BRIDGE_MT_decline", text="", icon="DOWNARROW_HLT")

    def _draw_others(self, layout: Any) -> None:
        """Draw what is offered besides the answers, and the field for a reason."""
        if self._state.shows_why:
            layout.label(text=_WHY, translate=False)
            row = layout.row()
            row.activate_init = True  # the field has the keys at first
            row.prop(self._state.values.group, "reason", text="")
        row = layout.row()
        if self._view.fields:
            self._draw_answer(row, "show_form", "Fill in in the sidebar")
        if self._view.offers.hand_over:
            self._draw_answer(row, "hand_over", self._view.offers.hand_over)

    def _draw_answer(self, row: Any, answer: str, caption: str, *, red: bool = False) -> None:
        part = row.row()
        part.active_default = answer == self._state.chosen
        part.alert = red and not part.active_default
        part.operator("dcc_bridge.press", text=caption, translate=False).answer = answer


def _free_lines(context: bpy.types.Context) -> float:
    """Return how many lines the window has for what may be long."""
    height = 0
    if context.window is not None:
        height = context.window.height
    return scaled(context, height) / _LINE_HEIGHT - _FIXED_LINES


def _draw_deadline(layout: Any, deadline: float) -> None:
    """Draw until when the question is open."""
    left = deadline - time.monotonic()
    until = time.strftime("%H:%M:%S", time.localtime(time.time() + left))
    foot = f"Open until {until}. Esc closes it without an answer."
    layout.label(text=foot, translate=False)
