"""Serves an application for a task, has an agent play it, and judges the outcome."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import anyio

from tests import real_files, verbs
from tests.blender import bpy_module
from tests.cli import commands
from tests.cli.commands import Served
from tests.freecad import launch
from tests.tasks.agent import LIMIT, Agent, connected_agent
from tests.tasks.task import Row, Task

_OUTCOMES: Final = Path(__file__).parent / "outcomes"
_SKILLS: Final = [Path(it.__file__ or "").parent / "skills" for it in (real_files, verbs)]
_SCENES: Final = {"blender": "scene.blend", "freecad": "scene.FCStd", "usd": "scene.usda"}
_EMPTY_STAGE: Final = """#usda 1.0
(
    defaultPrim = "World"
    metersPerUnit = 1
    upAxis = "Y"
)

def Xform "World"
{
}
"""


def play(task: Task, blender: str = "", pictures: Path | None = None) -> Row:
    """Play a task in an application of its own.

    Args:
        task: The task.
        blender: A version of `bpy_module`; "" for the Blender that is installed.
        pictures: The folder that gets a picture of the scene before, after and undone; None for
            no pictures.
    """
    row = Row(task.name, task.host)
    with tempfile.TemporaryDirectory(prefix="task-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        with served(task, folder, blender) as running:
            try:
                anyio.run(_work, task, running, folder, row, blender, pictures)
            except Exception as error:  # noqa: BLE001 - whatever a client makes of it
                row.wrong.append(_causes(error))
    return row


def is_here(task: Task, blender: str = "") -> bool:
    """Return whether the application of a task is installed."""
    if task.host == "freecad":
        return launch.CONSOLE is not None
    if task.host == "usd":
        return True
    if blender:
        return bpy_module.python(blender) is not None
    return bpy_module.PROGRAM is not None


async def _work(
    task: Task, running: Served, folder: Path, row: Row, blender: str, pictures: Path | None
) -> None:
    token = running.instance.token("artist")
    async with connected_agent(running.url, token, folder, row) as agent:
        before = await agent.facts()
        await _take_picture(agent, pictures, "before")
        async with agent.playing():
            await task.play(agent)
            await agent.call("save", path=str(folder / _SCENES[task.host]))
        if row.steps != row.edits:
            row.wrong.append(f"{row.edits} edits took {row.steps} undo steps")
        row.wrong += await anyio.to_thread.run_sync(outcome, task, folder, blender)
        await _take_picture(agent, pictures, "after")
        await task.careless(agent)
        await agent.take_back()
        await agent.same(before, "all is undone")
        await _take_picture(agent, pictures, "undone")


async def _take_picture(agent: Agent, pictures: Path | None, when: str) -> None:
    if pictures is not None:
        name = agent.row.task.replace(" ", "_")
        await agent.take_picture(pictures / f"{name}_{when}")


def outcome(task: Task, folder: Path, blender: str) -> list[str]:
    """Read a saved scene by the application's own API, and return what is not as wanted."""
    script = _OUTCOMES / f"{task.host}.py"
    words = [task.outcome, str(folder / _SCENES[task.host])]
    env = dict(os.environ)
    if task.host == "freecad":
        statement = f"from tests.tasks.outcomes.freecad import main; main({words!r})"
        done = launch.in_console(statement, folder)
    else:
        command: list[str | Path] = [sys.executable, script, *words]
        if task.host == "blender":
            command = [
                bpy_module.PROGRAM or "blender",
                "-b",
                "--factory-startup",
                "--python-exit-code",
                "1",
            ]
            command += ["--python", script, "--", *words]
            if blender:
                command = [bpy_module.installed(blender), script, *words]
        done = subprocess.run(
            command,
            env=env,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
    if done.returncode == 0:
        return []
    return [f"the outcome is another: {(done.stderr + done.stdout)[-700:]}"]


@contextmanager
def served(task: Task, folder: Path, blender: str) -> Iterator[Served]:
    """Serve the application of a task, with what the task begins with."""
    (home := folder / "home").mkdir()
    ours = {"DCC_BRIDGE_SKILLS": os.pathsep.join(map(str, _SKILLS))}
    ours["DCC_BRIDGE_DIALOGS_PER_MINUTE"] = "99"
    more: list[str | Path] = ["--host", task.host, "--headless"]
    if task.host == "usd":
        (folder / _SCENES["usd"]).write_text(_EMPTY_STAGE)
        more += ["--scene", folder / _SCENES["usd"]]
    if blender and task.host == "blender":
        more += ["--interpreter", bpy_module.installed(blender)]
        ours["PYTHONPATH"] = os.pathsep.join(bpy_module.PATHS)
    task.files(folder)
    with commands.serve_in(home, LIMIT, *more, **ours) as running:
        yield running


def _causes(error: BaseException) -> str:
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(_causes(part) for part in error.exceptions)
    return f"{type(error).__name__}: {error}"
