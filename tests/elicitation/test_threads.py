"""A thread to which no call was carried asks as what it is, and one question at a time."""

from __future__ import annotations

import threading
from pathlib import Path

from dcc_bridge import elicit_form_sync
from dcc_bridge.elicitation.caller_view import header
from dcc_bridge.elicitation.question import Question
from dcc_bridge.errors import Busy
from tests.elicitation.brokers import YES
from tests.live import live
from tests.server.skills import CONFIRM
from tests.stand_ins import FakeHost, Person


def test_sixty_threads_without_a_call_put_up_one_question_that_names_them(tmp_path: Path) -> None:
    host, person = FakeHost(has_ui=True), Person(None)
    ends: list[str] = []

    def ask() -> None:
        try:
            ends.append(elicit_form_sync("Well?", CONFIRM).action)
        except Busy as error:
            ends.append(str(error))

    threads = [threading.Thread(target=ask, daemon=True) for _ in range(60)]
    with live(tmp_path, host=host, presenter=person) as running:
        for thread in threads:
            thread.start()
        running.until(lambda: len(ends) == 59 and bool(person.shown))
        person.settles[0](YES)
        running.until(lambda: len(ends) == 60)

    (shown,) = person.shown
    assert asked_by(shown, host) == "a background thread of the host"
    assert "itself" not in str(header(shown.call, host))
    assert ends.pop() == "accept"
    assert {end.partition(";")[0] for end in ends} == {
        "1 questions of a background thread of the host are open already"
    }


def test_the_main_thread_asks_as_the_host_itself(tmp_path: Path) -> None:
    host, person = FakeHost(has_ui=True), Person(YES)

    with live(tmp_path, host=host, presenter=person):
        answer = elicit_form_sync("Well?", CONFIRM)

    assert answer.accepted
    assert asked_by(person.shown[0], host) == "fake itself"


def asked_by(question: Question, host: FakeHost) -> str:
    return dict(header(question.call, host))["Asked by"]
