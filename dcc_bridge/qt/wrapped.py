"""Rows of a list that are as high as their text is: so a long path can be read whole. Main thread.

The rows have the width of the list, and wrap their text in it.
"""

from __future__ import annotations

from typing import Final, cast

from dcc_bridge.qt import binding as qt

MAX_LINE_LENGTH: Final = 60  # characters of a path that fit in a line of a dialog's list
_ENDLESS: Final = 1 << 20  # pixels


def wrap(view: qt.QListView) -> None:
    """Make a list wrap its rows."""
    view.setUniformItemSizes(False)
    view.setWordWrap(True)
    view.setResizeMode(qt.QListView.ResizeMode.Adjust)
    view.setVerticalScrollMode(qt.QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.setItemDelegate(_WrappingDelegate(view))


class _WrappingDelegate(qt.QStyledItemDelegate):
    """Draws each row as high as its text is in the width of the list."""

    def sizeHint(
        self, option: qt.QStyleOptionViewItem, index: qt.QModelIndex | qt.QPersistentModelIndex
    ) -> qt.QSize:
        """Return the width of the list, and the height of the text that is wrapped in it."""
        view = cast("qt.QListView", self.parent())
        width = view.viewport().width()
        option.rect = qt.QRect(0, 0, width, _ENDLESS)
        return qt.QSize(width, super().sizeHint(option, index).height())
