"""``dcc-bridge batch``: one skill on many scene files. Main thread.

Modules that draw in the terminal are imported where they are needed, because they load slowly.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
from collections.abc import Callable
from datetime import datetime
from functools import wraps
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from dcc_bridge.cli import exits, interpreter
from dcc_bridge.spi.batch import NotRecorded

from . import approval, hosts, job_commands, ledger, outcome, report, scenes
from .files import PlanBusy
from .host_files import CALLS
from .plan import Plan, PlanError, Request, when

_SKILL_FOLDER: Final = Path(__file__).resolve().parent / "skills"
SUMMARY: Final = "run one skill on many scene files with one approval"
_EXTRA_PACKAGES: Final = ("openjd", "rich")  # what the extra "batch" brings
Command = Callable[[argparse.Namespace], int]


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the commands to a parser.

    Args:
        parser: The parser of ``dcc-bridge batch``.

    Raises:
        Failure: A package of the extra "batch" is not installed.
    """
    _check_installed()
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def add(name: str, command: Command, summary: str | None) -> argparse.ArgumentParser:
        if summary is None:  # argparse does not list a command without help
            added = commands.add_parser(name)
        else:
            added = commands.add_parser(name, help=summary, description=summary)
        added.set_defaults(batch=_failing_in_sentences(command))
        return added

    plan = add("plan", _plan, "show what a skill would do to many scenes; changes nothing")
    approve = add("approve", _approve, "review a plan and approve it")
    run_plan = add("run", _run, "run an approved plan; run it again to continue")
    export = add("export", _export, "write the job for a farm")
    status = add("status", _status, "show the state of each scene")
    commit = add("commit", _commit, "delete the originals that were kept")
    roll_back = add("rollback", _roll_back, "put the originals back")
    add(
        "skills",
        _skills,
        "print the skill folder of `plan_batch`, for hosts in which agents may make plans",
    )
    job_commands.fill(add)

    _fill_plan(plan)
    for command in (approve, run_plan, export, status, commit, roll_back):
        command.add_argument("plan", type=Path, metavar="PLAN", help="the folder of the plan")

    default_hours = approval.DEFAULT_HOURS
    hours = f"how long the approval is valid: 1 to {approval.MAX_HOURS:g} ({default_hours:g})"
    approve.add_argument("--hours", type=_hours, default=default_hours, help=hours)
    here = "ask in this terminal and open no window"
    approve.add_argument("--terminal", action="store_true", help=here)

    status.add_argument("--json", action="store_true", help="print only a JSON list of scenes")

    jobs = "hosts at a time; default: one per core"
    run_plan.add_argument("--jobs", type=int, metavar="N", default=_cores(), help=jobs)
    version = "also run in a different version of the host than the one the plan was made in"
    run_plan.add_argument("--any-version", action="store_true", help=version)

    export.add_argument("folder", type=Path, metavar="DIR", help="the folder for the job")
    python = "the worker's Python with dcc-bridge-mcp[batch] (python)"
    export.add_argument("--python", default="python", metavar="PATH", help=python)

    root = "the folder of the scenes, if they are not where the plan was made"
    for command in (commit, roll_back):
        command.add_argument("--root", type=Path, metavar="DIR", help=root)


def run(options: argparse.Namespace) -> int:
    """Run the command that was typed.

    Args:
        options: The arguments, read by the parser that `fill` was given.

    Returns:
        The command's exit code.

    Raises:
        Failure: The command cannot continue.
    """
    return int(options.batch(options))


def _check_installed() -> None:
    """Raise Failure unless all packages of the extra are installed."""
    for package in _EXTRA_PACKAGES:
        if find_spec(package) is None:
            raise exits.Failure(
                f'{package} is not installed: pip install "dcc-bridge-mcp[batch]"', exits.USAGE
            )


def _fill_plan(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("skill", metavar="SKILL", help="the skill's name")
    scenes = "the scenes: patterns such as 'shots/**/*.usda', or a .txt file with one path per line"
    parser.add_argument(
        "--scenes", nargs="+", action="extend", required=True, metavar="GLOB|FILE", help=scenes
    )
    parser.add_argument("--host", choices=sorted(CALLS), default="usd")
    folders = "an additional folder of skill files; repeatable"
    parser.add_argument(
        "--skills", type=Path, action="append", default=[], metavar="DIR", help=folders
    )
    program = "the host's batch interpreter, if it is not on PATH"
    parser.add_argument("--interpreter", metavar="PATH", help=program)
    shape = """the arguments of the skill: a JSON object, such as '{"pattern": "*"}'"""
    parser.add_argument("--args", type=_object, default={}, metavar="JSON", help=shape)
    parser.add_argument("--out", type=Path, metavar="DIR", help="the folder for the plan")
    jobs = "hosts at a time; default: one per core"
    parser.add_argument("--jobs", type=int, metavar="N", default=_cores(), help=jobs)
    chunk = "scenes per task (50)"
    parser.add_argument("--chunk", type=int, metavar="N", default=50, help=chunk)
    part = "the share of failed scenes that pauses the run (0.1)"
    parser.add_argument("--failures", type=float, metavar="PART", default=0.1, help=part)
    limit = "seconds per scene before its host counts as hung (900)"
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
    maximum = approval.MAX_HOURS
    try:
        hours = float(text)
    except ValueError:
        hours = 0.0
    if not 1 <= hours <= maximum:  # NaN fails this comparison too
        raise argparse.ArgumentTypeError(f"1 to {maximum:g} hours, not {text}")
    return hours


def _cores() -> int:
    return os.cpu_count() or 1


def _failing_in_sentences(command: Command) -> Command:
    """Wrap a command so that its expected errors become a Failure with its exit code."""

    @wraps(command)
    def wrapped(options: argparse.Namespace) -> int:
        try:
            return command(options)
        except approval.NotApproved as error:
            raise exits.Failure(str(error), exits.REFUSED) from None
        except (PlanError, PlanBusy, FileExistsError) as error:
            raise exits.Failure(str(error)) from None
        except hosts.HostFailed as error:
            raise exits.Failure(str(error), exits.UNREACHABLE) from None
        except (NotRecorded, OSError) as error:
            raise exits.Failure(str(error), exits.FAILED) from None

    return wrapped


def _plan(options: argparse.Namespace) -> int:
    from . import display, planning  # to import the client takes half a second

    if options.jobs < 1 or options.chunk < 1 or not 0 <= options.failures <= 1:
        raise exits.Failure(
            "--jobs and --chunk must be at least 1, and --failures must be from 0 to 1."
        )
    if not options.limit > 0:
        raise exits.Failure("--limit must be more than 0.")
    paths = scenes.find(options.scenes, Path.cwd())
    name = f"batch-{options.skill}-{datetime.now():%Y%m%d-%H%M%S}"
    folder = options.out or Path(name)
    folder = folder.absolute()
    skill_folders = [str(path) for path in interpreter.skill_folders(options)]
    request = Request(
        host=options.host,
        skill=options.skill,
        arguments=options.args,
        folders=skill_folders,
        interpreter=options.interpreter,
        chunk=options.chunk,
        failures=options.failures,
        limit=options.limit,
    )
    # SIGTERM raises KeyboardInterrupt, so the hosts end with this process.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with display.progress("Planning", len(paths), is_counted=options.counts) as shown:
        plan = planning.make(request, paths, folder, options.jobs, lambda _: shown.advance())
    report.write(plan)
    display.show_plan(plan, display.console())
    if plan.asks:
        exits.tell(_next_command("approve", folder))
    else:
        exits.tell(approval.NOTHING_TO_APPROVE)
    print(folder)
    return exits.SUCCESS


def _approve(options: argparse.Namespace) -> int:
    """Ask the person in a window or at the terminal, and sign the plan."""
    from . import ask_person, display

    plan = Plan.read(options.plan)
    plan.check_skill()
    report.write(plan)  # again, because no digest covers the report that is there
    console = display.console()
    display.show_plan(plan, console)
    approval.check_worth(plan)
    surface = ask_person.ask(plan, console, in_terminal=options.terminal)
    consent = approval.approve(plan, options.hours, by=surface)
    exits.tell(f"Approved until {when(consent['expires'])}. {_next(plan, outcome.totals(plan))}")
    return exits.SUCCESS


def _run(options: argparse.Namespace) -> int:
    plan = Plan.read(options.plan)
    approval.check(plan)
    plan.check_skill()
    from . import display, engine  # to import Open Job Description takes half a second

    progress = outcome.RunProgress(plan)
    with display.progress("Running", plan.count, progress.scenes) as shown:

        def on_progress(task: int, part: float) -> None:
            shown.set_completed(progress.update(task, part))

        jobs = max(1, options.jobs)
        run = engine.Run(plan, jobs, on_progress, is_any_version=options.any_version)
        why_stopped = ""
        is_interrupted = False
        try:
            with exits.on_signal(run.stop):
                run.run()
        except engine.RunStopped as error:
            why_stopped = str(error)
        except KeyboardInterrupt:
            is_interrupted = True
    totals = outcome.totals(plan)
    display.show_totals(plan, totals, display.console())
    if why_stopped:
        raise exits.Failure(why_stopped, exits.FAILED)
    if is_interrupted:
        exits.tell(f"Ctrl+C ended the run. {_next(plan, totals)}")
        return exits.INTERRUPTED
    exits.tell(_next(plan, totals))
    if totals.is_over and not totals.missed:
        return exits.SUCCESS
    return exits.FAILED


def _next_command(name: str, folder: Path) -> str:
    return f"Next: {approval.command(name, folder)}"


def _next(plan: Plan, totals: outcome.Totals) -> str:
    """Return a sentence that names the next command for a plan."""
    states = totals.states
    roll_back = _next_command("rollback", plan.folder)
    if states["rolling_back"]:
        return f"{roll_back}, which was interrupted"
    if totals.is_over:
        return _next_when_over(plan, totals)
    try:
        approval.check(plan)
    except approval.NotApproved as error:
        if not states["rolled_back"]:
            return str(error)
        if states["done"]:
            return f"{roll_back}, for the scenes that are not rolled back yet"
        return f"To run the plan again: {approval.command('approve', plan.folder)}"
    run_again = _next_command("run", plan.folder)
    if states["failed"]:
        run_again += ", which retries the failed scenes"
    return run_again


def _next_when_over(plan: Plan, totals: outcome.Totals) -> str:
    """Return the sentence of `_next` for a plan without scenes that a run could still change."""
    new_plan = "The skipped scenes need a new plan."
    if totals.states["done"]:
        commit = f"{_next_command('commit', plan.folder)}, or rollback"
        if totals.missed:
            return f"{commit}. {new_plan}"
        return commit
    if totals.missed:
        return new_plan
    return "There is nothing left to do."


def _export(options: argparse.Namespace) -> int:
    plan = Plan.read(options.plan)
    approval.check(plan)
    plan.check_skill()
    from . import bundle  # to import Open Job Description takes half a second

    bundle.export(plan, options.folder, options.python)
    print(options.folder)
    return exits.SUCCESS


def _status(options: argparse.Namespace) -> int:
    from . import display

    plan = Plan.read(options.plan)
    if options.json:
        print(json.dumps(outcome.scene_facts(plan), indent=2))
        return exits.SUCCESS
    totals = outcome.totals(plan)
    display.show_totals(plan, totals, display.console())
    exits.tell(_next(plan, totals))
    return exits.SUCCESS


def _commit(options: argparse.Namespace) -> int:
    return _end(options, "Committing", outcome.commit, "committed")


def _roll_back(options: argparse.Namespace) -> int:
    return _end(options, "Rolling back", outcome.roll_back, "rolled_back")


def _end(
    options: argparse.Namespace,
    title: str,
    end: Callable[[Plan, Path, Callable[[], None]], outcome.Totals],
    end_state: str,
) -> int:
    """Commit or roll back. The exit code is FAILED if a scene did not reach the end state."""
    from . import display

    plan = Plan.read(options.plan)
    root = plan.root
    if options.root:
        root = options.root.absolute()
    if not root.is_dir():
        raise exits.Failure(
            f"There is no folder {root}. Use --root to name the folder of the scenes."
        )
    before = outcome.totals(plan).states[end_state]
    is_begun = ledger.is_begun(plan)
    was_approved = (plan.folder / approval.FILE).exists()
    with display.progress(title, plan.count) as shown:
        totals = end(plan, root, shown.advance)
    states = totals.states
    participle = end_state.replace("_", " ")
    is_changed = states[end_state] > before
    status = participle if is_changed else "done"
    approval.record_end(plan, status, states, is_changed=is_changed)
    display.show_totals(plan, totals, display.console())
    is_roll_back = end_state == "rolled_back"
    if is_roll_back and states["committed"]:
        exits.tell("Committed changes cannot be rolled back: the originals were deleted.")
        return exits.FAILED
    if not is_begun:
        sentence = f"Nothing was run from {plan.folder} yet, so no scene can be {participle}."
        if is_roll_back and was_approved:
            sentence += " Its approval was revoked."
        exits.tell(sentence)
    if totals.refused:
        paths = [path for path, _ in totals.refused]
        refusals = f"{report.scenes(len(paths))} could not be {participle}; see above"
        exits.tell(f"{refusals}: {report.list_names(paths)}.")
    exits.tell(_next(plan, totals))
    if totals.refused or states["done"] or states["rolling_back"]:
        return exits.FAILED
    return exits.SUCCESS


def skill_folders() -> list[Path]:
    """Return the folder of `plan_batch`, or [] if a package of the extra is not installed."""
    for package in _EXTRA_PACKAGES:
        if find_spec(package) is None:
            return []
    return [_SKILL_FOLDER]


def _skills(options: argparse.Namespace) -> int:
    print(_SKILL_FOLDER)
    return exits.SUCCESS
