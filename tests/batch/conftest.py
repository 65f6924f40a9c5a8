"""Shows of small scenes, planned and run in warm hosts."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PLUGIN = str(ROOT / "plugins" / "batch")
if PLUGIN not in sys.path:
    sys.path.insert(0, PLUGIN)

from dcc_batch import hosts, planning, scenes, task  # noqa: E402
from dcc_batch.files import digest_file  # noqa: E402
from dcc_batch.host_job import Job, label  # noqa: E402
from dcc_batch.plan import Plan, Request  # noqa: E402

SKILLS = Path(__file__).parent / "skills"


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


def make_show(root: Path, folder: Path, chunk: int = 1, **more: Any) -> Show:
    """Plan all scenes below a root with the skill `tidy`."""
    request = Request("standalone", "tidy", {}, [str(SKILLS)], chunk=chunk, **more)
    paths = scenes.find([str(root / "**" / "*.usd*")], root)
    return Show(root, planning.make(request, paths, folder, 1))


@contextmanager
def session_of(show: Show, folder: Path) -> Iterator[Session]:
    """Have a host as a job's environment has it."""
    request = show.plan.request
    job = Job(
        *(request.host, str(folder), request.skill, request.folders),
        plan=str(show.plan.folder),
        label=label(show.plan.id),
    )
    with hosts.warm(job) as url:
        yield Session(show, folder, url)


def digests(root: Path) -> dict[str, tuple[str, int]]:
    """Give the digest and the time of each file below a folder, by its path."""
    return {
        os.path.relpath(file, root): (digest_file(file), file.stat().st_mtime_ns)
        for file in sorted(root.rglob("*"))
        if file.is_file()
    }
