"""The plan, the progress and the totals that ``dcc-bridge batch`` shows in a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table
from rich.text import Text

from dcc_bridge.spi.batch import safe_line

from . import ledger, outcome, report, summary
from .outcome import Totals
from .plan import SCENES, Plan

_MOST_ASKED = 20  # distinct questions of a plan that are shown
_MOST_REASONS = 8  # why scenes are not done
_WORDS = {"left": "left", "unchanged": "unchanged", "failed": "failed", "done": "changed"}
_SOON = 20.0  # seconds of which the speed must be known before a remaining time is said
_ELSEWHERE = "none of the items that were agreed to is gone or another one, as far as is told"


def console() -> Console:
    """Return the terminal for what is said beside a result: stderr, as in all commands."""
    return Console(stderr=True, highlight=False, soft_wrap=False)


class _Remaining(ProgressColumn):
    """How long it still takes at the speed of late; nothing before that is known."""

    max_refresh = 1.0

    def render(self, task: Task) -> Text:
        """Draw it."""
        if task.finished:
            return Text("")
        seconds = task.time_remaining
        if seconds is None or (task.elapsed or 0.0) < min(_SOON, seconds):
            return Text("remaining time not known yet")
        if seconds < 90:
            return Text(f"about {max(5, round(seconds / 5) * 5)} s to go")
        if seconds < 5400:
            return Text(f"about {round(seconds / 60)} min to go")
        return Text(f"about {seconds / 3600:.1f} h to go")


@contextmanager
def progress(
    what: str, total: int, done: float = 0, *, is_counted: bool = False
) -> Iterator[ProgressShown]:
    """Show a progress of scenes while in the ``with``; only at a terminal.

    A program that asked for it has it `is_counted`: "3/10" on stdout, a line for each scene.
    """
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        _Remaining(),
    )
    shown = Progress(
        *columns, console=console(), speed_estimate_period=120, disable=not sys.stderr.isatty()
    )
    with shown:
        task = shown.add_task(what, total=total, completed=round(done))
        yield ProgressShown(shown, task, total if is_counted else None)


class ProgressShown:
    """A progress that is shown. Any thread."""

    def __init__(self, progress: Progress, task: TaskID, counted: int | None) -> None:
        self._progress = progress
        self._task = task
        self._counted = counted  # how many there are in all, where it is printed; or None
        self._done = 0

    def advance(self) -> None:
        """One scene more. One thread."""
        self._progress.advance(self._task)
        self._done += 1
        if self._counted is not None:
            print(f"{self._done}/{self._counted}", flush=True)

    def at(self, completed: float) -> None:
        """So many scenes in all."""
        self._progress.update(self._task, completed=round(completed))


def show_plan(plan: Plan, to: Console, most: int = 15) -> None:
    """Show what somebody is asked to agree to: counts, then the scenes that differ."""
    seen = report.overview(plan)
    skill = plan.header["skill"]["name"]
    to.print(Text(f"{skill} in {report.scenes(plan.count)}", style="bold"))
    for name, text in report.facts(plan).items():
        to.print(Text(f"  {name:10}{text}"))
    for line in summary.counts(seen):
        to.print(Text(line))
    _show_asked(plan, to)
    if seen.differing:
        to.print(Text(summary.heading(seen, is_odd=True), style="bold"))
    for number, why in seen.differing[:most]:
        to.print(Text(f"  {safe_line(plan.scene(number)['path'], 120)}: {safe_line(why, 200)}"))
    if len(seen.differing) > most:
        to.print(Text(f"  and {len(seen.differing) - most:,} more"))
    to.print(Text(f"Each scene, long texts cut: {plan.folder / report.FILE}"))
    to.print(Text(f"All items, and each text whole: {plan.folder / SCENES}"))


def _show_asked(plan: Plan, to: Console) -> None:
    """Show each question that scenes of a plan have in common, whole."""
    lines, is_whole = summary.asked(plan, _MOST_ASKED)
    for line in lines:
        to.print(Text(line))
    if not is_whole:
        to.print(Text(f"There are more questions than these: {plan.folder / SCENES} has all."))


def show_totals(plan: Plan, totals: Totals, to: Console) -> None:
    """Show what became of a plan's scenes, and why some were not changed."""
    table = Table(box=None, show_header=False, padding=(0, 2))
    for state, count in totals.states.most_common():
        table.add_row(Text(f"{count:,}", justify="right"), Text(outcome.WORDS[state]))
    to.print(table)
    if totals.elsewhere:
        to.print(Text(f"  {totals.elsewhere:,} of those changed: {_ELSEWHERE}"))
    troubles = outcome.troubles(plan)
    for state, why, paths in troubles[:_MOST_REASONS]:
        word = _WORDS.get(state, "interrupted")
        # a path that is cut in two cannot be copied
        to.print(Text(f"  {len(paths):,} {word}: {safe_line(why, 1000)}"), soft_wrap=True)
        to.print(Text(f"    {report.named(paths)}"), soft_wrap=True)
    if len(troubles) > _MOST_REASONS:
        rest = f"{len(troubles) - _MOST_REASONS:,} more reasons: {ledger.folder(plan)} has all."
        to.print(Text(f"  and {rest}"), soft_wrap=True)
