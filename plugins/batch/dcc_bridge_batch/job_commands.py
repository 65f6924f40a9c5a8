"""Commands of ``dcc-bridge batch`` for the job alone: no help lists them. Main thread.

Open Job Description starts `enter`, `leave` and `task`. `window` is started by `approve`, and shows
its question.
"""

from __future__ import annotations

import argparse
import os
import signal
from collections.abc import Callable
from pathlib import Path

from dcc_bridge.cli import exits

from . import session, task
from .plan import Plan


def fill(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the commands, by what adds one: a name, what runs it, and its summary or None."""
    add("leave", _leave, None)
    add("window", _window, None).add_argument("plan", type=Path)
    enter = add("enter", _enter, None)
    chunk = add("task", _task, None)
    for parser in (enter, chunk):
        parser.add_argument("--plan", type=Path, required=True)
        parser.add_argument("--consent", default="")
    enter.add_argument("--interpreter", default="")
    enter.add_argument("--any-version", choices=("yes", "no"), default="no")
    chunk.add_argument("--root", type=Path, required=True)
    chunk.add_argument("--task", type=int, required=True)
    chunk.add_argument("--run", dest="run_name", required=True)


def _enter(options: argparse.Namespace) -> int:
    session.enter(
        Plan.read(options.plan),
        options.interpreter or None,
        options.consent,
        is_any_version=options.any_version == "yes",
    )
    return exits.SUCCESS


def _leave(options: argparse.Namespace) -> int:
    session.leave()
    return exits.SUCCESS


def _window(options: argparse.Namespace) -> int:
    from . import window

    window.main(Plan.read(options.plan))
    return exits.SUCCESS


def _task(options: argparse.Namespace) -> int:
    """Do a task; HOST_GONE also where there is no session."""
    folder = os.environ.get(session.FOLDER)
    url = os.environ.get(session.URL)
    if folder is None or url is None:
        raise exits.Failure("A task runs in a session of Open Job Description.", task.HOST_GONE)
    plan = Plan.read(options.plan)
    work = task.Work(plan, options.root, options.task, options.run_name, Path(folder), url)
    stopping: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):  # the scene of now is finished first
        signal.signal(number, lambda it, _: stopping.append(it))
    return task.run(work, options.consent, lambda: bool(stopping))
