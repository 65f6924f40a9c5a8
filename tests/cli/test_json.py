"""Every list is there for a program too: JSON alone on stdout, empty where there is nothing."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from dcc_bridge import cli
from dcc_bridge.audit.log import AuditLog
from dcc_bridge.cli import COMMANDS, leaves
from tests import homes
from tests.cli.commands import Command

pytestmark = pytest.mark.core

EMPTY = ("list", "status", "checkpoint list")
LISTS = (
    *EMPTY,
    "audit export",
    "audit show",
    "audit verify",
    "batch status",
    "client list",
    "doctor",
    "skill check",
    "tools",
)
"""The commands that list something. `call` has the option too, for its result."""


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's home in which nothing is installed and nothing runs."""
    homes.set_all(monkeypatch, homes.home(tmp_path))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("DCC_BRIDGE_RUNTIME", str(tmp_path / "runtime"))
    monkeypatch.setenv("DCC_BRIDGE_AUDIT", str(tmp_path / "audit"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("words", EMPTY)
def test_a_list_of_nothing_is_an_empty_list(words: str, alone: Path, command: Command) -> None:
    done = command(*words.split(), "--json")

    assert (done.code, json.loads(done.out), done.err) == (0, [], "")


def test_the_calls_on_record_are_listed_with_their_events(alone: Path, command: Command) -> None:
    record = AuditLog(alone / "audit", {"host": "Maya"})
    for call in ("first", "second"):
        record(("begin", {"call": call, "skill": "rename", "client": "claude"}))
    record(("end", {"call": "second", "skill": "rename", "client": "claude", "status": "done"}))
    record.close()

    last = json.loads(command("audit", "show", "--last", "1", "--json").out)
    named = json.loads(command("audit", "show", "--call", "fi", "--json").out)

    assert [entry["call"] for entry in (*last, *named)] == ["second", "first"]
    assert [event["event"] for event in last[0]["events"]] == ["begin", "end"]


def test_the_records_are_listed_with_what_is_wrong(alone: Path, command: Command) -> None:
    record = AuditLog(alone / "audit")
    record(("begin", {"call": "first", "skill": "rename", "client": "claude"}))
    record.close()

    done = command("audit", "verify", "--json")

    (state,) = json.loads(done.out)
    assert done.code == 1
    assert (state["file"], state["is_in_order"], state["lines"]) == (str(record.file), False, 3)
    assert (state["trouble"], len(state["unfinished"])) == (None, 1)


def test_every_client_is_listed_with_its_file(alone: Path, command: Command) -> None:
    listed = json.loads(command("client", "list", "--json").out)

    (cursor,) = [client for client in listed if client["label"] == "cursor"]
    assert cursor["file"] == str(alone / ".cursor" / "mcp.json")
    assert not cursor["is_set_up"]


def test_a_command_has_json_exactly_if_it_lists_something() -> None:
    named = set()
    for name in (*COMMANDS, *leaves.commands()):
        (commands,) = _subparsers(cli._parser([name]))
        named |= {*_with_json(name, commands.choices[name])}

    assert named == {*LISTS, "call"}


def _with_json(words: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield the words of a command, and of each of its commands, that has ``--json``."""
    if "--json" in parser._option_string_actions:
        yield words
    for commands in _subparsers(parser):
        for name, below in commands.choices.items():
            yield from _with_json(f"{words} {name}", below)


def _subparsers(
    parser: argparse.ArgumentParser,
) -> list[argparse._SubParsersAction[argparse.ArgumentParser]]:
    return [it for it in parser._actions if isinstance(it, argparse._SubParsersAction)]
