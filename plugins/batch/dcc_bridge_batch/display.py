"""The plan, the progress and the totals that ``dcc-bridge batch`` shows in a terminal.

A *plan* lists the scenes to be edited and the questions a person agrees to; *totals* are the scenes
by their state at the end of a run. Everything here goes to stderr, except the lines "3/10" that
`progress` prints for a program.
"""

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
_MAX_REASONS = 8  # reasons shown for scenes that were not done
_TROUBLE_WORDS = {"left": "left", "unchanged": "unchanged", "failed": "failed", "done": "changed"}
_MEASURED_S = 20.0  # seconds of measured speed before a remaining time is shown
# The words for scenes in `Totals.elsewhere`, which were changed in none of the approved items.
_ELSEWHERE = "no approved item is known to be deleted or replaced"


def console() -> Console:
    """Return a console that prints to stderr; stdout is kept for the result of a command."""
    return Console(stderr=True, highlight=False, soft_wrap=False)


class _Remaining(ProgressColumn):
    """A column with the remaining time, once the speed was measured for long enough."""

    max_refresh = 1.0

    def render(self, task: Task) -> Text:
        """Return the remaining time of a task in words, rounded to what is known."""
        if task.finished:
            return Text("")
        seconds = task.time_remaining
        elapsed = task.elapsed or 0.0
        is_speed_known = seconds is not None and elapsed >= min(_MEASURED_S, seconds)
        if seconds is None or not is_speed_known:
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
        completed: The number of scenes that have ended before.
        is_counted: Whether to print a line such as "3/10" on stdout for each scene, for a program.

    Yields:
        The bar, which the block moves.
    """
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        _Remaining(),
    )
    live_display = Progress(
        *columns, console=console(), speed_estimate_period=120, disable=not sys.stderr.isatty()
    )
    printed_total = total if is_counted else None
    with live_display:
        task = live_display.add_task(title, total=total, completed=round(completed))
        yield ProgressBar(live_display, task, printed_total)


class ProgressBar:
    """A progress bar of scenes, which `progress` makes.

    Any thread may call `set_completed`; `advance` must always be called by the same thread.
    """

    def __init__(self, live_display: Progress, task: TaskID, printed_total: int | None) -> None:
        """Wrap one task of a rich display.

        Args:
            live_display: The display that rich draws.
            task: The id of its task whose bar is moved.
            printed_total: The number after the slash in the lines on stdout; None for no lines.
        """
        self._live_display = live_display
        self._task = task
        self._printed_total = printed_total
        self._advanced = 0

    def advance(self) -> None:
        """Count one more scene, and print the count if lines were asked for."""
        self._live_display.advance(self._task)
        self._advanced += 1
        if self._printed_total is not None:
            print(f"{self._advanced}/{self._printed_total}", flush=True)

    def set_completed(self, completed: float) -> None:
        """Set the number of scenes that have ended."""
        self._live_display.update(self._task, completed=round(completed))


def show_plan(plan: Plan, terminal: Console, max_differing: int = 15) -> None:
    """Show a plan to the person who is to approve it: the counts, questions, and unusual scenes.

    Args:
        plan: The plan.
        terminal: The console to print to.
        max_differing: The maximum of listed scenes that differ from most scenes of the plan.
    """
    overview = report.overview(plan)
    differing = overview.differing
    skill = plan.header["skill"]["name"]
    terminal.print(Text(f"{skill} in {report.scenes(plan.count)}", style="bold"))
    for name, text in report.facts(plan).items():
        terminal.print(Text(f"  {name:10}{text}"))
    for line in summary.counts(overview):
        terminal.print(Text(line))
    _show_questions(plan, terminal)
    if differing:
        terminal.print(Text(summary.heading(overview, is_odd=True), style="bold"))
    for number, why in differing[:max_differing]:
        path = safe_line(plan.scene(number)["path"], 120)
        terminal.print(Text(f"  {path}: {safe_line(why, 200)}"))
    if len(differing) > max_differing:
        terminal.print(Text(f"  and {len(differing) - max_differing:,} more"))
    terminal.print(Text(f"Each scene, with long texts shortened: {plan.folder / report.FILE}"))
    terminal.print(Text(f"All items, with full texts: {plan.folder / SCENES}"))


def _show_questions(plan: Plan, terminal: Console) -> None:
    """Show the distinct questions of a plan, each once and in full."""
    lines, is_whole = summary.question_lines(plan, _MAX_QUESTIONS)
    for line in lines:
        terminal.print(Text(line))
    if not is_whole:
        terminal.print(Text(f"There are more questions: {plan.folder / SCENES} has all of them."))


def show_totals(plan: Plan, totals: Totals, terminal: Console) -> None:
    """Show how many scenes ended in each state, and why some were not changed."""
    table = Table(box=None, show_header=False, padding=(0, 2))
    for state, count in totals.states.most_common():
        table.add_row(Text(f"{count:,}", justify="right"), Text(outcome.WORDS[state]))
    terminal.print(table)
    if totals.elsewhere:
        terminal.print(Text(f"  {totals.elsewhere:,} of those changed: {_ELSEWHERE}"))
    troubles = outcome.troubles(plan)
    # Soft wrap, because a path that is cut in two cannot be copied.
    for state, why, paths in troubles[:_MAX_REASONS]:
        word = _TROUBLE_WORDS.get(state, "interrupted")
        terminal.print(Text(f"  {len(paths):,} {word}: {safe_line(why, 1000)}"), soft_wrap=True)
        terminal.print(Text(f"    {report.list_names(paths)}"), soft_wrap=True)
    if len(troubles) > _MAX_REASONS:
        rest = f"{len(troubles) - _MAX_REASONS:,} more reasons: {ledger.folder(plan)} has all."
        terminal.print(Text(f"  and {rest}"), soft_wrap=True)
