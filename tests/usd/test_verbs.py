"""What the verbs promise of a person's scene, on real USD over a bridge: alone and in a batch."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from itertools import count, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pxr import Sdf

from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation.question import Reply
from dcc_bridge.threads.flows import current
from dcc_bridge.verbs import answers
from dcc_bridge.verbs import items as items_of_verbs
from dcc_bridge.verbs.consents import Consents
from dcc_bridge_usd import install
from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.operations import operations
from tests.bench import verbs_usd
from tests.bench.verbs import Table
from tests.bench.verbs_cases import Case
from tests.hosts.scenes import SCENE
from tests.tiers import sampled
from tests.verbs import usd_scene
from tests.verbs.memory import MemoryHost, MemoryOperations
from tests.verbs.steps import step
from tests.verbs.studio import NO, YES, Studio
from tests.verbs.studio import studio as studio_over

TREE = "/World/Props/Tree"
CAMERA = "/World/Rig/Camera"
BOXES = [f"/World/Props/Placeholder_{number:02}" for number in range(1, 41)]


@contextmanager
def studio(
    where: Path, *answers: Any, make: Callable[[Path], Path] = usd_scene.make, **more: Any
) -> Iterator[Studio]:
    """Run a bridge over our own application; the person gives those answers."""
    session = UsdSession(make(where / "shot.usda"))
    uninstall = install(session)
    with studio_over(where, *answers, host=session, operations=operations, **more) as running:
        yield running
    uninstall()


def sizes(value: float) -> dict[str, Any]:
    """Set one value of forty prims."""
    return step("set_values", items=BOXES, values={"size": value})


def test_a_batch_that_changes_more_than_many_in_all_asks_before_it_begins(tmp_path: Path) -> None:
    with studio(tmp_path, NO, YES, many=99) as scene:
        copies = step("duplicate", items=BOXES[:10], count=2)
        steps = [sizes(1), copies, step("transform", items=BOXES, move=[1, 0, 0])]

        scene.fails("batch", steps=steps)
        scene.do("batch", steps=steps)
        scene.do("batch", steps=steps[:2])

        assert scene.asked == ["Make 100 changes at once?"] * 2
        assert len(scene.host.undo_labels) == 2


def test_what_refers_to_an_earlier_step_is_counted_when_it_is_known(tmp_path: Path) -> None:
    with studio(tmp_path, NO, many=60) as scene:
        listed = step("list_items", "all", name="Placeholder_*")
        move = step("transform", items="$all", move=[1, 0, 0])

        scene.fails("batch", steps=[listed, move, move])

        assert scene.asked == ["Transform 40 prims, 80 changes in all?"]


def test_a_step_that_refers_to_another_one_is_asked_for_once(tmp_path: Path) -> None:
    with studio(tmp_path, YES, many=15) as scene:
        listed = step("list_items", "all", name="Placeholder_*")
        copies = step("duplicate", items=["$all"], count=20)

        scene.do("batch", steps=[listed, copies])

        assert scene.asked == ["Copy 800 prims at once?"]


def test_each_call_has_a_count_of_its_own() -> None:
    count = Consents(MemoryOperations(MemoryHost()), 10)
    contexts = [copy_context(), copy_context()]
    for number, context in enumerate(contexts):
        context.run(current.set, Call(f"call_{number}", "A call"))

    first, second = (context.run(count.add, 11) for context in contexts)

    assert first == second == " at once?"
    assert [context.run(count.add, 9) for context in contexts] == ["", ""]
    assert contexts[0].run(count.add, 2) == ", 22 changes in all?"


def test_what_is_cleaned_away_is_what_the_scene_has_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unused = "/World/Looks/Unused"
    with studio(tmp_path, Reply("accept", {"unused": [unused]})) as scene:
        scene.do("summary")
        kind = sys.modules["dcc_bridge_usd.operations.drawing"].UsdOperations
        monkeypatch.setattr(kind, "clean", lambda operations, what, items: None)

        told = scene.do("batch", steps=[step("clean", what=["unused"])])["steps"][0]

        assert told["items"] == []
        assert told["still_there"] == [unused]


def test_keys_without_a_shape_have_the_one_that_usd_knows(tmp_path: Path) -> None:
    keys = [[1, 35.0], [9, 50.0]]
    with studio(tmp_path) as scene:
        told = scene.do("set_keys", item=CAMERA, prop="focalLength", keys=keys)
        why = scene.fails("set_keys", item=CAMERA, prop="focalLength", keys=keys, shape="smooth")

    assert told["keys"] == keys
    assert "by linear steps, not smooth" in why


def test_keys_that_would_be_lost_are_asked_for(tmp_path: Path) -> None:
    with studio(tmp_path, YES, NO, YES) as scene:
        wanted: dict[str, Any] = {"item": CAMERA, "prop": "fStop", "shape": "linear"}
        keys = [[1, 2], [9, 8], [12, 4]]
        scene.do("set_keys", **wanted, keys=keys, clear=True)
        scene.do("set_keys", **wanted, keys=[[20, 4]])
        assert scene.asked == []

        told = scene.do("set_keys", **wanted, keys=keys, clear=True)
        scene.fails("batch", steps=[step("set_keys", **wanted, clear=True)])
        scene.do("set_keys", **wanted, clear=True)

        assert told["keys"] == keys
        assert scene.asked == [
            "Clear 1 key of fStop of Camera and set 3?", *["Clear 3 keys of fStop of Camera?"] * 2
        ]  # fmt: skip


LINKS = [{"from": f"/World/Looks/{name}/Surface", "out": "surface",
          "to": f"/World/Looks/{name}", "in": "surface"} for name in ("Red", "Wood")]  # fmt: skip
LONG: dict[str, dict[str, Any]] = {
    "transform": {"items": BOXES, "move": [1, 0, 0]},
    "rename": {"pattern": "Placeholder_*", "to": "Box_##"},
    "connect": {"links": LINKS * 20},
    "set_values": {"items": BOXES, "values": {"size": 3}},
    "group": {"items": BOXES, "under": TREE},
    "delete": {"items": BOXES},
}


@pytest.mark.parametrize("verb", sampled(["rename"], LONG))
def test_the_window_is_painted_through_all_of_a_verb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    """However slow each act is: here ten milliseconds, of a clock that only operations move."""
    now = [0.0]
    turns = [0.0]
    clock = SimpleNamespace(perf_counter=lambda: now[0])

    def slow(act: Callable[..., Any]) -> Callable[..., Any]:
        def taking(*arguments: Any, **named: Any) -> Any:
            now[0] += 0.01
            return act(*arguments, **named)

        return taking

    with studio(tmp_path, YES) as scene:
        scene.do("summary")
        for module, limit in (
            (answers, "LISTED"),
            (items_of_verbs, "_OF_A_KIND"),
        ):  # of the first ones alone
            monkeypatch.setattr(module, limit, 5)
        monkeypatch.setattr("dcc_bridge.skills.skill.time", clock)
        monkeypatch.setattr("dcc_bridge.skills.skill._repaint", lambda _: turns.append(now[0]))
        kind = sys.modules["dcc_bridge_usd.operations.drawing"].UsdOperations
        for name in ("kind", "name", "parent", "placement", "sockets", "value", "look_into"):
            monkeypatch.setattr(kind, name, slow(getattr(kind, name)))
        turns[:], now[0] = [0.0], 0.0

        scene.do("batch", steps=[step(verb, **LONG[verb])])

    turns.append(now[0])
    assert max(after - before for before, after in pairwise(turns)) < 0.2


def test_what_is_wrong_in_the_bundled_shot_is_found_and_mended_as_check_says(
    tmp_path: Path,
) -> None:
    there, crate, lid, bench = (
        f"/World/Props/Delivery{it}" for it in ("", "/Crate", "/Lid", "/Bench_01")
    )
    wood, label = (f"/World/Looks/{it}/Texture" for it in ("Crate_Wood", "Label"))
    quads = [{"item": lid, "prop": "faceVertexCounts", "value": [4, 4, 4]},
             {"item": lid, "prop": "faceVertexIndices",
              "value": [0, 1, 2, 3, 0, 3, 4, 7, 4, 5, 6, 7]}]  # fmt: skip
    files = [{"item": it, "prop": "inputs:file", "value": "./there.png"} for it in (wood, label)]
    steps = [
        step("transform", items=[crate], apply=["scale"]),
        step("rename", names={bench: "Bench_04"}),
        step("set_values", changes=[*files, *quads]),
    ]
    (tmp_path / "there.png").touch()

    with studio(tmp_path, make=lambda file: Path(shutil.copy(SCENE, file))) as scene:
        before = scene.host.scene_digest()
        failed = scene.do("check")["failed"]
        plain = {"no_uvs", "non_manifold"}  # the meshes of the shot are made to be looked at
        assert failed.keys() >= plain
        failed = {rule: it for rule, it in failed.items() if rule not in plain}
        told = scene.do("batch", steps=steps, check={})["steps"][-1]
        bounds = scene.do("inspect", items=[there], parts=["bounds"])["items"][0]["bounds"]
        scene.do("undo_last")

        assert {rule: [*it["items"]] for rule, it in failed.items()} == {
            "scale_applied": [crate],
            "duplicate_names": ["/World/Props/Bench_01", bench],
            "missing_files": [wood, label],
            "absolute_paths": [label],
            "ngons": [lid],
        }
        assert {it["mend"].partition("(")[0].split()[0] for it in failed.values()} == {
            step["do"] for step in steps
        }
        assert told["failed"].keys() == plain
        assert bounds[1][0] - bounds[0][0] == pytest.approx(235)
        assert scene.host.scene_digest() == before


def test_a_path_into_a_package_is_told_whole(tmp_path: Path) -> None:
    """The part in brackets too. What is missing is a package that is not there."""
    inner = f"{tmp_path.as_posix()}/tree.usdz[tex/bark.png]"
    lost = "./gone.usdz[tex/bark.png]"
    (tmp_path / "bark.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    packing: Any = Sdf  # the stubs lack ZipFileWriter
    with packing.ZipFileWriter.CreateNew(str(tmp_path / "tree.usdz")) as writer:
        writer.AddFile(str(tmp_path / "bark.png"), "tex/bark.png")
    wood = "/World/Looks/Wood"
    files = {f"{wood}/Lost": lost, f"{wood}/Absolute": inner}
    changes = [{"item": it, "prop": "inputs:file", "value": path} for it, path in files.items()]
    rules = ["absolute_paths", "missing_files"]

    with studio(tmp_path) as scene:
        scene.do("set_values", changes=changes)
        failed = scene.do("check", items=[wood], rules=rules)["failed"]

    told = {rule: facts["items"] for rule, facts in failed.items()}
    assert told == {
        "absolute_paths": {f"{wood}/Absolute": f"inputs:file: {inner}"},
        "missing_files": {f"{wood}/Lost": f"inputs:file: {lost}"},
    }


@pytest.mark.long
def test_a_scene_ten_times_as_large_holds_the_host_no_longer_and_answers_no_more(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What reads a scene is cut into pieces: there are more of them, and none is larger.

    Each piece takes a millisecond here, however busy the machine is.
    """
    answers = list[int]()
    turns = list[int]()
    clock = count(step=0.001)
    passing = SimpleNamespace(perf_counter=lambda: next(clock))
    monkeypatch.setattr("dcc_bridge.skills.skill.time", passing)
    for items in (2_000, 20_000):
        (folder := tmp_path / str(items)).mkdir()
        scene: Any = verbs_usd.Large(folder, items)
        table = Table(scene, is_profiled=False)
        rows: list[Any] = [table.row(Case("list_items", {"name": "box_*7"}, "")) for _ in range(3)]
        table.close()
        turns.append(max(row[3] for row in rows))
        answers.append(int(rows[0][4].replace(",", "")))

    assert answers[1] < 1.5 * answers[0]
    assert turns[1] > 8 * turns[0]


@pytest.mark.parametrize("replace", [False, True])
def test_the_frame_of_the_scene_is_refused_in_one_sentence(tmp_path: Path, replace: bool) -> None:
    with studio(tmp_path) as scene:
        why = scene.fails("set_values", items=["@scene"], values={"frame": 3}, replace=replace)

    sentence = "frame of @scene is fixed at the first key of each value, and cannot be set."
    assert f"changes[0]: {sentence} Nothing" in why
