"""What the bridge relies on in every host, as a list of promises to be run against an adapter.

A test module subclasses `HostContract` and gives the fixture ``stand``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import pytest

from dcc_bridge import checkpoints
from dcc_bridge.errors import BrokenSkill, NoConsent, NotGranted
from dcc_bridge.host import Host, loss_check
from dcc_bridge.skills.importer import leaving_scene
from tests.hosts.digests import scene_digest


@dataclass(frozen=True)
class Stand:
    """A host with a scene that has a file, and what a person could do in it.

    Attributes:
        host: The adapter.
        items: Two things in its scene.
        edit: Changes something that undo brings back.
        delete: Deletes an item.
        save: Saves the scene to its own file.
        puts_back: What a skill wrote over unasked is put back; where not, there is a copy of it.
    """

    host: Host
    items: tuple[str, str]
    edit: Callable[[], object]
    delete: Callable[[str], object]
    save: Callable[[], object]
    puts_back: bool = True


@contextmanager
def careless(host: Host) -> Iterator[None]:
    """Be the body of a skill that has a grant for nothing that undo does not bring back."""

    def refuse(what: str, _: object) -> NoReturn:
        raise NotGranted("the_skill", what)

    token = loss_check.set(refuse)
    try:
        with host.guard([], read=False):
            yield
    finally:
        loss_check.reset(token)


def folder_named(error: Exception) -> Path:
    """Give the checkpoint that an error names."""
    match = re.search(r"\S+\.checkpoints/\d+-\w+", str(error))
    assert match is not None, error
    return Path(match[0])


class HostContract:
    """The promises."""

    def test_a_step_is_one_entry_with_its_label(self, stand: Stand) -> None:
        """However much is edited inside, one undo brings all of it back, and redo does it again."""
        host, before = stand.host, scene_digest(stand.host)

        with host.undo_step("Ours [1]"):
            stand.edit()
            stand.delete(stand.items[0])
        label, after = host.undo_mark().label, scene_digest(host)
        host.undo()
        undone = scene_digest(host)
        host.redo()

        assert label == "Ours [1]"
        assert undone == before != after == scene_digest(host)

    def test_an_empty_step_leaves_no_entry(self, stand: Stand) -> None:
        """So "our label is on top" means that we changed something."""
        top = stand.host.undo_mark().label

        with stand.host.undo_step("Empty"):
            pass

        assert stand.host.undo_mark().label == top

    def test_what_follows_an_empty_step_is_not_part_of_it(self, stand: Stand) -> None:
        """A step that had nothing to close must be closed all the same."""
        with stand.host.undo_step("Empty"):
            pass

        stand.edit()

        assert stand.host.undo_mark().label != "Empty"

    def test_a_step_closes_whatever_is_raised(self, stand: Stand) -> None:
        """After at most one undo the scene is as it was, and another step can be opened."""
        host, before = stand.host, scene_digest(stand.host)

        with suppress(KeyError), host.undo_step("Fails"):
            stand.edit()
            raise KeyError
        if host.undo_mark().label == "Fails":
            host.undo()

        assert scene_digest(host) == before
        with host.undo_step("Goes on"):
            stand.edit()
        assert host.undo_mark().label == "Goes on"

    def test_an_edit_of_the_person_lies_on_top_of_ours(self, stand: Stand) -> None:
        """Their edit after our step hides our label, so nothing of theirs is undone."""
        with stand.host.undo_step("Ours"):
            stand.delete(stand.items[0])

        stand.edit()

        assert stand.host.undo_mark().label != "Ours"

    def test_an_import_that_edits_leaves_the_scene_as_it_was(self, stand: Stand) -> None:
        """What the person did before stays; what the skill file did is undone."""
        host = stand.host
        with host.undo_step("Mine"):
            stand.edit()
        before = scene_digest(host)

        is_broken = pytest.raises(BrokenSkill, match="changes the scene when it is imported")
        with is_broken, leaving_scene(host, Path("careless.py")):
            stand.edit()
            stand.delete(stand.items[0])

        assert (scene_digest(host), host.undo_mark().label) == (before, "Mine")

    def test_marks_are_equal_again_when_all_was_undone(self, stand: Stand) -> None:
        """And in no other case: so exactly what a call added is taken back."""
        host = stand.host
        marks = [host.undo_mark()]

        for label in ("One", "Two"):
            with host.undo_step(label):
                stand.edit()
            marks.append(host.undo_mark())
        host.take_back()
        after_one = host.undo_mark()
        host.undo()

        assert [after_one, host.undo_mark()] == [marks[1], marks[0]]
        assert len(set(marks)) == 3
        assert [mark.depth - marks[0].depth for mark in marks] == [0, 1, 2]

    def test_who_looks_at_the_undo_stack_while_a_step_is_open_sees_what_is_below(
        self, stand: Stand
    ) -> None:
        """The panel does as a skill goes on, whose roll-back then counts from there."""
        host = stand.host
        with host.undo_step("Mine"):
            stand.edit()
        before = host.undo_mark()

        with host.undo_step("Ours"):
            stand.edit()
            inside = host.undo_mark()
        after = host.undo_mark()
        host.take_back()

        assert (inside, after.depth) == (before, before.depth + 1)
        assert host.undo_mark() == before

    def test_the_same_edit_made_again_has_another_mark(self, stand: Stand) -> None:
        """It has the label of the one that was undone, and is at its place."""
        marks = []

        for _ in range(2):
            with stand.host.undo_step("Ours"):
                stand.edit()
            marks.append(stand.host.undo_mark())
            stand.host.undo()

        assert marks[0][:2] == marks[1][:2]
        assert marks[0] != marks[1]

    def test_the_depth_goes_on_counting_where_the_stack_is_full(self, stand: Stand) -> None:
        """Hosts drop the oldest entries."""
        host = stand.host
        before = host.undo_mark()

        for number in range(40):
            with host.undo_step(f"Edit {number}"):
                stand.edit()
        full = host.undo_mark()
        with host.undo_step("One more"):
            stand.edit()
        more = host.undo_mark()
        host.take_back()

        assert (full.depth, more.depth) == (before.depth + 40, before.depth + 41)
        assert host.undo_mark() == full

    def test_what_a_step_lost_beside_what_was_agreed_to_is_named(self, stand: Stand) -> None:
        """Only what the newest step has lost."""
        host, (first, second) = stand.host, stand.items
        host.fingerprint([first])

        with host.guard([], read=False), host.undo_step("Delete"):
            stand.delete(first)
            stand.delete(second)
        lost = host.lost([]), host.lost([first]), host.lost([first, second])
        host.undo()
        with host.guard([], read=False), host.undo_step("Edit"):
            stand.edit()

        assert {first, second} <= set(lost[0])
        assert (first in lost[1], second in lost[1], lost[2]) == (False, True, [])
        assert host.lost([]) == []

    def test_what_became_of_items_since_a_moment_is_told_within_a_step(self, stand: Stand) -> None:
        host, (first, second) = stand.host, stand.items

        with host.undo_step("Delete"), host.changes() as count:
            before = count()
            stand.delete(first)
            after = count()

        assert before.deleted == before.created == []
        assert first in after.deleted
        assert second not in after.deleted
        assert after.created == []

    def test_a_skill_that_saves_without_a_grant_leaves_the_file_as_it_was(
        self, stand: Stand
    ) -> None:
        """It is refused, or the file is put back and the stretch of the body fails."""
        host, file = stand.host, stand.host.file()
        assert file is not None
        stand.save()
        old = file.read_bytes()

        with host.undo_step("Edit"):
            stand.edit()
        with pytest.raises(NoConsent), careless(host):
            stand.save()

        copies = [it.read_bytes() for it in checkpoints.checkpoint_folder(host).glob("*/*")]
        assert (file.read_bytes() == old) if stand.puts_back else (old in copies)
        with host.guard([], read=False):  # a person's passes
            stand.save()
        assert file.read_bytes() != old

    def test_a_fingerprint_notices(self, stand: Stand) -> None:
        """The order does not matter; that an item is gone does."""
        host, (first, second) = stand.host, stand.items
        before = host.fingerprint([first, second])

        same = host.fingerprint([second, first])
        with host.undo_step("Delete"):
            stand.delete(second)

        assert same == before != host.fingerprint([first, second])

    def test_items_are_selected_and_described(self, stand: Stand) -> None:
        """What is selected is what was said; each item has a type; an unknown one is named."""
        host, (first, second) = stand.host, stand.items

        host.select([second])

        assert host.selection == [second]
        assert host.kinds([first, "nowhere9"])[0] == host.describe(first)["type"]
        nouns = host.nouns([first, "nowhere9"])
        assert nouns[0] == nouns[0].lower()
        assert len(nouns) == 2
        with pytest.raises(LookupError, match="nowhere9"):
            host.describe("nowhere9")
        host.frame([first])
        assert isinstance(host.summary()["scene"], str)

    def test_a_watcher_hears_of_steps_and_of_the_selection(self, stand: Stand) -> None:
        """Both tell, until the watch is ended."""
        told: list[str] = []
        unwatch = stand.host.watch(lambda: told.append("changed"))

        with stand.host.undo_step("Edit"):
            stand.edit()
        edited = len(told)
        stand.host.select([stand.items[1]])
        selected = len(told)
        unwatch()
        unwatch()
        stand.host.select([stand.items[0]])

        assert 0 < edited < selected == len(told)

    def test_a_checkpoint_holds_the_file_and_what_is_not_saved(self, stand: Stand) -> None:
        """The old bytes to the last one, and a copy of the scene as it is in the application."""
        host, file = stand.host, stand.host.file()
        assert file is not None
        stand.save()
        old = file.read_bytes()
        stand.edit()

        made = checkpoints.keep(host)
        stand.save()

        assert made is not None
        assert (
            made.parent
            == checkpoints.checkpoint_folder(host)
            == file.with_name(f"{file.name}.checkpoints")
        )
        assert (made / file.name).read_bytes() == old != file.read_bytes()
        assert (made / f"{file.stem}.unsaved{file.suffix}").stat().st_size > 0

    def test_the_eleventh_checkpoint_drops_the_oldest(self, stand: Stand) -> None:
        """Ten are kept, and they are the newest ten."""
        made = [checkpoints.keep(stand.host, stand.host.files()) for _ in range(11)]

        assert checkpoints.taken(checkpoints.checkpoint_folder(stand.host)) == made[1:]
        assert isinstance(made[0], Path)


@contextmanager
def in_a_skill(*, granted: bool) -> Iterator[None]:
    """Run as a skill's body does to which a person agreed, or nobody."""

    def check(what: str, files: Sequence[Path]) -> None:
        if not granted:
            raise NotGranted("trial", what)

    token = loss_check.set(check)
    try:
        yield
    finally:
        loss_check.reset(token)


class GuardContract:
    """What keeps a body to what was agreed to, in a host that has all of it."""

    def test_what_was_changed_without_a_new_name_is_told_too(self, stand: Stand) -> None:
        """Once, and not what was only looked at."""
        host = stand.host

        with host.undo_step("Edit"), host.changes() as count:
            host.describe(stand.items[0])
            before = count()
            stand.edit()
            stand.edit()
            after = count()

        assert before.changed == []
        assert len(after.changed) == 1
        assert after.created == after.deleted == []

    def test_two_marks_are_equal_only_if_nothing_was_done(self, stand: Stand) -> None:
        """A step of the same name is another one; one that was redone is the same."""
        host = stand.host
        below = host.undo_mark()
        with host.undo_step("Ours"):
            stand.edit()
        first, same = host.undo_mark(), host.undo_mark()
        host.undo()
        undone = host.undo_mark()
        host.redo()
        redone = host.undo_mark()
        host.undo()

        with host.undo_step("Ours"):
            stand.edit()

        assert first == same == redone != host.undo_mark()
        assert below == undone
        assert first.depth == host.undo_mark().depth == below.depth + 1

    def test_an_edit_of_the_persons_is_told_from_another_of_the_same_name(
        self, stand: Stand
    ) -> None:
        """They undid one and did it again: it is not the one that was there."""
        stand.edit()
        first = stand.host.undo_mark()

        stand.host.undo()
        stand.edit()

        assert stand.host.undo_mark() != first

    def test_what_a_read_leaves_is_one_step_that_can_be_taken_back(self, stand: Stand) -> None:
        """However much it edits; what the person did before stays."""
        host = stand.host
        stand.edit()
        before, kept = host.undo_mark(), scene_digest(host)

        with host.guard([], read=True):
            stand.edit()
            stand.edit()
        depth = host.undo_mark().depth
        host.take_back()

        assert depth == before.depth + 1
        assert (host.undo_mark(), scene_digest(host)) == (before, kept)

    def test_a_body_that_leaves_nothing_leaves_the_mark(self, stand: Stand) -> None:
        """Reading or not."""
        stand.edit()
        before = stand.host.undo_mark()

        for read in (True, False):
            with stand.host.guard([], read=read):
                stand.host.selection  # noqa: B018 - it is read

        assert stand.host.undo_mark() == before
