"""Whatever goes wrong, the scene is whole, the call ends, and its end is told as it was."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge import confirm_sync, elicit_form, elicit_form_sync, on_main, skill
from dcc_bridge.bridge import Bridge
from dcc_bridge.config import Settings
from dcc_bridge.consent.call import current_call
from dcc_bridge.errors import BridgeClosed, BrokenSkill, NoConsent, StartError
from dcc_bridge.headless import Pump
from dcc_bridge.skills import importer
from dcc_bridge.skills.source import Source
from tests.live import Live, accept, live, status, text
from tests.server.skills import CONFIRM, YES
from tests.stand_ins import FakeHost, Person
from tests.tiers import every_era


def test_a_swallowed_refusal_does_not_open_the_way(tmp_path: Path) -> None:
    host = FakeHost(["a", "b", "c"])

    @skill(risk="destructive", confirms=True)
    def sly() -> int:
        host.items.pop()
        with suppress(NoConsent):
            elicit_form_sync("May I?", CONFIRM)
        host.items.clear()
        return 3

    with live(tmp_path, sly, host=host) as running:
        result = running.call("sly", asked=accept(confirm=True))

    assert status(result) == "no_consent"
    assert host.items == ["a", "b", "c"]


def test_a_call_that_does_not_fit_is_logged_in_a_line_with_the_reason(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    @skill(risk="read")
    def look(item: str) -> str:
        """Look."""
        return item

    caplog.set_level("INFO", logger="dcc_bridge.skills")
    with live(tmp_path, look) as running:
        running.call("lok")
        running.call("look", {"itm": "a"})

    logged = [line for line in caplog.messages if "was rejected" in line]
    assert len(logged) == 2
    assert "of lok was rejected: There is no tool named 'lok'. Did you mean look?" in logged[0]
    assert "itm: there is no such argument. Did you mean item?" in logged[1]
    assert "Traceback" not in caplog.text


def test_an_edit_that_was_undone_is_not_told_as_done(tmp_path: Path) -> None:
    host = FakeHost(["a"])

    @skill(risk="destructive", confirms=True)
    def delete() -> str:
        confirm_sync("Delete?", verb="Delete")
        host.items.clear()
        running.bridge.broker.end(current_call())
        return "deleted"

    with live(tmp_path, delete, host=host) as running:
        result = running.call("delete", asked=accept(confirm=True))

    assert status(result) == "cancelled"
    assert host.items == ["a"]


@every_era
def test_an_async_skill_whose_client_leaves_is_rolled_back(era: str, tmp_path: Path) -> None:
    host, person = FakeHost(["a"], has_ui=True), Person()

    @skill(risk="edit")
    async def rename() -> None:
        await on_main(host.items.clear)
        await elicit_form("And now?", CONFIRM)

    with live(tmp_path, rename, host=host, presenter=person) as running:
        running.leave("rename", lambda: bool(person.shown), era=era)
        running.until(lambda: host.items == ["a"])

    assert host.labels == []


@pytest.mark.parametrize("thread", ["main", "any"])
def test_a_host_that_cannot_undo_does_not_hang_the_call(thread: Any, tmp_path: Path) -> None:
    class Locked(FakeHost):
        def undo(self) -> None:
            raise RuntimeError("the layer is locked")

    host = Locked(["a"])

    @skill(risk="destructive", confirms=True, thread=thread)
    def delete() -> None:
        confirm_sync("Delete?", verb="Delete").apply_sync(lambda items: host.items.clear())
        raise ValueError("no")

    with live(tmp_path, delete, host=host) as running:
        result = running.call("delete", asked=accept(confirm=True))

    assert status(result) in ("partly_applied", "failed")
    assert result.is_error


def test_stopping_undoes_what_a_skill_on_another_thread_has_half_done(tmp_path: Path) -> None:
    host, person = FakeHost(["a", "b"], has_ui=True), Person(YES)

    @skill(risk="destructive", confirms=True, thread="any")
    def delete() -> None:
        confirm_sync("One?", verb="Delete").apply_sync(lambda items: host.items.pop())
        confirm_sync("The other?", verb="Delete").apply_sync(lambda items: host.items.pop())

    running = Live(tmp_path, delete, host=host, presenter=person)
    result = running.start("delete")
    running.until(lambda: len(person.shown) == 2)
    half = list(host.items)
    running.stop()
    running.until(result.done)

    assert half == ["a"]
    assert host.items == ["a", "b"]


_LOOP: dict[str, Any] = {}
_LOOP["self"] = _LOOP


@pytest.mark.parametrize("value", [_LOOP, "\ud800", {"name": "\ud800"}])
def test_a_result_that_json_cannot_carry_is_told_so(value: Any, tmp_path: Path) -> None:
    @skill(risk="read")
    def give() -> Any:
        return value

    with live(tmp_path, give) as running:
        result = running.call("give")

    assert "cannot be sent" in text(result) or "U+D800" in text(result)


@every_era
def test_a_malformed_address_is_an_invalid_answer_like_any_other(era: str, tmp_path: Path) -> None:
    form = {"type": "object", "properties": {"link": {"type": "string", "format": "uri"}}}

    @skill(risk="read")
    def link() -> str | None:
        return elicit_form_sync("Where?", form).message

    with live(tmp_path, link) as running:
        result = running.call("link", era=era, asked=accept(link="http://["))

    assert text(result) == "invalid_answer"


def test_a_stop_right_after_the_start_ends_everything(tmp_path: Path) -> None:
    bridge = Bridge(FakeHost(), Pump().main, settings=Settings(runtime=tmp_path))
    ready = bridge.start()

    bridge.stop()

    assert bridge.stopped.done()
    with pytest.raises(BridgeClosed):
        ready.result(5)
    bridge._worker._thread.join(5)
    assert not bridge._worker._thread.is_alive()


def test_a_start_that_fails_leaves_room_for_the_next(tmp_path: Path) -> None:
    blocked = tmp_path / "runtime"
    blocked.write_text("not a folder")

    with pytest.raises(StartError, match="running hosts cannot be used"):
        Live(blocked)
    with live(tmp_path / "other"):
        pass


def test_a_file_that_leaves_python_is_a_broken_skill(tmp_path: Path) -> None:
    source = Source.of(tmp_path / "leaver.py", b"import sys\nsys.exit(3)\n")

    with pytest.raises(BrokenSkill, match=r"leaver\.py, line 2: SystemExit"):
        importer.skills(source)
