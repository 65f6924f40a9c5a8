"""``dcc-bridge list``, ``tools`` and ``call``, against a host in another process."""

from __future__ import annotations

import json
import re
import signal
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import anyio
import pytest

from dcc_bridge.cli import call
from dcc_bridge.cli.hosts import START
from dcc_bridge.skills.call_history import LIVE
from tests.cli.commands import DELETE, Served, background, run, serve
from tests.client.tty import LIMIT
from tests.hosts.application import until
from tests.tiers import sampled

RENAME = '{"names": {"/World/Lights": "Lamps"}}'


def cameras(host: Served) -> int:
    summary = json.loads(host.run("call", "summary", "--json").out)
    return int(summary["types"].get("Camera", 0))


def last_call(host: Served, tool: str) -> Any:
    calls = json.loads(host.run("call", "recent_calls", "--json").out)["calls"]
    return next(one for one in calls if one["tool"] == tool)


@pytest.mark.core
def test_tools_are_listed_with_their_risk_in_columns(host: Served) -> None:
    done = host.run("tools")

    lines = [line for line in done.out.splitlines() if not line.startswith(" ")]
    assert done.code == 0
    assert any(line.split()[:3] == ["delete", "destructive", "Delete"] for line in lines)
    assert any(line.split()[:2] == ["summary", "read"] for line in lines)
    assert any(line.split()[:2] == ["set_values", "edit"] for line in lines)
    columns = {line.index(line.split()[1]) for line in lines}
    assert len(columns) == 1
    assert not any("And then give back" in line for line in lines)


def test_tools_are_listed_as_json(host: Served) -> None:
    tools = {tool["name"]: tool for tool in json.loads(host.run("tools", "--json").out)}

    assert tools["delete"]["risk"] == "destructive"
    assert tools["delete"]["description"].startswith("Delete items.")
    assert any(argument.startswith("pattern") for argument in tools["delete"]["arguments"])


def test_a_skill_is_tried_and_taken_back(host: Served) -> None:
    box = json.dumps({"things": [{"type": "Cube", "name": "Tried"}]})

    made = host.run("try", "create", "--args", box)
    asks = host.run("try", "delete", "--args", '{"pattern": "*", "type": "Camera"}')
    asks_later = host.run("try", "check_connection", "--args", '{"ask": true}')
    there = host.run("call", "list_items", "--args", '{"name": "Tried*"}', "--json")

    assert made.code == 0
    assert made.out.splitlines()[:2] == [
        "Tried and taken back. Nothing was changed.",
        "It makes 1 prim: /World/Tried.",
    ]
    assert asks.code == asks_later.code == 2
    assert "Delete items cannot be tried. It asks the person before it edits." in asks.err
    assert json.loads(there.out)["found"] == 0


def test_an_empty_name_of_a_host_or_scene_means_any(host: Served) -> None:
    """As an empty field of Claude Desktop's settings gives it."""
    done = host.run("tools", "--host", "", "--scene=", "--instance", "")

    assert (done.code, done.out) == (0, host.run("tools").out)


def test_each_tool_is_listed_with_what_it_takes_and_objects_with_their_fields(host: Served) -> None:
    told = host.run("tools").out

    _, listed = told.split("\nlist_items ")
    assert [line.strip() for line in listed.splitlines()[1:4]] == [
        "type: text, optional",
        'name: text, optional ["*"]',
        "under: text, optional",
    ]
    assert "\n    prop: text, required\n" in told
    assert "\n    things: list of (type, name, under, at, values, repeat), required\n" in told
    assert "\n    values: object, optional\n" in told


def test_a_picture_is_written_to_a_file_whose_path_is_printed(
    host: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    said, path = map(Path, host.run("call", "picture").out.splitlines())

    assert (said.name, path.parent, path.suffix) == ("a dot", tmp_path, ".png")
    assert path.read_bytes() == b"\x89PNG\r\n\x1a\n"


def test_progress_is_shown_at_a_terminal_and_not_in_a_log(host: Served) -> None:
    logged = host.run("call", "halfway")
    with host.at_terminal("call", "halfway") as (tty, process):
        tty.until("   50%  Halfway\n")
        out, _ = process.communicate(timeout=LIMIT)

    assert (logged.out, logged.err) == (out, "") == ("there\n", "")


def test_a_call_that_has_to_wait_for_somebodys_answer_says_so_wherever_it_runs(
    host: Served,
) -> None:
    with host.at_terminal(*DELETE) as (tty, process):
        tty.until("  > ")
        with background(host.runtime, "call", "rename", "--args", RENAME) as waiting:
            assert waiting.stderr is not None
            held_up = (line for line in waiting.stderr if "Waiting for the answer to" in line)
            said = next(held_up)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=LIMIT)

    assert "at the latest" in said
    until(lambda: host.run("undo").code == 0)  # a task outlives its client, and renames


def test_a_host_can_be_named_by_its_url(host: Served) -> None:
    assert host.run("tools", host.url).out == host.run("tools").out
    assert host.run("tools", host.url.replace("127.0.0.1", "localhost")).code == 0


def test_json_is_the_result_and_nothing_else(host: Served) -> None:
    done = host.run("call", "summary", "--json")

    assert done.code == 0
    assert json.loads(done.out)["types"]["Camera"] == 127
    assert done.err == ""


@pytest.mark.parametrize("era", ["auto", "legacy"])
@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("decline", "Declined in the client: "),
        ("cancel", "The question was closed in the client: "),
        ('{"confirm": false}', "Declined in the client: "),
        ("ask", "Nobody could be asked"),
    ],
)
def test_a_refusal_has_an_exit_code_of_its_own_and_changes_nothing(
    host: Served, era: str, answer: str, why: str
) -> None:
    done = host.run(*DELETE, "--era", era, "--answer", answer, "--json")

    assert (done.code, done.out) == (3, "")
    assert why in done.err
    assert cameras(host) == 127


@pytest.mark.parametrize(
    ("words", "option"), [((), "--answer accept"), (("--answer", "decline"), "")]
)
def test_where_nobody_could_be_asked_the_option_that_answers_is_named(
    host: Served, words: tuple[str, ...], option: str
) -> None:
    done = host.run(*DELETE, *words)

    assert done.code == 3
    assert ("If the decision is yours" in done.err) == bool(option)
    assert option in done.err


@pytest.mark.core
@pytest.mark.parametrize("era", ["auto", "legacy"])
def test_an_agreement_is_carried_out(tmp_path: Path, era: str) -> None:
    with serve(tmp_path, "--headless") as fresh:
        done = fresh.run(*DELETE, "--era", era, "--answer", "accept", "--json")

        assert done.code == 0, done.err
        assert json.loads(done.out)["found"] == 127
        assert cameras(fresh) == 0


def test_a_skill_that_asks_nothing_is_asked_for(host: Served) -> None:
    refused = host.run("call", "wipe", "--answer", "decline")
    agreed = host.run("call", "wipe", "--answer", "accept")

    assert (refused.code, "Declined in the client" in refused.err) == (3, True)
    assert (agreed.code, agreed.out) == (0, "wiped\n")


def test_an_error_of_the_tool_is_told_from_a_refusal(host: Served) -> None:
    failed = host.run("call", "boom")
    unknown = host.run("call", "nothing_of_the_kind")
    wrong = host.run("call", "summary", "--args", '{"depth": 3}')

    assert [one.code for one in (failed, unknown, wrong)] == [1, 2, 2]
    assert "boom failed: KeyError: 'nothing there'" in failed.err
    assert "no tool named 'nothing_of_the_kind'" in unknown.err
    assert "`dcc-bridge tools` lists the tools." in unknown.err
    assert "Did you mean summary?" in host.run("call", "sceen_summary").err
    assert "depth" in wrong.err
    assert "Traceback" not in failed.err + unknown.err + wrong.err
    assert failed.out + unknown.out + wrong.out == ""


def test_an_answer_that_cannot_be_given_closes_the_question_and_says_why(host: Served) -> None:
    done = host.run("call", "place_camera", "--answer", "accept", "--json")

    assert json.loads(done.out)["message"] == "invalid_answer"
    assert "name is required and has no default" in done.err


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        ((*DELETE, "--answer", "maybe"), "not 'maybe'"),
        ((*DELETE, "--answer", '{"confirm": yes}'), """not '{"confirm": yes}'"""),
        ((*DELETE, "--answer", '{"confirm": {"yes": 1}}'), "confirm: no field of a form can be"),
        ((*DELETE, "--answer", '{"confirm": "yes"}'), "confirm: expected yes or no, not 'yes'."),
        ((*DELETE, "--answer", '{"cofirm": true}'), "the form asks for confirm."),
        (("call", "wipe", "--answer", '{"confirm": 1}'), "confirm: expected yes or no, not 1."),
        (
            ("call", "place_camera", "--answer", '{"name": 3, "lens": 50, "shot": ""}'),
            "name: expected a text, not 3.",
        ),
        (("call", "place_camera", "--answer", "accept"), "name is required and has no default"),
    ],
)
def test_an_answer_that_does_not_fit_is_wrong_usage_and_nobodys_no(
    host: Served, words: tuple[str, ...], wrong: str
) -> None:
    done = host.run(*words)

    assert (done.code, wrong in done.err) == (2, True), done
    assert not {"refused", "Closed", "Declined"} & set((done.err + done.out).split())
    assert cameras(host) == 127


def test_nothing_is_asked_with_an_answer_that_fits_no_question(runtime: Path) -> None:
    for answer in ("yes", "[1]", '{"a": null}', '{"a": [{}]}', '{"a": {}}'):
        done = run(runtime, "call", "wipe", "--answer", answer)

        assert (done.code, "argument --answer: " in done.err) == (2, True), done


def test_without_json_data_is_laid_out_for_a_person(host: Served) -> None:
    listed = host.run("call", "list_items", "--args", '{"type": "Camera", "limit": 2}').out
    values = host.run("call", "values").out

    assert listed.splitlines()[2:] == [
        'rows    {"item": "/World/Cameras/sq010/sh0010_cam"}',
        '        {"item": "/World/Cameras/sq010/sh0020_cam"}',
    ]
    assert values.splitlines() == [
        "ok      true",
        "none    null",
        'lists   ["a", true, null]',
        "        text",
        "        in two",
        "        false",
        'nested  {"é": {"deep": null}}',
    ]
    assert re.search(r"^up +Y$", host.run("call", "summary").out, re.MULTILINE)
    assert host.run("call", "yes").out == "true\n"
    assert "\\n" not in host.run(*DELETE).out


def test_fields_can_be_given_as_json(host: Served) -> None:
    fields = '{"name": "main", "lens": 50, "shot": "wide"}'
    done = host.run("call", "place_camera", "--answer", fields, "--json")

    assert (done.code, json.loads(done.out)["data"]) == (0, json.loads(fields))


def test_a_page_is_agreed_to(host: Served) -> None:
    agreed = host.run("call", "visit", "--answer", "accept")

    assert agreed.out == "accept by client\n"
    place = r"Sign in, please\. Open by \d\d:\d\d:\d\d: https://example.org/sign-in\?next=%2Fhome\n"
    assert re.fullmatch(f"dcc-bridge: {place}", agreed.err)


@pytest.mark.parametrize("era", ["auto", "legacy"])
def test_where_a_page_is_waited_for_its_address_is_told_with_until_when(
    host: Served, era: str
) -> None:
    waited = host.run("call", "key", "--answer", "accept", "--era", era)

    assert waited.out == "nobody entered it\n"
    page = f"{host.url.removesuffix('/mcp')}/ask/"
    waits = rf"It needs a key\. Open by \d\d:\d\d:\d\d; the call waits for it: {page}\S+\n"
    assert re.search(waits, waited.err)


def test_where_nobody_can_be_asked_for_what_is_missing_it_is_no_error_of_the_tool(
    host: Served,
) -> None:
    done = host.run("call", "turn")

    assert (done.code, "axis: required" in done.err) == (3, True)


@pytest.mark.core
def test_no_host_is_a_sentence_that_says_how_to_start_one(runtime: Path) -> None:
    done = run(runtime, "tools")

    assert done.code == 4
    assert done.err == f"dcc-bridge: No host is running. {START}\n"


def test_an_address_without_a_host_is_a_connection_failure(runtime: Path) -> None:
    unknown = run(runtime, "tools", "http://127.0.0.1:9/mcp")
    silent = run(runtime, "tools", "http://127.0.0.1:9/mcp", DCC_BRIDGE_TOKEN="cli.0")
    strange = run(runtime, "tools", "http://example.org/mcp", DCC_BRIDGE_TOKEN="cli.0")

    assert [one.code for one in (unknown, silent, strange)] == [4, 4, 4]
    assert "DCC_BRIDGE_TOKEN is not set" in unknown.err
    assert "nothing answers there" in silent.err
    assert "only a host on this computer" in strange.err


def test_a_host_that_nobody_wrote_down_is_reached_with_a_token(host: Served, runtime: Path) -> None:
    token = host.instance.token("elsewhere")
    known = run(runtime, "tools", host.url, DCC_BRIDGE_TOKEN=token)
    wrong = run(runtime, "tools", host.url, DCC_BRIDGE_TOKEN="elsewhere.0")

    assert known.code == 0
    assert (wrong.code, "it does not accept the token" in wrong.err) == (4, True)


def test_several_hosts_are_named_and_one_is_chosen_by_its_id_or_by_what_it_is(
    tmp_path: Path,
) -> None:
    (scene := tmp_path / "mine.usda").write_text('#usda 1.0\ndef Cube "box"\n{\n}\n')
    words = ("call", "summary", "--json")
    with (
        serve(tmp_path / "rt", "--headless") as shot,
        serve(tmp_path / "rt", "--headless", "--scene", scene) as mine,
    ):
        unclear, nowhere = mine.run("tools"), mine.run("undo", "--host", "maya")
        misnamed = mine.run("tools", "usd")
        chosen = [
            mine.run("call", mine.instance.id, "summary", "--json"),
            mine.run("call", mine.url, "summary", "--json"),
            mine.run(*words, "--instance", mine.instance.id),
            mine.run(*words, "--scene", "MINE*", "--host", "usd"),
        ]
        others = [
            mine.run("tools", mine.instance.id).code,
            mine.run("undo", shot.instance.id).err,
            mine.run("token", "make", "cursor", mine.instance.id).out.strip(),
            mine.run("token", "make", mine.instance.id, mine.instance.id).err,
        ]
        wanted = mine.instance.token("cursor")
        doctor = mine.run("doctor", "--no-question")
        tied = mine.run("doctor", "--no-question", "--scene", "mine*")
        shown = [mine.instance.id, shot.instance.id, mine.url, shot.url]

    assert (unclear.code, nowhere.code) == (2, 4)
    assert all(word in unclear.err for word in [*shown, "--scene"])
    assert all(word in doctor.out for word in shown)
    assert (doctor.code, doctor.err, "WRONG" in doctor.out) == (0, "", False)
    assert "ok     2 hosts are running; choose one by its ID or with --host" in doctor.out
    assert doctor.out.endswith("Nothing to fix.\n")
    assert f"answers at {mine.url}" in tied.out
    assert "No host with name 'maya' is running. There are:" in nowhere.err
    assert (
        "No host called 'usd' is running. An application's name goes after --host." in misnamed.err
    )
    assert [json.loads(done.out)["types"] for done in chosen] == [{"Cube": 1}] * 4
    assert others[0] == 0
    assert "nothing to undo" in str(others[1])
    assert others[2] == wanted
    assert "Name the client first" in str(others[3])


@pytest.mark.core
def test_a_person_at_a_terminal_answers_field_by_field(host: Served) -> None:
    with host.at_terminal("call", "place_camera", "--json") as (tty, process):
        tty.until("dcc_bridge USD, for place_camera, asks:")
        tty.until("  | Where does it go?")
        tty.answer("Name (text)\n    At least 3 characters.\n  > ", "ab")
        tty.until("! name: at least 3 characters")
        tty.answer("> ", "main")
        tty.answer("Lens (whole number) [35]\n    From 8 to 200.\n  > ", "")
        tty.answer(" 2  close\n     3  insert\n  > ", "2")
        tty.answer("Notes (text, optional)\n  > ", "")
        tty.until("Name: main\n    Lens: 35\n    Shot: close\n    Notes: (left out)\n")
        tty.answer("> ", "yes")
        out, _ = process.communicate(timeout=LIMIT)

    assert json.loads(out)["data"] == {"name": "main", "lens": 35, "shot": "close"}
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("era", "typed"),
    sampled(
        [("auto", "no"), ("legacy", "/cancel")], ["auto", "legacy"], ["no", "/decline", "/cancel"]
    ),
)
def test_a_person_at_a_terminal_refuses(host: Served, era: str, typed: str) -> None:
    with host.at_terminal(*DELETE, "--era", era) as (tty, process):
        tty.answer("Delete 127 cameras? Type yes or no. /cancel closes the question.\n  > ", typed)
        process.communicate(timeout=LIMIT)

    assert process.returncode == 3
    assert cameras(host) == 127


def test_a_person_is_not_told_what_an_agent_is_told_of_their_no(host: Served) -> None:
    with host.at_terminal("call", "wipe") as (tty, process):
        tty.answer("  > ", "no")
        tty.until("Nothing was changed.\n")
        process.communicate(timeout=LIMIT)

    assert process.returncode == 3


@pytest.mark.parametrize("era", ["auto", "legacy"])
def test_a_prompt_says_until_when_it_is_open_and_ends_by_itself(host: Served, era: str) -> None:
    with host.at_terminal("call", "brief", "--era", era) as (tty, process):
        shown = tty.until("  > ")
        tty.until("The question was withdrawn.")
        out, _ = process.communicate(timeout=LIMIT)

    assert re.search(r"\n  Answer by \d\d:\d\d:\d\d\.\n", shown)
    assert (out, process.returncode) == ("cancel: timed_out\n", 0)


def test_nothing_that_a_server_sends_steers_the_terminal(host: Served) -> None:
    with host.at_terminal("call", "spoof") as (tty, process):
        tty.answer("> ", "1")
        out, _ = process.communicate(timeout=LIMIT)
    listed = host.run("tools").out
    said = host.run("call", "spoof_with_words").out
    failed = host.run("call", "spoof_with_words", "--args", '{"fail": true}').err

    for shown in (tty.seen.replace("\r", ""), out, listed, said, failed):
        assert "U+001B" in shown
        assert not {"\x1b", "\x07", "\x9b", "\u202e", "\r"} & set(shown)


@pytest.mark.parametrize(
    "words",
    [(*DELETE, "--era", "auto"), (*DELETE, "--era", "legacy"), ("call", "name_it")],
    ids=["auto", "legacy", "a task"],
)
def test_ctrl_c_at_a_question_ends_the_command_and_the_call(
    host: Served, words: tuple[str, ...]
) -> None:
    """A skill that can do without an answer ends by itself."""
    with host.at_terminal(*words) as (tty, process):
        tty.until("  > ")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=LIMIT)
        tty.rest()
    until(lambda: last_call(host, words[1])["state"] not in LIVE)
    last = last_call(host, words[1])

    assert process.returncode == 130
    assert "Traceback" not in tty.seen
    assert last["answered_by"] == "nobody"
    assert "cancelled" in last["answered"]
    assert last["state"] == "cancelled" or words[1] == "name_it"
    assert cameras(host) == 127  # and the main thread is free for it


def test_ctrl_c_ends_a_command_also_where_it_does_not_wake_its_wait() -> None:
    """As where it comes just before the wait: here another thread than the waiting one gets it."""
    if sys.platform == "win32":
        pytest.skip("Windows sends no signals to threads")

    async def wait() -> None:
        threading.Timer(
            0.2, lambda: signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        ).start()
        await anyio.sleep_forever()

    with pytest.raises(KeyboardInterrupt):
        call.run(wait)

    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_last_action_of_an_agent_is_undone_once(host: Served) -> None:
    before = host.run("call", "list_items", "--json").out
    path = json.loads(before)["rows"][-1]["item"]
    arguments = json.dumps({"names": {path: "Renamed"}})
    renamed = host.run("call", "rename", "--args", arguments)

    undone = host.run("undo", host.url)
    again = host.run("undo")

    assert (renamed.code, renamed.err) == (0, "")
    assert (undone.code, undone.out) == (0, "Undone: Renamed 1 cylinder, of cli.\n")
    assert host.run("call", "list_items", "--json").out == before
    assert again.code == 1
    assert "Nothing was undone" in again.err or "nothing to undo" in again.err


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
    assert repr(str(taken)) in done.out + done.err
    assert "Set DCC_BRIDGE_RUNTIME to a folder of yours" in done.out + done.err


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
    assert "--answer accept" in left.err
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


@pytest.mark.parametrize("command", ["call", "try"])
def test_arguments_without_their_option_are_told_where_they_go(runtime: Path, command: str) -> None:
    done = run(runtime, command, "inspect", '{"items": ["Box"]}')

    words = f"""dcc-bridge {command} inspect --args '{{"items": ["Box"]}}'"""
    assert (done.code, done.err) == (
        2,
        f"dcc-bridge: The arguments come after --args: {words}\n",
    )


@pytest.mark.parametrize("words", [("--args", '{"a": 1}'), ("--era", "legacy")])
def test_a_call_that_goes_on_takes_no_other_arguments_and_no_older_revision(
    words: tuple[str, str], host: Served
) -> None:
    done = host.run("call", "--resume", f"{host.instance.id}.{32 * '0'}", *words)

    assert done.code == 2
    assert "--resume cannot be used with --args or --era legacy." in done.err
