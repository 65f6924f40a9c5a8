"""What a batch asks after an edit: it stays one undo step, and a no leaves nothing behind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dcc_bridge.elicitation.question import Question, Reply
from tests.live import text
from tests.stand_ins import Person
from tests.verbs.memory import MemoryHost, node
from tests.verbs.steps import step
from tests.verbs.studio import NO, YES, OpenStudio, Studio

MADE: list[dict[str, Any]] = [
    step("create", "m", things=[{"type": "Mesh", "name": "New"}]),
    step("assign_material", "s", values={"roughness": 1}),
]
LAST: dict[str, Any] = step("create", things=[{"type": "Mesh", "name": "Last"}])
ASKING: dict[str, list[dict[str, Any]]] = {
    "a deletion of what was made": [step("delete", items=["$m"])],
    "a deletion of what was there": [step("delete", items=["/Set"])],
    "a held value": [
        step("set_values", items=["/Tree"], values={"intensity": 3}, replace=True)
    ],
    "keys that go": [
        step("set_keys", item="/Tree", prop="intensity", clear=True)
    ],
    "junk": [step("clean", what=["unused"])],
    "a file that can carry code": [step("import_file", path="rig.ma")],
    "a file that is written over": [step("export_file", path="old.obj")],
    "a file that it wrote itself": [
        step("export_file", path="new.obj", items=["$m"]),
        step("delete", items=["$m"]),
    ],
    "two questions": [
        step("delete", items=["/Set/Key"]),
        step("create", things=[{"type": "Light", "name": "Again"}]),
        step("clean", what=["unused"]),
        step("delete", pattern="Again"),
    ],
}  # fmt: skip
YESES: dict[str, list[Reply]] = {
    "a deletion of what was made": [],  # nothing is lost by it
    "a file that it wrote itself": [],
    "junk": [Reply("accept", {"unused": ["/Material"]})],
}
YESES["two questions"] = [*YESES["junk"], YES]


def prepared(scene: Studio, folder: Path) -> None:
    scene.host.nodes["/Tree"]["held"] = {"intensity": "driven by /Set"}
    scene.host.nodes["/Tree"]["keys"] = {"intensity": [[1, 0], [9, 1]]}
    scene.host.undo_mark()
    (folder / "rig.ma").write_text("")
    (folder / "old.obj").write_text("somebody's")


@pytest.mark.parametrize("what", ASKING)
def test_what_asks_in_mid_batch_leaves_one_undo_step(
    open_studio: OpenStudio, tmp_path: Path, what: str
) -> None:
    scene = open_studio(*YESES.get(what, [YES]))
    prepared(scene, tmp_path)
    before = scene.host.scene_digest()
    stack = scene.host.labels
    told = scene.do("batch", steps=[*MADE, *ASKING[what], LAST])

    assert len(scene.person.shown) == len(YESES.get(what, [YES]))
    assert len(scene.host.labels) == len(stack) + 1
    assert "/Last" in scene.nodes
    assert told["steps"][0]["items" if "items" in told["steps"][0] else "made"]
    for notice in scene.person.notices:
        assert notice.count("Created 1 mesh") == 1  # though it may be done twice
    scene.host.undo()
    assert scene.host.scene_digest() == before
    assert scene.host.labels == stack


class Untried(MemoryHost):
    """A scene that cannot be tried."""

    def trial(self) -> None:
        return None


@pytest.mark.parametrize("what", ASKING)
@pytest.mark.parametrize("kind", [MemoryHost, Untried])
def test_a_batch_that_is_asked_about_first_asks_on_and_leaves_one_undo_step(
    open_studio: OpenStudio, tmp_path: Path, what: str, kind: type[MemoryHost]
) -> None:
    nodes = {"/": node("Scene"), "/Set": node("Group"), "/Set/Key": node("Light")}
    host = kind({**nodes, "/Tree": node("Mesh")}, file=tmp_path / "shot.json")
    junk = YESES["junk"][0]

    def answer(question: Question) -> Reply:
        return junk if question.message.startswith("Clean") else YES

    scene = open_studio(host=host, edit="ask")
    scene.bridge.broker.audience.host = Person(then=answer)
    prepared(scene, tmp_path)
    stack = scene.host.labels
    scene.do("batch", steps=[*MADE, *ASKING[what], LAST])

    assert len(scene.host.labels) == len(stack) + 1
    assert "/Last" in scene.nodes


@pytest.mark.parametrize("what", [what for what in ASKING if YESES.get(what) != []])
def test_a_no_in_mid_batch_leaves_no_more_than_it_tells(
    open_studio: OpenStudio, tmp_path: Path, what: str
) -> None:
    scene = open_studio(*YESES.get(what, [YES])[:-1], NO)
    prepared(scene, tmp_path)

    why = scene.fails("batch", steps=[*MADE, *ASKING[what], LAST])

    assert "Nothing was changed" in why
    assert (tmp_path / "old.obj").read_text() == "somebody's"
    assert (tmp_path / "new.obj").exists() == ("write new.obj" in why)


def test_the_question_is_about_the_scene_as_the_steps_before_it_made_it(
    open_studio: OpenStudio,
) -> None:
    scene = open_studio(YES)
    things = [{"type": "Mesh", "name": "Key", "under": "/Set"}]
    steps = [
        step("create", things=things),
        step("delete", pattern="Key*"),
    ]
    scene.do("batch", steps=steps)

    assert scene.asked_about == [("/Set/Key",)]


def test_what_the_person_does_meanwhile_is_theirs_and_the_batch_comes_after_it(
    open_studio: OpenStudio,
) -> None:
    scene = open_studio()
    scene.edits_first(lambda: scene.host.nodes.update({"/Theirs": scene.host.nodes["/Tree"]}))
    steps = [*MADE, step("delete", items=["/Set/Key"]), LAST]
    scene.do("batch", steps=steps)

    assert {"/Theirs", "/New", "/Last"} <= {*scene.nodes}
    assert "/Set/Key" not in scene.nodes
    assert len(scene.host.labels) == 2


def test_a_scene_is_saved_at_the_end_of_a_batch_only(
    open_studio: OpenStudio, tmp_path: Path
) -> None:
    scene = open_studio(YES)
    why = scene.fails("batch", steps=[MADE[0], step("save"), LAST])
    done = scene.call("batch", {"steps": [MADE[0], step("save")], "check": {}})

    assert "failed_at 2 (step 2, save)" in why
    assert "save must be the last step" in why
    assert not done.is_error, text(done)
    assert "/New" in (tmp_path / "shot.json").read_text()
