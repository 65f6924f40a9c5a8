"""The history tab of the panel: the calls that ended, and buttons that undo them. Main thread.

`HistoryModel` is the Qt model of the list, and `History` draws the list, the card of the selected
call, and the buttons.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from dcc_bridge.elicitation.text import safe_line
from dcc_bridge.panel import rows
from dcc_bridge.panel.row import Act, Row
from dcc_bridge.panel.state import State
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.event_loop import DeferredDeletion
from dcc_bridge.qt.labels import SMALL, add_all, scale, tr, unmarked
from dcc_bridge.qt.outlines import draw_outlines
from dcc_bridge.qt.panel import widgets
from dcc_bridge.qt.panel.call_card import CallCard
from dcc_bridge.qt.panel.cards import Card
from dcc_bridge.qt.panel.history_filter import FilterBar
from dcc_bridge.qt.panel.history_list import HistoryList, HistoryMenu, HistoryModel
from dcc_bridge.skills.call_history import Record, why_not_undo

_MAX_TITLE_LENGTH: Final = 32  # characters of a call's title on the button that undoes the call
_BACK_OFF: Final = "back_off"  # the verb of the button that undoes nothing


class History(qt.QWidget):
    """The list of calls that ended, with a filter, the card of a call, and undo buttons.

    Attributes:
        undone: Emitted when the person wants a step undone, with the step's label.
        acted: Emitted when the person undoes several calls, with the key and the verb of the row
            that lists them.
        opened: Emitted when a part of the history is opened, with its widget.
        filter: The search and the choices above the list.
        model: The calls that are listed.
        list: The list of the calls.
        menu: Copies the chosen row, its id, or all rows.
        reads: The check box that also lists the calls that only read.
        card: Describes the chosen call; hidden without one.
        text: The button that opens the text of the code that the chosen call ran.
        undo: The button that undoes the chosen call; without a chosen call, the newest.
        undo_back: The button that lists what goes back with the chosen call.
        steps: The card with that list, where the person undoes them or not; None while it is shut.
    """

    undone = qt.Signal(str)
    acted = qt.Signal(str, str)
    opened = qt.Signal(qt.QWidget)

    def __init__(self, deletion: DeferredDeletion) -> None:
        """Make an empty history.

        Args:
            deletion: Deletes the list of steps once it is shut.
        """
        super().__init__()
        self._deletion = deletion
        self._state: State | None = None
        self.filter = FilterBar()
        self.model = HistoryModel(self.style(), self.fontMetrics().lineSpacing())
        self.model.setParent(self)
        self.list = HistoryList(self.model)
        self.menu = HistoryMenu(self.list, self.model)
        self._empty = widgets.SecondaryLabel()  # shown where no call is listed
        self.reads = qt.QCheckBox(tr("Show reads"))
        self.reads.setToolTip(tr("Also show calls that changed nothing."))
        self.reads.setFocusPolicy(qt.Qt.FocusPolicy.TabFocus)
        scale(self.reads, SMALL)
        self.card = CallCard()
        self.text = widgets.Action(tr("Show the code"))
        self.undo = widgets.Action(tr("Undo"))
        self.undo_back = widgets.Action(tr("Undo this and all after it…"))
        self.undo_back.hide()
        self.steps: Card | None = None
        self._refusal = widgets.SecondaryLabel()  # says why the button cannot undo
        self.reads.toggled.connect(self._refresh)
        self.filter.changed.connect(self._refresh)
        self.undo.clicked.connect(self._undo)
        self.undo_back.clicked.connect(self._ask_for_steps)
        self.list.activated.connect(self.card.open)
        self.list.clicked.connect(self._bring_card)
        self.text.clicked.connect(self.card.open)
        self.list.selectionModel().selectionChanged.connect(self._show_chosen)
        self._lay_out()

    def show_state(self, state: State) -> None:
        """Show the calls that ended until now."""
        self._state = state
        self.filter.show_clients(state.ended)
        self._refresh()

    @property
    def chosen(self) -> Record | None:
        """The call that is selected, or None."""
        selected = self.list.selectionModel().selectedRows()
        if not selected:
            return None
        return self.model.records[selected[0].row()]

    @property
    def fields(self) -> list[qt.QWidget]:
        """The widgets that take the keyboard, in the order of Tab."""
        steps: list[qt.QWidget] = []
        if self.steps is not None:
            steps.extend(self.steps.buttons)
        undo = (self.undo, self.undo_back)
        return [
            *self.filter.fields,
            self.list,
            self.card.facts,
            self.text,
            *steps,
            *undo,
            self.reads,
        ]

    @qt.Slot()
    def _refresh(self) -> None:
        shown: list[Record] = []
        if self._state is not None:
            chosen = replace(self.filter.filter, lists_reads=self.reads.isChecked())
            shown = chosen.chosen(self._state.ended)
        if shown != self.model.records:
            self._replace(shown)
        self._say_empty(bool(shown))
        self._show_chosen()

    def _say_empty(self, has_rows: bool) -> None:
        """Say in place of an empty list what it will show, or that nothing fits the filter."""
        self.list.setVisible(has_rows)
        is_filtered = self._state is not None and any(
            not record.only_read for record in self._state.ended
        )
        self.filter.setVisible(has_rows or is_filtered)
        text = ""
        if not has_rows and is_filtered:
            text = tr("Nothing in the history fits.")
        elif not has_rows:
            text = tr("This list will show what agents did and who approved it.")
        self._empty.show_text(text)

    def _replace(self, shown: list[Record]) -> None:
        """List other calls; the selected call and the topmost visible one keep their places."""
        chosen = self.chosen
        top = self._topmost()
        self.model.show_records(shown)
        self.list.fit_rows()
        if chosen is None and top is None:
            return
        places = {record.id: row for row, record in enumerate(shown)}
        if chosen is not None and chosen.id in places:
            self.list.setCurrentIndex(self.model.index(places[chosen.id], 0))
        if top is not None and top.id in places:
            at_top = qt.QAbstractItemView.ScrollHint.PositionAtTop
            self.list.scrollTo(self.model.index(places[top.id], 0), at_top)

    def _topmost(self) -> Record | None:
        """Return the call at the upper edge of a list that is scrolled, or None."""
        if not self.list.verticalScrollBar().value():
            return None
        index = self.list.indexAt(self.list.viewport().rect().topLeft())
        if not index.isValid():
            return None
        return self.model.records[index.row()]

    @qt.Slot()
    def _show_chosen(self) -> None:
        """Show the card of the chosen call, and whether the buttons can undo."""
        if self._state is None:
            return
        chosen = self.chosen
        call_id = ""
        has_code = False
        if chosen is not None:
            call_id = chosen.id
            has_code = chosen.effect.code is not None
        self.menu.set_call(call_id)
        self.card.show_call(chosen)
        self.list.leave_room(chosen is not None)
        self.text.setVisible(has_code)
        self._show_undo(self._state)
        self._show_undo_back(self._state, chosen)

    @qt.Slot()
    def _bring_card(self) -> None:
        self.opened.emit(self.card)

    def _show_undo(self, state: State) -> None:
        record = self._undo_target()
        caption = tr("Undo")
        refusal = tr("No agent has changed the scene yet.")
        if record is not None:
            refusal = why_not_undo(record, state.top.label, state.host, tr)
        if record is not None and not refusal:
            title = safe_line(record.title, _MAX_TITLE_LENGTH)
            caption = unmarked(tr("Undo: {title}", title=title))
        self.undo.setEnabled(not refusal)
        self.undo.setText(caption)
        self.undo.setToolTip(refusal)
        self.undo.setAccessibleDescription(refusal)
        if not self.model.records:
            refusal = ""  # the sentence about the empty list says enough
        self._refusal.show_text(refusal)

    def _show_undo_back(self, state: State, chosen: Record | None) -> None:
        """Offer to undo the chosen call with all after it; shut a list that is no longer true."""
        row = None
        if chosen is not None and chosen.effect.label != state.top.label:
            row = rows.undo_row(state, chosen)
        can_undo = row is not None and bool(row.acts)
        if can_undo:
            self._refusal.hide()
        elif row is not None and chosen is not None and chosen.effect.steps:
            self._refusal.show_text(row.detail)
        if self.steps is not None and (row is None or self.steps.row.key != row.key):
            self._shut_steps()
        self.undo.setVisible(not can_undo)
        self.undo_back.setVisible(can_undo and self.steps is None)

    @qt.Slot()
    def _ask_for_steps(self) -> None:
        """List what goes back, with a button that undoes it and one that does not."""
        chosen = self.chosen
        if chosen is None or self._state is None:
            return
        row = rows.undo_row(self._state, chosen)
        self.steps = Card(_with_way_out(row), self._deletion)
        self.steps.acted.connect(self._end_steps)
        self._column.insertWidget(self._column.indexOf(self._refusal), self.steps)
        self.steps.show()  # Qt would show it in a later turn
        self.steps.buttons[-1].setFocus(qt.Qt.FocusReason.OtherFocusReason)
        draw_outlines(self.steps)
        self._show_chosen()
        self.opened.emit(self.steps)

    @qt.Slot(str, str)
    def _end_steps(self, key: str, verb: str) -> None:
        self._shut_steps()
        self._show_chosen()
        if verb != _BACK_OFF:
            self.acted.emit(key, verb)

    def _shut_steps(self) -> None:
        steps = self.steps
        self.steps = None
        if steps is not None:
            self._column.removeWidget(steps)
            self._deletion.add(steps)

    def _undo_target(self) -> Record | None:
        """Return the call that the undo button is about; None if no call left a step."""
        if self.chosen is not None or self._state is None:
            return self.chosen
        if self._state.undoable is not None:
            return self._state.undoable
        for record in self._state.ended:
            if record.effect.steps or record.effect.lasting:
                return record
        return None

    @qt.Slot()
    def _undo(self) -> None:
        record = self._undo_target()
        if record is not None and record.effect.label is not None:
            self.undone.emit(record.effect.label)

    def _lay_out(self) -> None:
        gap = self.fontMetrics().height() // 2
        foot = qt.QHBoxLayout()
        foot.setSpacing(gap)
        add_all(foot, self.undo, self.undo_back, None, self.reads)
        column = qt.QVBoxLayout(self)
        column.setContentsMargins(0, gap // 2, 0, 0)
        column.setSpacing(gap)
        column.addWidget(self.filter)
        column.addWidget(self.list, 1)
        column.addWidget(self.card, 1)
        add_all(column, self.text, self._empty)
        column.addStretch(0)
        add_all(column, self._refusal, foot)
        self._column = column


def _with_way_out(row: Row) -> Row:
    """Return a row with one more button, which does nothing."""
    leave = Act(_BACK_OFF, tr("Cancel"), tr("Undo nothing."))
    return replace(row, acts=(*row.acts, leave))
