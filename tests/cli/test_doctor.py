"""``dcc-bridge doctor``: what is wrong, and what mends it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge.cli.doctor import check_versions
from dcc_bridge.cli.hosts import START
from dcc_bridge.elicitation.question import Reply
from dcc_bridge.errors import own_version
from dcc_bridge.server import discovery
from tests import homes, versions
from tests.cli.commands import SHOT, Done, run, serve
from tests.live import ERAS, Live, accept, live
from tests.stand_ins import FakeHost, Person


def doctor(running: Live, runtime: Path, *words: str, **more: str) -> Done:
    """Let it look at a bridge in this process."""
    return running.beside(lambda: run(runtime, "doctor", *words, **more), 40)


def findings(done: Done) -> dict[str, str]:
    return {one["check"]: one["what"] for one in json.loads(done.out)["findings"]}


@pytest.mark.core
def test_it_has_nothing_to_say_of_a_host_that_is_well(tmp_path: Path) -> None:
    host = FakeHost(has_ui=True)
    with live(tmp_path, host=host, presenter=Person(Reply("accept", {}))) as running:
        running.call("recent_calls", era=ERAS[1], label="cursor", asked=accept())
        done = doctor(running, tmp_path)

    assert (done.code, done.err) == (0, ""), done.out
    assert f"answers at {running.bridge.url}: " in done.out
    assert "cursor (mcp 0.1.0) speaks 2025-11-25 and shows forms and opens pages." in done.out
    assert re.search(r"was seen in the host and answered after \d+\.\d s\.\n", done.out)
    assert "All skills can be loaded." in done.out
    assert done.out.endswith("Nothing to fix.\n")


def test_it_names_a_skill_that_cannot_be_loaded(tmp_path: Path) -> None:
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "wipe.py").write_text("def wipe(:\n")
    with live(tmp_path, skills=[tmp_path / "skills"]) as running:
        done = doctor(running, tmp_path, "--no-question", "--json")

    assert done.code == 1
    assert "wipe" in findings(done)["skills"]
    assert "line 1" in findings(done)["skills"]


def test_it_warns_of_more_tools_than_an_agent_can_choose_from(tmp_path: Path) -> None:
    folders = [tmp_path / "ours", tmp_path / "theirs"]
    body = (
        'from dcc_bridge import skill\n\n@skill(risk="read")\ndef {}() -> None:\n    """Wait."""\n'
    )
    for number in range(40):
        file = folders[number % 2] / f"wait_{number}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(body.format(file.stem))
    with live(tmp_path, skills=folders) as running:
        done = doctor(running, tmp_path, "--no-question", "--json")

    assert done.code == 1
    assert re.search(r"see 4\d tools", findings(done)["tools"])
    assert f"20 of {folders[0]}, 20 of {folders[1]}." in findings(done)["tools"]


def test_it_says_that_nobody_can_be_asked(tmp_path: Path) -> None:
    with live(tmp_path) as running:
        running.call("recent_calls", label="cursor")
        done = doctor(running, tmp_path)

    assert done.code == 1
    assert (
        "cursor (mcp 0.1.0) speaks 2026-07-28 and shows no questions, so the application asks."
        in done.out
    )
    assert done.out.count("To fix it: ") == 1


def test_without_a_terminal_a_host_without_a_window_is_nothing_to_mend(tmp_path: Path) -> None:
    with live(tmp_path) as running:
        done = doctor(running, tmp_path)

    assert (done.code, "WRONG" in done.out) == (0, False), done.out
    assert "has no window, so agents' clients ask; here is no terminal to try it." in done.out


def test_where_no_client_is_set_up_it_says_what_to_do_and_ends_well(tmp_path: Path) -> None:
    with live(tmp_path) as running:
        home = homes.home(tmp_path / "home")
        read = doctor(running, tmp_path, "--no-question", **home)
        told = doctor(running, tmp_path, "--no-question", "--json", **home)

    assert (read.code, told.code) == (0, 0)
    assert "to do  No client is set up" in read.out
    assert "To do it: dcc-bridge client add NAME" in read.out
    assert "No client is connected to fake now." in read.out
    [warning] = json.loads(told.out)["warnings"]
    assert warning["check"] == "client"


def test_it_says_of_a_client_that_it_draws_nothing(tmp_path: Path) -> None:
    with live(tmp_path, host=FakeHost(has_ui=True), presenter=Person()) as running:
        running.call("recent_calls", label="codex", asked=accept())
        done = doctor(running, tmp_path, "--no-question")

    assert done.code == 0
    assert "claims to show questions but does not, so the application asks." in done.out


def test_it_says_of_a_connected_client_whether_it_has_tasks(tmp_path: Path) -> None:
    with live(tmp_path, host=FakeHost(has_ui=True), presenter=Person()) as running:
        running.call("recent_calls", era=ERAS[1], label="old")
        done = doctor(running, tmp_path, "--no-question")

    assert "old (mcp 0.1.0) speaks 2025-11-25" in done.out
    assert "It has no tasks, which there are from 2026-07-28 on." in done.out


def test_it_says_of_a_client_that_is_set_up_whether_it_can_have_tasks(tmp_path: Path) -> None:
    home = homes.home(tmp_path / "home")
    with live(tmp_path) as running:
        for name in ("claude-code", "cursor"):
            run(tmp_path, "client", "add", name, PATH="", **home)
        done = doctor(running, tmp_path, "--no-question", **home)

    assert re.search(
        r"Claude Code is set up in .*\. Its long calls can go on as tasks, since 2\.1\.304",
        done.out,
    )
    assert re.search(r"Cursor is set up in .*\. Its calls cannot go on as tasks: ", done.out)


def test_it_says_that_the_question_was_not_seen(tmp_path: Path) -> None:
    person = Person(Reply("decline"))
    with live(tmp_path, host=FakeHost(has_ui=True), presenter=person) as running:
        done = doctor(running, tmp_path, "--json")

    assert findings(done)["question"] == "The test question was not seen (declined)."


def test_it_says_that_no_host_is_running(tmp_path: Path) -> None:
    done = run(tmp_path, "doctor")

    assert done.code == 1
    assert "WRONG  No host is running.\n" in done.out
    assert f"To fix it: {START}\n" in done.out


def test_of_a_name_that_it_does_not_know_it_says_which_names_there_are(tmp_path: Path) -> None:
    with live(tmp_path) as running:
        typed = doctor(running, tmp_path, "blendr")
        chosen = doctor(running, tmp_path, "--host", "maja")
        runs = [host.id for host in discovery.running(tmp_path)]
    nothing = run(tmp_path, "doctor", "blendr")

    assert "no running host and no application called 'blendr'" in typed.out
    assert f"Name a running host ({runs[0]}), or an application" in typed.out
    assert "(blender, freecad, houdini, maya)" in typed.out
    assert "Name a running host (there is none)" in nothing.out
    assert "Name one of these with --host" in chosen.out


@pytest.mark.core
def test_it_says_that_nothing_answers(tmp_path: Path) -> None:
    done = run(tmp_path, "doctor", "http://127.0.0.1:9/mcp", "--json", DCC_BRIDGE_TOKEN="x.y")

    assert "nothing answers there" in findings(done)["server"]


def test_it_says_that_the_token_is_wrong(tmp_path: Path) -> None:
    with live(tmp_path) as running:
        words = (running.bridge.url, "--json")
        done = doctor(running, tmp_path / "x", *words, DCC_BRIDGE_TOKEN="cli.0")

    assert "it does not accept the token" in findings(done)["server"]


def test_it_says_that_the_main_thread_takes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dcc_bridge.skills.builtin.PATIENCE_S", 0.3)
    with live(tmp_path):
        done = run(tmp_path, "doctor", "--no-question", "--json")  # nobody serves it meanwhile

    assert "has not responded for" in findings(done)["main thread"]


@pytest.mark.parametrize(
    ("packages", "python", "found"),
    [
        ({"PySide6-Essentials": "6.12.0"}, "3.11.7", 1),
        ({"PySide6-Essentials": "6.12.0"}, "3.12.1", 0),
        ({"PySide6-Essentials": "6.11.3"}, "3.11.7", 0),
        ({"mcp": "2.2.9"}, "3.11.7", 1),
        ({"mcp": "2.3.0"}, "3.11.7", 0),
        ({"mcp": "3.0.0"}, "3.11.7", 1),
        ({"greenlet": "3.0.3", "mcp": "1.30"}, "3.13.0", 2),
        ({}, "3.11.7", 0),
    ],
)
def test_it_knows_the_versions_that_break(packages: Any, python: str, found: int) -> None:
    assert len(list(check_versions(packages, python, "Maya"))) == found


def test_a_client_hears_of_itself_only(tmp_path: Path) -> None:
    with live(tmp_path) as running:
        running.call("recent_calls", label="other")
        told = running.call("check_connection", label="cursor").structured_content or {}

    assert [one["label"] for one in told["clients"]] == ["cursor"]


def test_it_looks_at_a_served_host(runtime: Path) -> None:
    with serve(runtime, "--headless", "--scene", SHOT) as host:  # with the skills that it brings
        done = host.run("doctor", "--no-question")

    assert (done.code, done.err) == (0, ""), done.out
    assert done.out.startswith("ok     dcc-bridge runs on Python")


def test_it_names_a_host_of_another_version_and_what_mends_that(
    runtime: Path, tmp_path: Path
) -> None:
    older = versions.environment(tmp_path, versions.OLDER)
    with serve(runtime, "--headless", "--scene", SHOT, **older) as served:
        whole = served.run("doctor", "--no-question", "--json")
        one = served.run("doctor", "--no-question", "--json", served.instance.id)
        listed = served.run("list")
        said = served.run("call", "list_items")

    what = f"runs dcc-bridge {versions.OLDER}, and here is dcc-bridge {own_version()}."
    for done in (whole, one):
        assert done.code == 1
        assert what in findings(done)["version"]
    assert what in listed.out
    assert "run `dcc-bridge update`" in listed.out
    assert said.code == 0
