"""``dcc-bridge batch``: one skill on many scene files. Main thread.

What only a person needs to see is imported where it is shown.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
from collections.abc import Callable
from datetime import datetime
from functools import partial, wraps
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from dcc_bridge.cli import exits, interpreter
from dcc_bridge.spi.batch import NotRecorded

from . import approval, hosts, job_commands, ledger, outcome, report, scenes
from .files import Busy
from .host_files import CALLS
from .plan import Plan, PlanError, Request, when

_FOLDER: Final = Path(__file__).resolve().parent / "skills"
SUMMARY: Final = "run one skill on many scene files, agreed to at once"
_NEEDS: Final = ("openjd", "rich")  # what the extra "batch" brings
_NEXT: Final = "Next: dcc-bridge batch {} {}"
Run = Callable[[argparse.Namespace], int]


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the commands to a parser.

    Args:
        parser: Of ``dcc-bridge batch``.

    Raises:
        Failure: What the extra "batch" brings is not installed.
    """
    _check_installed()
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def add(name: str, run: Run, summary: str | None) -> argparse.ArgumentParser:
        if summary is None:  # argparse does not list it then
            added = commands.add_parser(name)
        else:
            added = commands.add_parser(name, help=summary, description=summary)
        added.set_defaults(batch=_sentences(run))
        return added

    committing = partial(_end, what="Committing", end=outcome.commit, wanted="committed")
    rolling_back = partial(_end, what="Rolling back", end=outcome.roll_back, wanted="rolled_back")
    _fill_plan(add("plan", _plan, "say what a skill would do to many scenes; changes none"))
    for name, run, summary in (
        ("approve", _approve, "look at a plan, and agree to it"),
        ("run", _run, "do what was agreed to; again, to go on"),
        ("export", _export, "write the job for a farm"),
        ("status", _status, "say what became of each scene"),
        ("commit", committing, "delete the originals that were kept"),
        ("rollback", rolling_back, "put the originals back"),
    ):
        added = add(name, run, summary)
        added.add_argument("plan", type=Path, metavar="PLAN", help="the folder of the plan")
        if name == "approve":
            hours = f"how long the consent holds: 1 to {approval.MOST_HOURS:g} ({approval.HOURS:g})"
            added.add_argument("--hours", type=_hours, default=approval.HOURS, help=hours)
            here = "ask here, and open no window where there is a screen"
            added.add_argument("--terminal", action="store_true", help=here)
        if name == "run":
            jobs = "hosts at a time; default: one a core"
            added.add_argument("--jobs", type=int, metavar="N", default=_cores(), help=jobs)
            version = "go on in another version of the host than the plan was made in"
            added.add_argument("--any-version", action="store_true", help=version)
        if name in ("commit", "rollback"):
            root = "the folder of the scenes, if they are not where the plan was made"
            added.add_argument("--root", type=Path, metavar="DIR", help=root)
        if name == "export":
            added.add_argument("folder", type=Path, metavar="DIR", help="where the job goes")
            python = "the worker's Python, which has dcc-bridge-mcp[batch] (python)"
            added.add_argument("--python", default="python", metavar="PATH", help=python)
    add("skills", _skills, "print the folder of `plan_batch`, for hosts in which agents may plan")
    job_commands.fill(add)


def run(options: argparse.Namespace) -> int:
    """Run the command that was typed, and return its exit code.

    Args:
        options: What a parser read that `fill` was given.

    Raises:
        Failure: The command cannot go on.
    """
    return int(options.batch(options))


def _check_installed() -> None:
    """Have all be there before any work is done; Failure: what the extra brings is not."""
    for package in _NEEDS:
        if find_spec(package) is None:
            raise exits.Failure(
                f"{package} is not installed: pip install 'dcc-bridge-mcp[batch]'", exits.USAGE
            )


def _fill_plan(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("skill", metavar="SKILL", help="the skill's name")
    scenes = "the scenes: patterns such as 'shots/**/*.usda', or a .txt file with a path a line"
    parser.add_argument(
        "--scenes", nargs="+", action="extend", required=True, metavar="GLOB|FILE", help=scenes
    )
    parser.add_argument("--host", choices=sorted(CALLS), default="usd")
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
    limit = "for one scene, in seconds; then its host is taken for hung (900)"
    parser.add_argument("--limit", type=float, metavar="SECONDS", default=900.0, help=limit)
    parser.add_argument("--counts", action="store_true", help=argparse.SUPPRESS)  # for a program


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"this is not JSON ({error}): {text}") from None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError(f"an object such as '{{\"name\": 1}}', not {text}")
    return value


def _hours(text: str) -> float:
    most = approval.MOST_HOURS
    try:
        hours = float(text)
    except ValueError:
        hours = 0.0
    if not 1 <= hours <= most:  # NaN is not
        raise argparse.ArgumentTypeError(f"1 to {most:g} hours, not {text}")
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
    from . import display, planning  # the client takes half a second

    if options.jobs < 1 or options.chunk < 1 or not 0 <= options.failures <= 1:
        raise exits.Failure("--jobs and --chunk are at least 1, and --failures is from 0 to 1.")
    if not options.limit > 0:
        raise exits.Failure("--limit is more than 0.")
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
        options.limit,
    )
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # its hosts end with it
    with display.progress("Planning", len(paths), is_counted=options.counts) as shown:
        plan = planning.make(request, paths, folder, options.jobs, lambda _: shown.advance())
    report.write(plan)
    display.show_plan(plan, display.console())
    if plan.asks:
        exits.tell(_NEXT.format("approve", folder))
    else:
        exits.tell(approval.NOTHING)
    print(folder)
    return exits.SUCCESS


def _approve(options: argparse.Namespace) -> int:
    """Ask the person, in a window or at the terminal; nobody else can agree."""
    from . import ask_person, display

    plan = Plan.read(options.plan)
    plan.check_skill()
    report.write(plan)  # anew: no digest covers the one that is there
    to = display.console()
    display.show_plan(plan, to)
    approval.check_worth(plan)
    where = ask_person.ask(plan, to, in_terminal=options.terminal)
    entry = approval.approve(plan, options.hours, by=where)
    exits.tell(f"Approved until {when(entry['expires'])}. {_next(plan, outcome.totals(plan))}")
    return exits.SUCCESS


def _run(options: argparse.Namespace) -> int:
    plan = Plan.read(options.plan)
    approval.check(plan)
    plan.check_skill()
    from . import display, engine  # Open Job Description: half a second

    progress = outcome.RunProgress(plan)
    with display.progress("Running", plan.count, progress.scenes) as shown:
        run = engine.Run(
            plan,
            max(1, options.jobs),
            lambda task, part: shown.at(progress.at(task, part)),
            is_any_version=options.any_version,
        )
        why = ""
        is_interrupted = False
        try:
            with exits.on_signal(run.stop):
                run.run()
        except engine.Stopped as stopped:
            why = str(stopped)
        except KeyboardInterrupt:
            is_interrupted = True
    totals = outcome.totals(plan)
    display.show_totals(plan, totals, display.console())
    if why:
        raise exits.Failure(why, exits.TOOL_ERROR)
    if is_interrupted:
        exits.tell(f"Ctrl+C ended the run. {_next(plan, totals)}")
        return exits.INTERRUPTED
    exits.tell(_next(plan, totals))
    is_done = totals.is_over and not totals.missed
    return exits.SUCCESS if is_done else exits.TOOL_ERROR


def _next(plan: Plan, totals: outcome.Totals) -> str:
    """Say what can be done with a plan now."""
    states = totals.states
    folder = plan.folder
    if states["rolling_back"]:
        return f"{_NEXT.format('rollback', folder)}, which was interrupted"
    if totals.is_over:
        new = "What was left needs a new plan." if totals.missed else ""
        if states["done"]:
            return f"{_NEXT.format('commit', folder)}, or rollback{f'. {new}' if new else ''}"
        return new or "There is nothing left to do."
    try:
        approval.check(plan)
    except approval.NotApproved as error:
        if states["rolled_back"] and states["done"]:
            return f"{_NEXT.format('rollback', folder)}, for what is not rolled back yet"
        again = f"To do it again: dcc-bridge batch approve {folder}"
        return again if states["rolled_back"] else str(error)
    again = ", which tries again what failed" if states["failed"] else ""
    return f"{_NEXT.format('run', folder)}{again}"


def _export(options: argparse.Namespace) -> int:
    plan = Plan.read(options.plan)
    approval.check(plan)
    plan.check_skill()
    from . import bundle  # as above

    bundle.export(plan, options.folder, options.python)
    print(options.folder)
    return exits.SUCCESS


def _status(options: argparse.Namespace) -> int:
    from . import display

    plan = Plan.read(options.plan)
    totals = outcome.totals(plan)
    display.show_totals(plan, totals, display.console())
    exits.tell(_next(plan, totals))
    return exits.SUCCESS


def _end(
    options: argparse.Namespace,
    what: str,
    end: Callable[[Plan, Path, Callable[[], None]], outcome.Totals],
    wanted: str,
) -> int:
    """Commit or roll back; a scene for which that could not be done is a failure."""
    from . import display

    plan = Plan.read(options.plan)
    root = options.root.absolute() if options.root else plan.root
    if not root.is_dir():
        raise exits.Failure(f"There is no folder {root}; --root says where the scenes are.")
    before = outcome.totals(plan).states[wanted]
    is_begun = ledger.is_begun(plan)
    was_approved = (plan.folder / approval.FILE).exists()
    with display.progress(what, plan.count) as shown:
        totals = end(plan, root, shown.advance)
    states = totals.states
    is_changed = states[wanted] > before
    said = wanted.replace("_", " ")
    status = said if is_changed else "done"
    approval.record_end(plan, status, states, is_changed=is_changed)
    display.show_totals(plan, totals, display.console())
    if wanted == "rolled_back" and states["committed"]:
        exits.tell("What was changed for good cannot be put back: its originals were deleted.")
        return exits.TOOL_ERROR
    if not is_begun:
        back = " Its approval was taken back." if was_approved and wanted == "rolled_back" else ""
        exits.tell(f"Nothing was run from {plan.folder} yet, so no scene can be {said}.{back}")
    if totals.refused:
        paths = [path for path, _ in totals.refused]
        what = f"{report.scenes(len(paths))} could not be {said}, as said above"
        exits.tell(f"{what}: {report.named(paths)}.")
    exits.tell(_next(plan, totals))
    is_open = totals.refused or states["done"] or states["rolling_back"]
    return exits.TOOL_ERROR if is_open else exits.SUCCESS


def skill_folders() -> list[Path]:
    """Return the folder of `plan_batch`; none where what it needs is not installed."""
    if any(find_spec(package) is None for package in _NEEDS):
        return []
    return [_FOLDER]


def _skills(options: argparse.Namespace) -> int:
    print(_FOLDER)
    return exits.SUCCESS
