"""``dcc-bridge list``: who runs, for a person and for a script."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dcc_bridge.cli.hosts import START
from tests.cli.commands import Served, run


def test_it_shows_a_table_of_the_hosts_that_run(host: Served) -> None:
    done = host.run("list")

    titles, row = done.out.splitlines()
    assert titles.split() == ["ID", "HOST", "VERSION", "SCENE", "STATE", "FOR", "PID", "URL"]
    for column, cell in (
        ("ID", host.instance.id),
        ("SCENE", "shot_010_layout.usda"),
        ("STATE", "ready"),
        ("PID", str(host.process.pid)),
        ("URL", host.url),
    ):
        assert row[titles.index(column) :].startswith(cell)


def test_it_gives_json_without_the_secret(host: Served) -> None:
    done = host.run("list", "--json")

    (told,) = json.loads(done.out)
    assert told["id"] == host.instance.id
    assert host.instance.secret not in done.out


def test_it_says_that_no_host_is_running(runtime: Path) -> None:
    done = run(runtime, "list")

    assert (done.code, done.out) == (
        0,
        f"No host is running. {START}\n",
    )
    assert json.loads(run(runtime, "list", "--json").out) == []


@pytest.mark.parametrize("words", ["list", "tools", "call x", "token make x", "doctor"])
def test_a_folder_of_hosts_that_cannot_be_used_is_told_in_a_sentence(
    words: str, tmp_path: Path
) -> None:
    (taken := tmp_path / "run").write_text("a file")
    done = run(taken, *words.split())

    assert done.code == (1 if words == "doctor" else 2)
    assert f"'{taken}'" in done.out + done.err
    assert "Set DCC_BRIDGE_RUNTIME to a folder of yours" in done.out + done.err
