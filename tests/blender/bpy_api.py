"""What `find_api` answers in Blender, run inside of it by ``test_operations.py``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import bpy
import pytest

from dcc_bridge.verbs import api_verbs
from dcc_bridge_blender.host import BlenderHost
from dcc_bridge_blender.operations import BlenderOperations
from dcc_bridge_blender.operations.said import SAID
from tests.verbs import api_cards
from tests.verbs.api_cards import Asked, questions, run_example, verbs_of
from tests.verbs.every_port import EveryPort


@pytest.fixture(scope="module")
def asked() -> Asked:
    bpy.ops.wm.read_factory_settings()
    host = BlenderHost()
    answers = Asked(cast("EveryPort", BlenderOperations(host)), "blender")
    host.close()
    return answers


@pytest.fixture
def operations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EveryPort]:
    """A new file in which a render takes a moment."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    _new_file()
    host = BlenderHost()
    yield cast("EveryPort", BlenderOperations(host))
    host.close()


def _new_file() -> None:
    bpy.ops.wm.read_factory_settings()
    scene: Any = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.cycles.samples = 1
    scene.cycles.use_denoising = False  # Debian's Blender cannot
    scene.render.resolution_percentage = 1


@pytest.mark.parametrize("question", questions("blender"))
def test_a_question_has_the_right_first_card_and_its_example_runs(
    question: str, asked: Asked, operations: EveryPort
) -> None:
    asked.check(question)
    run_example(operations, asked.first(question)["example"])


def test_each_line_that_a_card_gives_runs(operations: EveryPort) -> None:
    entries = [*api_verbs.cards(operations), *operations.api()]
    names = {entry.name for entry in entries if entry.kind != "gone"}
    lines = {name: said.example for name, said in SAID.items() if said.example and name in names}
    assert len(lines) > 80
    for line in lines.values():
        _new_file()
        run_example(operations, line)


def test_each_example_of_types_and_properties_runs(
    operations: EveryPort, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those are made from what Blender says of them."""
    examples = [entry.example for entry in operations.api() if entry.example]
    assert len(examples) > 1000
    verbs = verbs_of(operations)
    monkeypatch.setattr(api_cards, "verbs_of", lambda _: verbs)  # they are made once
    refused = []
    for example in examples:
        before = set(bpy.data.objects)
        try:
            run_example(operations, example)
        except (LookupError, RuntimeError, ValueError) as error:
            refused.append(f"{example}: {error!r}")
        made = [thing for thing in bpy.data.objects if thing not in before]
        bpy.data.batch_remove(made)  # or each step evaluates all modifiers
    assert not refused


def test_an_example_of_a_property_of_some_lights_creates_such_a_light(
    operations: EveryPort,
) -> None:
    examples = {entry.name: entry.example for entry in operations.api()}

    assert '"type": "AREA_LIGHT"' in examples["AreaLight.size"]


def test_listing_the_examples_leaves_nothing_in_the_file(operations: EveryPort) -> None:
    before = _blocks()
    mark = operations.host.undo_mark()

    list(operations.api())

    assert _blocks() == before
    assert operations.host.undo_mark() == mark


def _blocks() -> dict[str, list[str]]:
    """Return the names of all data-blocks, by their list."""
    lists: Any = bpy.data.bl_rna.properties
    names = [prop.identifier for prop in lists if prop.type == "COLLECTION"]
    return {name: [block.name for block in getattr(bpy.data, name)] for name in names}
