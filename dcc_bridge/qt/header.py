"""The top of a question: who asks, in which application and scene, and which skill.

It is ours: every part is a label of its own beside a caption of ours, cut to a line or two, above
and outside of the area that a message is drawn in. Main thread.
"""

from __future__ import annotations

from typing import Final

from dcc_bridge.elicitation import plain
from dcc_bridge.elicitation.call import Call
from dcc_bridge.host import Host
from dcc_bridge.qt.binding import QFrame, QGridLayout, QIcon, QLabel, QPalette, QStyle, Qt
from dcc_bridge.qt.labels import SMALL, label
from dcc_bridge.qt.words import tr

_MOST: Final = 100


class Header(QFrame):
    """Who asks, as a message cannot say it.

    Attributes:
        facts: What it says: a caption, and what stands beside it.
    """

    def __init__(self, host: Host, call: Call, icon: QIcon) -> None:
        """Draw it.

        Args:
            host: Where.
            call: Whose question it is.
            icon: The application's, or a null one.
        """
        super().__init__()
        self.facts = _facts(host, call)
        self.setAccessibleName(tr("Who asks"))
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self.setAutoFillBackground(True)
        self._grid = QGridLayout(self)
        self._grid.setHorizontalSpacing(self.fontMetrics().height())
        self._grid.setVerticalSpacing(self.fontMetrics().height() // 6)
        self._grid.setColumnStretch(2, 1)
        self._draw_icon(icon)
        for row, (caption, text) in enumerate(self.facts):
            self._draw(row, caption, text)

    def _draw_icon(self, icon: QIcon) -> None:
        if icon.isNull():
            return
        side = self.style().pixelMetric(QStyle.PixelMetric.PM_LargeIconSize)
        drawn = QLabel()
        drawn.setPixmap(icon.pixmap(side, side))
        self._grid.addWidget(drawn, 0, 0, len(self.facts), 1, Qt.AlignmentFlag.AlignTop)

    def _draw(self, row: int, caption: str, text: str) -> None:
        if caption:
            self._grid.addWidget(_on_base(label(caption, size=SMALL)), row, 1)
            self._grid.addWidget(_on_base(label(text, size=SMALL)), row, 2)
        else:
            self._grid.addWidget(_on_base(label(text, size=1.1, bold=True)), row, 1, 1, 2)


def _facts(host: Host, call: Call) -> list[tuple[str, str]]:
    place = f"{host.name} {host.version}".strip() + f" · {plain.line(host.scene(), _MOST)}"
    client = call.client
    asker = plain.line(client.label, _MOST) if client else tr("{host} itself", host=host.name)
    facts = [("", place), (tr("Asked by"), asker)]
    if client and client.name:
        itself = plain.line(f"{client.name} {client.version}".strip(), _MOST)
        facts.append((tr("Calls itself"), tr("{client} (self-reported)", client=itself)))
    facts.append((tr("Skill"), plain.line(call.title, _MOST)))
    return facts


def _on_base(made: QLabel) -> QLabel:
    made.setForegroundRole(QPalette.ColorRole.Text)
    return made
