"""The guide's tables of hosts and verbs say what there is a test for, and no more."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
GUIDE = TESTS.parent / "resources" / "guide"
TEXT = (GUIDE / "hosts.md").read_text(encoding="utf-8")
VERBS = (GUIDE / "verbs.md").read_text(encoding="utf-8")
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
    """Write a host's line as the guide has it."""
    cells = [TOLD[host][column] for column in COLUMNS]
    return " | ".join([f"| {host}", *("yes" if "::" in cell else cell for cell in cells)]) + " |"


def test_the_table_has_the_hosts_that_were_there_and_a_sentence_names_the_others() -> None:
    rows = [row(host) for host in TOLD if not TOLD[host].get("stand_in")]
    others = ", ".join(host for host in TOLD if TOLD[host].get("stand_in"))
    table = TEXT.partition("## What has been tried")[2].splitlines()

    assert [line for line in table if line.startswith("| ")][1:] == rows
    assert f"Not tried in the application itself: {others}." in TEXT


@pytest.mark.parametrize("host", TOLD)
@pytest.mark.parametrize("column", COLUMNS)
def test_each_cell_names_a_test_that_is_there(host: str, column: str) -> None:
    file, there, name = TOLD[host][column].partition("::")

    assert not there or f"def {name}(" in (TESTS / file).read_text(encoding="utf-8")


def test_the_table_of_verbs_says_what_has_been_tried_where() -> None:
    hosts = [TOLD[host]["verbs"] for host in TOLD if "verbs" in TOLD[host]]
    cells = {verb: [host[verb] for host in hosts] for verb in hosts[0]}
    rows = [
        " | ".join([f"| `{verb}`", *("yes" if "::" in cell else cell for cell in row)]) + " |"
        for verb, row in cells.items()
    ]
    table = VERBS.partition("## What has been tried")[2].splitlines()

    assert [line for line in table if line.startswith("| `")] == rows


@pytest.mark.parametrize("host", [host for host in TOLD if "verbs" in TOLD[host]])
def test_each_verb_names_a_test_that_is_there(host: str) -> None:
    named = [cell.partition("::") for cell in TOLD[host]["verbs"].values() if "::" in cell]
    texts = {file: (TESTS / file).read_text(encoding="utf-8") for file, _, _ in named}

    assert [name for file, _, name in named if f"def {name}(" not in texts[file]] == []
