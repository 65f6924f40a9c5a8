"""What the verbs rely on in every host, as a list of promises to be run against its operations.

A test module gives the fixture ``operations`` and a subclass of the contracts with its `Words`, and
keeps beside it what only that host does. Applications run it too: it needs pytest and no more.
"""

from __future__ import annotations

import json
import math
import re
from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from struct import unpack
from types import MappingProxyType
from typing import Any

import pytest

from dcc_bridge.spi import AppliedTransforms, Deleting, Drawing, Frames, Keyframes, Marking
from dcc_bridge.verbs import framing, tools
from dcc_bridge.verbs.operations import SCENE, Part, Shot, SocketLink
from tests.hosts.digests import scene_digest, shape_of
from tests.verbs.every_port import PORTS, EveryPort, port_of
from tests.verbs.promises import Edit, one_step, refused
from tests.verbs.stand import Stand, Words, box, furnish, moved, names_of, near, numbers_of, size_of

SHOT = Shot((1.0, -9.0, 9.0), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 40.0)
PARTS: tuple[Part, ...] = ("values", "inputs", "uses", "keys", "counts", "text")
VERBS = (
    *("summary", "list_items", "inspect", "find_api", "look", "check", "select", "create"),
    *("duplicate", "transform", "group", "rename", "assign_material", "set_values", "connect"),
    *("set_keys", "import_file", "export_file", "render", "save", "clean", "delete", "batch"),
)
"""All that there are, in the order in which agents see them."""
KEYS: list[tuple[float, Any]] = [(1.0, [0.0, 0.0, 0.0]), (25.0, [0.0, 0.0, 90.0])]


Try = Callable[[Stand], object]


# ---- edits and refusals, each by the act that it needs


def _read_broken(s: Stand) -> object:
    file = s.folder / f"broken{s.words.file}"
    file.write_text("hello")
    return s.operations.import_file(file, "copy", None, 1.0, None)


def _set_scene(s: Stand) -> None:
    if not s.words.scene:
        pytest.skip(f"{s.operations.host.name} has no such values")
    for prop, value in s.words.scene.items():
        if prop != "camera":
            s.operations.set_value(SCENE, prop, value)


def _apply(s: Stand) -> None:
    s.operations.place(s.crate, (1, 2, 3), scale=(2, 2, 2))
    s.operations.apply(s.crate, ["scale"])


EDITS: dict[str, Try] = {
    "create": lambda s: s.operations.create(s.words.solid, "new", None),
    "duplicate: whole": lambda s: s.operations.duplicate(s.rack, linked=False),
    "duplicate: linked": lambda s: s.operations.duplicate(s.shared, linked=True),
    "place": lambda s: s.operations.place(s.crate, (1, 2, 3), (10, 20, 30)),
    "apply": _apply,
    "set_parent: below": lambda s: s.operations.set_parent(s.crate, s.rack, keep_place=True),
    "set_parent: none": lambda s: s.operations.set_parent(s.lid, None, keep_place=False),
    "collect": lambda s: s.operations.collect([s.crate, s.ball], "heroes", s.words.collection),
    "material": lambda s: s.operations.material("Clay", {"base_color": [1, 0, 0]}),
    "assign": lambda s: s.operations.assign(s.crate, s.operations.material("Clay", {})),
    "rename": lambda s: s.operations.rename(s.rack, "frame"),
    "set_value": lambda s: s.operations.set_value(s.crate, *s.words.number),
    "set_value: scene": _set_scene,
    "set_keys": lambda s: s.key(*KEYS),
    "connect": lambda s: s.operations.connect(s.words.links(s)[0]),
    "delete": lambda s: s.operations.delete([s.crate, s.rack]),
    "clean": lambda s: s.operations.clean("empty_groups", [s.hollow]),
}
UNKNOWN: dict[str, tuple[str, Try]] = {
    "kind: an item": ("{s.crate}", lambda s: s.operations.kind(s.crate[:-1])),
    "value: a property": (
        r" {s.words.number[0]}\b",
        lambda s: s.operations.value(s.crate, f"{s.words.number[0]}s"),
    ),
    "value: of the scene": ("nothing9", lambda s: s.operations.value(SCENE, "nothing9")),
    "create: a type": (
        "{s.words.solid}s",
        lambda s: s.operations.create(f"{s.words.solid}s", None, None),
    ),
    "users": ("nothing9", lambda s: list(s.operations.users("nothing9"))),
    "viewpoint: no camera": ("camera|Camera", lambda s: s.operations.viewpoint(s.crate)),
    "assign: a material": ("nothing9", lambda s: s.operations.assign(s.crate, "nothing9")),
}
REFUSED: dict[str, tuple[str, Try]] = {
    "set_value: a text": (
        "much",
        lambda s: s.operations.set_value(s.crate, s.words.number[0], "much"),
    ),
    "set_value: three numbers": (
        r"{s.words.number[0]}|\[1, 2, 3\]",
        lambda s: s.operations.set_value(s.crate, s.words.number[0], [1, 2, 3]),
    ),
    "set_value: units": (
        "parsec|mm",
        lambda s: s.operations.set_value(SCENE, s.words.unit, "parsec"),
    ),
    "rename: taken": ("ball", lambda s: s.operations.rename(s.crate, "ball")),
    "rename: no name": ("name|call|label", lambda s: s.operations.rename(s.crate, s.words.no_name)),
    "set_parent: below": (
        "rack|lid",
        lambda s: s.operations.set_parent(s.rack, s.lid, keep_place=True),
    ),
    "collect: no kind": ("heap", lambda s: s.operations.collect([s.crate], "heroes", "heap")),
    "material: no value": ("base_color", lambda s: s.operations.material("Clay", {"shine": 1})),
    "save: no such file": (
        "[.](txt|ma|usda)",
        lambda s: s.operations.save_files(Path("/new.txt")),
    ),
    "save: no folder": ("/no", lambda s: s.operations.save_files(Path(f"/no/new{s.words.file}"))),
    "import_file: broken": (" ", _read_broken),
}


def check_edit(operations: EveryPort, edit: Edit) -> None:
    """See that an edit is one step, undone and redone exactly, and leaves nothing if it fails."""
    host = operations.host
    before = scene_digest(host)
    mark = host.undo_mark()
    chosen = host.selection

    with host.undo_step("Edit"):
        edit(operations)
    after = scene_digest(host)
    selected = host.selection
    top = host.undo_mark()
    host.undo()
    undone = scene_digest(host)
    host.redo()
    redone = scene_digest(host)
    host.undo()
    with suppress(ZeroDivisionError), host.undo_step("Fails"):
        edit(operations)
        raise ZeroDivisionError
    if host.undo_mark() != mark:
        host.undo()

    assert undone == before != after == redone
    assert selected == chosen
    assert top.label == "Edit"
    assert top.depth == mark.depth + 1
    assert scene_digest(host) == before
    assert host.undo_mark() == mark


class _Contract:
    """Fixtures, and what holds in any way to start the host.

    Attributes:
        words: What the host calls things.
        lacks: The verbs that it does not list.
        own_edits: Edits that only this host has, in the scene of the fixture ``own``.
        own_refusals: What only this host refuses there, and a part of the sentence.
        own_unknown: What it does not know there, and a part of the sentence.
    """

    words: Words
    lacks: frozenset[str] = frozenset()
    own_edits: Mapping[str, Edit] = MappingProxyType({})
    own_refusals: Sequence[tuple[str, Edit]] = ()
    own_unknown: Sequence[tuple[str, Edit]] = ()

    def pytest_generate_tests(self, metafunc: Any) -> None:
        """Run a test once for each row of the host's own tables."""
        if "suffix" in metafunc.fixturenames:
            metafunc.parametrize("suffix", [self.words.exchange, *self.words.formats])
        if "own_edit" in metafunc.fixturenames:
            rows = self.own_edits
            metafunc.parametrize("own_edit", list(rows.values()), ids=list(rows))
        if "own_refusal" in metafunc.fixturenames:
            refusals = [(why, edit, ValueError) for why, edit in self.own_refusals]
            unknown = [(why, edit, LookupError) for why, edit in self.own_unknown]
            every = [*refusals, *unknown]
            metafunc.parametrize("own_refusal", every, ids=[why for why, _, _ in every])

    @pytest.fixture
    def own(self, operations: EveryPort) -> EveryPort:
        """Return the operations over the scene of the host's own tables."""
        return operations

    def test_an_edit_of_its_own_is_one_undo_step_which_leaves_the_selection(
        self, own: EveryPort, own_edit: Edit
    ) -> None:
        check_edit(own, own_edit)

    def test_what_only_this_host_cannot_do_is_refused_with_a_sentence_and_changes_nothing(
        self, own: EveryPort, own_refusal: tuple[str, Edit, type[Exception]]
    ) -> None:
        why, edit, kind = own_refusal

        refused(own, edit, why, kind, may_begin=self.words.may_begin)

    @pytest.fixture
    def stand(self, operations: EveryPort, tmp_path: Path) -> Stand:
        return furnish(operations, self.words, tmp_path)

    @pytest.fixture
    def view(self) -> Callable[[], object]:
        """Return what tells how the person sees the scene."""
        return lambda: None

    def test_the_verbs_are_listed_but_those_that_the_host_lacks(
        self, operations: EveryPort
    ) -> None:
        assert [it.name for it in tools(operations)] == [it for it in VERBS if it not in self.lacks]

    def test_no_default_of_a_port_hides_what_the_host_does(self, operations: EveryPort) -> None:
        """Where the class of a port stands before the one that implements it, it would."""
        kinds = type(operations).__mro__
        own = [kind for kind in kinds if kind not in (*PORTS, ABC, object)]
        told = {name for port in PORTS if port in kinds for name in vars(port)}
        first = {name: next(kind for kind in kinds if name in vars(kind)) for name in told}
        hidden = [
            name
            for name, kind in first.items()
            if not name.startswith("_") and kind in PORTS and any(name in vars(it) for it in own)
        ]

        assert hidden == []


class OperationsContract(_Contract):
    """What every host does."""

    # ---- an edit is one step, and a refusal none

    @pytest.mark.parametrize("name", EDITS)
    def test_an_edit_is_one_undo_step_which_leaves_the_selection(
        self, stand: Stand, name: str
    ) -> None:
        """Undo takes back just that, redo does it again; what fails after it leaves nothing."""
        stand.needs(port_of(name.partition(":")[0]))
        stand.operations.host.select([stand.ball])

        check_edit(stand.operations, lambda _: EDITS[name](stand))

    @pytest.mark.parametrize("name", [*UNKNOWN, *REFUSED])
    def test_what_cannot_be_done_is_refused_with_a_sentence_and_changes_nothing(
        self, stand: Stand, name: str
    ) -> None:
        act = name.partition(":")[0]
        stand.needs(port_of(act))
        kind = LookupError if name in UNKNOWN else ValueError
        why, edit = (UNKNOWN | REFUSED)[name]
        may_begin = stand.words.may_begin or act == "import_file"

        refused(
            stand.operations, lambda _: edit(stand), why.format(s=stand), kind, may_begin=may_begin
        )

    def test_who_asks_for_what_there_is_changes_nothing(self, stand: Stand) -> None:
        operations = stand.operations
        items = list(stand.operations.items())
        before = scene_digest(operations.host)
        mark = operations.host.undo_mark()

        with operations.host.guard([], read=True):
            for item in items:
                operations.bounds(item)
                for part in PARTS:
                    operations.look_into(item, part)
            assert list(operations.api())
            for rule in operations.rules():
                list(operations.failures(rule.name, items))

        assert scene_digest(operations.host) == before
        assert operations.host.undo_mark() == mark

    # ---- what there is

    def test_items_stand_in_their_order_below_their_parents(self, stand: Stand) -> None:
        operations = stand.operations
        things = (stand.lid, stand.pin)

        assert [it for it in operations.items(stand.rack) if it in things] == [*things]
        assert {stand.crate, stand.ball, stand.rack, *things} <= set(operations.items())
        assert stand.crate not in set(operations.items(stand.rack))
        assert [operations.parent(it) for it in things] == [stand.rack] * 2
        assert operations.parent(stand.crate) == operations.parent(stand.rack) == stand.words.top
        assert stand.words.top is None or operations.parent(stand.words.top) is None
        assert operations.kind(stand.crate) == stand.words.kind
        assert operations.name(stand.crate) == "crate"
        assert operations.host.kinds([stand.crate]) == [stand.words.kind]

    def test_values_are_told_as_they_are_read_one_by_one(self, stand: Stand) -> None:
        """And JSON can carry each of them."""
        values = stand.operations.look_into(stand.crate, "values")

        assert values == {name: stand.operations.value(stand.crate, name) for name in values}
        assert json.dumps([it.value for it in values.values()]) != "[]"

    def test_the_api_is_that_of_this_version(self, stand: Stand) -> None:
        """It names each type that can be created, and comes bit by bit."""
        entries = {entry.name: entry for entry in stand.operations.api()}

        assert entries[f"create type {stand.words.solid}"].kind == "type"
        assert any(entry.signature for entry in entries.values())
        assert {stand.words.solid, stand.words.group} <= set(stand.operations.types())
        assert not isinstance(stand.operations.api(), list | tuple)

    def test_instructions_are_short(self, stand: Stand) -> None:
        assert 200 < len(stand.operations.instructions) <= 600
        assert stand.operations.up in ("Y", "Z")

    def test_each_rule_is_a_sentence_with_the_call_that_mends_it(self, stand: Stand) -> None:
        for rule in stand.operations.rules():
            assert re.fullmatch(r"[A-Z].{30,}\.", rule.text)
            assert re.match(r"\w+(\(|: )", rule.mend)
            assert rule.mend in rule.text

    # ---- values, keys and connections

    def test_a_value_is_set_and_read_back(self, stand: Stand) -> None:
        prop, new = stand.words.number
        assert stand.operations.value(stand.crate, prop).value != new

        with one_step(stand.operations):
            stand.operations.set_value(stand.crate, prop, new)
            now = stand.operations.value(stand.crate, prop)

        assert now.value == near(new)
        assert now.held == ""

    def test_what_holds_a_value_is_told_and_goes_only_where_it_is_to(self, stand: Stand) -> None:
        operations = stand.operations
        for why, hold in stand.words.holds.items():
            item, prop = hold(stand)
            found = operations.value(item, prop)

            assert why in found.held
            with pytest.raises(ValueError, match=why):
                operations.set_value(item, prop, found.value)
            operations.set_value(item, prop, found.value, replace=True)
            assert operations.value(item, prop).held == ""
            assert operations.value(item, prop).value == near(found.value)

    def test_the_scenes_own_values_are_set_and_read_back(self, stand: Stand) -> None:
        operations = stand.operations
        wanted = dict(stand.words.scene)
        if not wanted:
            pytest.skip(f"{operations.host.name} has no such values")
        if "camera" in wanted:
            wanted["camera"] = stand.camera()
        before = {prop: operations.value(SCENE, prop).value for prop in wanted}

        with one_step(operations):
            for prop, value in wanted.items():
                operations.set_value(SCENE, prop, value)
            now = {prop: operations.value(SCENE, prop).value for prop in wanted}

        assert now == wanted
        assert not [prop for prop in wanted if before[prop] == now[prop]]

    def test_keys_are_added_replaced_and_cleared(self, stand: Stand) -> None:
        stand.needs(Keyframes)
        operations = stand.operations
        item = stand.crate
        prop = stand.words.keyed
        stand.key(*KEYS)
        first = operations.keys(item, prop)
        told = operations.look_into(item, "keys")
        stand.key((13.0, [0.0, 0.0, 9.0]), (25.0, [0.0, 0.0, 45.0]))
        added = operations.keys(item, prop)
        stand.key((2.0, [7.0, 0.0, 0.0]), clear=True)
        replaced = operations.keys(item, prop)
        stand.key(clear=True)

        assert [(at, near(value)) for at, value in KEYS] == first
        assert {name: [tuple(key) for key in keys] for name, keys in told.items()} == {prop: first}
        assert [at for at, _ in added] == [1, 13, 25]
        assert added[2][1] == near([0, 0, 45])
        assert replaced == [(2, near([7, 0, 0]))]
        assert operations.keys(item, prop) == []
        assert operations.value(item, prop).value == near([7, 0, 0])

    def test_what_is_keyed_is_neither_set_nor_placed_but_in_place_of_the_keys(
        self, stand: Stand
    ) -> None:
        stand.needs(Keyframes)
        operations = stand.operations
        item = stand.crate
        prop = stand.words.keyed
        stand.key(*KEYS)

        assert operations.value(item, prop).held.startswith("keyed")
        with pytest.raises(ValueError, match="keyed"):
            operations.set_value(item, prop, [1.0, 2.0, 3.0])
        with pytest.raises(ValueError, match="keyed"):
            operations.place(item, rotation=(1, 2, 3))
        operations.set_value(item, prop, [1.0, 2.0, 3.0], replace=True)
        assert operations.value(item, prop).held == ""
        assert operations.keys(item, prop) == []
        assert operations.placement(item, "local").rotation == near((1, 2, 3))

    def test_a_connection_takes_the_place_of_another_and_is_cut(self, stand: Stand) -> None:
        operations = stand.operations
        first, second = stand.words.links(stand)
        into = SocketLink("", "", first.target, first.into)

        def inputs() -> list[SocketLink]:
            return [
                it for it in operations.look_into(into.target, "inputs") if it.into == into.into
            ]

        operations.connect(first)
        connected = inputs()
        operations.connect(second)
        replaced = inputs()
        operations.cut(into)
        cut = inputs()
        operations.connect(first)
        operations.cut(first)

        assert first.out in operations.sockets(first.source)[1]
        assert first.into in operations.sockets(first.target)[0]
        assert connected == [first]
        assert replaced == [second]
        assert cut == []
        assert inputs() == []

    # ---- building

    def test_what_is_made_has_its_type_a_free_name_and_its_parent(self, stand: Stand) -> None:
        operations = stand.operations
        words = stand.words
        made = [operations.create(words.group, "thing", None) for _ in range(2)]
        inside = operations.create(words.group, "inner", stand.hollow)

        assert len({operations.name(it) for it in made}) == 2
        assert operations.name(made[0]) == "thing"
        assert set(made) <= set(operations.items())
        assert operations.parent(made[0]) == stand.words.top
        assert operations.kind(made[1]) == operations.kind(stand.rack)
        assert inside in set(operations.items(stand.hollow))

    def test_a_copy_has_all_that_is_below_and_data_of_its_own(self, stand: Stand) -> None:
        operations = stand.operations
        host = operations.host
        source = stand.rack if stand.words.nests else stand.crate
        whole = operations.duplicate(source, linked=False)
        single = operations.duplicate(stand.crate, linked=False)

        assert operations.parent(whole) == operations.parent(source)
        assert operations.kind(whole) == operations.kind(source)
        assert len(list(operations.items(whole))) == len(list(operations.items(source))) > 0
        assert box(operations, whole) == near(box(operations, source))
        assert single != stand.crate
        assert shape_of(host, single) != shape_of(host, stand.crate)

    def test_a_linked_copy_shares_its_data_and_has_a_place_of_its_own(self, stand: Stand) -> None:
        operations = stand.operations
        host = operations.host
        source = stand.shared
        before = box(operations, source)
        copy = operations.duplicate(source, linked=True)
        same = box(operations, copy)
        at = operations.placement(source).at
        operations.place(copy, (at[0] + 10, at[1], at[2]))

        assert shape_of(host, copy) == shape_of(host, source)
        assert same == near(before)
        assert box(operations, copy) == near(moved(before, (10, 0, 0)))
        assert box(operations, source) == near(before)

    def test_items_are_collected_in_what_is_made_or_there(self, stand: Stand) -> None:
        operations = stand.operations
        kind = stand.words.collection
        into = operations.collect([stand.crate], "heroes", kind)
        again = operations.collect([stand.ball], into, kind)

        assert into == again
        assert {*stand.words.members(operations, into)} == {stand.crate, stand.ball}

    def test_who_is_renamed_is_found_with_all_below_and_stays_selected(self, stand: Stand) -> None:
        operations = stand.operations
        operations.host.select([stand.rack])
        before = box(operations, stand.rack)
        told = operations.called(stand.rack, "frame")
        taken = operations.called(stand.crate, "ball")
        new = operations.rename(stand.rack, "frame")

        assert told in ((new, []), (operations.name(new), []))
        assert taken[1] != []
        assert "rack" not in names_of(operations)
        assert operations.name(new) == "frame"
        assert {"lid", "pin"} <= set(names_of(operations, new))
        assert box(operations, new) == near(before)
        assert operations.host.selection == [new]

    # ---- losses

    def test_what_is_deleted_is_gone_and_what_becomes_of_the_rest_is_told(
        self, stand: Stand
    ) -> None:
        """It goes along and is counted, or stays and is."""
        operations = stand.operations
        along = operations.below([stand.rack])
        left = operations.orphans([stand.rack])
        assert operations.orphans([stand.rack, stand.lid, stand.pin]) in ([], ())
        operations.delete(
            [stand.crate, stand.rack] if left else [stand.crate, stand.rack, stand.lid]
        )
        names = set(names_of(operations))

        assert not {"crate", "rack"} & names
        assert "ball" in names
        assert {"lid", "pin"} & names == (set() if not left else {"lid", "pin"})
        assert len(left) == 2 or len(along) >= 2

    def test_junk_is_what_nobody_uses_and_goes(self, stand: Stand) -> None:
        operations = stand.operations
        empty = operations.junk("empty_groups")
        operations.clean("empty_groups", [stand.hollow])

        assert stand.hollow in empty
        assert stand.rack not in empty
        assert stand.hollow not in operations.junk("empty_groups")
        assert operations.host.kinds([stand.hollow]) == ["gone"]


class MaterialsContract(_Contract):
    """How things look."""

    def test_a_material_is_made_and_changed_and_the_rest_of_it_stays(self, stand: Stand) -> None:
        operations = stand.operations
        made = operations.material("Clay", {"base_color": [0.1, 0.2, 0.3], "roughness": 0.25})
        operations.material("Clay", {"roughness": 0.75})
        known = list(operations.materials())
        new = operations.material(None, {})

        assert {made, "Clay"} >= {it for it in known if "Clay" in it} != set()
        assert not {new, operations.name(new)} & {*known}
        assert {new, operations.name(new)} & {*operations.materials()}
        if stand.words.shader is not None:
            inside, colour, rough = stand.words.shader
            assert operations.value(made + inside, colour).value[:3] == near([0.1, 0.2, 0.3])
            assert operations.value(made + inside, rough).value == near(0.75)

    def test_a_material_is_assigned_in_place_of_the_one_before(self, stand: Stand) -> None:
        operations = stand.operations
        clay = operations.material("Clay", {})
        gold = operations.material("Gold", {})
        operations.assign(stand.ball, clay)
        operations.assign(stand.crate, clay)
        both = set(operations.users(clay))
        operations.assign(stand.crate, gold)

        assert both == {stand.ball, stand.crate}
        assert list(operations.users(clay)) == [stand.ball]
        assert list(operations.users(gold)) == [stand.crate]

    def test_what_has_a_material_breaks_without_it_and_what_goes_itself_does_not(
        self, stand: Stand
    ) -> None:
        operations = stand.operations
        gold = operations.material("Gold", {})
        for item in (stand.crate, stand.ball):
            operations.assign(item, gold)

        assert len(operations.dependents([gold])) == 2
        assert len(operations.dependents([gold, stand.crate])) == 1
        assert operations.dependents([gold, stand.crate, stand.ball]) in ([], ())
        assert operations.dependents([stand.crate]) in ([], ())

    def test_a_material_that_nobody_has_is_junk(self, stand: Stand) -> None:
        operations = stand.operations
        used = operations.material("Used", {})
        unused = operations.material("Unused", {})
        operations.assign(stand.crate, used)
        found = {operations.name(it) for it in operations.junk("unused")}
        operations.clean(
            "unused", [it for it in operations.junk("unused") if operations.name(it) == "Unused"]
        )

        assert "Unused" in found
        assert "Used" not in found
        assert not [it for it in operations.materials() if "Unused" in it]
        assert unused != used

    def test_one_of_two_equal_materials_is_junk_and_its_users_get_the_other(
        self, stand: Stand
    ) -> None:
        operations = stand.operations
        for name, item in (("One", stand.ball), ("Other", stand.crate)):
            operations.assign(item, operations.material(name, {"base_color": [0.3, 0.6, 0.1]}))
        try:
            twins = [
                it
                for it in operations.junk("duplicate_materials")
                if operations.name(it) == "Other"
            ]
        except ValueError as error:
            pytest.skip(str(error))
        operations.clean("duplicate_materials", twins)

        assert len(twins) == 1
        assert set(operations.users("One")) == {stand.ball, stand.crate}
        assert operations.host.kinds(twins) == ["gone"]


class PlacingContract(_Contract):
    """Where things are."""

    def test_bounds_are_of_the_world_with_all_that_is_below(self, stand: Stand) -> None:
        operations = stand.operations
        before = box(operations, stand.crate)
        operations.place(stand.crate, (10, 20, 30))
        after = box(operations, stand.crate)
        operations.place(stand.crate, rotation=(0, 0, 45))
        turned = box(operations, stand.crate)
        operations.place(stand.lid, (0, 0, 40))
        operations.place(stand.pin, (0, 0, -40))
        low = box(operations, stand.pin)
        high = box(operations, stand.lid)
        around = [*map(min, low[:3], high[:3]), *map(max, low[3:], high[3:])]

        assert after == near(moved(before, (10, 20, 30)))
        assert turned[3] - turned[0] == near((before[3] - before[0]) * math.sqrt(2))
        assert box(operations, stand.rack) == near(around)
        assert operations.bounds(operations.create(stand.words.group, "bare", None)) is None

    def test_a_thing_is_where_it_was_put_below_a_parent_that_is_turned(self, stand: Stand) -> None:
        operations = stand.operations
        operations.place(stand.lid, (1, 2, 3), (40, -50, 60))
        world = operations.placement(stand.lid)
        operations.place(stand.lid, (1, 0, 0), (0, 0, 30), space="local")
        local = operations.placement(stand.lid, "local")
        seen = operations.placement(stand.lid)

        assert world.at == near((1, 2, 3))
        assert world.rotation == near((40, -50, 60))
        assert local.at == near((1, 0, 0))
        assert local.rotation == near((0, 0, 30))
        assert seen.at == near((5, 7, 7))
        assert seen.rotation == near((0, 0, 120))

    def test_a_part_of_a_place_that_is_not_given_stays(self, stand: Stand) -> None:
        operations = stand.operations
        operations.place(stand.lid, (1, 2, 3), (10, 20, 30))
        operations.place(stand.lid, (4, 5, 6))
        moved_only = operations.placement(stand.lid)
        operations.place(stand.lid, rotation=(0, 0, 45))

        assert moved_only.at == near((4, 5, 6))
        assert moved_only.rotation == near((10, 20, 30))
        assert operations.placement(stand.lid).at == near((4, 5, 6))

    def test_a_scale_is_set_and_makes_the_thing_as_much_larger(self, stand: Stand) -> None:
        stand.needs(AppliedTransforms)
        operations = stand.operations
        before = box(operations, stand.crate)
        operations.place(stand.crate, scale=(2, 3, 4))
        after = box(operations, stand.crate)

        assert operations.placement(stand.crate).scale == near((2, 3, 4))
        assert [after[i + 3] - after[i] for i in range(3)] == near(
            [(before[i + 3] - before[i]) * (i + 2) for i in range(3)]
        )

    def test_another_parent_keeps_the_place_or_not(self, stand: Stand) -> None:
        operations = stand.operations
        before = operations.placement(stand.crate)
        corners = box(operations, stand.crate)
        inside = operations.set_parent(stand.crate, stand.rack, keep_place=True)
        kept = (
            numbers_of(operations.placement(inside)),
            operations.parent(inside),
            box(operations, inside),
        )
        outside = operations.set_parent(inside, None, keep_place=True)
        back = numbers_of(operations.placement(outside)), operations.parent(outside)
        going = operations.set_parent(outside, stand.rack, keep_place=False)

        assert kept == (near(numbers_of(before)), stand.rack, near(corners))
        assert back == (near(numbers_of(before)), stand.words.none)
        assert operations.placement(going).at == near((5, 6, 7))
        assert operations.placement(going).rotation == near((0, 0, 90))

    def test_an_applied_transform_moves_nothing(self, stand: Stand) -> None:
        """Neither the thing nor what is below it."""
        stand.needs(AppliedTransforms)
        operations = stand.operations
        item = stand.crate
        parts = stand.words.applied
        below = operations.set_parent(stand.ball, item, keep_place=True)
        operations.place(item, (1, 2, 3), (10, 20, 30), (2, 2, 2))
        before = [box(operations, it) for it in (item, below)]
        operations.apply(item, parts)
        now = operations.placement(item, "local")

        assert [box(operations, it) for it in (item, below)] == [near(it) for it in before]
        assert now.scale == near((1, 1, 1))
        assert now.rotation == near((0, 0, 0) if "rotation" in parts else (10, 20, 30))
        assert now.at == near((1, 2, 3))


class FilesContract(_Contract):
    """Files, in and out."""

    def test_what_is_written_comes_in_again(self, stand: Stand, suffix: str) -> None:
        """It is no edit, and leaves the selection; it comes in below what is named, and scaled."""
        operations = stand.operations
        host = operations.host
        if suffix not in operations.export_formats():
            pytest.skip(f"This {host.name} has no {suffix}")
        file = stand.folder / f"crate{suffix}"
        low, _, _, high, _, _ = box(operations, stand.crate)
        host.select([stand.ball])
        before = scene_digest(host)
        mark = host.undo_mark()
        with host.undo_step("Export"):
            operations.export_file(file, [stand.crate], None)
        exported = scene_digest(host), host.undo_mark(), host.selection

        with one_step(operations):
            came = operations.import_file(file, "copy", stand.rack, 0.5, None).items
            parents = {operations.parent(it) for it in came}
            bounds = [operations.bounds(it) for it in came]
            selected = host.selection

        assert exported == (before, mark, [stand.ball])
        assert file.stat().st_size > 0
        assert stand.rack in parents
        widths = [corners[1][0] - corners[0][0] for corners in bounds if corners is not None]
        assert near((high - low) / 2, 0.01) in widths or not stand.words.has_shapes
        assert selected == [stand.ball]
        assert "copy" in operations.import_formats()[suffix]

    def test_a_save_names_its_files_before(self, stand: Stand) -> None:
        operations = stand.operations
        new = stand.folder / f"new{stand.words.file}"
        own = operations.host.file()

        if own is None:
            with pytest.raises(ValueError, match="never saved"):
                operations.save_files(None)
        else:
            assert operations.save_files(None) == [own]
        assert operations.save_files(new) == [new]
        assert operations.save(new) == new
        assert new.stat().st_size > 0
        assert operations.save_files(None) == [new]
        assert operations.host.file() == new


class SeeingContract(_Contract):
    """Pictures."""

    def test_a_camera_has_a_view(self, stand: Stand) -> None:
        stand.needs(Drawing)
        camera = stand.camera()
        stand.operations.place(camera, (1, 2, 9))
        shot = stand.operations.viewpoint(camera)

        assert shot.eye == near((1, 2, 9))
        assert shot.target[:2] == near((1, 2))
        assert shot.target[2] < 9
        assert stand.words.camera is not None
        assert shot.angle == near(stand.words.camera[1], 0.1)
        assert shot.camera == camera

    def test_a_picture_leaves_all_as_it_was(self, stand: Stand, view: Callable[[], object]) -> None:
        """One alone or several in two columns; as JPEG, and small."""
        stand.needs(Drawing)
        operations = stand.operations
        host = operations.host
        host.select([stand.ball])
        shots = [replace(SHOT, eye=(n, -9.0, 9.0)) for n in (1, 5, 9)]
        before = [scene_digest(host), host.undo_mark(), host.selection, view()]
        put_back: list[str] = []
        with host.guard(put_back, read=True):
            one = operations.draw(shots[:1], 64, 48, "solid")
            wire = operations.draw(shots[:1], 64, 48, "wire")
            three = operations.draw(shots, 64, 48, "material")

        after = [scene_digest(host), host.undo_mark(), host.selection, view()]
        assert after == before, (before, after)
        assert put_back == []
        assert [size_of(it) for it in (one, wire, three)] == [(64, 48), (64, 48), (128, 96)]
        assert max(map(len, (one, wire, three))) < 100_000
        assert one != operations.draw(shots[1:2], 64, 48, "solid")

    def test_a_picture_of_a_question_is_marked_and_leaves_all_as_it_was(
        self, stand: Stand, view: Callable[[], object]
    ) -> None:
        """Also while an edit is tried, of which nothing stays."""
        stand.needs(Marking, Deleting)
        operations = stand.operations
        host = operations.host
        if not _draws_marks(operations):
            pytest.skip("nobody sits in front of it")
        with host.undo_step("Part them"):
            operations.place(stand.ball, (30, 0, 0))
        host.select([stand.crate])
        (shot,) = framing.shots(operations, [stand.crate, stand.ball], "three_quarter", 4 / 3)
        before = [scene_digest(host), host.undo_mark(), host.selection, view()]
        with host.undo_step("Try"):
            trial = host.trial()
            assert trial is not None
            operations.delete([stand.ball])
            after = operations.draw_marked(shot, 64, 48, [])
            trial.revert()
        now = operations.draw_marked(shot, 64, 48, [])
        marked = operations.draw_marked(shot, 64, 48, [(4, 5, 30, 40)])

        assert [scene_digest(host), host.undo_mark(), host.selection, view()] == before
        assert [picture[:8] for picture in (now, after, marked)] == [b"\x89PNG\r\n\x1a\n"] * 3
        assert [_png_size(picture) for picture in (now, after, marked)] == [(64, 48)] * 3
        assert len({now, after, marked}) == 3

    def test_a_picture_of_a_frame_shows_it_and_the_persons_frame_stays(
        self, stand: Stand, view: Callable[[], object]
    ) -> None:
        stand.needs(Drawing, Keyframes, Frames)
        operations = stand.operations
        stand.key(*KEYS)
        shots = [
            Shot((0.1, -9.0, 9.0), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 40.0, frame=at)
            for at in (1, 13)
        ]
        before = scene_digest(operations.host), operations.host.undo_mark(), view()
        pictures = [operations.draw([shot], 64, 48, "solid") for shot in shots]
        with operations.at_frame(7):
            turned = operations.placement(stand.crate).rotation

        assert pictures[0] != pictures[1]
        assert turned == near((0, 0, 22.5))
        assert (scene_digest(operations.host), operations.host.undo_mark(), view()) == before


def _draws_marks(operations: EveryPort) -> bool:
    """Return whether the host draws here for somebody who waits."""
    try:
        return bool(operations.draw_marked(SHOT, 64, 48, []))
    except ValueError:
        return False


def _png_size(picture: bytes) -> tuple[int, ...]:
    """Return the width and the height of a PNG."""
    return unpack(">II", picture[16:24])
