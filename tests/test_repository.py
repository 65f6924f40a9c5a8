"""The repository keeps its own rules."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import house

ROOT = Path(__file__).parent.parent
ALLOWED = {"pyproject.toml", "dcc_bridge", "plugins", "tests", "resources", "README.md", "LICENSE"}
SOURCES = [*(ROOT / "dcc_bridge").rglob("*.py"), *(ROOT / "plugins").rglob("*.py")]


def run(*command: str) -> None:
    """Run a tool of this environment at the root; its complaint is the test's."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PATH": path},
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


@pytest.mark.lint
def test_what_asks_does_not_know_what_a_yes_allows_not_even_its_types() -> None:
    """import-linter leaves out what is imported for types only."""
    floors = ("threads", "audit", "elicitation", "consent", "skills", "verbs", "code")

    assert house.imports_upwards(floors) == []


@pytest.mark.lint
@pytest.mark.parametrize(
    "rule",
    [house.names_taken, house.imports_between_leaves, house.circles, house.undocumented],
    ids=lambda rule: rule.__name__,
)
def test_nothing_breaks_a_rule_of_the_layout(rule: Callable[[], Any]) -> None:
    assert not rule()


@pytest.mark.lint
def test_the_last_twenty_subjects_name_their_scope_and_fit_in_a_line() -> None:
    listed = subprocess.run(
        ["git", "log", "-20", "--no-merges", "--format=%s"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    with_scope = re.compile(r"[a-z][\w /,.-]*: \S")
    subjects = listed.stdout.splitlines()

    assert [it for it in subjects if len(it) > 72 or not with_scope.match(it)] == []


def test_no_name_hides_what_it_holds() -> None:
    hiding = re.compile(r"(manager|helper|utils?|common|misc)s?$", re.IGNORECASE)

    assert [file.name for file in SOURCES if hiding.search(file.stem)] == []


def test_broad_excepts_and_ignores_carry_a_reason() -> None:
    bare = re.compile(r"(noqa: BLE001|type: ignore\[[\w, -]+\])\s*$", re.MULTILINE)

    assert [file.name for file in SOURCES if bare.search(file.read_text())] == []
