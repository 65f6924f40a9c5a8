"""Run the product's own tests on Windows: ``python -m tests.windows [FILE ...]``, on Linux.

A Windows CPython with Windows wheels runs in Wine; ``setup.sh`` makes it at the first time. A line
for each file says how its tests went, and the last line says whether all passed. ``--quick`` takes
the few that stand for the rest. The command fails where a test fails that is not in
``not_in_wine.toml``, and where one passes that is. At the end our own application is used by keys,
as `window` says; ``--pictures FOLDER`` does this alone.
"""

from __future__ import annotations

import argparse
import os
import re
import select
import shutil
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Final

import platformdirs

from dcc_bridge import file_locks
from tests.hosts.screen import Screen, screen
from tests.windows import window
from tests.windows.files import FILES, ON_SCREEN, QUICK

ROOT: Final = Path(__file__).parents[2]
VERSION: Final = f"{sys.version_info.major}.{sys.version_info.minor}"
NOT_IN_WINE: Final = Path(__file__).with_name("not_in_wine.toml")
_FONTS: Final = Path("/usr/share/fonts/truetype/dejavu")
MARKERS: Final = "not (lint or real or long or frameworks)"
LIMIT: Final = 300
"""The seconds after which a test counts as hanging. Wine takes several times as long as Linux."""
_MAX_NAME_CHARS: Final = 80  # of a report
_SCREEN: Final = (1500, 950)
_RUNS: Final = 4  # of a file: on Windows a test that hangs ends the process, and is left out then
_TURN_S: Final = 0.2  # between two looks whether a process has ended
_STARTED: Final = re.compile(r"^(tests/\S+::.*?)(?: PASSED| SKIPPED| FAILED|$)", re.MULTILINE)


@dataclass
class Outcome:
    """How the tests of a file went."""

    passed: int = 0
    skipped: int = 0
    known: int = 0  # failed, as the list says
    failed: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        """Count them."""
        counts = f"{self.passed} passed, {len(self.failed)} failed, {self.skipped} skipped"
        if self.known:
            counts += f", {self.known} not in Wine"
        return counts

    def add(self, other: Outcome) -> None:
        """Count those of another file too."""
        self.passed += other.passed
        self.skipped += other.skipped
        self.known += other.known
        self.failed += other.failed


class Windows:
    """A folder with a Windows Python and a copy of this checkout, which is tested in it."""

    def __init__(self, folder: Path, shown: Screen) -> None:
        """Make what is not there yet: minutes at the first time, then seconds.

        Args:
            folder: The folder.
            shown: The screen on which its windows are.
        """
        self._folder = folder
        self._screen = shown
        self._environment = {**os.environ, "DISPLAY": shown.display}
        self._checkout = folder / "checkout"
        self._logs = folder / "logs"
        setup = Path(__file__).with_name("setup.sh")
        self.close()  # what a run left behind that was killed has another screen
        command = ["bash", str(setup), str(folder), sys.executable]
        made = subprocess.run(command, env=self._environment, check=False)
        if made.returncode:
            raise SystemExit(made.returncode)
        self._copy_checkout()
        self._install()
        self._bring_fonts()
        shutil.rmtree(self._logs, ignore_errors=True)
        self._logs.mkdir()

    def test(self, path: str, not_in_wine: dict[str, str]) -> dict[str, Outcome]:
        """Run the tests of a file or a folder, in a process of its own; gives that of each file.

        A test that ends the process counts as failed, and the others run again without it.

        Args:
            path: The file or the folder, or several that are named with a space between them.
            not_in_wine: The tests that fail in Wine, with the reason.
        """
        name = re.sub(r"\W", ".", path.removesuffix(".py"))[:_MAX_NAME_CHARS]
        report = self._logs / f"{name}.xml"
        words = ["-m", "pytest", "-v", "-n", "0", "--timeout", str(LIMIT), "--color=no"]
        words += ["--tb=short", "-p", "no:cacheprovider", "-m", MARKERS]
        words += ["-o", "junit_family=xunit1", "--junitxml", str(report), *path.split()]
        ended = Outcome()
        variables: Mapping[str, str] = {}
        if ON_SCREEN.intersection(path.split()):
            variables = window.DRAWN
        for run in range(_RUNS):
            log = self._logs / f"{name}.{run}.txt"
            self._run(words, log, variables)
            if report.exists():
                found = outcomes(report, not_in_wine)
                break
            found = {}
            said = log.read_text(encoding="utf-8", errors="replace")
            started = _STARTED.findall(said)
            if not started:
                ended.failed.append(f"the process ended before the first test: {log}")
                break
            ended.failed.append(f"the process ended in {started[-1]}: {log}")
            words += ["--deselect", started[-1]]
        if ended.failed:
            found.setdefault(path, Outcome()).add(ended)
        return found

    def use_window(self, pictures: Path) -> dict[str, Outcome]:
        """Use our own application as a person does, and give the outcome.

        Args:
            pictures: The folder for its pictures.
        """
        outcome = Outcome(passed=1)
        wrong = window.play(self._start, self._screen, pictures)
        if wrong:
            outcome = Outcome(failed=[wrong])
        return {window.__name__: outcome}

    def close(self) -> None:
        """End what is still running in this Wine."""
        environment = {**os.environ, "WINEPREFIX": str(self._folder / "prefix")}
        subprocess.run(["wineserver", "-k"], env=environment, check=False)

    def _start(self, words: list[str], variables: Mapping[str, str]) -> subprocess.Popen[bytes]:
        """Start Python with more variables, its output a pipe."""
        return subprocess.Popen(
            [self._folder / "python", *words],
            cwd=self._checkout,
            env={**self._environment, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def _copy_checkout(self) -> None:
        shutil.rmtree(self._checkout, ignore_errors=True)
        listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True)
        for name in listed.stdout.split("\0"):
            source = ROOT / name
            if source.is_file():
                target = self._checkout / name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target)

    def _install(self) -> None:
        """Install what the product asks for, again whenever that has changed."""
        table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
        project, build = table["project"], table["tool"]["hatch"]["build"]
        extras, entries = project["optional-dependencies"], project["entry-points"]
        needed = project["dependencies"], extras, entries, build
        wanted = sha256(repr(needed).encode()).hexdigest()
        installed = self._folder / "installed"
        if installed.exists() and installed.read_text() == wanted:
            return
        log = self._folder / "pip.txt"
        print(f"installing the packages takes some minutes: {log}", flush=True)
        code = self._run(["-m", "pip", "install", "-e", ".[dev]"], log, {})
        if code:
            raise SystemExit(log.read_text(errors="replace"))
        installed.write_text(wanted)

    def _bring_fonts(self) -> None:
        """Put fonts where Qt looks for them, which otherwise warns of that."""
        (qt,) = self._folder.glob("py*/Lib/site-packages/PySide6")
        shutil.copytree(_FONTS, qt / "lib" / "fonts", dirs_exist_ok=True)

    def _run(self, words: list[str], log: Path, variables: Mapping[str, str]) -> int:
        """Run Python to its end, and give its exit code.

        What it started may live on, and hold the pipe open.
        """
        with (
            open(log, "wb", buffering=0) as out,
            self._start(words, variables) as process,
        ):
            assert process.stdout is not None
            pipe = process.stdout.fileno()
            has_ended = False
            while True:
                ready = select.select([pipe], [], [], 0 if has_ended else _TURN_S)[0]
                if ready:
                    said = os.read(pipe, 65536)
                    if not said:
                        break
                    out.write(said)
                elif has_ended:
                    break
                has_ended = process.poll() is not None
        return process.returncode


def outcomes(report: Path, not_in_wine: dict[str, str]) -> dict[str, Outcome]:
    """Read the report of pytest: the outcome of each file."""
    found: dict[str, Outcome] = defaultdict(Outcome)
    for case in ET.parse(report).iter("testcase"):
        name = str(case.get("classname")).replace(".", "/") + ".py"
        file = str(case.get("file", name)).replace("\\", "/")
        test = f"{file}::{case.get('name')}"
        kinds = {child.tag for child in case}
        outcome = found[file]
        is_known = test in not_in_wine
        if kinds & {"failure", "error"}:
            if is_known:
                outcome.known += 1
            else:
                outcome.failed.append(test)
        elif "skipped" in kinds:
            outcome.skipped += 1
        elif is_known:
            outcome.failed.append(f"{test} passes, and stands in {NOT_IN_WINE.name}")
        else:
            outcome.passed += 1
    return found


@contextmanager
def only_run(folder: Path) -> Iterator[None]:
    """Wait until no other run uses the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "wb") as lock:
        file_locks.claim(lock.fileno(), wait=True)
        yield


def main() -> int:
    """Run the command, and give its exit code."""
    cache = platformdirs.user_cache_path("dcc_bridge_tests", ensure_exists=True)
    parser = argparse.ArgumentParser(prog="python -m tests.windows", description=__doc__)
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--quick", action="store_true", help="only what stands for the rest")
    parser.add_argument("--folder", type=Path, default=cache / f"windows-{VERSION}")
    parser.add_argument("--jobs", type=int, default=3)
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="only use the window")
    arguments = parser.parse_args()
    folder = arguments.folder.absolute()
    files = arguments.files or FILES
    if arguments.quick:
        files = QUICK
    not_in_wine = tomllib.loads(NOT_IN_WINE.read_text(encoding="utf-8"))
    whole = Outcome()

    def add(found: dict[str, Outcome]) -> None:
        tell(found)
        for outcome in found.values():
            whole.add(outcome)

    with only_run(folder), screen(*_SCREEN) as shown:
        windows = Windows(folder, shown)
        try:
            if arguments.pictures is None:
                with ThreadPoolExecutor(arguments.jobs) as pool:
                    test = partial(windows.test, not_in_wine=not_in_wine)
                    for found in pool.map(test, files):
                        add(found)
            if not arguments.files:
                add(windows.use_window(arguments.pictures or folder / "pictures"))
        finally:
            windows.close()
    has_failed = bool(whole.failed) or not whole.passed
    verdict = "passed"
    if has_failed:
        verdict = "FAILED"
    print(f"Windows Python {VERSION} in Wine {verdict}: {whole}")
    return int(has_failed)


def tell(found: dict[str, Outcome]) -> None:
    """Print a line for each file, and one for each test of it that failed."""
    for file, outcome in sorted(found.items()):
        print(f"{file}: {outcome}", flush=True)
        for test in outcome.failed:
            print(f"    {test}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
