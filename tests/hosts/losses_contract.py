"""What goes is seen: the table of the kinds of loss, kept by every host.

Each host gives its rows in `LossesContract.KINDS` and the fixture ``losing``. A row that it has not
stands in `LossesContract.HAS_NOT`, with why.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import pytest

from dcc_bridge.host import Host, Trial
from tests.hosts import random_trials
from tests.hosts.digests import scene_digest

ROWS: Final[Mapping[str, str]] = {
    "nothing": "nothing is edited",
    "deleted": "an item",
    "parent_deleted": "an item that others are below, or in",
    "made_again": "an item, and another one is made under its name",
    "name_taken": "an item, and another one is given its name",
    "out_of_every_scene": "an item that is in no scene or collection any more",
    "group": "a group or collection; what is in it stays",
    "group_out_of_scene": "a group or collection that is in no scene any more",
    "group_member": "an item out of its group, which stays in the scene",
    "inactive": "an item that is switched off, so that the scene has it no more",
    "undefined": "the definition of an item, of which only opinions are left",
    "abstract": "an item that is made a class or prototype",
    "type": "the type of an item",
    "scene": "a scene, of several in a file",
    "material": "a material",
    "material_slot": "the material of an item",
    "geometry_data": "a mesh or curve that nothing uses",
    "geometry": "the geometry in an item",
    "image": "an image or texture",
    "text": "a text",
    "text_content": "what is written in a text",
    "action": "an action or animation curve that stands by itself",
    "world": "a world or environment",
    "camera": "a camera",
    "light": "a light",
    "node_group": "a group of nodes that several may use",
    "node": "a node of a material or graph",
    "link": "a connection between nodes or attributes",
    "modifier": "a modifier, deformer or feature",
    "constraint": "a constraint of an item",
    "driver": "a driver",
    "expression": "an expression",
    "animation": "all animation of an item",
    "keys": "all keys of one property",
    "one_key": "one key",
    "vertex_group": "a vertex group or set of components",
    "shape_key": "a shape key or blend target",
    "custom_property": "a property that somebody added",
    "marker": "a marker in time",
    "sketch_geometry": "a line of a sketch",
    "sketch_constraint": "a constraint of a sketch",
    "cell": "the content of a cell",
    "attribute": "an attribute",
    "value": "a value that was set, so that the default shows",
    "relationship": "a relationship, or one of its targets",
    "reference": "a reference to another file or item",
    "payload": "a payload",
    "variant": "a variant, or a set of them",
    "layer": "a layer out of the scene",
    "layer_content": "all that is in a layer",
    "scene_metadata": "what is noted of the scene as a whole",
    "unused": "what nothing uses, by the application's own purge",
    # No loss:
    "made": "an item is made",
    "made_and_deleted": "an item is made and deleted again",
    "renamed": "an item is given another name",
    "names_swapped": "two items take each other's name",
    "parent_changed": "an item is put below another one",
    "moved": "an item is moved",
    "value_set": "a value is set",
    "hidden": "an item is hidden in the viewport",
    "muted": "a layer, modifier or constraint is muted, or a reference unloaded",
    "selected": "something else is selected",
}


class Kind:
    """A row of the table, in one host."""

    def __init__(
        self, edit: Callable[[], object], *lost: str, broken: tuple[str, ...] = ()
    ) -> None:
        """Make a row.

        Args:
            edit: Makes the edit in a new scene, as the body of a skill does.
            *lost: What `Host.lost` says of it, in this order; nothing for what is no loss.
            broken: What `Trial.broken` says of it.
        """
        self.edit = edit
        self.lost = lost
        self.broken = broken


@dataclass(frozen=True)
class Losing:
    """A host with a new scene that has what the rows take away.

    Attributes:
        host: The adapter.
        edit: Changes something that undo brings back, and is no loss.
    """

    host: Host
    edit: Callable[[], object]


@contextmanager
def stretch(host: Host, label: str) -> Iterator[None]:
    """Be a part of a skill's body, as the bridge runs it."""
    with host.guard([], read=False), host.undo_step(label):
        yield


@contextmanager
def tried(host: Host, label: str) -> Iterator[Trial]:
    """Be the same, in a host that can revert it."""
    with stretch(host, label):
        trial = host.trial()
        assert trial is not None
        yield trial


class LossesContract:
    """The promises of every host, each for every row."""

    KINDS: ClassVar[Mapping[str, Kind]]
    HAS_NOT: ClassVar[Mapping[str, str]] = {}

    def pytest_generate_tests(self, metafunc: Any) -> None:
        """Run the tests that take a row once for each of them."""
        if "kind" in metafunc.fixturenames:
            rows = self.KINDS
            metafunc.parametrize("kind", list(rows.values()), ids=list(rows))

    def test_every_row_of_the_table_is_there_or_the_host_has_no_such_thing(self) -> None:
        assert {*self.KINDS, *self.HAS_NOT} == {*ROWS}
        assert not self.KINDS.keys() & self.HAS_NOT.keys()

    def test_what_an_edit_takes_away_is_named(self, kind: Kind, losing: Losing) -> None:
        """While its step is open, and after it; undo brings all of it back."""
        host, before = losing.host, scene_digest(losing.host)

        with stretch(host, "Ours"):
            kind.edit()
            in_step = host.lost([])
        after = host.lost([])
        if host.undo_mark().label == "Ours":
            host.undo()

        assert tuple(after) == kind.lost
        assert in_step == after
        assert scene_digest(host) == before


class TrialsContract(LossesContract):
    """The promises of a host that can revert an open step, each for every row too.

    Attributes:
        KNOWS_AGAIN: Whether data keeps its identity when a step is reverted.
    """

    KNOWS_AGAIN: ClassVar[bool] = True

    def test_what_stops_working_is_named(self, kind: Kind, losing: Losing) -> None:
        with tried(losing.host, "Ours") as trial:
            kind.edit()
            broken = trial.broken()

        assert tuple(broken) == kind.broken

    def test_what_is_reverted_leaves_no_trace(self, kind: Kind, losing: Losing) -> None:
        """Scene, undo and redo are as before, and what is done next is a step of its own."""
        host = losing.host
        with stretch(host, "Kept"):
            losing.edit()
        edited = scene_digest(host)
        with stretch(host, "Undone"):
            losing.edit()
        ahead = scene_digest(host)
        host.undo()
        before = host.undo_mark()

        with tried(host, "Tried") as trial:
            kind.edit()
            was_edited = trial.is_edited()
            left = trial.revert()
            is_edited_still = trial.is_edited()

        assert (scene_digest(host), host.undo_mark(), left) == (edited, before, [])
        assert was_edited or not kind.lost
        assert not is_edited_still
        if trial.keeps_redo:
            host.redo()
            assert scene_digest(host) == ahead

    def test_what_is_done_after_a_revert_is_the_step(self, kind: Kind, losing: Losing) -> None:
        """One undo takes it back, and it says what was lost as it does without a trial."""
        host, before = losing.host, scene_digest(losing.host)

        with tried(host, "Ours") as trial:
            kind.edit()
            trial.revert()
            kind.edit()
        lost = host.lost([])
        if host.undo_mark().label == "Ours":
            host.undo()

        assert tuple(lost) == kind.lost
        assert scene_digest(host) == before

    def test_what_was_agreed_to_may_go_when_it_is_done_again(
        self, kind: Kind, losing: Losing
    ) -> None:
        """A person agrees to what was listed, items and parts alike, and to nothing else."""
        host = losing.host
        with tried(host, "Tried") as trial:
            kind.edit()
            listed = host.lost([])
            trial.revert()
        host.fingerprint(listed)  # as the question has it done

        with tried(host, "Ours") as trial:
            kind.edit()
            beside = host.lost(listed)
            beside_others = host.lost(["Something else", "modifier Other of Something else"])
            trial.revert()

        assert beside == []
        assert tuple(beside_others) == kind.lost

    def test_what_was_asked_about_is_known_when_the_edit_is_tried_again(
        self, kind: Kind, losing: Losing
    ) -> None:
        """So an answer that came late holds for the same call made again."""
        if not self.KNOWS_AGAIN:
            pytest.skip("data has no lasting ids here: the person is asked again")
        host, states = losing.host, list[tuple[list[str], str]]()

        for _ in range(2):
            with tried(host, "Tried") as trial:
                kind.edit()
                listed = host.lost([])
                trial.revert()
            states.append((listed, host.fingerprint(listed)))

        first, again = states
        assert again == first

    def test_edits_at_random_are_reverted_without_a_trace(self, losing: Losing) -> None:
        """Some rows in one step, and between them steps that are kept, undone and redone."""
        trials = random_trials.RandomTrials(losing, self.KINDS, random_trials.seed())
        trials.run(int(os.environ.get("TRIALS", random_trials.EDITS)))
