"""A scrolling list of cards: each shows a row, with buttons for its actions. Main thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dcc_bridge.elicitation.text import breakable
from dcc_bridge.panel.rows import Act, Row
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.event_loop import LIVE_PROPERTY, DeferredDeletion
from dcc_bridge.qt.labels import add_all, label, plain_column
from dcc_bridge.qt.panel.widgets import Action, SecondaryLabel, style_icon

_WORDS: Final = 18  # the heights of a line that words beside several buttons are wide at least
_STEPS: Final = 1000
_DIRECTIONS: Final = qt.QBoxLayout.Direction
_ARROWS: Final = {qt.Qt.Key.Key_Up: -1, qt.Qt.Key.Key_Down: 1}


class Card(qt.QFrame):
    """A frame that shows one row, with its buttons."""

    acted = qt.Signal(str, str)  # a button was pressed: the row's key, and the button's verb

    def __init__(self, row: Row, deletion: DeferredDeletion) -> None:
        super().__init__()
        self._bar = qt.QProgressBar(textVisible=False)  # first: what follows changes the palette
        self.row = row
        self._deletion = deletion  # of buttons that are over
        self.setBackgroundRole(qt.QPalette.ColorRole.Base)
        self.setAutoFillBackground(True)
        self._title = label("", bold=row.stands_out, on_base=True)
        self._detail = SecondaryLabel(on_base=True)
        self._icon = style_icon(self, qt.QStyle.StandardPixmap.SP_MessageBoxQuestion)
        self._bar.setFixedHeight(self.fontMetrics().height() // 2)
        self._acts = qt.QHBoxLayout()
        self.buttons: list[Action] = []
        self._lay_out()
        self._tint_bar()
        self._draw_buttons(row)
        self._fill(row)

    def show_row(self, row: Row) -> None:
        """Show the same thing as it is now."""
        before, self.row = self.row, row
        if before.acts != row.acts:
            self._draw_buttons(row)
        if before != row:
            self._fill(row)

    def resizeEvent(self, event: qt.QResizeEvent) -> None:
        """Put several buttons below the words where these would be narrow beside them."""
        super().resizeEvent(event)
        self._fill(self.row)

    def changeEvent(self, event: qt.QEvent) -> None:
        """Follow the palette: the empty part of the bar must be seen on the card."""
        super().changeEvent(event)
        if event.type() == qt.QEvent.Type.PaletteChange:
            self._tint_bar()

    def _tint_bar(self) -> None:
        palette = self.palette()
        palette.setColor(qt.QPalette.ColorRole.Base, palette.color(qt.QPalette.ColorRole.Button))
        self._bar.setPalette(palette)

    def _fill(self, row: Row) -> None:
        self._title.setText(breakable(row.title))
        self._detail.show_text(row.detail)
        self.setAccessibleName(f"{row.title}. {row.detail}")
        for action in self.buttons:
            action.setAccessibleName(f"{action.text()}: {row.title}")
        self._icon.setVisible(row.stands_out)
        self._bar.setVisible(row.done is not None)
        self._bar.setRange(0, _STEPS if (row.done or 0) >= 0 else 0)  # without an end it moves
        self._bar.setValue(round(_STEPS * (row.done or 0)))
        room = self.width() - sum(button.sizeHint().width() for button in self.buttons)
        words = self.fontMetrics().horizontalAdvance(max(row.title, row.detail, key=len))
        beside = len(self.buttons) < 2 or room >= min(_WORDS * self.fontMetrics().height(), words)
        self._box.setDirection(_DIRECTIONS.LeftToRight if beside else _DIRECTIONS.TopToBottom)

    def _draw_buttons(self, row: Row) -> None:
        """Draw the buttons anew; a button that stays keeps what focus it has."""
        before = {button.verb: button for button in self.buttons}
        self.buttons = [before.get(act.verb) or self._make(act) for act in row.acts]
        for button in set(before.values()) - set(self.buttons):
            self._acts.removeWidget(button)
            self._deletion.add(button)
        for at, action in enumerate(self.buttons):
            self._acts.insertWidget(at, action)

    def _make(self, act: Act) -> Action:
        action = Action(act.caption, act.tip, act.verb)
        action.pressed_for.connect(self._emit_acted)
        action.setProperty(LIVE_PROPERTY, act.verb == "cancel")
        return action

    @qt.Slot(str)
    def _emit_acted(self, verb: str) -> None:
        self.acted.emit(self.row.key, verb)

    def _lay_out(self) -> None:
        gap = self.fontMetrics().height() // 2
        words = qt.QVBoxLayout()
        words.setSpacing(gap // 3)
        add_all(words, self._title, self._detail, self._bar)
        self._box = qt.QBoxLayout(_DIRECTIONS.LeftToRight, self)
        self._box.setContentsMargins(gap, gap, gap, gap)
        self._box.setSpacing(gap)
        top = qt.QHBoxLayout()
        top.addWidget(self._icon, 0, qt.Qt.AlignmentFlag.AlignTop)
        top.addLayout(words, 1)
        self._box.addLayout(top, 1)
        self._box.addLayout(self._acts)
        self._box.setAlignment(self._acts, qt.Qt.AlignmentFlag.AlignLeft)


class Cards(qt.QScrollArea):
    """The cards, one below the other; a sentence where there is none."""

    acted = qt.Signal(str, str)  # a button was pressed: its row's key, and its verb

    def __init__(self, empty: str, deletion: DeferredDeletion) -> None:
        super().__init__()
        self._deletion = deletion  # of cards that are over
        self._drawn: dict[str, Card | SecondaryLabel] = {}
        self.setWidgetResizable(True)
        self.setFrameShape(qt.QFrame.Shape.NoFrame)
        self.setFocusPolicy(qt.Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(qt.Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(qt.QSizePolicy.Policy.Preferred, qt.QSizePolicy.Policy.Maximum)
        self._inner = qt.QWidget()
        self._column = plain_column(self._inner, self.fontMetrics().height() // 2)
        self._empty = SecondaryLabel()
        self._empty.show_text(empty)
        add_all(self._column, self._empty, None)
        self.setWidget(self._inner)
        self._inner.setAutoFillBackground(False)
        self.viewport().setAutoFillBackground(False)

    @property
    def cards(self) -> list[Card]:
        """Those that are shown, from the top."""
        return [drawn for drawn in self._drawn.values() if isinstance(drawn, Card)]

    @property
    def buttons(self) -> list[Action]:
        """What can be done, from the top."""
        return [button for card in self.cards for button in card.buttons]

    def show_rows(self, rows: Sequence[Row]) -> None:
        """Show these rows: those that stay are changed, and keep their focus."""
        wanted = {row.key: row for row in rows}
        is_same = list(wanted) == list(self._drawn)
        for widget in (self._drawn.pop(key) for key in self._drawn.keys() - wanted.keys()):
            self._column.removeWidget(widget)
            self._deletion.add(widget)
        self._drawn = {key: self._drawn_row(row) for key, row in wanted.items()}
        self._empty.setVisible(not rows)
        if not is_same:
            for at, widget in enumerate(self._drawn.values(), 1):
                if self._column.indexOf(widget) != at:
                    self._column.insertWidget(at, widget)
                    widget.show()  # Qt would do so in a later turn, and until then it had no height
            self._column.activate()  # in this turn, or they flicker into their place
        self.updateGeometry()

    def sizeHint(self) -> qt.QSize:
        """Be as high as what is shown, where there is room."""
        natural = self._inner.sizeHint().width()
        width = self.viewport().width() if self.isVisible() else natural
        return qt.QSize(natural, self._column.totalHeightForWidth(width))

    def minimumSizeHint(self) -> qt.QSize:
        """Be small where there is little room: one card can be seen."""
        line = self.fontMetrics().height()
        return qt.QSize(line * 12, min(self.sizeHint().height(), line * 8))

    def resizeEvent(self, event: qt.QResizeEvent) -> None:
        """Words wrap otherwise when it is narrower."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()

    def eventFilter(self, watched: qt.QObject, event: qt.QEvent) -> bool:
        """Ask for another height when what is inside wants one."""
        if event.type() == qt.QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: qt.QKeyEvent) -> None:
        """Let the arrows go from card to card."""
        step = _ARROWS.get(qt.Qt.Key(event.key()))
        if step is None or not self._move_focus(step):
            super().keyPressEvent(event)

    def _move_focus(self, step: int) -> bool:
        cards = [card for card in self.cards if card.buttons]
        at = next((n for n, card in enumerate(cards) if card.isAncestorOf(self.focusWidget())), -1)
        if at < 0 or not 0 <= at + step < len(cards):
            return False
        column = next(n for n, button in enumerate(cards[at].buttons) if button.hasFocus())
        actions = cards[at + step].buttons
        actions[min(column, len(actions) - 1)].setFocus(qt.Qt.FocusReason.TabFocusReason)
        self.ensureWidgetVisible(cards[at + step])
        return True

    def _drawn_row(self, row: Row) -> Card | SecondaryLabel:
        drawn = self._drawn.get(row.key)
        if row.is_heading:
            heading = drawn if isinstance(drawn, SecondaryLabel) else SecondaryLabel()
            heading.show_text(row.title)
            return heading
        if isinstance(drawn, Card):
            drawn.show_row(row)
            return drawn
        card = Card(row, self._deletion)
        card.acted.connect(self.acted)
        return card
