"""A page's dialog shows all of where it leads, and opens on one click and never by itself."""

from __future__ import annotations

import os
import socket
from typing import Any

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from dcc_bridge.elicitation import urls
from dcc_bridge.elicitation.question import Page, Question, Reply, Settle
from dcc_bridge.qt.url_dialog import UrlDialog
from tests.elicitation.vectors import DISGUISED, FORBIDDEN, PHISHING, PLAIN
from tests.tiers import repeated, sampled

from .stage import CALL, HOST, Stage, armed, click, delete, press, until, words

URL = "https://accounts.google.com.evil.example/signin?next=%2Fhome"


class Opener:
    """Stands where the browser is opened.

    Attributes:
        urls: What it was given.
        works: Whether there is a browser.
    """

    def __init__(self) -> None:
        self.urls: list[str] = []
        self.works = True

    def __call__(self, url: QUrl) -> bool:
        self.urls.append(url.toString(QUrl.ComponentFormattingOption.FullyEncoded))
        return self.works


class Visited:
    """A page of ours that nobody opens."""

    def follow(self, settle: Settle) -> None: ...

    def end(self, reason: str) -> None: ...


@pytest.fixture
def opener(monkeypatch: pytest.MonkeyPatch) -> Opener:
    opener = Opener()
    monkeypatch.setattr(QDesktopServices, "openUrl", opener)
    return opener


def question(url: str = URL, **more: Any) -> Question:
    return Question("Please sign in to the tracker.", CALL, page=Page(url, **more))


def drawn(url: str = URL, **more: Any) -> tuple[UrlDialog, list[Any]]:
    heard: list[Any] = []
    dialog = UrlDialog(question(url, **more), HOST, None, heard.append)
    dialog.show()
    return dialog, heard


def agreed(**more: Any) -> tuple[UrlDialog, list[Any]]:
    dialog, heard = drawn(**more)
    click(armed(dialog))
    return dialog, heard


@pytest.mark.parametrize("url", sampled([*[*PHISHING][::3], PLAIN[0]], [*PHISHING, *PLAIN]))
def test_every_address_is_shown_whole_with_its_dangers_and_opens_as_it_is_shown(
    url: str, opener: Opener
) -> None:
    dialog, _ = drawn(url)
    where = urls.read(url)

    assert dialog.address.whole.toPlainText() == where.url
    assert [notice.text for notice in dialog.address.notices] == [d.text for d in where.dangers]
    shown = dialog.address.host.text().replace("\N{ZERO WIDTH SPACE}", "")
    assert shown == f"{where.place.weak}<b>{where.place.strong}</b>"
    assert bool(where.place.letters) == ("It reads " in words(dialog))
    assert opener.urls == []

    click(armed(dialog))

    assert opener.urls == [where.url]


@pytest.mark.parametrize(
    "url", sampled([*FORBIDDEN[::4], *[*DISGUISED][::4]], [*FORBIDDEN, *DISGUISED])
)
def test_what_must_not_be_opened_is_not_drawn(url: str, opener: Opener, stage: Stage) -> None:
    heard, _ = stage.show(question(url or " "))

    until(lambda: heard)
    assert type(heard[0]).__name__ == "Unable"
    assert stage.presenter.dialogs == []
    assert opener.urls == []


def test_the_whole_address_can_be_read_and_copied_but_not_changed() -> None:
    long = "https://tracker.example/?" + "x" * 8000
    dialog, _ = drawn(long)
    field = dialog.address.whole

    assert field.toPlainText() == long
    assert field.isReadOnly()
    assert field.document().blockCount() == 1
    assert field.verticalScrollBar().maximum() > 0
    assert field.horizontalScrollBar().maximum() == 0
    assert field.fontInfo().fixedPitch() or field.font().fixedPitch()
    field.setFocus()
    field.selectAll()
    field.copy()
    assert QApplication.clipboard().text() == long


@pytest.mark.core
def test_only_the_button_opens_it(opener: Opener) -> None:
    dialog, heard = drawn()
    armed(dialog)

    for _ in range(50):
        press(dialog, Qt.Key.Key_Return)
        press(dialog, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    dialog.exits.verb.setFocus()
    press(dialog.exits.verb, Qt.Key.Key_Return)
    assert opener.urls == []
    assert dialog.isVisible() is False  # Enter on Cancel is a cancel
    assert heard == [Reply("cancel")]


def test_a_click_that_was_meant_for_something_else_opens_nothing(opener: Opener) -> None:
    dialog, _ = drawn()

    click(dialog.exits.verb)

    assert opener.urls == []


def test_the_button_can_be_pressed_by_keyboard(opener: Opener) -> None:
    dialog, _ = drawn()
    armed(dialog).setFocus()

    press(dialog.exits.verb, Qt.Key.Key_Space)

    assert len(opener.urls) == 1


@pytest.mark.parametrize("dialogs", repeated(20, 1000))
def test_nothing_is_opened_or_reached_before_the_click(
    dialogs: int, opener: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No socket of Python's, no socket of Qt's, no opener."""
    reached: list[Any] = []

    def spy(*args: Any, **_: Any) -> Any:
        reached.append(args)
        raise OSError

    for name in ("getaddrinfo", "gethostbyname", "create_connection"):
        monkeypatch.setattr(socket, name, spy)
    monkeypatch.setattr(socket.socket, "connect", spy)
    urls = [*PHISHING, *PLAIN]
    sockets = _sockets()

    for number in range(dialogs):
        dialog, _ = drawn(urls[number % len(urls)])
        delete(dialog)

    assert (opener.urls, reached, _sockets()) == ([], [], sockets)


def _sockets() -> int:
    """Count the open sockets of the process, whoever opened them."""
    links = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
    targets = [os.readlink(link) for link in links if os.path.islink(link)]
    return sum(target.startswith("socket:") for target in targets)


def test_whoever_comes_back_says_that_they_have_finished(opener: Opener) -> None:
    dialog, heard = agreed()
    until(dialog.after.finished.isEnabled)
    assert "Come back here once you have finished" in words(dialog)
    assert not dialog.exits.verb.isVisible()
    assert heard == []

    click(dialog.after.finished)

    assert heard == [Reply("accept")]
    assert len(opener.urls) == 1


def test_the_second_click_of_a_double_one_finishes_nothing(opener: Opener) -> None:
    dialog, heard = agreed()

    click(dialog.after.finished)

    assert heard == []


def test_it_can_be_opened_again_and_closed(opener: Opener) -> None:
    dialog, heard = agreed()
    until(dialog.after.again.isEnabled)
    click(dialog.after.again)
    until(dialog.after.cancel.isEnabled)
    click(dialog.after.cancel)

    assert heard == [Reply("cancel")]
    assert len(opener.urls) == 2


def test_without_a_browser_the_address_is_there_to_copy_and_the_answer_is_no(
    opener: Opener,
) -> None:
    opener.works = False
    dialog, heard = agreed()
    until(dialog.after.copy.isEnabled)
    assert "No browser could be opened" in words(dialog)
    assert not dialog.after.finished.isVisible()

    click(dialog.after.copy)
    assert QApplication.clipboard().text() == URL
    assert dialog.after.finished.isVisible()  # they may have pasted it into one
    click(dialog.after.decline)

    assert heard == [Reply("decline")]


def test_a_page_of_ours_is_called_so_and_says_itself_when_it_is_done(opener: Opener) -> None:
    ours = "http://127.0.0.1:41234/ask/0123456789abcdef0123456789abcdef"
    dialog, heard = drawn(ours, visit=Visited())
    assert dialog.address.notices == []
    assert "A page of this application" in words(dialog)
    assert dialog.exits.verb.icon().isNull()

    click(armed(dialog))

    assert opener.urls == [ours]
    assert not dialog.after.finished.isVisible()
    assert "This dialog closes once you have finished there" in words(dialog)
    dialog.dismiss()
    assert heard == []


def test_what_happens_there_is_told(opener: Opener) -> None:
    dialog, _ = drawn(description="It shows your tasks.")

    assert "It shows your tasks." in words(dialog)


def test_closing_it_is_a_cancel_before_and_after(opener: Opener) -> None:
    before, heard = drawn()
    before.close()
    after, later = agreed()
    QTest.keyClick(after, Qt.Key.Key_Escape)

    assert (heard, later) == ([Reply("cancel")], [Reply("cancel")])
