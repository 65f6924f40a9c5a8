"""Where widgets go that are not needed any more. Main thread."""

from __future__ import annotations

from dcc_bridge.qt.binding import QWidget, delete, isValid


class Bin:
    """Deletes widgets: soon, as one may be on the stack, and all of them before the host ends."""

    def __init__(self) -> None:
        self._thrown: list[QWidget] = []

    def throw(self, widget: QWidget) -> None:
        """Hide a widget, and delete it in a later turn of the event loop."""
        self._thrown = [one for one in self._thrown if isValid(one)]
        if isValid(widget):
            widget.hide()
            widget.deleteLater()
            self._thrown.append(widget)

    def empty(self) -> None:
        """Delete what was thrown away. Not to be called from such a widget's own frame."""
        for widget in filter(isValid, self._thrown):
            delete(widget)
        self._thrown.clear()
