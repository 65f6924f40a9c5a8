"""A batch: references, what it tells, and that a failure at any act leaves nothing behind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dcc_bridge.elicitation.view import view_of
from tests.live import status, text
from tests.verbs.steps import step
from tests.verbs.studio import YES, OpenStudio

TEN: list[dict[str, Any]] = [
    step("create", "made", things=[{"type": "Light", "at": [1, 2, 3]}]),
    step("duplicate", "copies", items="$made", to=[[0, 1, 0], [0, 2, 0]]),
    step("transform", items=["$made", "$copies"], look_at="/Tree"),
    step("set_values", items="$copies", values={"intensity": 4}),
    step("group", items=["$copies.items.0"], under="/Tree"),
    step("assign_material", items="$made", values={"roughness": 0.5}),
    step("connect", links=[{"from": "/Tree", "out": "out", "to": "$made", "in": "color"}]),
    step("set_keys", item="$made", prop="intensity", keys=[[1, 0], [9, 1]]),
    step("delete", items=["/Set/Fill"]),
    step("rename", names={"$made": "Hero"}),
]


def test_ten_steps_are_one_undo_step_and_refer_to_each_other(open_studio: OpenStudio) -> None:
    scene = open_studio(YES)
    told = scene.do("batch", steps=TEN, check={}, look={})

    assert [row["do"] for row in told["steps"]] == [*(each["do"] for each in TEN), "check"]
    assert scene.nodes["/Hero"]["inputs"] == {"color": ["/Tree", "out"]}
    assert scene.nodes["/Tree/Light_1"]["values"]["intensity"] == 4
    assert len(scene.host.labels) == 1
    notice = "Created 1 light; Made 2 copies of Light; Aimed 3 lights; and 7 more"
    assert scene.person.notices == [f"{notice}: done for test"]


def test_the_card_of_a_batch_tells_its_steps(open_studio: OpenStudio) -> None:
    scene = open_studio(YES)
    steps = [
        step("set_values", items=["/Set/Key", "/Set/Rim"], values={"intensity": 2}),
        step("delete", items=["/Set/Fill"]),
    ]
    scene.do("batch", steps=steps, why="Light the bay")

    (question,) = scene.person.shown
    rows = [(row.name, row.value) for row in view_of(question, scene.host).arguments]
    assert rows == [
        ("Why", "Light the bay"),
        ("1. set values", 'items: /Set/Key, /Set/Rim, values: {"intensity": 2}'),
        ("2. delete", "items: /Set/Fill"),
    ]


@pytest.mark.parametrize(
    ("gone", "notice"),
    [
        (["/Set/Key", "/Set/Rim"], "Replaced 2 lights by 2 copies of Tree"),
        (["/Set/Key"], "Made 2 copies of Tree; Deleted 1 light"),
    ],
)
def test_what_copies_take_the_place_of_is_replaced(
    gone: list[str], notice: str, open_studio: OpenStudio
) -> None:
    steps = [
        step("duplicate", items=["/Tree"], to=["/Set/Key", "/Set/Rim"]),
        step("delete", items=gone),
    ]
    scene = open_studio(YES)
    scene.do("batch", steps=steps)

    assert scene.person.notices == [f"{notice}: done for test"]


def test_each_step_tells_what_it_did_then_the_check_and_the_picture(
    open_studio: OpenStudio,
) -> None:
    scene = open_studio(YES)
    result = scene.call("batch", {"steps": TEN[:1], "check": {}, "look": {}})

    kinds = [part.type for part in result.content]
    assert kinds == ["text", "text", "image"]
    facts = text(result)
    assert '"step": "made", "do": "create", "found": 1, "made": [{"item": "/Light"' in facts
    assert '"step": 2, "do": "check", "looked_at":' in facts


def test_an_exception_at_any_act_leaves_the_scene_and_the_undo_stack_as_they_were(
    open_studio: OpenStudio,
) -> None:
    scene = open_studio(*[YES] * 40, dialogs_per_minute=99)
    operations = scene.host.operations
    before = scene.host.scene_digest()
    scene.do("batch", steps=TEN)
    scene.host.undo()
    count = len(operations.done)
    stack = scene.host.labels
    assert count > 10

    for number in range(1, count + 1):
        operations.done.clear()
        operations.fails_at = number
        result = scene.call("batch", {"steps": TEN})

        assert status(result) == "failed"
        assert "failed_at" in text(result)
        assert ": The application cannot do this: The application has had enough." in text(result)
        assert scene.host.scene_digest() == before
        assert scene.host.labels == stack


@pytest.mark.parametrize(
    ("steps", "why"),
    [
        ([], "steps: give 1 to 50, not 0."),
        ([step("summary")] * 51, "steps: give 1 to 50, not 51."),
        (
            [step("creat")],
            "failed_at 1 (step 1, creat): There is no tool 'creat'; names like it: create",
        ),
        ([step("batch")], "There is no tool 'batch'"),
        ([step("run_python")], "code cannot be in a batch: call run_python alone."),
        (
            [TEN[0], step("transform", items=["$b"], move=[1, 0, 0])],
            "no step has the id b; there is: made.",
        ),
        ([step("summary", "a")] * 2, "steps: two steps have the same id."),
        ([TEN[1] | {"id": "x"}, TEN[0]], "'$made' refers to a step that comes later."),
        (
            [TEN[0], step("inspect", items=["$made.itms"])],
            "there is no 'itms'; there",
        ),
        ([step("select", "a")], "failed_at 'a' (step 1, select): select cannot be called"),
    ],
)
def test_a_step_that_cannot_be_done_is_named(
    open_studio: OpenStudio, steps: list[dict[str, Any]], why: str
) -> None:
    scene = open_studio()
    said = scene.fails("batch", steps=steps)

    assert why in said
    assert said.endswith("Nothing was changed.")


def test_a_dollar_sign_that_is_no_reference_stays(open_studio: OpenStudio) -> None:
    scene = open_studio()
    steps = [step("create", things=[{"type": "Mesh", "name": "$HIP"}])]

    assert scene.do("batch", steps=steps)["steps"][0]["made"][0]["item"] == "/$HIP"


OFF = [
    step("create", "made", things=[{"type": "Light"}]),
    step("set_keys", item="$made", prop="intensity", keys=[[1, 0], [9.5, 1]]),
]


def test_what_is_required_must_have_been_judged(open_studio: OpenStudio) -> None:
    scene = open_studio()
    required = {"rules": ["unused_materials"], "items": ["$made"]}
    why = scene.fails("batch", steps=OFF[:1], require=required)
    of_all = scene.fails("batch", steps=OFF, require={})

    assert "What is required fails. unused_materials judges the whole scene" in why
    assert "keys_off_frames" in of_all


def test_a_batch_stands_only_if_what_it_requires_passes(open_studio: OpenStudio) -> None:
    scene = open_studio()
    before = scene.host.scene_digest()
    required = {"rules": ["keys_off_frames"], "items": ["$made"]}

    why = scene.fails("batch", steps=OFF, require=required)
    left = scene.host.scene_digest()
    told = scene.do("batch", steps=OFF[:1], require=required)

    assert left == before
    assert "batch failed: What is required fails." in why
    assert "keys_off_frames, of 1: /Light (intensity: 9.5). What mends it: set_keys(" in why
    assert told["steps"][-1]["passed"] == ["keys_off_frames"]
    assert len(scene.host.labels) == 1


@pytest.mark.parametrize("last", [[], [step("check")], [step("look"), step("check")]])
def test_a_scene_that_fails_what_is_required_is_not_saved(
    last: list[dict[str, Any]], open_studio: OpenStudio, tmp_path: Path
) -> None:
    scene = open_studio(YES)
    required = {"rules": ["keys_off_frames"]}
    why = scene.fails("batch", steps=[*OFF, step("save"), *last], require=required)

    assert "What is required fails" in why
    assert not (tmp_path / "shot.json").exists()
