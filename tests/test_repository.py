"""The repository keeps its own rules."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house import BOUNDS, NOT_MET_YET, Bound

ROOT = Path(__file__).parent.parent
ALLOWED = {"pyproject.toml", "dcc_bridge", "plugins", "tests", "resources", "README.md", "LICENSE"}
SOURCES = [*(ROOT / "dcc_bridge").rglob("*.py"), *(ROOT / "plugins").rglob("*.py")]


def run(*command: str) -> None:
    """Run a tool of this environment at the root; its complaint is the test's."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    plugins = os.pathsep.join(str(ROOT / "plugins" / it) for it in ("standalone", "batch"))
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PATH": path, "PYTHONPATH": plugins},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.lint
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "command",
    [
        ("ruff", "check", "."),
        ("ruff", "format", "--check", "."),
        ("mypy",),
        ("mypy", "--platform", "win32"),
        ("mypy", "--platform", "darwin"),
        ("lint-imports", "--no-cache"),
    ],
    ids=" ".join,
)
def test_the_code_is_clean(command: tuple[str, ...]) -> None:
    run(*command)


def test_the_top_level_holds_the_agreed_names_only() -> None:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    seen = {name.split("/")[0] for name in listed.stdout.splitlines()}

    assert {name for name in seen if not name.startswith(".")} <= ALLOWED


@pytest.mark.parametrize("bound", BOUNDS, ids=lambda bound: bound.what)
def test_the_package_keeps_its_bounds(bound: Bound) -> None:
    """``python -m tests.house`` prints all of them."""
    assert bound.measure() <= max(bound.limit, NOT_MET_YET.get(bound.what, 0.0))


def test_no_plug_in_module_is_longer_than_it_may_be() -> None:
    lengths = {file.name: len(file.read_text().splitlines()) for file in SOURCES}

    assert {name: length for name, length in lengths.items() if length > 400} == {}


def test_no_name_hides_what_it_holds() -> None:
    hiding = re.compile(r"(manager|helper|utils?|common|misc)s?$", re.IGNORECASE)

    assert [file.name for file in SOURCES if hiding.search(file.stem)] == []


def test_broad_excepts_and_ignores_carry_a_reason() -> None:
    bare = re.compile(r"(noqa: BLE001|type: ignore\[[\w, -]+\])\s*$", re.MULTILINE)

    assert [file.name for file in SOURCES if bare.search(file.read_text())] == []
