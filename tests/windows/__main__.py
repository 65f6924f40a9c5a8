"""Run the product's own tests on Windows: ``python -m tests.windows [FILE ...]``, on Linux.

A Windows CPython with Windows wheels runs in Wine; ``setup.sh`` makes it at the first time. A line
for each file says how its tests went, and the last line counts them all. The command fails where a
test fails that is not in ``not_in_wine.toml``, and where one passes that is.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Final

import platformdirs

from dcc_bridge import private_files

ROOT: Final = Path(__file__).parents[2]
FILES: Final = (
    "tests/cli/test_call.py",
    "tests/cli/test_demo.py",
    "tests/test_guide.py",
    "tests/cli/test_command.py",
    "tests/audit",
    "tests/batch/test_approval.py",
    "tests/batch/test_ledger.py",
    "tests/batch/test_swap.py",
    "tests/cli/test_audit.py",
    "tests/cli/test_checkpoint.py",
    "tests/cli/test_client.py",
    "tests/client/test_connection.py",
    "tests/client/test_terminal.py",
    "tests/client/proxy/test_first_words.py",
    "tests/elicitation",
    "tests/hosts/test_checkpoints.py",
    "tests/hosts/test_contract.py",
    "tests/hosts/test_save_scene.py",
    "tests/usd/test_files.py",
    "tests/usd/test_session.py",
    "tests/install",
    "tests/server/test_auth.py",
    "tests/server/test_discovery.py",
    "tests/server/test_start.py",
    "tests/server/test_worker.py",
    "tests/skills",
    "tests/test_callbacks.py",
    "tests/test_config.py",
    "tests/test_imports.py",
    "tests/test_plugin.py",
    "tests/threads",
    "tests/threats/test_reach.py",
    "tests/threats/test_tokens.py",
)
VERSION: Final = f"{sys.version_info.major}.{sys.version_info.minor}"
NOT_IN_WINE: Final = Path(__file__).with_name("not_in_wine.toml")
MARKERS: Final = "not (lint or real or long or frameworks)"
LIMIT: Final = 120
"""The seconds after which a test counts as hanging. Wine takes several times as long as Linux."""


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

    def __init__(self, folder: Path) -> None:
        """Make what is not there yet: minutes at the first time, then seconds."""
        self._folder = folder
        self._checkout = folder / "checkout"
        self._logs = folder / "logs"
        setup = Path(__file__).with_name("setup.sh")
        made = subprocess.run(["bash", setup, folder, sys.executable], check=False)
        if made.returncode:
            raise SystemExit(made.returncode)
        self._copy_checkout()
        self._install()
        shutil.rmtree(self._logs, ignore_errors=True)
        self._logs.mkdir()

    def test(self, path: str, not_in_wine: dict[str, str]) -> dict[str, Outcome]:
        """Run the tests of a file or a folder, in a process of its own; gives that of each file."""
        name = path.removesuffix(".py").replace("/", ".")
        report = self._logs / f"{name}.xml"
        log = self._logs / f"{name}.txt"
        words = ["-m", "pytest", "-v", "-n", "0", "--timeout", str(LIMIT), "--color=no"]
        words += ["--tb=short", "-p", "no:cacheprovider", "-m", MARKERS]
        words += ["-o", "junit_family=xunit1", "--junitxml", str(report), path]
        self._run(words, log)
        if report.exists():
            return outcomes(report, not_in_wine)
        said = log.read_text(encoding="utf-8", errors="replace")
        started = re.findall(r"^tests/\S+::.*?(?= PASSED| SKIPPED| FAILED|$)", said, re.MULTILINE)
        last = started[-1] if started else "the first test"
        return {path: Outcome(failed=[f"the process ended in {last}: {log}"])}

    def close(self) -> None:
        """End what is still running in this Wine."""
        environment = {**os.environ, "WINEPREFIX": str(self._folder / "prefix")}
        subprocess.run(["wineserver", "-k"], env=environment, check=False)

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
        code = self._run(["-m", "pip", "install", "-e", ".[dev]"], log)
        if code:
            raise SystemExit(log.read_text(errors="replace"))
        installed.write_text(wanted)

    def _run(self, words: list[str], log: Path) -> int:
        """Run Python to its end, and give its exit code."""
        with (
            open(log, "wb") as out,
            subprocess.Popen(
                [self._folder / "python", *words],
                cwd=self._checkout,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            ) as process,
        ):
            assert process.stdout is not None
            shutil.copyfileobj(process.stdout, out)
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
        private_files.claim(lock.fileno(), wait=True)
        yield


def main() -> int:
    """Run the command, and give its exit code."""
    cache = platformdirs.user_cache_path("dcc_bridge_tests", ensure_exists=True)
    parser = argparse.ArgumentParser(prog="python -m tests.windows", description=__doc__)
    parser.add_argument("files", nargs="*", default=FILES, metavar="FILE")
    parser.add_argument("--folder", type=Path, default=cache / f"windows-{VERSION}")
    parser.add_argument("--jobs", type=int, default=3)
    arguments = parser.parse_args()
    folder = arguments.folder.absolute()
    not_in_wine = tomllib.loads(NOT_IN_WINE.read_text(encoding="utf-8"))
    whole = Outcome()
    with only_run(folder):
        windows = Windows(folder)
        try:
            with ThreadPoolExecutor(arguments.jobs) as pool:
                test = partial(windows.test, not_in_wine=not_in_wine)
                for found in pool.map(test, arguments.files):
                    tell(found)
                    for outcome in found.values():
                        whole.add(outcome)
        finally:
            windows.close()
    print(whole)
    return int(bool(whole.failed) or not whole.passed)


def tell(found: dict[str, Outcome]) -> None:
    """Print a line for each file, and one for each test of it that failed."""
    for file, outcome in sorted(found.items()):
        print(f"{file}: {outcome}", flush=True)
        for test in outcome.failed:
            print(f"    {test}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
