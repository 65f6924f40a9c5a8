"""Runs what needs minutes or a quiet machine, and prints a table of what held.

``python -m tests.long`` runs every part, ``python -m tests.long races windows`` those that are
named, and ``--list`` says which there are. It exits with 1 if anything did not hold. ``.ci/run``
installs what all of them need; the parts take about an hour on two cores.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
_COUNTS = re.compile(r"(\d+) (passed|failed|errors?|skipped)")


@dataclass(frozen=True)
class Part:
    """One row of the table.

    Attributes:
        name: What it is chosen by.
        shows: What holds if it passes.
        arguments: What the interpreter is called with.
        busy: How many processes keep the cores busy meanwhile.
        environment: What is set beside the environment that there is.
    """

    name: str
    shows: str
    arguments: tuple[str, ...]
    busy: int = 0
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """What became of a part.

    Attributes:
        part: Which one it was.
        held: Whether it ended well.
        counts: What its last line counted.
        seconds: How long it took.
    """

    part: Part
    held: bool
    counts: str
    seconds: float


def _pytest(*words: str) -> tuple[str, ...]:
    return ("-m", "pytest", "-q", *words)


def _long(*paths: str) -> tuple[str, ...]:
    return _pytest("-m", "long", "--timeout", "600", "-n", "3", "--dist", "worksteal", *paths)


_RACES = ("tests/server", "tests/client", "tests/audit")
_THREATS = ("tests/threats",)
_PROGRAMS = (
    "tests/hosts/test_bodies.py",
    "tests/hosts/test_killed_trials.py",
)
_TABLES = ("tests/code", "tests/elicitation", "tests/qt", "tests/skills", "tests/verbs")
_SUITE = ("tests/conformance",)
_CLIENTS = ("tests/clients",)
_ELSEWHERE = (*_RACES, *_THREATS, *_PROGRAMS, *_TABLES, *_SUITE, *_CLIENTS)
PARTS = (
    Part(
        "races",
        "races, kills and restarts lose no call, no answer and no line of the record",
        _long(*_RACES),
    ),
    Part("threats", "floods, soaks and faults get nothing in", _long(*_THREATS)),
    Part(
        "programs",
        "10,000 marked bodies and 10,000 tried ones do nothing that nobody agreed to",
        _long(*_PROGRAMS),
    ),
    Part(
        "tables",
        "every case of what is otherwise tried by sample",
        _long(*_TABLES),
    ),
    Part(
        "hosts",
        "each host, its window and its batches, by the clock",
        _long(*(f"--ignore={path}" for path in _ELSEWHERE)),
    ),
    Part(
        "clients",
        "other people's clients, in each of their eras, over HTTP and through connect",
        _long(*_CLIENTS),
    ),
    Part(
        "frameworks",
        "seven agent frameworks list, read, edit, consent, and wait for 130 seconds",
        _pytest("-m", "frameworks", "-n", "7", "--dist", "load"),
    ),
    Part(
        "suite",
        "the official suite, directly and through connect",
        _pytest("-m", "real", "-n", "0", *_SUITE),
    ),
    Part(
        "sdk",
        "the official suite finds no difference where the SDK answers every call",
        _pytest("-m", "real and not long", "-n", "0", *_SUITE),
        environment={"BRIDGE_WAY": "sdk"},
    ),
    Part(
        "real-files",
        "each file that others made is the same after every edit and its undo",
        ("-m", "tests.real_files"),
    ),
    Part(
        "tasks",
        "twenty tasks of an artist are done and undone, and careless ones lose nothing",
        ("-m", "tests.tasks"),
    ),
    Part("windows", "the product's own tests in a Windows Python", ("-m", "tests.windows")),
    *(
        Part(f"busy-{run}", "README's tests while both cores are busy", _pytest(), busy=2)
        for run in (1, 2, 3)
    ),
    *(
        Part(f"shuffled-{run}", "README's tests in another order", _pytest("-p", "randomly"))
        for run in (1, 2)
    ),
    Part("alone", "README's tests in one process", _pytest("-n", "0")),
    Part("eight", "README's tests in eight processes", _pytest("-n", "8")),
)


def run(part: Part) -> Outcome:
    """Run a part, and show what it says as it says it."""
    print(f"== {part.name}: {part.shows}", flush=True)
    begin = time.monotonic()
    last = ""
    with (
        _busy(part.busy),
        subprocess.Popen(
            [sys.executable, *part.arguments],
            cwd=ROOT,
            env={**os.environ, **part.environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            last = line if _COUNTS.search(line) else last
    counts = ", ".join(" ".join(count) for count in _COUNTS.findall(last))
    seconds = time.monotonic() - begin
    held = process.returncode == 0 and "passed" in counts
    return Outcome(part, held, counts or "counted nothing", seconds)


@contextmanager
def _busy(processes: int) -> Iterator[None]:
    """Keep so many processes busy."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def main() -> int:
    """Run the parts that are named, or all, and print the table.

    Returns:
        The exit code: 0 if every part held.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.long", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help="all, if none is named")
    parser.add_argument("--list", action="store_true", help="say which parts there are")
    chosen = parser.parse_args()
    unknown = set(chosen.parts) - {part.name for part in PARTS}
    if unknown:
        parser.error(f"there is no part {', '.join(sorted(unknown))}: --list says which there are")
    if chosen.list:
        for part in PARTS:
            print(f"{part.name:11} {part.shows}")
        return 0
    outcomes = [run(part) for part in PARTS if not chosen.parts or part.name in chosen.parts]
    print()
    for outcome in outcomes:
        word = "held" if outcome.held else "FAILED"
        part = outcome.part
        print(f"{part.name:11} {word:6} {outcome.seconds:5.0f} s  {outcome.counts:32} {part.shows}")
    return 0 if all(outcome.held for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
