"""A question's dialog: a header of ours, the question, and three ways out.

It is not modal, never takes the keyboard by itself (`key_gate`), and is never run with ``exec``:
the artist may look around in the scene, and type there, before answering. Enter never agrees to
what may lose something. No message can draw the header: each part of it is a label of its own,
outside of the area that scrolls. Main thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import pairwise
from typing import Final

from dcc_bridge.elicitation.question import Expired, HandOver, Question, Reply
from dcc_bridge.elicitation.view import argument_views, view_of
from dcc_bridge.host import Host
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt import buttons, event_loop, form, items_view, outlines
from dcc_bridge.qt.arguments_view import Arguments
from dcc_bridge.qt.details_view import DetailsBox
from dcc_bridge.qt.header import Header
from dcc_bridge.qt.key_gate import KeyGate
from dcc_bridge.qt.labels import SMALL, Mnemonics, Notice, label, plain_column, rule, tr

_PAGES: Final = {qt.Qt.Key.Key_PageUp: -1, qt.Qt.Key.Key_PageDown: 1}
_MOST_OF_SCREEN: Final = 0.8


class QuestionDialog(qt.QDialog):
    """One question, drawn."""

    def __init__(
        self,
        question: Question,
        host: Host,
        parent: qt.QWidget | None,
        answered: Callable[[Reply | Expired | HandOver], None],
    ) -> None:
        """Draw a question; ``show`` makes it appear.

        Args:
            question: Which one.
            host: The application, for the header.
            parent: The application's main window, or None.
            answered: Called once with what came of it.
        """
        view = view_of(question, host, tr)  # a host that fails leaves no half of a window
        super().__init__(parent, _flags(parent))
        self.question = question
        self.view = view  # what is shown of it
        self.form: form.FormView | None = None  # None where the verb stands for the only field
        self.arguments: Arguments | None = None  # None where they are not shown
        self.details: DetailsBox | None = None  # the text that is agreed to, or None
        self.preview: items_view.Preview | None = None  # the items, or None where there are none
        self.name: items_view.NameToArm | None = None  # what is to be typed first, or None
        self._host = host
        self._answered: Callable[[Reply | Expired | HandOver], None] | None = answered
        self._is_set_aside = False
        self._wrong: form.FieldRow | None = None
        self.gate = KeyGate(self)  # keys count once the person has gone to it
        self.setProperty(event_loop.OURS, True)
        self.setWindowTitle(tr("{host}: a question for you", host=host.name))
        self.setAccessibleDescription(self.view.message)
        with ExitStack() as half_built:  # else the host's window keeps the half of it
            half_built.callback(self.setParent, None)
            self._build((parent.window() if parent else self).windowIcon())
            half_built.pop_all()
        self._refit = qt.QTimer(self, singleShot=True)  # a layout knows its size a turn later
        self._refit.timeout.connect(self._fit)
        self._connect()
        self._focus_first()
        self._fit()

    @qt.Slot()
    def submit(self) -> None:
        """Agree, with what is filled in; where that does not fit, say so and stay.

        It raises nothing.
        """
        self._wrong = self.form.first_wrong() if self.form is not None else None
        if self._wrong is None:
            agreed = self.question.confirmation
            content = self.form.content() if self.form is not None else {}
            content |= {} if agreed is None else {agreed.name: True}
            box = self.further.remember
            self._finish(Reply("accept", content, remember=bool(box and box.isChecked())))

    def dismiss(self) -> None:
        """Go, without an answer: nobody waits for it any more. It raises nothing."""
        self._answered = None
        self.hide()

    def set_aside(self) -> None:
        """Go from sight, with all that is filled in, until it is shown again. It raises nothing."""
        self._is_set_aside = True
        self.hide()
        self._is_set_aside = False

    def show_place(self, place: int, count: int) -> None:
        """Show which one of several questions it is. It raises nothing.

        Args:
            place: Which one, from 1 on.
            count: How many there are.
        """
        self.header.place.setText(tr("{place} of {n}", place=place, n=count) if count > 1 else "")

    def enter(self) -> None:
        """Take the keyboard: the person goes to the question. It raises nothing."""
        self.gate.enter()

    def changeEvent(self, event: qt.QEvent) -> None:
        """Outline the controls anew where the host changes its colours."""
        super().changeEvent(event)
        if event.type() == qt.QEvent.Type.PaletteChange:
            outlines.draw_outlines(self)

    def showEvent(self, event: qt.QShowEvent) -> None:
        """Leave the keyboard where it is."""
        super().showEvent(event)
        if not event.spontaneous():
            self.gate.shown()

    def eventFilter(self, watched: qt.QObject, event: qt.QEvent) -> bool:
        """Keep keys that do not count from every widget: they come through the window."""
        return self.gate.keeps(event)

    def hideEvent(self, event: qt.QHideEvent) -> None:
        """Cancel, whatever closes it: Esc, its frame, the host. Only the verb can agree."""
        super().hideEvent(event)
        if not event.spontaneous() and not self._is_set_aside:
            self._finish(Reply("cancel"))

    def keyPressEvent(self, event: qt.QKeyEvent) -> None:
        """Take Enter and the page keys; the rest is QDialog's. A held key ends one question."""
        if event.isAutoRepeat() and event.key() in (*buttons.ENTER, qt.Qt.Key.Key_Escape):
            return
        if event.key() in buttons.ENTER:
            self._enter(ctrl=bool(event.modifiers() & qt.Qt.KeyboardModifier.ControlModifier))
        elif event.key() in _PAGES:
            self.body.turn(_PAGES[qt.Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)

    def _enter(self, *, ctrl: bool) -> None:
        focused = self.focusWidget()
        consent, verb = self._is_guarded, self.exits.verb
        if focused is self.exits.reason:
            self.exits.decline.click()
            return
        if self.details is not None and focused is self.details.search:
            return  # it went on to the next place
        is_mute = self.further.mute is not None and focused is self.further.mute
        if is_mute or (consent and (ctrl or focused is verb)):
            return
        if isinstance(focused, buttons.Button) and not ctrl:
            focused.click()
        elif not consent:
            self.submit()
        elif focused is not None:
            self.focusNextChild()

    def _finish(self, heard: Reply | Expired | HandOver) -> None:
        answered, self._answered = self._answered, None
        if answered is not None:
            self.hide()
            answered(heard)

    def _build(self, icon: qt.QIcon) -> None:
        view, mnemonics = self.view, Mnemonics()
        self.header = Header(view.header, icon)
        offers = self.question.offers
        self.countdown = buttons.Countdown(offers.soon, offers.latest, mnemonics)
        self.further = buttons.Further(view.offers, mnemonics, self.countdown)
        consent = self._is_guarded
        self.exits = buttons.Exits(view.verb, self.further, consent=consent, mnemonics=mnemonics)
        self.form = form.FormView(view.fields, mnemonics) if view.fields else None
        undo: qt.QWidget | None = None
        if view.undo:
            undo = Notice(view.undo) if view.word else label(view.undo, size=SMALL)
        if undo is not None and self.question.items:
            show = partial(_show, self._host)
            self.preview = items_view.Preview(self.question, undo, mnemonics, show)
        self.name = items_view.NameToArm(view.word) if view.word else None
        if self.question.arguments:
            self.arguments = Arguments(argument_views(self.question.arguments, tr))
        self.details = DetailsBox(view.details, mnemonics) if view.details else None
        parts = [self.arguments, self.details, self.form, self.preview or undo, self.name]
        self.body = form.Body(view, *filter(None, (*parts, *self._parts())))
        self._column = plain_column(self, 0)
        for part in (self.header, rule(), self.body, rule(), self.exits):
            self._column.addWidget(part, int(part is self.body))
        exits, further = self.exits, self.further
        answers = (further.remember, exits.verb, exits.cancel, exits.decline, exits.with_reason)
        order = (*answers, exits.reason, self.countdown.more, further.hand_over, further.mute)
        for before, after in pairwise(filter(None, order)):
            self.setTabOrder(before, after)
        self._finish_building()
        outlines.draw_outlines(self)

    @property
    def _is_guarded(self) -> bool:
        """Whether Enter must not agree: something may be lost, or is opened outside of the host."""
        return self.question.consent is not None or self.question.page is not None

    def _parts(self) -> list[qt.QWidget]:
        """Give what stands below the question in another kind of dialog."""
        return []

    def _finish_building(self) -> None:
        """Add what another kind of dialog has more."""

    def _connect(self) -> None:
        self.exits.verb.clicked.connect(self.submit)
        self.exits.decline.clicked.connect(self._decline)
        self.exits.with_reason.clicked.connect(self._refit.start)
        self.exits.reason.textChanged.connect(self.countdown.touch)
        self.exits.cancel.clicked.connect(self.reject)
        self.countdown.expired.connect(self._expire)
        self.gate.opened.connect(self._keep_typed)
        self.further.handed_over.connect(self._hand_over)
        self.further.muted.connect(self._mute)
        for part in (self.arguments, self.form):
            if part is not None:
                part.changed.connect(self._refit.start)
                part.changed.connect(self.countdown.touch)
        if self.details is not None:
            self.details.touched.connect(self.countdown.touch)
        if self.preview is not None:
            self.preview.filter.textChanged.connect(self.countdown.touch)
        if self.name is not None:
            self.exits.hold(True)
            self.name.lacking.connect(self.exits.hold)
            self.name.editor.textChanged.connect(self.countdown.touch)

    @qt.Slot()
    def _decline(self) -> None:
        self._finish(Reply("decline", reason=self.exits.reason.text().strip() or None))

    @qt.Slot()
    def _hand_over(self) -> None:
        self._finish(HandOver())

    @qt.Slot()
    def _mute(self) -> None:
        self._finish(Reply("decline", mute=True))

    @qt.Slot()
    def _expire(self) -> None:
        self._finish(Expired())

    @qt.Slot()
    def _keep_typed(self) -> None:
        focused = self.focusWidget()
        if isinstance(focused, qt.QLineEdit) and self.question.offers.typed:
            focused.end(False)  # the next key must not replace what was typed before

    def _focus_first(self) -> None:
        if self._is_guarded:
            self.exits.cancel.setFocus()
        elif self.form is not None:
            self.form.rows[0].editor.setFocus()
        else:
            self.exits.verb.setFocus()

    @qt.Slot()
    def _fit(self) -> None:
        """Grow to what there is to see, but not over the screen; go to what is wrong."""
        most = self.screen().availableSize() * _MOST_OF_SCREEN
        self.body.updateGeometry()
        now = self.size() if self.isVisible() else qt.QSize(0, 0)
        width = min(max(now.width(), self.sizeHint().width()), most.width())
        wanted = qt.QSize(width, max(now.height(), self._column.totalHeightForWidth(width)))
        self.resize(wanted.boundedTo(most))
        wrong, self._wrong = self._wrong, None
        if wrong is not None:
            self.body.ensureWidgetVisible(wrong)


def _show(host: Host, items: Sequence[str]) -> None:
    host.select(items)
    host.frame(items)


def _flags(parent: qt.QWidget | None) -> qt.Qt.WindowType:
    kind = qt.Qt.WindowType
    flags = kind.Dialog | kind.WindowTitleHint | kind.WindowSystemMenuHint
    flags |= kind.WindowCloseButtonHint
    return flags if parent is not None else flags | kind.WindowStaysOnTopHint
