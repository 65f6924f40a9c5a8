"""What ``dcc-bridge batch`` shows in a terminal: a plan, its progress, what came of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table
from rich.text import Text

from dcc_batch import outcome, report
from dcc_batch.outcome import Totals
from dcc_batch.plan import SCENES, Plan
from dcc_bridge.elicitation.text import safe_line

_SOON = 20.0  # seconds of which the speed must be known before a remaining time is said


def console() -> Console:
    """Give the terminal for what is said beside a result: stderr, as in all commands."""
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
def progress(what: str, total: int, done: int = 0) -> Iterator[ProgressShown]:
    """Show a progress of scenes while in the ``with``; only at a terminal."""
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
        yield ProgressShown(shown, shown.add_task(what, total=total, completed=done))


class ProgressShown:
    """A progress that is shown. Any thread."""

    def __init__(self, progress: Progress, task: object) -> None:
        self._progress = progress
        self._task = task

    def advance(self) -> None:
        """One scene more."""
        self._progress.advance(self._task)  # type: ignore[arg-type]  # rich's own number

    def at(self, completed: float) -> None:
        """So many scenes in all."""
        self._progress.update(self._task, completed=round(completed))  # type: ignore[arg-type]  # the same


def show_plan(plan: Plan, to: Console, most: int = 15) -> None:
    """Show what somebody is asked to agree to: counts, then the scenes that differ."""
    seen, header = report.overview(plan), plan.header
    to.print(Text(f"{header['skill']['name']} in {plan.count:,} scenes", style="bold"))
    for name, value in (
        ("Folder", header["root"]),
        ("Arguments", json.dumps(header["arguments"], ensure_ascii=False)),
        ("Host", header["version"]),
        ("Made", f"{header['created']} by {header['by']}"),
        ("Plan", plan.digest),
    ):
        text = str(value)  # whole, as what is called is a part of what is agreed to
        to.print(Text(f"  {name:10}{safe_line(text, max(400, len(text)))}"))
    table = Table(box=None, show_header=False, padding=(0, 2))
    for state, count in seen.states.most_common():
        table.add_row(Text(f"{count:,}", justify="right"), Text(report.WORDS[state]))
    for kind, count in seen.kinds.most_common(8):
        table.add_row(Text(f"{count:,}", justify="right"), Text(safe_line(kind) or "(no type)"))
    to.print(table)
    _show_usual(plan, seen, to)
    if seen.differing:
        to.print(Text(f"{len(seen.differing):,} scenes differ from the rest:", style="bold"))
    for number, why in seen.differing[:most]:
        to.print(Text(f"  {safe_line(plan.scene(number)['path'], 120)}: {safe_line(why, 200)}"))
    if len(seen.differing) > most:
        to.print(Text(f"  and {len(seen.differing) - most:,} more"))
    to.print(Text(f"Each scene: {plan.folder / report.FILE}"))
    to.print(Text(f"All items, and each text whole: {plan.folder / SCENES}"))


def _show_usual(plan: Plan, seen: report.Overview, to: Console) -> None:
    usual = next((n for n, why in seen.order if not why and _asks(plan, n)), None)
    if usual is not None:
        to.print(Text(f"A usual scene asks: {safe_line(_message(plan, usual), 300)}"))
        for line in report.arguments(plan.scene(usual)["question"]):
            to.print(Text(f"  {line}"))


def _asks(plan: Plan, number: int) -> bool:
    return bool(plan.scene(number)["state"] == "asks")


def _message(plan: Plan, number: int) -> str:
    return " ".join(plan.scene(number)["question"]["message"].split())


def show_totals(plan: Plan, totals: Totals, to: Console) -> None:
    """Show what became of a plan's scenes, and why some were not changed."""
    table = Table(box=None, show_header=False, padding=(0, 2))
    for state, count in totals.states.most_common():
        table.add_row(Text(f"{count:,}", justify="right"), Text(outcome.WORDS[state]))
    to.print(table)
    for reason, count in totals.reasons.most_common(8):
        to.print(Text(f"  {count:,}: {safe_line(reason, 300)}"))
    for path, state, why in islice(outcome.troubles(plan, 10), 10):
        to.print(Text(f"  {safe_line(path, 120)} {state}: {safe_line(why, 200)}"))
