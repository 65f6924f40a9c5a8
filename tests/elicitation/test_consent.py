"""Consent is bound to what the person saw."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge import confirm, confirm_sync, on_main, skill
from dcc_bridge.errors import NotConfirmed
from dcc_bridge_usd.host import UsdSession
from tests import homes
from tests.elicitation.brokers import NO, YES
from tests.live import accept, live, say, status, text
from tests.stand_ins import FakeHost, Person, after
from tests.tiers import every_era


def cameras(host: FakeHost) -> list[str]:
    return [item for item in host.items if item.startswith("cam")]


@pytest.mark.long
@pytest.mark.timeout(120)
def test_in_a_thousand_interleavings_nothing_is_deleted_that_was_not_shown(
    tmp_path: Path,
) -> None:
    shuffled = random.Random(11)
    host = FakeHost(has_ui=True)
    stray: list[set[str]] = []

    def artist() -> None:
        """Edit the scene while the question is open."""
        for _ in range(shuffled.randrange(3)):
            edit(host, shuffled)

    @skill(risk="destructive", confirms=True)
    def delete() -> dict[str, Any]:
        """Delete the cameras."""
        agreed = confirm_sync("Delete these cameras?", items=lambda: cameras(host), verb="Delete")
        host.items = [item for item in host.items if item not in agreed]
        return {"deleted": list(agreed)}

    person = Person(then=after(artist, YES))
    often = {"dialogs_per_minute": 100_000}
    with live(tmp_path, delete, host=host, presenter=person, **often) as running:

        async def agent() -> None:
            async with running.client() as client:
                for _ in range(1000):
                    host.items = [f"cam{n}" for n in range(shuffled.randrange(1, 6))]
                    before = len(person.shown)
                    result = await client.call_tool("delete", {})
                    deleted = (result.structured_content or {"deleted": []})["deleted"]
                    shown = person.shown[-1].items if len(person.shown) > before else ()
                    stray.append(set(deleted) - set(shown))

        running.run(agent, limit=100)

    assert len(stray) == 1000
    assert not any(stray)
    assert any("changed" in (question.reason or "") for question in person.shown)


def edit(host: FakeHost, shuffled: random.Random) -> None:
    if host.items and shuffled.random() < 0.5:
        host.items.remove(shuffled.choice(host.items))
    else:
        host.items.append(f"cam{shuffled.randrange(1000)}")


@every_era
def test_an_async_skill_edits_through_its_grant(era: str, tmp_path: Path) -> None:
    host = FakeHost(["cam1", "cam2", "box"])

    def remove(items: list[str]) -> int:
        host.items = [item for item in host.items if item not in items]
        return len(items)

    @skill(risk="destructive", confirms=True)
    async def delete() -> int:
        """Delete the cameras."""
        grant = await confirm("Delete?", items=lambda: cameras(host), verb="Delete")
        return await grant.apply(remove)

    with live(tmp_path, delete, host=host) as running:
        refused = running.call("delete", era=era, asked=say("decline"))
        before = list(host.items)
        result = running.call("delete", era=era, asked=accept(confirm=True))

    assert before == ["cam1", "cam2", "box"]
    assert status(refused) == "refused"
    assert text(result) == "2"
    assert host.items == ["box"]
    assert len(host.labels) == 1


@pytest.mark.parametrize("is_async", [True, False])
def test_a_yes_to_what_is_not_there_any_more_is_none_if_the_next_answer_is_no(
    is_async: bool, tmp_path: Path
) -> None:
    """Even where the skill does not hear the no."""
    host = FakeHost(["cam1"], has_ui=True)
    person = Person(after(lambda: host.items.append("cam2"), YES), NO)

    @skill(risk="destructive", confirms=True)
    def delete() -> None:
        """Delete everything, whatever is said."""
        with suppress(NotConfirmed):
            confirm_sync("Delete?", items=lambda: cameras(host))
        host.items.clear()

    @skill(risk="destructive", confirms=True, name="delete")
    async def delete_async() -> None:
        """Delete everything, whatever is said."""
        with suppress(NotConfirmed):
            grant = await confirm("Delete?", items=lambda: cameras(host))
            await grant.apply(lambda items: None)
        await on_main(host.items.clear)

    with live(
        tmp_path, delete_async if is_async else delete, host=host, presenter=person
    ) as running:
        result = running.call("delete")

    assert len(person.shown) == 2
    assert status(result) == "no_consent"
    assert host.items == ["cam1", "cam2"]


@pytest.mark.parametrize("is_async", [True, False])
def test_a_grant_that_was_asked_for_again_keeps_a_copy_of_what_there_is_then(
    is_async: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    homes.set_all(monkeypatch, homes.state(tmp_path / "kept"))
    host, person = FakeHost(["cam1"], has_ui=True), Person(YES, YES)
    (folder := tmp_path / "renders").mkdir()
    (folder / "one").touch()
    asked: dict[str, Any] = {
        "items": lambda: cameras(host),
        "files": lambda: list(folder.iterdir()),
        "undoable": False,
    }

    def render_another() -> None:
        host.items.append("cam2")
        (folder / "two").touch()

    async def delete() -> str:
        """Delete the renders."""
        grant = await confirm("Delete?", **asked)
        await on_main(render_another)
        return await grant.apply(lambda items: told(grant))

    def delete_on_pool() -> str:
        """Delete the renders."""
        grant = confirm_sync("Delete?", **asked)
        render_another()
        return grant.apply_sync(lambda items: told(grant))

    def told(grant: Any) -> str:
        return " ".join(sorted(file.name for file in grant.checkpoint.iterdir()))

    marked = skill(risk="destructive", confirms=True, thread="any", name="delete")
    tool = marked(delete if is_async else delete_on_pool)
    with live(tmp_path, tool, host=host, presenter=person) as running:
        result = running.call("delete")

    assert text(result) == "one two"


@pytest.mark.parametrize("fails", [False, True])
def test_a_skill_on_a_pool_thread_edits_through_its_grant_and_is_rolled_back_if_it_fails(
    fails: bool, tmp_path: Path
) -> None:
    host, person = FakeHost(["cam1"], has_ui=True), Person(YES)

    @skill(risk="destructive", confirms=True, thread="any")
    def delete() -> None:
        """Delete everything, and perhaps fail."""
        grant = confirm_sync("Delete?", items=lambda: cameras(host), verb="Delete")
        grant.apply_sync(lambda items: host.items.clear())
        if fails:
            raise ValueError("The disk is full.")

    with live(tmp_path, delete, host=host, presenter=person) as running:
        result = running.call("delete")

    assert status(result) == ("failed" if fails else "done")
    assert host.items == (["cam1"] if fails else [])
    assert len(host.labels) == (0 if fails else 1)


def test_what_we_lock_for_a_look_is_no_change_of_the_scene(tmp_path: Path) -> None:
    session, person = UsdSession(has_ui=True), Person(YES, YES, YES)
    session.stage.DefinePrim("/cam1")

    @skill(risk="destructive", confirms=True, thread="any")
    def delete() -> None:
        """Delete a camera."""
        grant = confirm_sync("Delete?", items=["/cam1"])
        grant.apply_sync(lambda items: session.stage.RemovePrim(items[0]))

    with live(tmp_path, delete, host=session, presenter=person) as running:
        result = running.call("delete")

    assert status(result) == "done"
    assert len(person.shown) == 1


def test_a_client_is_told_what_it_is_about_as_the_scene_is_now(tmp_path: Path) -> None:
    host, asked = FakeHost(f"cam{n}" for n in range(25)), []

    @skill(risk="destructive", confirms=True)
    def delete() -> int:
        """Delete the cameras."""
        agreed = confirm_sync(
            lambda items: f"Delete {len(items)} cameras?",
            items=lambda: cameras(host),
            verb=lambda items: f"Delete {len(items)}",
        )
        host.items.clear()
        return len(agreed)

    def person(params: Any) -> Any:
        asked.append(params)
        if len(asked) == 1:
            host.items.remove("cam24")
        return accept(confirm=True)(params)

    with live(tmp_path, delete, host=host) as running:
        result = running.call("delete", asked=person)

    assert text(result) == "24"
    assert [one.message.splitlines()[0] for one in asked] == [
        "Delete 25 cameras?",
        "Delete 24 cameras?",
    ]
    assert "cam0\ncam1\n" in asked[0].message
    assert "and 5 more" in asked[0].message
    assert "One undo brings all of it back" in asked[0].message
    assert asked[1].requested_schema["properties"]["confirm"]["title"] == "Delete 24"
