"""Lists whose rows wrap their text, so that a long path can be read whole. Main thread."""

from __future__ import annotations

from typing import Final, cast

from dcc_bridge.qt import binding as qt

MAX_LINE_LENGTH: Final = 60  # characters of a path that fit in a line of a dialog's list
_MAX_HEIGHT: Final = 1 << 20  # in pixels, more than any text needs


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
        option.rect = qt.QRect(0, 0, width, _MAX_HEIGHT)
        return qt.QSize(width, super().sizeHint(option, index).height())
