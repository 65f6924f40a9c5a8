"""The README's table of hosts says what there is a test for, and no more."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
TOLD = tomllib.loads((TESTS / "hosts" / "cells.toml").read_text(encoding="utf-8"))
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
    """Write a host's line as the README has it."""
    there = "by documentation" if TOLD[host].get("stand_in") else "yes"
    cells = [TOLD[host][column] for column in COLUMNS]
    return " | ".join([f"| {host}", *(there if "::" in cell else cell for cell in cells)]) + " |"


@pytest.mark.parametrize("host", TOLD)
def test_each_line_of_the_readme_is_what_the_tests_fill(host: str) -> None:
    lines = (TESTS.parent / "README.md").read_text(encoding="utf-8").splitlines()

    assert row(host) in lines


@pytest.mark.parametrize("host", TOLD)
@pytest.mark.parametrize("column", COLUMNS)
def test_each_cell_names_a_test_that_is_there(host: str, column: str) -> None:
    file, there, name = TOLD[host][column].partition("::")

    assert not there or f"def {name}(" in (TESTS / file).read_text(encoding="utf-8")
