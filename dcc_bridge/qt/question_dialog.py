"""A question's dialog. Main thread.

`DialogPresenter` makes a dialog for each question. It has from the top: the header with the
question, who asks and the time left; the body with what the question is about; the offers; and the
*exits*, the buttons that answer.

The dialog is not modal, never takes the keyboard by itself (`key_gate`), and is never run with
``exec``: the person may look around in the scene, and type there, before answering. Enter never
agrees to something that may lose data. No message can draw who asks: that is a label of its own, in
our own words, outside of the area that scrolls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import pairwise
from typing import Any, Final

from dcc_bridge.elicitation.question import (
    Consent,
    Draft,
    Expired,
    HandOver,
    Question,
    Reply,
)
from dcc_bridge.elicitation.view import QuestionView, fewer, view_of, word_to_type
from dcc_bridge.host import Host
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt import buttons, event_loop, form, items_view, outlines
from dcc_bridge.qt.arguments_view import Arguments
from dcc_bridge.qt.details_view import DetailsBox
from dcc_bridge.qt.dialog_place import MAX_FRAME
from dcc_bridge.qt.focus_frame import FocusFrames
from dcc_bridge.qt.header import Header
from dcc_bridge.qt.key_gate import KeyGate
from dcc_bridge.qt.labels import (
    SMALL,
    Mnemonics,
    Notice,
    label,
    plain_column,
    rule,
    tr,
    unmarked,
)
from dcc_bridge.qt.pictures_view import Pictures
from dcc_bridge.qt.screen_reader import announce

_PAGES: Final = {qt.Qt.Key.Key_PageUp: -1, qt.Qt.Key.Key_PageDown: 1}
_MAX_WIDTH_SHARE: Final = 0.8  # of the screen
_MAX_HEIGHT_SHARE: Final = 0.9  # the same; a dialog beside the view covers no more if it is high


class QuestionDialog(qt.QDialog):
    """A dialog that draws one question.

    Attributes:
        fitted: Emitted when a dialog that is shown has taken the size of its contents.
        question: The question.
        view: The texts of the question, and the values that are filled in at first.
        header: Shows the question, who asks, and the time left.
        body: The area that scrolls, between the header and the exits.
        form: The fields; None for a question without fields, or with only a confirmation.
        arguments: What the agent asked for, or None where that is not shown.
        details: The text that is agreed to, or None.
        pictures: The scene as it is and as it would be, or None where there are no pictures.
        preview: The items that may be lost, or None where there are none.
        name: The line in which a word is to be typed before the person can agree, or None.
        for_all: Says that the card shows what happens with all items; hidden while all are ticked.
        countdown: Says how long the question still waits.
        offers_bar: The offers besides an answer.
        exits: The buttons that answer.
        gate: Lets keys through once the person has gone to the dialog.
    """

    fitted = qt.Signal()
    header: Header
    body: form.Body
    countdown: buttons.Countdown
    offers_bar: buttons.OffersBar
    exits: buttons.Exits

    def __init__(
        self,
        question: Question,
        host: Host,
        parent: qt.QWidget | None,
        answered: Callable[[Reply | Expired | HandOver], None],
    ) -> None:
        """Draw a question; ``show`` makes the dialog appear.

        Args:
            question: The question to draw.
            host: The application, for the header.
            parent: The application's main window, or None.
            answered: Called once with the answer, or with the reason why there is none.
        """
        view = view_of(question, host, tr)  # first, as the host may raise an error
        super().__init__(parent, _flags(parent))
        self.question = question
        self.view = view
        self.form: form.FormView | None = None
        self.arguments: Arguments | None = None
        self.details: DetailsBox | None = None
        self.pictures: Pictures | None = None
        self.preview: items_view.Preview | None = None
        self.name: items_view.NameToArm | None = None
        self.for_all = label("", size=SMALL)
        self.for_all.hide()
        self._host = host
        self._answered: Callable[[Reply | Expired | HandOver], None] | None = answered
        self._is_set_aside = False
        self._wrong: form.FieldRow | None = None
        self.gate = KeyGate(self)
        self.setProperty(event_loop.OURS_PROPERTY, True)
        self.setWindowTitle(tr("{host}: a question for you", host=host.name))
        self.setAccessibleDescription(self.view.message)
        titled: qt.QWidget = self
        if parent is not None:
            titled = parent.window()
        with ExitStack() as on_failure:  # else the host's window would keep half of a dialog
            on_failure.callback(self.setParent, None)
            self._build(titled.windowIcon())
            on_failure.pop_all()
        self._refit = qt.QTimer(self, singleShot=True)  # a layout knows its size a turn later
        self._refit.timeout.connect(self._fit)
        self._connect()
        self._restore(question.offers.draft)
        self._focus_first()
        self._fit()

    @property
    def draft(self) -> Draft:
        """The entries that were not sent, for the same question asked again."""
        values = self.question.offers.draft.values
        if self.form is not None and self.form.typed is not None:
            values = self.form.typed
        left_out: tuple[str, ...] = ()
        if self.preview is not None:
            left_out = self.preview.items.left_out()
        return Draft(values, left_out, self.exits.reason.text())

    @qt.Slot()
    def submit(self) -> None:
        """Agree, with the values of the form; if a value is not valid, show its error and stay.

        It raises nothing.
        """
        self._wrong = None
        if self.form is not None:
            self._wrong = self.form.first_wrong()
        if self._wrong is not None:
            return
        content: dict[str, Any] = {}
        if self.form is not None:
            content = self.form.content()
        confirmation = self.question.confirmation
        if confirmation is not None:
            content[confirmation.name] = True
        remember_box = self.offers_bar.remember
        remember = remember_box is not None and remember_box.isChecked()
        left_out: tuple[str, ...] = ()
        if self.preview is not None:
            left_out = self.preview.items.left_out()
        self._finish(Reply("accept", content, remember=remember, left_out=left_out))

    def dismiss(self) -> None:
        """Hide, and report no answer: nobody waits for an answer any more. It raises nothing."""
        self._answered = None
        self.hide()

    def set_aside(self) -> None:
        """Hide until the dialog is shown again; the values that are filled in stay.

        It raises nothing.
        """
        self._is_set_aside = True
        self.hide()
        self._is_set_aside = False

    def show_place(self, place: int, count: int) -> None:
        """Show which one of several questions this is. It raises nothing.

        Args:
            place: The place of this question, from 1 on.
            count: The number of questions; for one, nothing is shown.
        """
        text = ""
        if count > 1:
            text = tr("{place} of {n}", place=place, n=count)
        self.header.place.setText(text)

    def enter(self) -> None:
        """Take the keyboard focus: the person goes to the question. It raises nothing."""
        self.gate.enter()

    def changeEvent(self, event: qt.QEvent) -> None:
        """Outline the controls anew after the host changed its colours."""
        super().changeEvent(event)
        if event.type() == qt.QEvent.Type.PaletteChange:
            outlines.draw_outlines(self)

    def showEvent(self, event: qt.QShowEvent) -> None:
        """Close the gate for keys as the dialog appears."""
        super().showEvent(event)
        if not event.spontaneous():
            self.gate.shown()

    def eventFilter(self, watched: qt.QObject, event: qt.QEvent) -> bool:
        """Keep keys from the widgets while the gate is closed: keys come through the window."""
        return self.gate.keeps(event)

    def hideEvent(self, event: qt.QHideEvent) -> None:
        """Cancel if Esc, the window's frame or the host closes the dialog. Only a button agrees."""
        super().hideEvent(event)
        if not event.spontaneous() and not self._is_set_aside:
            self._finish(Reply("cancel"))

    def keyPressEvent(self, event: qt.QKeyEvent) -> None:
        """Handle Enter and the page keys, and leave the rest to QDialog.

        A key that is held down must not end the next question too, so its repeats are ignored.
        """
        if event.isAutoRepeat() and event.key() in (*buttons.ENTER, qt.Qt.Key.Key_Escape):
            return
        if event.key() in buttons.ENTER:
            self._enter(ctrl=bool(event.modifiers() & qt.Qt.KeyboardModifier.ControlModifier))
        elif event.key() in _PAGES:
            self.body.turn(_PAGES[qt.Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)

    def _enter(self, *, ctrl: bool) -> None:
        """Do what Enter does where the focus is."""
        focused = self.focusWidget()
        if focused is self.exits.reason:
            self.exits.decline.click()
            return
        if self.details is not None and focused is self.details.search:
            return  # the search itself handles Enter
        agrees = ctrl or focused is self.exits.verb
        if self.view.guarded and agrees:
            return
        if isinstance(focused, buttons.Button) and not ctrl:
            focused.click()
        elif not self.view.guarded:
            self.submit()
        elif focused is not None:
            self.focusNextChild()

    def _finish(self, outcome: Reply | Expired | HandOver) -> None:
        answered = self._answered
        self._answered = None
        if answered is not None:
            self.hide()
            answered(outcome)

    def _build(self, icon: qt.QIcon) -> None:
        mnemonics = Mnemonics()
        self._build_frame(icon, mnemonics)
        parts = self._build_parts(mnemonics)
        parts.extend(self._parts())
        self.body = form.Body(self.view, *parts)
        self._column = plain_column(self, 0)
        for part in (self.header, rule(), self.body, rule(), self.exits):
            self._column.addWidget(part, int(part is self.body))
        self._set_tab_order()
        self._finish_building()
        outlines.draw_outlines(self)
        FocusFrames(self)

    def _build_frame(self, icon: qt.QIcon, mnemonics: Mnemonics) -> None:
        """Make the parts above and below the body, which every question has."""
        offers = self.question.offers
        self.countdown = buttons.Countdown(offers.soon, offers.latest, mnemonics)
        self.header = Header(self.view, icon, self.countdown)
        self.offers_bar = buttons.OffersBar(self.view.offers, mnemonics)
        if self.view.word:
            self.name = items_view.NameToArm(self.view.word)
        above = (self.name, _undo_line(self.view), self.for_all, self.offers_bar)
        shown = [part for part in above if part is not None]
        self.exits = buttons.Exits(self.view, *shown, mnemonics=mnemonics)

    def _build_parts(self, mnemonics: Mnemonics) -> list[qt.QWidget]:
        """Make the parts of the body that this question has, in the order from the top."""
        view = self.view
        # First the form, so that its fields get the letters for Alt that they want.
        if view.fields:
            self.form = form.FormView(view.fields, mnemonics)
        if view.arguments:
            self.arguments = Arguments(view.arguments, is_agreed=bool(self.question.arguments))
        if view.details:
            self.details = DetailsBox(view.details, mnemonics)
        if self.question.consent is not None:
            self._build_items(self.question.consent, mnemonics)
        parts = (
            self.pictures,
            self.details,
            self.form,
            self.preview,
            self.arguments,
        )
        return [part for part in parts if part is not None]

    def _build_items(self, consent: Consent, mnemonics: Mnemonics) -> None:
        """Make the pictures and the list of the items that may go."""
        if consent.pictures:
            self.pictures = Pictures(consent.pictures)
        if consent.items:
            # No method of the dialog, which would be a cycle for the garbage collector.
            show_in_scene = partial(_show_in_scene, self._host)
            self.preview = items_view.Preview(consent, mnemonics, show_in_scene)

    def _set_tab_order(self) -> None:
        exits = self.exits
        answers = [exits.verb, exits.cancel, exits.decline, exits.ways, exits.reason]
        if self.view.guarded:  # Tab from the list leads to what loses nothing
            answers = [*answers[1:], exits.verb]
        word_line = None
        if self.name is not None:
            word_line = self.name.editor
        order = (
            word_line,
            self.offers_bar.remember,
            *answers,
            self.offers_bar.hand_over,
            self.countdown.more,
            self.header.about,
        )
        present = [widget for widget in order if widget is not None]
        for before, after in pairwise(present):
            self.setTabOrder(before, after)

    def _parts(self) -> list[qt.QWidget]:
        """Return the parts that a subclass adds below the question."""
        return []

    def _finish_building(self) -> None:
        """Add the widgets of a subclass below the exits; this class has none."""

    def _connect(self) -> None:
        self.exits.verb.clicked.connect(self.submit)
        self.exits.decline.clicked.connect(self._decline)
        self.exits.with_reason.triggered.connect(self._refit.start)
        self.exits.muted.connect(self._mute)
        self.header.changed.connect(self._refit.start)
        self.header.changed.connect(self.countdown.touch)
        self.exits.reason.textChanged.connect(self.countdown.touch)
        self.exits.cancel.clicked.connect(self.reject)
        self.countdown.expired.connect(self._expire)
        self.gate.opened.connect(self._deselect_typed_text)
        self.offers_bar.handed_over.connect(self._hand_over)
        for part in (self.arguments, self.form):
            if part is not None:
                part.changed.connect(self._refit.start)
                part.changed.connect(self.countdown.touch)
        if self.details is not None:
            self.details.touched.connect(self.countdown.touch)
        if self.pictures is not None:
            self.pictures.enlarged.connect(self.countdown.touch)
        if self.preview is not None:
            self.preview.search.textChanged.connect(self.countdown.touch)
            self.preview.items.ticked.connect(self.countdown.touch)
            self.preview.items.ticked.connect(self._count_ticked)
        if self.name is not None:
            self.name.changed.connect(self._hold)
            self.name.changed.connect(self.countdown.touch)
        self._hold()

    def _restore(self, draft: Draft) -> None:
        """Enter again what was not sent; the form has its values from the view."""
        if self.preview is not None and draft.left_out:
            self.preview.items.leave_out(draft.left_out)
        if draft.reason:
            self.exits.show_reason(draft.reason)

    @qt.Slot()
    def _count_ticked(self) -> None:
        """Say on the button, and in the line for a word, how many items would go.

        The text and the pictures stay as they are: they were made by a try with all items.
        """
        if self.preview is None:
            return
        items = self.preview.items
        total = len(self.question.items)
        self.for_all.setText(tr("What is shown above is for all {n:,}.", n=total))
        self.for_all.setVisible(items.kept_count < total)
        verb = fewer(self.view.verb, items.kept_count, total, tr)
        self.exits.verb.setText(unmarked(verb))
        announce(self.exits.verb, verb)
        if self.name is not None:
            self.name.ask_for(word_to_type(items.kept(), self.view.verb))
        self._hold()

    @qt.Slot()
    def _hold(self) -> None:
        """Refuse to agree while a word has not been typed, or no item is ticked."""
        is_word_lacking = self.name is not None and self.name.is_lacking
        takes_nothing = self.preview is not None and not self.preview.items.kept_count
        self.exits.hold(is_word_lacking or takes_nothing)

    @qt.Slot()
    def _decline(self) -> None:
        reason = self.exits.reason.text().strip() or None
        self.exits.reason.clear()  # it is sent, and no draft any more
        self._finish(Reply("decline", reason=reason))

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
    def _deselect_typed_text(self) -> None:
        """Move the cursor behind text that was typed before the dialog came up again."""
        focused = self.focusWidget()
        if isinstance(focused, qt.QLineEdit) and self.question.offers.draft.values:
            focused.end(False)  # else the text is selected, and the next key replaces it

    def _focus_first(self) -> None:
        if self.view.guarded:
            self.exits.cancel.setFocus()
        elif self.form is not None:
            self.form.rows[0].editor.setFocus()
        else:
            self.exits.verb.setFocus()

    @qt.Slot()
    def _fit(self) -> None:
        """Take the size of the contents, but not over the screen; go to the first error.

        A dialog that is shown keeps its place beside the view: it grows only downwards.
        """
        screen = self.screen().availableSize()
        most_width = round(screen.width() * _MAX_WIDTH_SHARE)
        most_height = round(screen.height() * _MAX_HEIGHT_SHARE)
        most_height = min(most_height, screen.height() - MAX_FRAME.height())
        self.body.updateGeometry()
        if self.isVisible():
            bottom = self.screen().availableGeometry().bottom()
            room = bottom - self.frameGeometry().bottom()
            wanted = min(self._column.totalHeightForWidth(self.width()), most_height)
            growth = min(wanted - self.height(), room)
            self.resize(self.width(), self.height() + max(0, growth))
            self.fitted.emit()
        else:
            width = min(self.sizeHint().width(), most_width)
            height = min(self._column.totalHeightForWidth(width), most_height)
            self.resize(width, height)
        wrong = self._wrong
        self._wrong = None
        if wrong is not None:
            self.body.ensureWidgetVisible(wrong)


def _show_in_scene(host: Host, items: Sequence[str]) -> None:
    host.select(items)
    host.frame(items)


def _undo_line(view: QuestionView) -> qt.QWidget | None:
    """Make the line that says what undo brings back, with a warning sign where it does not help."""
    if not view.undo:
        return None
    if view.warns:
        return Notice(view.undo)
    return label(view.undo, size=SMALL)


def _flags(parent: qt.QWidget | None) -> qt.Qt.WindowType:
    """Return the flags of a dialog, which stays on top where no window owns it."""
    kind = qt.Qt.WindowType
    flags = kind.Dialog | kind.WindowTitleHint | kind.WindowSystemMenuHint
    flags |= kind.WindowCloseButtonHint
    if parent is None:
        flags |= kind.WindowStaysOnTopHint
    return flags
