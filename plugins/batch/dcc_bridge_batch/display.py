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

_MAX_QUESTIONS = 20  # distinct questions of a plan that are shown
_MAX_REASONS = 8  # reasons that are shown why scenes are not done
_WORDS = {"left": "left", "unchanged": "unchanged", "failed": "failed", "done": "changed"}
_MEASURED_S = 20.0  # for which the speed is measured before a remaining time is shown
_ELSEWHERE = "no approved item is known to be deleted or replaced"


def console() -> Console:
    """Return the terminal for messages: stderr, as in all commands; stdout has the result."""
    return Console(stderr=True, highlight=False, soft_wrap=False)


class _Remaining(ProgressColumn):
    """A column with the remaining time at the latest speed, once the speed is known."""

    max_refresh = 1.0

    def render(self, task: Task) -> Text:
        """Return the text of the column."""
        if task.finished:
            return Text("")
        seconds = task.time_remaining
        elapsed = task.elapsed or 0.0
        if seconds is None or elapsed < min(_MEASURED_S, seconds):
            return Text("remaining time not known yet")
        if seconds < 90:
            rounded = round(seconds / 5) * 5
            return Text(f"about {max(5, rounded)} s to go")
        if seconds < 5400:
            return Text(f"about {round(seconds / 60)} min to go")
        return Text(f"about {seconds / 3600:.1f} h to go")


@contextmanager
def progress(
    title: str, total: int, completed: float = 0, *, is_counted: bool = False
) -> Iterator[ProgressBar]:
    """Show a progress bar of scenes during the ``with`` block, if stderr is a terminal.

    Args:
        title: The words before the bar.
        total: The number of scenes.
        completed: How many scenes are over at the start.
        is_counted: Whether stdout gets a line such as "3/10" for each scene, for a program.
    """
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        _Remaining(),
    )
    bar = Progress(
        *columns, console=console(), speed_estimate_period=120, disable=not sys.stderr.isatty()
    )
    printed_total = total if is_counted else None
    with bar:
        task = bar.add_task(title, total=total, completed=round(completed))
        yield ProgressBar(bar, task, printed_total)


class ProgressBar:
    """A progress bar of scenes. Any thread."""

    def __init__(self, progress: Progress, task: TaskID, printed_total: int | None) -> None:
        """Take the bar, and the number of scenes if each scene is printed; None for none."""
        self._progress = progress
        self._task = task
        self._printed_total = printed_total
        self._advanced = 0

    def advance(self) -> None:
        """Count one scene more. Always the same thread."""
        self._progress.advance(self._task)
        self._advanced += 1
        if self._printed_total is not None:
            print(f"{self._advanced}/{self._printed_total}", flush=True)

    def set_completed(self, completed: float) -> None:
        """Set the number of scenes that are over."""
        self._progress.update(self._task, completed=round(completed))


def show_plan(plan: Plan, to: Console, max_differing: int = 15) -> None:
    """Show a plan as a person needs it to agree: the counts, then the scenes that differ.

    Args:
        plan: The plan.
        to: The terminal.
        max_differing: How many of the scenes that differ are listed.
    """
    overview = report.overview(plan)
    differing = overview.differing
    skill = plan.header["skill"]["name"]
    to.print(Text(f"{skill} in {report.scenes(plan.count)}", style="bold"))
    for name, text in report.facts(plan).items():
        to.print(Text(f"  {name:10}{text}"))
    for line in summary.counts(overview):
        to.print(Text(line))
    _show_questions(plan, to)
    if differing:
        to.print(Text(summary.heading(overview, is_odd=True), style="bold"))
    for number, why in differing[:max_differing]:
        path = safe_line(plan.scene(number)["path"], 120)
        to.print(Text(f"  {path}: {safe_line(why, 200)}"))
    if len(differing) > max_differing:
        to.print(Text(f"  and {len(differing) - max_differing:,} more"))
    to.print(Text(f"Each scene, with long texts shortened: {plan.folder / report.FILE}"))
    to.print(Text(f"All items, with full texts: {plan.folder / SCENES}"))


def _show_questions(plan: Plan, to: Console) -> None:
    """Show each question that scenes of a plan have in common, whole."""
    lines, is_whole = summary.question_lines(plan, _MAX_QUESTIONS)
    for line in lines:
        to.print(Text(line))
    if not is_whole:
        to.print(Text(f"There are more questions: {plan.folder / SCENES} has all of them."))


def show_totals(plan: Plan, totals: Totals, to: Console) -> None:
    """Show the states of a plan's scenes, and why some were not changed."""
    table = Table(box=None, show_header=False, padding=(0, 2))
    for state, count in totals.states.most_common():
        table.add_row(Text(f"{count:,}", justify="right"), Text(outcome.WORDS[state]))
    to.print(table)
    if totals.elsewhere:
        to.print(Text(f"  {totals.elsewhere:,} of those changed: {_ELSEWHERE}"))
    troubles = outcome.troubles(plan)
    # Soft wrap, because a path that is cut in two cannot be copied.
    for state, why, paths in troubles[:_MAX_REASONS]:
        word = _WORDS.get(state, "interrupted")
        to.print(Text(f"  {len(paths):,} {word}: {safe_line(why, 1000)}"), soft_wrap=True)
        to.print(Text(f"    {report.named(paths)}"), soft_wrap=True)
    if len(troubles) > _MAX_REASONS:
        rest = f"{len(troubles) - _MAX_REASONS:,} more reasons: {ledger.folder(plan)} has all."
        to.print(Text(f"  and {rest}"), soft_wrap=True)
