"""The commands of ``dcc-bridge batch`` that only programs start. Main thread.

Open Job Description starts `enter`, `leave` and `task`. The command `approve` starts `window`.
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
    """Add the commands to the parser of ``dcc-bridge batch``.

    Args:
        add: Adds a command and returns its parser. Takes the name, the function that runs the
            command, and a summary, or None to leave the command out of the help.
    """
    add("leave", _leave, None)
    show_window = add("window", _window, None)
    show_window.add_argument("plan", type=Path)
    enter = add("enter", _enter, None)
    run_task = add("task", _task, None)
    for parser in (enter, run_task):
        parser.add_argument("--plan", type=Path, required=True)
        parser.add_argument("--consent", default="")
    enter.add_argument("--interpreter", default="")
    enter.add_argument("--any-version", choices=("yes", "no"), default="no")
    run_task.add_argument("--root", type=Path, required=True)
    run_task.add_argument("--task", type=int, required=True)
    run_task.add_argument("--run", dest="run_name", required=True)


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
    """Run a task. Without a session the exit code is HOST_GONE."""
    folder = os.environ.get(session.FOLDER)
    url = os.environ.get(session.URL)
    if folder is None or url is None:
        raise exits.Failure("A task runs in a session of Open Job Description.", task.HOST_GONE)
    plan = Plan.read(options.plan)
    work = task.Work(plan, options.root, options.task, options.run_name, Path(folder), url)
    received: list[int] = []  # an Event has a lock, on which a second signal could hang

    def stop_after_scene(number: int, _: object) -> None:
        received.append(number)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop_after_scene)
    return task.run(work, options.consent, lambda: bool(received))
