"""The fields above the history: search, client and kind. Main thread."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from dcc_bridge.panel import rows
from dcc_bridge.panel.filters import Filter, kind_names
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.labels import SMALL, add_all, scale, tr
from dcc_bridge.qt.screen_reader import TextLine
from dcc_bridge.skills.call_history import Record

_MIN_CHARS: Final = 6  # of a choice; more are shown where there is room


class FilterBar(qt.QWidget):
    """A line to search in, and two choices.

    Attributes:
        changed: Emitted when another filter is chosen.
        search: The words that are searched.
        client: The choice of a client; hidden while the history has one client.
        kind: The choice of a kind of call.
        fields: These widgets, in the order of Tab.
    """

    changed = qt.Signal()

    def __init__(self) -> None:
        super().__init__()
        name = tr("Search the history")
        self.search = TextLine(name, hint=tr("Search"), is_clearable=True)
        self.client = _choice(tr("Client"))
        self.client.addItem(tr("All clients"), "")
        self.kind = _choice(tr("Kind"))
        for kind, caption in kind_names(tr).items():
            self.kind.addItem(caption, kind)
        self.fields: tuple[qt.QWidget, ...] = (self.search, self.client, self.kind)
        for field in self.fields:
            scale(field, SMALL)
        self.client.hide()
        self.search.textChanged.connect(self.changed)
        self.client.currentIndexChanged.connect(self.changed)
        self.kind.currentIndexChanged.connect(self.changed)
        row = qt.QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.search, 1)
        add_all(row, self.client, self.kind)

    @property
    def filter(self) -> Filter:
        """The filter that is chosen."""
        return Filter(self.search.text(), self.client.currentData(), self.kind.currentData())

    def show_clients(self, records: Iterable[Record]) -> None:
        """Offer the clients of these calls; the chosen one stays chosen."""
        known = [self.client.itemData(number) for number in range(self.client.count())]
        for label in sorted({record.client for record in records if record.client}):
            if label not in known:
                self.client.addItem(rows.who(label), label)
        self.client.setVisible(self.client.count() > 2)


def _choice(name: str) -> qt.QComboBox:
    box = qt.QComboBox()
    box.setAccessibleName(name)
    box.setToolTip(name)
    box.setFocusPolicy(qt.Qt.FocusPolicy.TabFocus)
    box.setMinimumContentsLength(_MIN_CHARS)
    box.setSizeAdjustPolicy(qt.QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    return box
