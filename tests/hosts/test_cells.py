"""The guide's tables of hosts and verbs say what there is a test for, and no more."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.verbs.operations_contract import VERBS

TESTS = Path(__file__).parents[1]
GUIDE = TESTS.parent / "resources" / "guide"
TEXT = (GUIDE / "hosts.md").read_text(encoding="utf-8")
TEXT_OF_VERBS = (GUIDE / "verbs.md").read_text(encoding="utf-8")
TOLD = tomllib.loads((TESTS / "hosts" / "cells.toml").read_text(encoding="utf-8"))
HOSTS = [host for host in TOLD if "verbs" in TOLD[host]]
COLUMNS = (
    "loads",
    "call",
    "dialog",
    "decline",
    "undo",
    "rollback",
    "headless",
    "reload",
    "exit",
)


def row(host: str) -> str:
    """Write a host's line as the guide has it."""
    cells = [TOLD[host][column] for column in COLUMNS]
    return " | ".join([f"| {host}", *("yes" if "::" in cell else cell for cell in cells)]) + " |"


def test_the_table_has_the_hosts_that_were_there_and_a_sentence_names_the_others() -> None:
    rows = [row(host) for host in TOLD if not TOLD[host].get("stand_in")]
    others = ", ".join(host for host in TOLD if TOLD[host].get("stand_in"))
    table = TEXT.partition("## What has been tried")[2].partition("\n## ")[0].splitlines()

    assert [line for line in table if line.startswith("| ")][1:] == rows
    assert f"Not tried in the application itself: {others}." in TEXT


@pytest.mark.parametrize("host", TOLD)
@pytest.mark.parametrize("column", COLUMNS)
def test_each_cell_names_a_test_that_is_there(host: str, column: str) -> None:
    file, there, name = TOLD[host][column].partition("::")

    assert not there or f"def {name}(" in (TESTS / file).read_text(encoding="utf-8")


def cells_of(host: str) -> dict[str, str]:
    own: dict[str, str] = dict(TOLD[host]["verbs"])
    return dict.fromkeys(sorted(VERBS), own.pop("every")) | own


def test_the_table_of_verbs_says_what_has_been_tried_where() -> None:
    columns = [cells_of(host) for host in HOSTS]
    section = TEXT_OF_VERBS.partition("## What has been tried")[2].partition("\n## ")[0]
    table = section.splitlines()
    rows = [line for line in table if line.startswith("| `")]
    verbs = [row.split("`")[1] for row in rows]

    assert sorted(verbs) == sorted(VERBS)
    assert rows == [
        " | ".join([f"| `{verb}`", *("yes" if "::" in it else it for it in cells)]) + " |"
        for verb in verbs
        for cells in [[column[verb] for column in columns]]
    ]


@pytest.fixture(scope="module")
def collected() -> list[str]:
    """Give the ids of the tests that are parametrised with hosts, or with what is done there."""
    every = [cell for host in HOSTS for cell in cells_of(host).values() if "[" in cell]
    files = {str(TESTS / cell.partition("::")[0]) for cell in every}
    ours = ["-q", "--collect-only", "-n", "0", "-m", "", "-p", "no:cacheprovider", "-W", "ignore"]
    command = [sys.executable, "-m", "pytest", *ours, *sorted(files)]
    done = subprocess.run(command, cwd=TESTS.parent, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.long
@pytest.mark.parametrize("host", HOSTS)
def test_each_verb_names_a_test_that_runs_in_that_host(host: str, collected: list[str]) -> None:
    cells = {cell for cell in cells_of(host).values() if "::" in cell}

    assert [cell for cell in cells if not runs_in(TOLD[host], cell, collected)] == []


def runs_in(host: dict[str, str], cell: str, collected: list[str]) -> bool:
    """Whether there is such a test, not skipped, which imports that host or has it as its case."""
    file, _, test = cell.partition("::")
    name, _, words = test.removesuffix("]").partition("[")
    wanted = [word for word in words.split(", ") if word]
    nodes = list(ast.walk(ast.parse((TESTS / file).read_text(encoding="utf-8"))))
    tests = [it for it in nodes if isinstance(it, ast.FunctionDef) and it.name == name]
    skips = [it for test in tests for it in test.decorator_list if "mark.skip(" in ast.unparse(it)]
    modules = {it.module for it in nodes if isinstance(it, ast.ImportFrom)}
    modules |= {it.name for each in nodes if isinstance(each, ast.Import) for it in each.names}
    is_there = host.get("imports") in modules or host.get("case") in wanted
    ids = [it for it in collected if f"::{name}[" in it and all(word in it for word in wanted)]
    return bool(tests) and not skips and is_there and (not wanted or bool(ids))
