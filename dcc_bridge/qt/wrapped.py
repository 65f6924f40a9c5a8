"""Rows of a list that are as high as their text is: so a long path can be read whole.

Main thread.
"""

from __future__ import annotations

from typing import Final, cast

from dcc_bridge.qt import binding as qt

FITS: Final = 60  # characters of a path that fit in a line of a dialog's list
_ENDLESS: Final = 1 << 20  # pixels


def wrap(view: qt.QListView) -> None:
    """Have a list wrap its rows."""
    view.setUniformItemSizes(False)
    view.setWordWrap(True)
    view.setResizeMode(qt.QListView.ResizeMode.Adjust)
    view.setVerticalScrollMode(qt.QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.setItemDelegate(_Wrapped(view))


class _Wrapped(qt.QStyledItemDelegate):
    """Draws a row as high as its text is in the width of the list."""

    def sizeHint(
        self, option: qt.QStyleOptionViewItem, index: qt.QModelIndex | qt.QPersistentModelIndex
    ) -> qt.QSize:
        """Be as high as the text, wrapped in the width of the list."""
        view = cast("qt.QListView", self.parent())
        width = view.viewport().width()
        option.rect = qt.QRect(0, 0, width, _ENDLESS)
        return qt.QSize(width, super().sizeHint(option, index).height())
