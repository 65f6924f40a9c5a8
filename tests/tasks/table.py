"""The table of what became of the tasks, beside that of the run before."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.tasks.task import Row, Task

_ALIKE = 0.01  # of the bytes
_HEAD = (
    f"{'task':24} {'host':8} {'by':6} {'calls':>9} {'sent':>13} {'received':>13} {'asked':>7} "
    f"{'steps':>5} {'slips':>5}  held"
)


def read(file: Path) -> dict[str, dict[str, Any]]:
    """Return the rows of the run before, by the task; none where there was no run."""
    if not file.exists():
        return {}
    rows = json.loads(file.read_text(encoding="utf-8"))
    return {row["task"]: row for row in rows}


def write(file: Path, rows: Sequence[Row]) -> None:
    """Keep the rows for the next run; those of tasks that were not played stay."""
    kept = read(file)
    kept.update({row.task: asdict(row) for row in rows})
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(list(kept.values()), indent=1) + "\n", encoding="utf-8")


def lines(
    tasks: Sequence[Task], rows: Sequence[Row], before: Mapping[str, Mapping[str, Any]]
) -> list[str]:
    """Return the table; a figure that differs from the run before has that one in brackets."""
    told = [_HEAD]
    for row in rows:
        old = before.get(row.task, {})
        held = "yes" if row.held else "NO"
        told.append(
            f"{row.task:24} {row.host:8} {_with(row.by, old.get('by')):6} "
            f"{_with(row.calls, old.get('calls')):>9} {_bytes(row.sent, old.get('sent')):>13} "
            f"{_bytes(row.received, old.get('received')):>13} "
            f"{_with(row.questions, old.get('questions')):>7} {row.steps:>5} {row.slips:>5}  {held}"
        )
    by_verbs = sum(row.by == "verbs" for row in rows)
    calls = sum(row.calls for row in rows)
    carried = sum(row.sent + row.received for row in rows)
    questions = sum(row.questions for row in rows)
    told.append(
        f"{by_verbs} of {len(rows)} by verbs alone; {calls} calls, {carried:,} bytes, "
        f"{questions} questions"
    )
    played = {row.task for row in rows}
    for task in tasks:
        if task.name in played and task.missing:
            told.append(f"{task.name}: no verb has {task.missing}")
    return told


def _bytes(now: int, before: int | None) -> str:
    """Return a count of bytes; ids and the names of folders alone make no difference."""
    is_alike = before is not None and abs(now - before) <= _ALIKE * now
    return _with(now, now if is_alike else before)


def _with(now: object, before: object) -> str:
    if before is None or before == now:
        return str(now)
    return f"{now} ({before})"
