"""``dcc-bridge call --resume``: a call whose command was killed is answered, and fetched, by id."""

from __future__ import annotations

import json
import re
import signal

import pytest

from tests.cli.commands import LIMIT, Served

RESUME = r"dcc-bridge call --resume (\S+)"
NAMED = ("--answer", '{"name": "shot_020"}')


def test_a_call_whose_command_was_killed_is_answered_by_another_one(host: Served) -> None:
    runs = int(host.run("call", "name_it", *NAMED).out.split()[-2])
    task = asking(host)

    resumed = host.run("call", "--resume", task, *NAMED)
    again = host.run("call", "--resume", host.instance.id, task, "--json")

    assert (resumed.code, resumed.out) == (0, f"shot_020, after {runs + 1} run\n")
    assert json.loads(again.out) == f"shot_020, after {runs + 1} run"


def asking(host: Served) -> str:
    """Begin a call whose command is killed at its question; gives its id."""
    with host.at_terminal("call", "name_it") as (tty, process):
        tty.until("What shall it be called?")
        process.kill()
        process.communicate(timeout=LIMIT)
    found = re.search(RESUME, tty.seen)
    assert found, tty.seen
    return found[1]


def test_where_nobody_can_be_asked_a_question_stays_open_and_the_command_says_so(
    host: Served,
) -> None:
    task = asking(host)

    left = host.run("call", "--resume", task)
    answered = host.run("call", "--resume", task, *NAMED)

    assert (left.code, left.out) == (5, "")
    assert "What shall it be called?" in left.err
    assert re.search(rf"stays open\..* by \d\d:\d\d:\d\d with: .* --resume {task}\n", left.err)
    assert (answered.code, answered.out.split(",")[0]) == (0, "shot_020")


def test_a_question_that_another_command_answers_goes_from_the_terminal(host: Served) -> None:
    task = asking(host)

    with host.at_terminal("call", "--resume", task) as (tty, process):
        tty.until("  > ")
        host.run("call", "--resume", task, *NAMED)
        tty.until("The question was withdrawn.")
        out, _ = process.communicate(timeout=LIMIT)

    assert (process.returncode, out.split(",")[0]) == (0, "shot_020")


def test_a_command_that_nobody_stops_prints_the_id_beside_the_result(host: Served) -> None:
    done = host.run("call", "name_it", *NAMED, "--json")

    assert json.loads(done.out).startswith("shot_020")
    assert re.search(RESUME, done.err)


def test_an_id_that_leads_nowhere_is_an_error_of_the_tool(host: Served) -> None:
    done = host.run("call", "--resume", f"{host.instance.id}.{32 * '0'}")

    assert (done.code, done.out) == (1, "")
    assert "There is no such task" in done.err


def test_what_is_no_id_of_a_call_is_refused_whatever_runs(host: Served) -> None:
    done = host.run("call", "--resume", "nosuch", "--host", "none")

    assert done.code == 2
    assert "'nosuch' is no ID of a call" in done.err


@pytest.mark.parametrize("words", [("--args", '{"a": 1}'), ("--era", "legacy")])
def test_a_call_that_goes_on_takes_no_other_arguments_and_no_older_revision(
    words: tuple[str, str], host: Served
) -> None:
    done = host.run("call", "--resume", f"{host.instance.id}.{32 * '0'}", *words)

    assert done.code == 2
    assert "--resume takes no --args, and no --era legacy: no call goes on there." in done.err


def test_ctrl_c_gives_up_a_call_that_is_a_task(host: Served) -> None:
    with host.at_terminal("call", "name_it") as (tty, process):
        tty.until("What shall it be called?")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=LIMIT)
    last = json.loads(host.run("call", "recent_calls", "--json").out)["calls"][0]

    assert process.returncode == 130
    assert (last["tool"], last["answered_by"]) == ("name_it", "nobody")
    assert "cancelled" in last["answered"]


def test_a_call_needs_a_tool_or_an_id(host: Served) -> None:
    done = host.run("call")

    assert done.code == 2
    assert "TOOL" in done.err
