"""A scrolling list of cards for the panel. Main thread.

A `Card` draws a `Row` of `dcc_bridge.panel`: its texts, its progress and a button for each of its
acts. `Cards` keeps a card as long as its row is listed, so that the focus stays in the card.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dcc_bridge.elicitation.text import breakable
from dcc_bridge.panel.row import Act, Row
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.event_loop import LIVE_PROPERTY, DeferredDeletion
from dcc_bridge.qt.labels import add_all, label, plain_column
from dcc_bridge.qt.panel.widgets import Action, SecondaryLabel, style_icon

_MIN_WORDS_WIDTH: Final = 18  # of words beside several buttons, in heights of a line
_MIN_LINES: Final = 5  # of text that the list is high where it has no room for more
_BAR_STEPS: Final = 1000
_DIRECTIONS: Final = qt.QBoxLayout.Direction
_ARROWS: Final = {qt.Qt.Key.Key_Up: -1, qt.Qt.Key.Key_Down: 1}


class Card(qt.QFrame):
    """A frame that shows one row, with its buttons.

    Attributes:
        acted: Emitted when a button is pressed, with the row's key and the button's verb.
        row: The row that is shown.
        buttons: The buttons of the row's actions.
    """

    acted = qt.Signal(str, str)

    def __init__(self, row: Row, deletion: DeferredDeletion) -> None:
        super().__init__()
        self._bar = qt.QProgressBar(textVisible=False)  # first: later lines send a `PaletteChange`
        self.row = row
        self._deletion = deletion
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
        """Show a later state of the same row."""
        before = self.row
        self.row = row
        if before.acts != row.acts:
            self._draw_buttons(row)
        if before != row:
            self._fill(row)

    def resizeEvent(self, event: qt.QResizeEvent) -> None:
        """Move several buttons below the words where the words would be narrow beside them."""
        super().resizeEvent(event)
        self._fill(self.row)

    def changeEvent(self, event: qt.QEvent) -> None:
        """Follow the palette: the empty part of the progress bar must be seen on the card."""
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
        done = row.done or 0
        steps = _BAR_STEPS
        if done < 0:
            steps = 0  # Qt then shows that work goes on, and not how far it is
        self._bar.setRange(0, steps)
        self._bar.setValue(round(_BAR_STEPS * done))
        if self._fits_beside_buttons(row):
            self._box.setDirection(_DIRECTIONS.LeftToRight)
        else:
            self._box.setDirection(_DIRECTIONS.TopToBottom)

    def _fits_beside_buttons(self, row: Row) -> bool:
        """Return whether the texts of a row have enough room beside its buttons."""
        if len(self.buttons) < 2:
            return True
        if "\n" in row.detail:  # a list
            return False
        room = self.width()
        for button in self.buttons:
            room -= button.sizeHint().width()
        longest = max(row.title, row.detail, key=len)
        words_width = self.fontMetrics().horizontalAdvance(longest)
        min_width = _MIN_WORDS_WIDTH * self.fontMetrics().height()
        return room >= min(min_width, words_width)

    def _draw_buttons(self, row: Row) -> None:
        """Draw the buttons anew; a button that stays keeps the focus."""
        before = {button.verb: button for button in self.buttons}
        self.buttons = []
        for act in row.acts:
            button = before.get(act.verb)
            if button is None:
                button = self._make(act)
            button.name(act.caption, act.tip)
            self.buttons.append(button)
        for button in set(before.values()) - set(self.buttons):
            self._acts.removeWidget(button)
            self._deletion.add(button)
        for position, button in enumerate(self.buttons):
            self._acts.insertWidget(position, button)

    def _make(self, act: Act) -> Action:
        action = Action(act.caption, verb=act.verb)
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
    """The cards, one below the other, with headings between; a sentence where there is no row.

    Attributes:
        acted: Emitted when a button is pressed, with its row's key and its verb.
    """

    acted = qt.Signal(str, str)

    def __init__(self, empty: str, deletion: DeferredDeletion) -> None:
        """Make an empty list.

        Args:
            empty: The sentence that is shown while there is no row.
            deletion: Deletes the cards and buttons of former rows.
        """
        super().__init__()
        self._deletion = deletion
        self._widgets: dict[str, Card | SecondaryLabel] = {}  # by the key of the row
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
        """The cards that are shown, from the top."""
        return [widget for widget in self._widgets.values() if isinstance(widget, Card)]

    @property
    def buttons(self) -> list[Action]:
        """The buttons of all cards, from the top."""
        buttons = []
        for card in self.cards:
            buttons.extend(card.buttons)
        return buttons

    def show_rows(self, rows: Sequence[Row]) -> None:
        """Show these rows. A row that was shown before keeps its card, and the card its focus."""
        rows_by_key = {row.key: row for row in rows}
        has_same_order = list(rows_by_key) == list(self._widgets)
        for key in self._widgets.keys() - rows_by_key.keys():
            widget = self._widgets.pop(key)
            self._column.removeWidget(widget)
            self._deletion.add(widget)
        self._widgets = {key: self._widget_of(row) for key, row in rows_by_key.items()}
        self._empty.setVisible(not rows)
        if not has_same_order:
            self._place_widgets()
        self.updateGeometry()

    def sizeHint(self) -> qt.QSize:
        """Return the height of all cards."""
        natural = self._inner.sizeHint().width()
        width = natural
        if self.isVisible():
            width = self.viewport().width()
        return qt.QSize(natural, self._column.totalHeightForWidth(width))

    def minimumSizeHint(self) -> qt.QSize:
        """Return a height in which one card can be seen."""
        line = self.fontMetrics().height()
        return qt.QSize(line * 12, min(self.sizeHint().height(), line * _MIN_LINES))

    def resizeEvent(self, event: qt.QResizeEvent) -> None:
        """Ask for another height, as the texts wrap in the new width."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()

    def eventFilter(self, watched: qt.QObject, event: qt.QEvent) -> bool:
        """Ask for another height when a card asks for one."""
        if event.type() == qt.QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: qt.QKeyEvent) -> None:
        """Move the focus from card to card on the arrow keys."""
        step = _ARROWS.get(qt.Qt.Key(event.key()))
        if step is None or not self._move_focus(step):
            super().keyPressEvent(event)

    def _move_focus(self, step: int) -> bool:
        """Move the focus by some cards, to the button in the same place.

        Returns:
            False if the focus is in no card, or there is no card in that direction.
        """
        cards = [card for card in self.cards if card.buttons]
        position = self._focused_position(cards)
        if position is None or not 0 <= position + step < len(cards):
            return False
        focused = [button.hasFocus() for button in cards[position].buttons]
        column = focused.index(True)
        card = cards[position + step]
        last = len(card.buttons) - 1
        card.buttons[min(column, last)].setFocus(qt.Qt.FocusReason.TabFocusReason)
        self.ensureWidgetVisible(card)
        return True

    def _focused_position(self, cards: Sequence[Card]) -> int | None:
        for position, card in enumerate(cards):
            if card.isAncestorOf(self.focusWidget()):
                return position
        return None

    def _place_widgets(self) -> None:
        """Move each widget to its place in the column, below the sentence."""
        for position, widget in enumerate(self._widgets.values(), 1):
            if self._column.indexOf(widget) != position:
                self._column.insertWidget(position, widget)
                # Qt would show the widget in a later turn, and give it no height until then.
                widget.show()
        self._column.activate()  # in this turn, or the rows flicker into their places

    def _widget_of(self, row: Row) -> Card | SecondaryLabel:
        """Return the card or heading of a row, drawn anew if the row was shown before."""
        widget = self._widgets.get(row.key)
        if row.is_heading:
            if not isinstance(widget, SecondaryLabel):
                widget = SecondaryLabel()
            widget.show_text(row.title)
            return widget
        if isinstance(widget, Card):
            widget.show_row(row)
            return widget
        card = Card(row, self._deletion)
        card.acted.connect(self.acted)
        return card
