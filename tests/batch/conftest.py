"""Shows of small scenes, planned and run in warm hosts."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from pxr import Usd

from dcc_bridge import cli
from dcc_bridge_batch import approval, hosts, ledger, plan, planning, scenes, task
from dcc_bridge_batch.files import digest_file
from dcc_bridge_batch.host_job import Job, label
from dcc_bridge_batch.plan import HostFacts, Plan, Request, Scene
from dcc_bridge_batch.swap import Places
from dcc_bridge_usd.prims import remove

ROOT = Path(__file__).parents[2]
PLUGIN = str(ROOT / "plugins" / "batch")

SKILLS = Path(__file__).parent / "skills"
FACTS = HostFacts("host 1", "0.1.0", "0" * 64, None)
Command = Callable[..., tuple[int, str]]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Give what runs ``dcc-bridge batch`` in this process: its exit code and what it said."""

    def run(*words: str | Path) -> tuple[int, str]:
        code = cli.main(["batch", *map(str, words)])
        said = capsys.readouterr()
        return code, said.out + said.err

    return run


@pytest.fixture
def made(tmp_path: Path) -> Plan:
    """A plan of a skill in a file, without a host, for three scenes that are not there."""
    return write_plan(tmp_path)


@pytest.fixture
def approved(made: Plan) -> Plan:
    """The same, approved."""
    approval.approve(made)
    return made


@pytest.fixture(params=[True, False], ids=["links", "no links"])
def links(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a file system with hard links, and one without."""

    def link(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    if not request.param:
        monkeypatch.setattr(os, "link", link)


def scene_line(
    number: int,
    path: str,
    items: Sequence[str],
    kind: str = "Camera",
    message: str = "",
    arguments: Sequence[Sequence[str]] = (),
    **more: Any,
) -> Scene:
    """Give a plan's line of a scene that asks for some items; `more` says what else it says."""
    question = {
        **{"message": message or f"Delete {len(items)}?", "title": "Delete", "items": items},
        **{"kinds": [kind] * len(items), "arguments": arguments, "details": None},
    }
    line: Scene = {
        "n": number,
        "path": path,
        "size": 1,
        "sha256": "0" * 64,
        "state": "asks",
        "why": "",
    }
    line = {**line, "question": question, **more}
    return {**line, "question_sha256": plan.question_digest(line["question"])}


def write_plan(
    folder: Path, count: int = 3, states: Sequence[str] = ("asks",), **more: Any
) -> Plan:
    """Write a plan of a skill in a file, without a host; its scenes have the states in turn."""
    skill = folder / "skill.py"
    folder.mkdir(parents=True, exist_ok=True)
    skill.write_text("def skill(): ...\n")
    facts = HostFacts("host 1", "0.1.0", digest_file(skill), str(skill))
    lines = []
    for number, state in zip(range(count), cycle(states), strict=False):
        said: dict[str, Any] = (
            {} if state == "asks" else {"question": None, "why": f"It is {state}."}
        )
        file = folder / f"shot_{number}.usda"
        said |= {"sha256": digest_file(file)} if file.exists() else {}
        lines.append(scene_line(number, file.name, ["/a", "/b"], state=state, **said))
    request = Request("usd", "skill", {"pattern": "*"}, **more)
    return plan.write(folder / "plan", request, facts, folder, lines)


def write_scene(file: Path, cameras: int = 2, way: str = "", more: str = "") -> Path:
    """Write a small scene; its way is what `tidy` does in it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    prims = "\n".join(f'    def Camera "cam_{n}" {{}}' for n in range(cameras))
    data = f'customLayerData = {{ string way = "{way}" }}' if way else ""
    head = f'#usda 1.0\n(\n    defaultPrim = "World"\n    {data}\n    {more}\n)\n'
    body = f'def Xform "World"\n{{\n{prims}\n    def Sphere "ball" {{}}\n}}\n'
    file.write_text(head + body, encoding="utf-8")
    return file


@dataclass
class Show:
    """A folder of scenes, and the plan for them."""

    root: Path
    plan: Plan

    def number(self, name: str) -> int:
        """Give the number of a scene, by its path below the root."""
        return next(int(it["n"]) for it in self.plan.scenes() if it["path"] == name)

    def scene(self, name: str) -> Mapping[str, Any]:
        """Give a scene's line."""
        return self.plan.scene(self.number(name))

    def path(self, name: str) -> Path:
        """Give a scene's file."""
        return self.root / name


@dataclass
class Session:
    """A warm host, and who runs tasks in it."""

    show: Show
    folder: Path
    url: str

    def run(self, name: str, run: str = "first", plan: Plan | None = None) -> int:
        """Run the task of a scene, of a plan with one scene a task; gives the exit code."""
        show = self.show
        work = task.Work(
            plan or show.plan, show.root, show.number(name), run, self.folder, self.url
        )
        return task.run(work, say=lambda _: None)


def make_show(root: Path, folder: Path, chunk: int = 1, jobs: int = 1, **more: Any) -> Show:
    """Plan all scenes below a root with the skill `tidy`."""
    request = Request("usd", "tidy", {}, [str(SKILLS)], chunk=chunk, **more)
    paths = scenes.find([str(root / "**" / "*.usd*")], root)
    return Show(root, planning.make(request, paths, folder, jobs))


def bare(files: list[Path]) -> float:
    """Do what `tidy` does in one process, with nothing kept and nothing proved; seconds a scene."""
    begin = time.perf_counter()
    for file in files:
        stage = Usd.Stage.Open(str(file))
        cameras = [str(it.GetPath()) for it in stage.Traverse() if it.GetTypeName() == "Camera"]
        remove(stage, cameras)
        stage.GetRootLayer().Save()
    return (time.perf_counter() - begin) / len(files)


@contextmanager
def session_of(show: Show, folder: Path, **more: Any) -> Iterator[Session]:
    """Have a host as a job's environment has it."""
    request = show.plan.request
    job = Job(
        *(request.host, str(folder), request.skill, request.folders),
        plan=str(show.plan.folder),
        label=label(show.plan.id),
        **more,
    )
    with hosts.warm(job) as url:
        yield Session(show, folder, url)


def places_of(plan: Plan, number: int, root: Path) -> Places:
    """Give the files of the last attempt at a scene."""
    entry = ledger.entries(plan, number // plan.request.chunk).get(number, {})
    return Places.of(plan, plan.scene(number), root, entry.get("copy", ""))


def digests(root: Path) -> dict[str, tuple[str, int]]:
    """Give the digest and the time of each file below a folder, by its path."""
    return {
        os.path.relpath(file, root): (digest_file(file), file.stat().st_mtime_ns)
        for file in sorted(root.rglob("*"))
        if file.is_file()
    }


def processes(words: str) -> list[int]:
    """List our own processes whose command line has some words. Needs /proc.

    They are those that have ``DCC_BATCH_TEST`` in their environment, with this process's number.
    """
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if words in line and f"DCC_BATCH_TEST={os.getpid()}".encode() in (
                folder / "environ"
            ).read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found
