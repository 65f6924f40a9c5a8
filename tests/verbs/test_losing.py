"""What is asked before something is lost, and what a yes, a no and a changed scene do."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge.audit import reader
from dcc_bridge.elicitation.question import Reply
from dcc_bridge.verbs.operations import Exported, Value
from dcc_bridge.verbs.values import _covered
from tests.live import text
from tests.verbs.memory import MemoryHost, node
from tests.verbs.steps import step
from tests.verbs.studio import NO, YES, OpenStudio

MANY = [f"/Set/{name}" for name in ("Key", "Fill", "Rim")]


def test_a_deletion_asks_with_its_list_and_what_goes_too(open_studio: OpenStudio) -> None:
    scene = open_studio(YES)
    told = scene.do("delete", items=["/Set"])

    (question,) = scene.person.shown
    assert question.message == (
        'Delete the group "/Set" and 3 more below it?\nBelow it: /Set/Key, /Set/Fill, /Set/Rim.'
    )
    assert question.items == ("/Set",)
    assert told["found"] == 1
    assert told["still_there"] == []
    assert list(scene.nodes) == ["/", "/Tree"]
    assert scene.person.notices == ["Deleted 1 group: done for test"]


def test_a_deletion_leaves_what_the_person_unticks(open_studio: OpenStudio) -> None:
    scene = open_studio(replace(YES, left_out=("/Set/Fill",)))

    told = scene.do("delete", items=MANY)

    (question,) = scene.person.shown
    assert question.consent is not None
    assert question.consent.may_take_fewer
    assert list(scene.nodes) == ["/", "/Set", "/Set/Fill", "/Tree"]
    assert (told["found"], told["kept_by_person"]) == (2, ["/Set/Fill"])


def test_what_an_unticked_item_hangs_below_stays_with_it(open_studio: OpenStudio) -> None:
    scene = open_studio(replace(YES, left_out=("/Set/Fill",)))
    before = list(scene.nodes)

    told = scene.do("delete", items=["/Set", "/Set/Fill"])

    assert list(scene.nodes) == before
    assert (told["found"], told["kept_by_person"]) == (0, ["/Set/Fill", "/Set"])


def test_nothing_can_be_unticked_in_the_question_of_a_batch(open_studio: OpenStudio) -> None:
    scene = open_studio(NO)

    scene.fails("batch", steps=[step("delete", items=MANY)])

    (question,) = scene.person.shown
    assert question.consent is not None
    assert not question.consent.may_take_fewer


def test_a_deletion_says_what_will_break(open_studio: OpenStudio) -> None:
    """What goes itself does not."""
    scene = open_studio(NO)
    scene.host.nodes["/Red"] = node("Shader")
    for item in ("/Set", "/Set/Key", "/Tree"):
        scene.host.nodes[item]["material"] = "Red"
    scene.host.undo_mark()

    scene.fails("delete", items=["/Red", "/Tree"])

    (question,) = scene.person.shown
    assert question.message.splitlines()[1:] == ["2 things will break: /Set, /Set/Key."]


def test_nobody_is_asked_about_a_deletion_that_cannot_be_done(open_studio: OpenStudio) -> None:
    scene = open_studio(YES)
    scene.host.nodes["/Tree"]["locked"] = True
    scene.host.undo_mark()

    told = scene.fails("delete", items=["/Tree", "/Set/Key"])

    assert "/Tree is locked" in told
    assert scene.person.shown == []


def test_a_no_leaves_all_and_says_so(open_studio: OpenStudio) -> None:
    scene = open_studio(NO, NO)
    assert "Nothing was changed." in scene.fails("delete", pattern="*", type="Light")
    assert "Nothing was changed." in scene.fails("delete", items=["/Set", "/Tree"])

    asked = [message.partition("?")[0] for message in scene.asked]
    assert asked == ["Delete 3 lights", "Delete 2 items and 3 more below them"]


def test_what_came_below_a_deleted_item_while_it_was_asked_is_asked_for_too(
    open_studio: OpenStudio,
) -> None:
    scene = open_studio()
    scene.edits_first(lambda: scene.host.nodes.update({"/Set/New": node("Light")}))

    scene.do("batch", steps=[step("delete", items=["/Set"])])

    first, second = (set(question.items) for question in scene.person.shown)
    assert second - first == {"/Set/New"}


def test_what_matches_is_looked_for_before_the_question_and_once_after_each_answer(
    open_studio: OpenStudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look goes through the whole scene."""
    scene = open_studio()
    scene.edits_first(lambda: scene.host.nodes.update({"/Set/New": node("Light")}))
    compared = Counter[int]()

    def match(name: str, pattern: str) -> bool:
        compared[len(scene.person.shown)] += 1
        return True

    monkeypatch.setattr("dcc_bridge.verbs.deleting.fnmatchcase", match)

    told = scene.do("delete", pattern="*", type="Light")

    assert [message.partition("?")[0] for message in scene.asked] == [
        "Delete 3 lights", "Delete 4 lights"
    ]  # fmt: skip
    assert told["found"] == 4
    assert compared == {0: 3, 1: 4, 2: 4}


def test_a_batch_asks_for_all_that_it_loses(open_studio: OpenStudio) -> None:
    scene = open_studio(NO)
    delete = scene.host.operations.delete
    scene.host.operations.delete = lambda items: delete([*items, "/Tree"])
    steps = [step("delete", items=["/Set/Key"])]

    scene.fails("batch", steps=steps)

    assert scene.asked_about == [("/Set/Key", "/Tree")]


def test_nobody_is_asked_about_a_value_that_cannot_be_set(open_studio: OpenStudio) -> None:
    scene = open_studio(YES)
    scene.host.nodes["/Tree"]["held"] = {"intensity": "linked from set.usda"}
    scene.host.nodes["/Tree"]["fixed"] = True
    scene.host.undo_mark()

    told = scene.fails("set_values", items=["/Tree"], values={"intensity": 3}, replace=True)

    assert "intensity of /Tree is linked from set.usda, and cannot be set" in told
    assert scene.person.shown == []


def test_what_holds_a_value_goes_after_a_yes_only(open_studio: OpenStudio) -> None:
    scene = open_studio(NO, YES)
    scene.host.nodes["/Tree"]["held"] = {"intensity": "driven by /Set"}
    scene.host.undo_mark()
    wanted: dict[str, Any] = {"items": ["/Tree"], "values": {"intensity": 3}, "replace": True}

    scene.fails("set_values", **wanted)
    scene.do("set_values", **wanted)

    assert scene.person.shown[0].message.splitlines() == [
        "Replace 1 value at once? This removes what controls them now:",
        "/Tree, intensity: driven by /Set",
    ]
    assert scene.nodes["/Tree"]["held"] == {}


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("transform", {"items": MANY, "move": [1, 0, 0]}),
        ("duplicate", {"items": ["/Tree"], "count": 3}),
        ("create", {"things": [{"type": "Mesh"}] * 3}),
        ("set_values", {"items": MANY, "values": {"intensity": 2}}),
        ("rename", {"pattern": "*i*", "to": "it_##", "names": {"/Tree": "Oak"}}),
        ("assign_material", {"items": MANY, "values": {"roughness": 1}}),
        ("group", {"items": MANY, "under": "/Tree"}),
        ("set_keys", {"item": "/Tree", "prop": "intensity", "keys": [[1, 0], [2, 1], [3, 0]]}),
        ("connect", {"cut": [{"to": item, "in": "color"} for item in MANY]}),
    ],
)
def test_an_edit_of_many_items_asks(
    open_studio: OpenStudio, verb: str, arguments: dict[str, Any]
) -> None:
    scene = open_studio(NO, YES, many=2)
    scene.fails(verb, **arguments)
    scene.do(verb, **arguments)

    assert " 3 " in scene.person.shown[0].message
    assert len(scene.person.shown) == 2


def test_a_file_that_can_carry_code_is_imported_after_a_yes_only(
    open_studio: OpenStudio, tmp_path: Path
) -> None:
    for name in ("tree.obj", "rig.ma"):
        (tmp_path / name).write_text("")
    scene = open_studio(NO, YES)
    told = scene.do("import_file", path=str(tmp_path / "tree.obj"))
    assert told["items"] == ["/tree"]
    assert told["warnings"] == ["no normals"]
    assert not scene.person.shown

    scene.fails("import_file", path=str(tmp_path / "rig.ma"))
    scene.do("import_file", path=str(tmp_path / "rig.ma"))
    assert "can carry code" in scene.person.shown[0].message

    assert "names like it: tree.obj" in scene.fails("import_file", path=str(tmp_path / "trees.obj"))
    said = scene.fails("import_file", path=str(tmp_path / "tree.obj"), how="reference")
    assert "cannot be imported as reference; what can: .ma." in said


def test_a_file_is_written_over_after_a_yes_only_and_a_copy_is_kept(
    open_studio: OpenStudio, tmp_path: Path
) -> None:
    scene = open_studio(NO, YES, YES, YES, audit=tmp_path / "audit")
    file = tmp_path / "out.obj"
    told = scene.do("export_file", path=str(file), items=["/Tree"])
    assert told["bytes"] == file.stat().st_size
    assert (told["found"], told["items"], told["types"]) == (1, ["/Tree"], {"Mesh": 1})
    assert told["left_out"] == ["the lights"]
    assert len(scene.person.shown) == 0

    scene.fails("export_file", path=str(file))
    assert file.read_text() == '["/Tree"]'
    told = scene.do("export_file", path=str(file))
    assert file.read_text() == "[]"
    assert Path(told["copies"]).is_dir()
    assert "what can: .obj" in scene.fails("export_file", path=str(tmp_path / "out.fbx"))

    scene.do("save")
    told = scene.do("save")
    assert scene.person.shown[2].message == "Save shot.json, a new file?"
    assert scene.person.shown[3].message == "Save shot.json, over the file that is there?"
    assert Path(told["copies"]).is_dir()


def test_a_relative_path_is_of_the_scene_s_own_folder(
    open_studio: OpenStudio, tmp_path: Path
) -> None:
    scene = open_studio(YES)
    (tmp_path / "tree.obj").touch()
    came = scene.do("import_file", path="tree.obj")
    written = scene.do("export_file", path="out.obj")
    saved = scene.do("save", path="new.json")

    assert came["file"] == str(tmp_path / "tree.obj")
    assert written["file"] == str(tmp_path / "out.obj")
    assert saved["file"] == str(tmp_path / "new.json")  # fmt: skip


@pytest.mark.parametrize("verb", ["import_file", "export_file", "save"])
def test_a_scene_that_was_never_saved_has_no_folder_for_a_relative_path(
    open_studio: OpenStudio, verb: str
) -> None:
    scene = open_studio(host=MemoryHost({"/Tree": node("Mesh")}))
    said = scene.fails(verb, path="new.obj")

    assert "The scene was never saved, so give the whole path and not 'new.obj'." in said


def test_what_a_person_unticks_is_not_cleaned_away(open_studio: OpenStudio) -> None:
    scene = open_studio(Reply("accept", {"unused": ["/Gold"]}), NO)
    for name in ("Gold", "Tin"):
        scene.do("assign_material", material=name, values={"roughness": 1})

    told = scene.do("clean", what=["unused", "empty_groups"])

    (question,) = scene.person.shown
    assert question.message == "Clean 2 things away? Untick what you want to keep."
    assert told["items"] == ["/Gold"]
    assert "/Tin" in scene.nodes
    said = scene.fails("clean", what=["unused"])
    assert said.startswith("Declined in the app: 'Clean?'. Nothing was changed.")
    assert "There is no history here." in scene.fails("clean", what=["history"])


def test_what_is_junk_twice_is_ticked_once_and_what_breaks_stands_in_a_line_of_its_own(
    open_studio: OpenStudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = open_studio(NO)
    operations = scene.host.operations
    junk = {"unused": ["/Set/Key"], "duplicate_materials": ["/Set/Key", "/Set/Fill"]}
    monkeypatch.setattr(operations, "junk", lambda what: junk[what])
    monkeypatch.setattr(operations, "dependents", lambda items: [f"user of {it}" for it in items])

    scene.fails("clean", what=["unused", "duplicate_materials"])

    (question,) = scene.person.shown
    assert question.message == (
        "Clean 2 things away? Untick what you want to keep.\n1 thing will break: user of /Set/Key."
    )
    fields = question.form.fields if question.form is not None else ()
    ticked = {field.name: field.default for field in fields}
    assert ticked == {"unused": ["/Set/Key"], "duplicate_materials": ["/Set/Fill"]}


def test_what_is_used_by_now_is_not_cleaned_away(open_studio: OpenStudio) -> None:
    scene = open_studio()
    scene.do("assign_material", material="Gold", values={"roughness": 1})
    answer = Reply("accept", {"unused": ["/Gold"]})
    scene.edits_first(lambda: scene.host.nodes["/Tree"].update(material="Gold"), answer)

    assert scene.do("clean", what=["unused"])["items"] == []
    assert "/Gold" in scene.nodes


def test_a_yes_to_a_deletion_counts_for_its_own_batch_only(open_studio: OpenStudio) -> None:
    scene = open_studio(NO)
    fails = step("set_values", items=["/Set"], values={"none": 1})
    scene.fails("batch", steps=[step("delete", items=["/Tree"]), fails])

    sets = {"items": ["/Tree"], "values": {"intensity": 2}}
    steps: list[dict[str, Any]] = [
        step("delete", items=["/Set/Key"]),
        step("set_values", "it", **sets),
    ]
    scene.fails("batch", steps=[*steps, step("delete", items="$it")])

    assert scene.asked_about == [("/Set/Key", "/Tree")]


@pytest.mark.parametrize(
    ("link", "replaced"),
    [
        (
            step("assign_material", items=["/Tree"], material="Gold"),
            "material Red of /Tree",
        ),
        (
            step("connect", links=[{"from": "/Gold", "out": "out", "to": "/Tree", "in": "color"}]),
            "input color of /Tree",
        ),
    ],
)
def test_a_link_that_a_batch_replaces_needs_no_yes_beside_that_to_a_deletion(
    open_studio: OpenStudio, link: dict[str, Any], replaced: str
) -> None:
    scene = open_studio(YES)
    scene.host.nodes.update({"/Red": node("Shader"), "/Gold": node("Shader")})
    scene.host.nodes["/Tree"].update(material="Red", inputs={"color": ["/Red", "out"]})
    scene.host.undo_mark()

    scene.do("batch", steps=[step("delete", items=["/Set/Key"]), link])

    assert scene.asked_about == [("/Set/Key",)]
    assert scene.host.lost([]) == ["/Set/Key", replaced]


@pytest.mark.parametrize(
    ("names", "lost"),
    [
        ({"/Set/Key": "Old", "/Set/Fill": "Key"}, "/Set/Fill"),
        ({"/Set": "Old", "/Store": "Set"}, "/Store/Key"),
    ],
)
def test_what_got_the_name_of_an_item_to_be_deleted_is_asked_for(
    open_studio: OpenStudio, names: dict[str, str], lost: str
) -> None:
    scene = open_studio(NO)
    scene.host.nodes.update({"/Store": node("Group"), "/Store/Key": node("Light")})
    scene.host.undo_mark()

    rename = step("rename", names=names)
    scene.fails("batch", steps=[rename, step("delete", items=["/Set/Key"])])

    assert scene.asked_about == [(lost,)]


def test_what_came_to_hold_a_value_while_it_was_asked_stays(open_studio: OpenStudio) -> None:
    scene = open_studio()
    held = scene.host.nodes["/Tree"]["held"]
    held["intensity"] = "driven by /Set"
    scene.edits_first(lambda: held.update(hidden="keyed"))
    values = {"intensity": 3, "hidden": True}

    said = text(scene.call(
        "set_values", {"items": ["/Tree"], "values": values, "replace": True}
    ))  # fmt: skip

    assert said.endswith("changed while the question was open. Nothing was changed.")
    assert scene.nodes["/Tree"]["held"] == {"intensity": "driven by /Set", "hidden": "keyed"}


def test_a_file_that_goes_along_with_an_export_is_written_over_after_a_yes_only(
    open_studio: OpenStudio,
    tmp_path: Path,
) -> None:
    scene = open_studio(NO)
    (tmp_path / "tree.mtl").write_text("somebody's")

    scene.fails("export_file", path=str(tmp_path / "tree.obj"))

    message = scene.person.shown[0].message
    assert message.endswith(f"a new file?\n\nIt also writes these files:\n{tmp_path}/tree.mtl")
    assert not (tmp_path / "tree.obj").exists()


@pytest.mark.parametrize(
    ("verb", "end"),
    [
        ("export_file", [step("inspect", items=[])]),
        ("export_file", [step("inspect")]),
        ("export_file", [step("delete", items=["/Set"])]),  # the person says no
        ("save", []),  # after it the check fails
    ],
)
def test_a_batch_that_fails_tells_of_the_file_that_it_has_written(
    open_studio: OpenStudio, tmp_path: Path, verb: str, end: list[dict[str, Any]]
) -> None:
    scene = open_studio(YES if verb == "save" else NO)
    write = step(verb, path=str(tmp_path / "tree.obj"))
    check = {"rules": ["none"]} if verb == "save" else None

    said = scene.fails("batch", steps=[write, *end], check=check)

    assert "Nothing was changed." not in said
    assert "changed, except for what undo cannot reverse: write tree.obj." in said


@pytest.mark.parametrize("name", ["rig.mel", "rig.editMA", "rig.pyc"])
def test_a_script_that_an_application_reads_as_a_file_is_imported_after_a_yes_only(
    open_studio: OpenStudio, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_text("")
    scene = open_studio(NO)
    suffix = Path(name).suffix.lower()
    scene.host.operations.import_formats = lambda: {suffix: ("copy",)}

    scene.fails("import_file", path=str(tmp_path / name))

    assert "can carry code" in scene.person.shown[0].message


@pytest.mark.parametrize("is_written", [False, True])
def test_a_save_that_fails_says_that_the_scene_goes_on_elsewhere_only_if_it_does(
    open_studio: OpenStudio, tmp_path: Path, is_written: bool
) -> None:
    scene = open_studio(YES)

    def save(path: Path | None) -> Path:
        assert path is not None
        scene.host.losing(f"switch the scene to another file, {path.name}", [path])
        if is_written:
            path.write_text("half")
        raise ValueError("The disk is full.")

    scene.host.operations.save = save
    said = scene.fails("save", path="new.json")

    elsewhere = ", except for what undo cannot reverse: switch the scene to another file, new.json"
    assert (elsewhere in said) is is_written
    assert is_written or said.endswith("The disk is full. Nothing was changed.")


@pytest.mark.parametrize(("verb", "name"), [("save", "new.json"), ("export_file", "new.obj")])
def test_no_folder_is_written_over(
    open_studio: OpenStudio, tmp_path: Path, verb: str, name: str
) -> None:
    scene = open_studio()
    (tmp_path / name).mkdir()
    assert f"{tmp_path / name} is a folder." in scene.fails(verb, path=name)


def test_a_file_that_was_not_written_is_told(open_studio: OpenStudio, tmp_path: Path) -> None:
    """Also where an old one is there, of which the size would say nothing."""
    scene = open_studio(YES)
    (tmp_path / "old.obj").write_text("somebody's")
    scene.host.operations.export_file = lambda path, items, frames: Exported([])

    for name in ("new.obj", "old.obj"):
        said = scene.fails("export_file", path=name)
        assert f"{name} was not written" in said


def test_a_new_list_of_parts_is_no_consent_to_lose_the_old_ones() -> None:
    """Curves of a sketch, or a cell: what goes of them is asked about."""
    wanted: list[Any] = [("Sketch", "Geometry", []), ("Box", "Length", 3), ("Sheet", "A1", "")]
    curves = Value([{"line": [[0, 0], [1, 0]]}], "GeometryList")
    before = [curves, Value(2.0, "Length"), Value(30.0, "cell")]

    assert _covered(wanted, before) == ["Box"]


@pytest.mark.parametrize(
    ("verb", "file"), [("export_file", "out.obj"), ("render", "out.jpg"), ("save", "shot.json")]
)
def test_a_file_that_is_written_is_in_the_record(
    verb: str, file: str, open_studio: OpenStudio, tmp_path: Path
) -> None:
    """Also where nobody was asked, as there was no file."""
    scene = open_studio(YES, audit=tmp_path / "audit")
    view = {"view": "front"} if verb == "render" else {}

    scene.do(verb, path=str(tmp_path / file), **view)

    (log,) = reader.logs(scene.bridge.audit.folder)
    lines = [line.fields for line in reader.read(log).lines()]
    of_verb = [line for line in lines if line.get("skill") == verb]
    assert [line["event"] for line in of_verb][-2:] == ["begin", "end"]
    assert f"write {file}" in str(of_verb[-1])
