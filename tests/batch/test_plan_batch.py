"""An agent plans a batch, and a person at the host approves it."""

from __future__ import annotations

import json
import os
import signal
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from mcp_types import CallToolResult

from dcc_bridge.audit import reader
from dcc_bridge.audit.log import log_folder
from dcc_bridge.cli import leaves, local_host
from dcc_bridge.config import Settings
from dcc_bridge.elicitation.question import PresenterEvent, Reply
from dcc_bridge_batch import approval, report
from dcc_bridge_batch.host_job import MODULE
from dcc_bridge_batch.plan import Plan, user
from tests.batch.conftest import PLUGIN, SKILLS, digests, write_scene
from tests.live import Live, accept, live, text
from tests.stand_ins import FakeHost, Person
from tests.verbs.studio import studio
from tests.verbs.test_bridge import TOKEN, tools

FOLDER = Path(PLUGIN) / "dcc_bridge_batch" / "skills"
YES = Reply("accept", {"approve": True})
NO = Reply("decline")
PLANNING = 100.0  # seconds for a plan, on a busy machine
real, slow = pytest.mark.real, pytest.mark.timeout(240)  # seconds, and on a busy machine a minute
REAL = (real, slow)


@pytest.fixture
def scenes(tmp_path: Path) -> Path:
    root = tmp_path / "show"
    for number in range(3):
        write_scene(root / f"shot {number}.usda", cameras=1 + number)
    write_scene(root / "empty.usda", cameras=0)
    return root


@contextmanager
def host(
    folder: Path, *answers: PresenterEvent | None, **more: Any
) -> Iterator[tuple[Live, Person]]:
    """Run a bridge with the skill, at which a person gives these answers."""
    person = Person(*answers)
    seat, presenter = FakeHost(has_ui=bool(answers)), person if answers else None
    with live(
        folder / "bridge", host=seat, presenter=presenter, skills=[FOLDER], **more
    ) as running:
        broker = running.bridge.broker
        broker.settings = replace(broker.settings, skills=(SKILLS,))
        yield running, person


async def plan(
    running: Live, root: Path, arguments: Any = None, hear: Any = None, **client: Any
) -> CallToolResult:
    """Plan all scenes below a root, as an agent does."""
    usual = {"skill": "tidy", "scenes": [str(root / "*.usda")], "host": "usd"}
    asked = {**usual, **(arguments or {})}
    async with running.client(**client) as session:
        return await session.call_tool("plan_batch", asked, progress_callback=hear)


def planned(running: Live, root: Path, **client: Any) -> tuple[dict[str, Any], Plan]:
    """Have an agent plan all scenes below a root; gives the tool's value, and the plan."""
    result = running.run(partial(plan, running, root, **client), limit=PLANNING)
    assert not result.is_error, text(result)
    value: dict[str, Any] = json.JSONDecoder().raw_decode(text(result))[0]  # a refusal says more
    return value, Plan.read(Path(value["plan"]))


def is_signed(made: Plan) -> bool:
    return (made.folder / approval.FILE).exists()


def recorded(made: Plan) -> list[tuple[object, object]]:
    """List what the record has of a plan: each event, and where the person was asked."""
    lines = [line.fields for log in reader.logs(log_folder()) for line in reader.follow(log)]
    return [
        (it["event"], it.get("surface")) for it in lines if it.get("call") == f"batch-{made.id}"
    ]


@real
@slow
def test_an_agent_plans_and_the_person_at_the_host_approves(scenes: Path, tmp_path: Path) -> None:
    before = digests(scenes)
    heard: list[tuple[Any, ...]] = []

    async def hear(*progress: Any) -> None:
        heard.append(progress)

    with host(tmp_path, YES) as (running, person):
        value, made = planned(running, scenes, hear=hear)

    (question,) = person.shown
    assert heard[-1] == (4, 4, "scenes planned")
    assert value["approved"]
    assert value["scenes"] == {"will be changed": 3, "nothing to do": 1}
    assert value["items"] == {"Camera": 6}
    assert value["next"] == f"The person runs it: dcc-bridge batch run {made.folder}"
    assert Path(value["report"]).exists()
    assert question.message.startswith(f"Let tidy change 3 of 4 scenes below {scenes}?")
    assert "shot 2.usda: 3 Camera: /World/cam_0, /World/cam_1" in (
        question.details.text if question.details else ""
    )
    assert approval.check(made) == user()
    assert recorded(made) == [("asked", "host"), ("granted", None)]
    assert digests(scenes) == before


@real
@slow
def test_what_no_dialog_can_show_whole_is_not_asked_in_one(scenes: Path, tmp_path: Path) -> None:
    with host(tmp_path, YES) as (running, person):
        arguments = {"arguments": {"note": "n" * 40_000}}
        value, made = planned(running, scenes, arguments=arguments)

    assert person.shown == []
    assert (value["approved"], is_signed(made)) == (False, False)
    assert value["next"] == (
        f"This plan is too long for a dialog. {value['report']} lists each scene and "
        f"shortens long texts and lists of items. {value['plan']}/scenes.jsonl has the full text. "
        f"The person approves it at a terminal: dcc-bridge batch approve {made.folder} --terminal"
    )


@real
@slow
def test_what_the_person_declines_is_not_signed(scenes: Path, tmp_path: Path) -> None:
    with host(tmp_path, NO) as (running, _):
        value, made = planned(running, scenes)

    assert (value["approved"], is_signed(made)) == (False, False)
    assert recorded(made) == [("asked", "host"), ("declined", None)]


@real
@slow
def test_a_yes_of_a_client_signs_nothing(scenes: Path, tmp_path: Path) -> None:
    with host(tmp_path, None, consent="either") as (running, _):
        value, made = planned(running, scenes, era="2025-11-25", asked=accept(approve=True))

    assert (value["approved"], is_signed(made)) == (False, False)
    assert value["next"].endswith(f"dcc-bridge batch approve {value['plan']}")


@real
@slow
def test_where_nobody_sits_the_plan_waits_for_a_terminal(scenes: Path, tmp_path: Path) -> None:
    with host(tmp_path) as (running, _):
        value, _ = planned(running, scenes, asked=accept(approve=True))

    assert not value["approved"]
    assert "at a terminal: dcc-bridge batch approve" in value["next"]


@real
@slow
def test_a_plan_that_would_change_nothing_asks_nobody(scenes: Path, tmp_path: Path) -> None:
    with host(tmp_path, YES) as (running, person):
        for scene in scenes.glob("shot*"):
            scene.unlink()
        value, _ = planned(running, scenes)

    assert person.shown == []
    assert not value["approved"]
    assert value["next"].startswith("No scene would be changed")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"scenes": ["*.usda"]}, "Give full paths of scenes, not ['*.usda']."),
        ({"scenes": []}, "Give full paths of scenes"),
        ({"scenes": ["/show/a.usda", "/etc/notes.TXT"]}, "paths and patterns, not /etc/notes.TXT"),
        ({"host": "fake"}, "host is one of usd, blender"),
        ({"host": ""}, "host is one of usd, blender"),
        pytest.param({"skill": "--help"}, "--help cannot be planned", marks=REAL, id="option"),
        pytest.param({"scenes": ["/nowhere/*.usda"]}, "no scene at /nowhere", marks=REAL),
    ],
)
def test_what_cannot_be_planned_is_told(
    scenes: Path, tmp_path: Path, arguments: dict[str, Any], why: str
) -> None:
    with host(tmp_path, YES) as (running, _):
        result = running.run(plan, running, scenes, arguments, limit=PLANNING)

    assert result.is_error
    assert why in text(result)


@real
@slow
@pytest.mark.skipif(sys.platform != "linux", reason="processes are listed in /proc")
def test_a_plan_whose_call_is_cancelled_ends_with_its_hosts(scenes: Path, tmp_path: Path) -> None:
    for number in range(3000):
        os.link(scenes / "shot 2.usda", scenes / f"more {number}.usda")
    before = reports()

    with ctrl_c_ignored(), host(tmp_path, YES) as (running, _):
        future = running.go(plan, running, scenes)
        running.until(lambda: any(MODULE in it for it in below().values()), PLANNING)
        words = ("batch plan", MODULE)  # the checkout may lie in a folder called "batch"
        started = {pid for pid, line in below().items() if any(it in line for it in words)}
        (record,) = running.bridge.recent.records()
        assert running.bridge.cancel(record.id)
        running.until(future.done, PLANNING)
        running.until(lambda: not started & commands().keys(), PLANNING)

    assert reports() == before


@contextmanager
def ctrl_c_ignored() -> Iterator[None]:
    """Ignore SIGINT here and in what is started, as a shell has it for what it starts by "&"."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def reports() -> set[Path]:
    """Find the reports of all plans that were made for agents."""
    return set((approval.key_folder() / "plans").glob(f"*/{report.FILE}"))


def commands() -> dict[int, str]:
    """Give the command line of each process."""
    lines = {}
    for row in (it for it in Path("/proc").iterdir() if it.name.isdigit()):
        with suppress(OSError):
            lines[int(row.name)] = (row / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    return {pid: line for pid, line in lines.items() if line}  # of one that has ended it is empty


def below() -> dict[int, str]:
    """Give the processes that were started by ours, and by those."""
    ours, lines = {os.getpid()}, commands()
    for pid in sorted(lines):
        with suppress(OSError):
            status = Path(f"/proc/{pid}/status").read_text()
            if int(status.partition("PPid:")[2].split()[0]) in ours:
                ours.add(pid)
    return {pid: lines[pid] for pid in ours if pid != os.getpid()}


def test_it_is_listed_in_few_tokens_beside_all_verbs(tmp_path: Path) -> None:
    with studio(tmp_path, skills=[FOLDER]) as scene:
        listed = tools(scene)
    sizes = {
        name: len(tool.model_dump_json(exclude_none=True, by_alias=True)) / TOKEN
        for name, tool in listed.items()
    }

    assert sizes["plan_batch"] < 300
    assert sum(sizes.values()) < 8000


def test_our_own_host_offers_it_only_where_the_extra_is_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    options = Namespace(scene=None, headless=True)
    with_it = local_host.opening(leaves.local(), options, Settings()).skills
    monkeypatch.setattr(
        "dcc_bridge_batch.commands.find_spec",
        lambda name: None if name == "openjd" else find_spec(name),
    )
    without_it = local_host.opening(leaves.local(), options, Settings()).skills

    assert FOLDER in with_it
    assert FOLDER not in without_it
