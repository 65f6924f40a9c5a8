"""``dcc-bridge batch``: one skill on many scene files. Main thread.

``enter``, ``leave``, ``task`` and ``host`` are for the job alone: Open Job Description starts the
first three, and they the last one. What only a person needs to see is imported where it is shown.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Callable
from datetime import datetime
from functools import wraps
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from dcc_batch import approval, hosts, ledger, outcome, report, scenes, session, task
from dcc_batch.files import Busy
from dcc_batch.host_files import CALLS
from dcc_batch.plan import Plan, PlanError, Request
from dcc_bridge.cli import exits, interpreter
from dcc_bridge.errors import NotRecorded

for _package in ("openjd", "rich"):  # said here, before any work is done
    if find_spec(_package) is None:
        raise ImportError(f"No module named {_package!r}", name=_package)

_NEXT: Final = "Next: dcc-bridge batch {} {}"
Run = Callable[[argparse.Namespace], int]


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the commands to a parser."""
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def add(name: str, run: Run, summary: str | None) -> argparse.ArgumentParser:
        if summary is None:  # argparse does not list it then
            added = commands.add_parser(name)
        else:
            added = commands.add_parser(name, help=summary, description=summary)
        added.set_defaults(run=_sentences(run))
        return added

    _fill_plan(add("plan", _plan, "say what a skill would do to many scenes; changes none"))
    for name, run, summary in (
        ("approve", _approve, "look at a plan, and agree to it"),
        ("run", _run, "do what was agreed to; again, to go on"),
        ("export", _export, "write the job for a farm"),
        ("status", _status, "say what became of each scene"),
        ("commit", _commit, "delete the originals that were kept"),
        ("rollback", _rollback, "put the originals back"),
    ):
        added = add(name, run, summary)
        added.add_argument("plan", type=Path, metavar="PLAN", help="the folder of the plan")
        if name == "approve":
            hours = f"how long the consent holds: 1 to {approval.MOST_HOURS:g} ({approval.HOURS:g})"
            added.add_argument("--hours", type=_hours, default=approval.HOURS, help=hours)
        if name == "run":
            jobs = "hosts at a time; default: one a core"
            added.add_argument("--jobs", type=int, metavar="N", default=_cores(), help=jobs)
        if name == "export":
            added.add_argument("folder", type=Path, metavar="DIR", help="where the job goes")
            python = "the worker's Python, which has dcc-bridge-mcp[batch] (python)"
            added.add_argument("--python", default="python", metavar="PATH", help=python)
    add("key", _key, "print the public key of your consent, for a studio's policy")
    for name, run in (("enter", _enter), ("leave", _leave), ("task", _task), ("host", _host)):
        _fill_job(add(name, run, None), name)


def _fill_plan(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("skill", metavar="SKILL", help="the skill's name")
    scenes = "the scenes: patterns such as 'shots/**/*.usda', or a .txt file with a path a line"
    parser.add_argument("--scenes", nargs="+", required=True, metavar="GLOB|FILE", help=scenes)
    parser.add_argument("--host", choices=sorted(CALLS), default="standalone")
    folders = "a folder of more skill files; may be given more than once"
    parser.add_argument(
        "--skills", type=Path, action="append", default=[], metavar="DIR", help=folders
    )
    program = "the host's batch interpreter, if it is not on PATH"
    parser.add_argument("--interpreter", metavar="PATH", help=program)
    shape = """what the skill is called with: a JSON object, such as '{"pattern": "*"}'"""
    parser.add_argument("--args", type=_object, default={}, metavar="JSON", help=shape)
    parser.add_argument("--out", type=Path, metavar="DIR", help="where the plan goes")
    jobs = "hosts at a time; default: one a core"
    parser.add_argument("--jobs", type=int, metavar="N", default=_cores(), help=jobs)
    chunk = "scenes a task (50)"
    parser.add_argument("--chunk", type=int, metavar="N", default=50, help=chunk)
    part = "the part of all scenes whose failure pauses the run (0.1)"
    parser.add_argument("--failures", type=float, metavar="PART", default=0.1, help=part)
    people = "how many people must approve it (1)"
    parser.add_argument("--approvers", type=int, metavar="N", default=1, help=people)


def _fill_job(parser: argparse.ArgumentParser, name: str) -> None:
    if name in ("leave", "host"):
        return
    parser.add_argument("--plan", type=Path, required=True)
    parser.add_argument("--trust", default="")
    if name == "enter":
        parser.add_argument("--interpreter", default="")
    else:
        parser.add_argument("--root", type=Path, required=True)
        parser.add_argument("--task", type=int, required=True)
        parser.add_argument("--run", dest="run_name", required=True)


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"this is not JSON ({error}): {text}") from None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError(f"an object such as '{{\"name\": 1}}', not {text}")
    return value


def _hours(text: str) -> float:
    try:
        hours = float(text)
    except ValueError:
        hours = 0.0
    if not 1 <= hours <= approval.MOST_HOURS:  # NaN is neither
        raise argparse.ArgumentTypeError(f"1 to {approval.MOST_HOURS:g} hours, not {text}")
    return hours


def _cores() -> int:
    return os.cpu_count() or 1


def _sentences(run: Run) -> Run:
    """Have a command's expected errors be sentences, with the exit code that tells which."""

    @wraps(run)
    def wrapped(options: argparse.Namespace) -> int:
        try:
            return run(options)
        except approval.NotApproved as error:
            raise exits.Failure(str(error), exits.REFUSED) from None
        except (PlanError, Busy, FileExistsError) as error:
            raise exits.Failure(str(error)) from None
        except (hosts.HostFailed, NotRecorded, OSError) as error:
            raise exits.Failure(str(error), exits.TOOL_ERROR) from None

    return wrapped


def _plan(options: argparse.Namespace) -> int:
    from dcc_batch import display, planning  # the client takes half a second

    if options.jobs < 1 or options.chunk < 1 or not 0 <= options.failures <= 1:
        raise exits.Failure("--jobs and --chunk are at least 1, and --failures is from 0 to 1.")
    if options.approvers < 1:
        raise exits.Failure("--approvers is at least 1.")
    approval.Rule.read().check_count(options.approvers)
    paths = scenes.find(options.scenes, Path.cwd())
    name = f"batch-{options.skill}-{datetime.now():%Y%m%d-%H%M%S}"
    folder = (options.out or Path(name)).absolute()
    request = Request(
        options.host,
        options.skill,
        options.args,
        [str(it) for it in interpreter.skill_folders(options)],
        options.interpreter,
        options.chunk,
        options.failures,
        options.approvers,
    )
    with display.progress("Planning", len(paths)) as shown:
        plan = planning.make(request, paths, folder, options.jobs, lambda _: shown.advance())
    report.write(plan)
    display.show_plan(plan, display.console())
    exits.tell(_NEXT.format("approve", folder))
    print(folder)
    return exits.SUCCESS


def _approve(options: argparse.Namespace) -> int:
    """Ask the person at the terminal; nobody else can agree."""
    from dcc_batch import display

    plan = Plan.read(options.plan)
    plan.check_skill()
    to = display.console()
    display.show_plan(plan, to)
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise exits.Failure("A person must agree to a plan, at a terminal.", exits.REFUSED)
    asks = int(plan.header["totals"]["scenes"].get("asks", 0))
    wanted = str(asks)
    to.print(f"To agree that {asks:,} scenes are changed, type {wanted}: ", end="")
    if sys.stdin.readline().strip().replace(",", "") != wanted:
        approval.record(plan, "declined", {})
        raise exits.Failure("It was not approved, and nothing is changed.", exits.REFUSED)
    entry = approval.approve(plan, options.hours)
    exits.tell(f"Approved until {entry['expires']}. {_NEXT.format('run', options.plan)}")
    return exits.SUCCESS


def _run(options: argparse.Namespace) -> int:
    plan = Plan.read(options.plan)
    approval.check(plan, approval.Rule.read())
    plan.check_skill()
    from dcc_batch import display, engine  # Open Job Description: half a second

    before = outcome.totals(plan)
    done = sum(count for state, count in before.states.items() if state in ledger.FINAL)
    parts: dict[int, float] = {}
    with display.progress("Running", plan.count, done) as shown:

        def on_progress(number: int, part: float) -> None:
            parts[number] = max(part, parts.get(number, 0.0)) * len(plan.numbers(number))
            shown.at(max(done, sum(parts.values())))

        run = engine.Run(plan, max(1, options.jobs), on_progress)
        why = ""
        try:
            with exits.on_signal(run.stop):
                run.run()
        except engine.Stopped as stopped:
            why = str(stopped)
    after = outcome.totals(plan)
    display.show_totals(plan, after, display.console())
    if why:
        raise exits.Failure(why, exits.TOOL_ERROR)
    if after.is_over:
        exits.tell(f"{_NEXT.format('commit', options.plan)}, or rollback")
    return exits.SUCCESS if after.is_over else exits.TOOL_ERROR


def _export(options: argparse.Namespace) -> int:
    plan, rule = Plan.read(options.plan), approval.Rule.read()
    approval.check(plan, rule)
    plan.check_skill()
    from dcc_batch import bundle  # as above

    bundle.export(plan, options.folder, options.python, sorted(rule.keys))
    print(options.folder)
    return exits.SUCCESS


def _status(options: argparse.Namespace) -> int:
    from dcc_batch import display

    plan = Plan.read(options.plan)
    display.show_totals(plan, outcome.totals(plan), display.console())
    return exits.SUCCESS


def _commit(options: argparse.Namespace) -> int:
    return _end(options, "Committing", outcome.commit)


def _rollback(options: argparse.Namespace) -> int:
    return _end(options, "Rolling back", outcome.roll_back)


def _end(
    options: argparse.Namespace,
    what: str,
    end: Callable[[Plan, Path, Callable[[], None]], outcome.Totals],
) -> int:
    from dcc_batch import display

    plan = Plan.read(options.plan)
    with display.progress(what, plan.count) as shown:
        totals = end(plan, plan.root, shown.advance)
    approval.record(plan, "end", {"status": "done", "changed": True, "scenes": dict(totals.states)})
    display.show_totals(plan, totals, display.console())
    is_left = what != "Committing" and totals.states["done"] > 0
    return exits.TOOL_ERROR if is_left else exits.SUCCESS


def _key(options: argparse.Namespace) -> int:
    print(approval.public_key())
    return exits.SUCCESS


# ---- for the job


def _trusted(options: argparse.Namespace) -> list[str]:
    return [key for key in options.trust.split(",") if key]


def _enter(options: argparse.Namespace) -> int:
    session.enter(Plan.read(options.plan), options.interpreter or None, _trusted(options))
    return exits.SUCCESS


def _leave(options: argparse.Namespace) -> int:
    session.leave()
    return exits.SUCCESS


def _host(options: argparse.Namespace) -> int:
    from dcc_batch import warm_host

    warm_host.main()
    return exits.SUCCESS


def _task(options: argparse.Namespace) -> int:
    """Do a task; HOST_GONE also where there is no session."""
    folder, url = os.environ.get(session.FOLDER), os.environ.get(session.URL)
    if folder is None or url is None:
        raise exits.Failure("A task runs in a session of Open Job Description.", task.HOST_GONE)
    plan = Plan.read(options.plan)
    work = task.Work(plan, options.root, options.task, options.run_name, Path(folder), url)
    stopping: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):  # the scene of now is finished first
        signal.signal(number, lambda it, _: stopping.append(it))
    return task.run(work, _trusted(options), lambda: bool(stopping))
