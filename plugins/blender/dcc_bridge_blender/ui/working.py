"""The call that works on the main thread: who, on what, how far; and the input that stops it.

It is shown in the status bar, beside a button *Cancel*. While its job rests, an operator takes all
input of the windows, so that nobody edits the scene in the middle of an edit: Esc and *Cancel* stop
the call, and the sidebar of the agents still works. What is typed into a text or a console arrives
there once the call has ended. Main thread.
"""

from __future__ import annotations

from typing import Any, Final

import bpy

from dcc_bridge.spi.drawing import PanelPort, PanelRow, PanelView

from ..loop import Work, is_blocked
from . import panel
from .drawing import bar, scaled
from .keystrokes import Keystrokes

_BUTTON_UNITS: Final = 5.5  # the width of the button, in the units of Blender's layouts
_UNIT: Final = 20  # pixels
_BAR_HEIGHT: Final = 24  # pixels of the status bar
_TITLE: Final = "Cancel"
_PASSED: Final = {"PASS_THROUGH"}
_TAKEN: Final = {"RUNNING_MODAL"}


class Working(Work):
    """Shows the call that works, and takes the input meanwhile."""

    def __init__(self, port: PanelPort) -> None:
        """Show nothing yet.

        Args:
            port: The bridge.
        """
        self._port = port
        self._row: PanelRow | None = None
        self._announced = ""  # the key of the call that was announced last
        self._is_resting = False
        self._is_aimed_at = False
        self._is_stopped = False
        self._keystrokes = Keystrokes()
        self._filters: dict[int, Any] = {}  # the operators that take the input, by their windows

    @property
    def is_aimed_at(self) -> bool:
        """Whether the person aims at a button that stops the job."""
        return self._is_aimed_at

    def announce(self) -> bool:
        """Show the job that may begin; return whether Blender should draw before it does."""
        row = PanelView.work(self._port)
        if row is None or row.key == self._announced or is_blocked():
            return False
        self._announced = row.key
        self._show(row)
        return True

    def rest(self) -> None:
        """Show how far the job is, and take the input from now on."""
        self._show(PanelView.work(self._port))
        self._is_resting = True
        self._is_stopped = False
        self._is_aimed_at = False
        for window in _windows():
            self._take_input(window)

    def go_on(self) -> bool:
        """End a rest, and return whether the person has stopped the job in it."""
        self._is_resting = False
        return self._is_stopped

    def end(self) -> None:
        """Show no job any more."""
        self._is_resting = False
        self._is_aimed_at = False
        if self._row is not None:
            self._show(None)
        self._keystrokes.type()

    def draw(self, layout: Any) -> None:
        """Draw the call in the status bar, the button first: its place is known then."""
        row = self._row
        if row is None:
            return
        button = layout.row()
        button.ui_units_x = _BUTTON_UNITS
        button.alert = True
        tip = "Stop the call. Its changes so far are undone"
        panel.draw_act(button, _TITLE, row.key, "cancel", tip, "CANCEL")
        text = f"{row.title} · {row.detail}"
        if self._is_stopped:
            text = f"Stopping: {row.title}"
        elif row.done is not None:
            text += f"   {bar(row.done)}"
        layout.label(text=text, translate=False)
        layout.label(text="Cancel", icon="EVENT_ESC", translate=False)
        layout.separator_spacer()

    def take(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Take an event of a window, and return what Blender does with it."""
        if not self._is_resting:
            window = context.window
            if window is not None:
                self._filters.pop(window.as_pointer(), None)
            return {"FINISHED", "PASS_THROUGH"}
        if event.type.startswith("TIMER") or event.type in ("NONE", "WINDOW_DEACTIVATE"):
            return _PASSED
        is_press = event.value == "PRESS"
        if event.type == "ESC" and is_press:
            self._stop()
            return _TAKEN
        at_button = _at_button(context, event)
        at_sidebar = panel.is_over(context, event)
        self._is_aimed_at = at_button or at_sidebar
        if at_button and is_press and event.type == "LEFTMOUSE":
            self._stop()
        if at_sidebar and event.type in ("LEFTMOUSE", "MOUSEMOVE"):
            return _PASSED
        self._keystrokes.take(context, event)
        return _TAKEN

    def _stop(self) -> None:
        self._is_stopped = True
        self._show(self._row)

    def _show(self, row: PanelRow | None) -> None:
        """Show a call in the status bar; None for none."""
        self._row = row
        workspace: Any = bpy.context.workspace
        if workspace is None:
            return
        draw = None
        if row is not None:
            draw = _draw_status
        workspace.status_text_set(draw)

    def _take_input(self, window: bpy.types.Window) -> None:
        """Have an operator take the input of a window, unless one does."""
        key = window.as_pointer()
        if _is_alive(self._filters.get(key)):
            return
        operators: Any = bpy.ops
        if bpy.context.window == window:
            operators.dcc_bridge.working("INVOKE_DEFAULT")
        else:
            override: Any = bpy.context.temp_override(window=window)
            with override:
                operators.dcc_bridge.working("INVOKE_DEFAULT")

    def note_filter(self, window: bpy.types.Window, operator: bpy.types.Operator) -> None:
        """Note the operator that takes the input of a window."""
        self._filters[window.as_pointer()] = operator


shown: Working | None = None  # None while no bridge runs


class DCC_BRIDGE_OT_working(bpy.types.Operator):
    """Takes the input of a window while a skill works."""

    bl_idname = "dcc_bridge.working"
    bl_label = "An agent works"
    bl_options = {"INTERNAL"}  # noqa: RUF012 - Blender's own shape

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Any:
        """Begin to take the input."""
        windows = context.window_manager
        if shown is None or windows is None or context.window is None:
            return {"CANCELLED"}
        shown.note_filter(context.window, self)
        windows.modal_handler_add(self)
        return _TAKEN

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> Any:
        """Take an event."""
        if shown is None:
            return {"FINISHED", "PASS_THROUGH"}
        return shown.take(context, event)


def _draw_status(header: Any, context: bpy.types.Context) -> None:
    if shown is not None:
        shown.draw(header.layout)


def _at_button(context: bpy.types.Context, event: bpy.types.Event) -> bool:
    """Return whether the mouse is over the button in the status bar, at the window's lower left."""
    screen = context.screen
    if screen is None or not screen.show_statusbar:
        return False
    x = scaled(context, event.mouse_x)
    y = scaled(context, event.mouse_y)
    return 0 <= x < (_BUTTON_UNITS + 1) * _UNIT and 0 <= y < _BAR_HEIGHT


def _is_alive(operator: Any) -> bool:
    """Return whether an operator still runs: Blender frees it where a file is opened."""
    if operator is None:
        return False
    try:
        return bool(operator.as_pointer())
    except ReferenceError:
        return False


def _windows() -> list[bpy.types.Window]:
    manager = bpy.context.window_manager
    if manager is None:
        return []
    return list(manager.windows)


def register() -> None:
    """Make the operator known."""
    bpy.utils.register_class(DCC_BRIDGE_OT_working)


def unregister() -> None:
    """Take the operator out, and give the status bar back to Blender."""
    bpy.utils.unregister_class(DCC_BRIDGE_OT_working)
