"""An agent's code in our own application, over HTTP, with a person who reads it."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from random import Random
from threading import Event, Thread
from typing import Any

import pytest
from mcp_types import CallToolResult

from dcc_bridge.audit.log import AuditLog
from dcc_bridge.code import run_python
from dcc_bridge.code.agreed import agree
from dcc_bridge.code.code_record import CodeRecord
from dcc_bridge.code.code_text import CodeText, read_code
from dcc_bridge.code.execution import CodeResult
from dcc_bridge.config import Settings
from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation.question import Reply
from dcc_bridge.errors import BridgeError
from dcc_bridge.spi import CodeContext, PlainNames
from dcc_bridge.threads.flows import current
from tests.code import test_trip_wire
from tests.code.seat import GRID, NO, REMOVES, YES, Sit
from tests.live import status, text
from tests.stand_ins import after
from tests.verbs.memory import MemoryHost, MemoryOperations


class CodeOperations(MemoryOperations, CodeContext):
    """With what an agent's code needs."""

    def namespace(self) -> dict[str, Any]:
        return {}


@pytest.mark.core
def test_code_runs_once_its_whole_text_was_agreed_to_as_one_step(seat: Sit) -> None:
    live = seat(YES)

    told = live.ran(GRID)

    (question,) = live.person.shown
    assert "\nAs far as can be read, it only works in this scene.\n" in question.message
    assert "\nIt names no files that it would write or delete.\n" in question.message
    assert question.details.text == GRID
    assert "The agent says: “The test wants it.”" in question.message
    assert question.message.startswith("Run 5 lines of code?\n")
    assert "not sandboxed" in question.message
    assert question.offers.soon == 300.0
    assert told["result"] == 100
    assert told["changed"]["created"]["count"] == 101
    assert told["changed"]["created"]["items"][:2] == ["/World/Grid", "/World/Grid/c00"]
    assert len(live.session.undo_labels) == 1


def test_the_window_is_served_while_a_text_is_read(
    seat: Sit, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = seat(YES)

    def read(code: str, plain: PlainNames) -> CodeText:
        live.bridge.main.post(lambda: None).result(20)
        return read_code(code, plain)

    monkeypatch.setattr(run_python, "read_code", read)

    assert live.ran("1 + 1")["result"] == 2


def test_the_record_has_the_digest_of_the_code_and_its_text_a_file_of_its_own(seat: Sit) -> None:
    live = seat(YES)
    live.ran(GRID)

    lines, digest = live.record(), sha256(GRID.encode()).hexdigest()
    agreed, done = (line for line in lines if line["event"] == "code")
    file = live.bridge.audit.folder / "code" / f"{digest}.py"
    assert (agreed["digest"], agreed["outcome"], done["outcome"]) == (digest, "agreed", "done")
    assert (done["created"], done["client"], done["bytes"]) == (101, "test", len(GRID))
    assert (file.read_text(), file.stat().st_mode & 0o777) == (GRID, 0o600)
    assert "UsdGeom.Cube" not in json.dumps(lines)


def test_a_studio_that_keeps_no_text_has_the_digest_of_the_code_alone(
    seat: Sit, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    live = seat(YES, YES, YES, NO, python="ask_hash")
    caplog.set_level("DEBUG", "dcc_bridge")

    live.ran(GRID)
    live.code(f"{GRID}UsdGeom.Cubes")
    live.code(f"{GRID}{REMOVES}")

    lines = [line for line in live.record() if line["event"] == "code"]
    kept = [it.read_text(errors="replace") for it in tmp_path.rglob("*") if it.is_file()]
    assert lines[0]["digest"] == sha256(GRID.encode()).hexdigest()
    assert [line["outcome"] for line in lines[1::2]] == ["done", "failed", "refused"]
    assert not any("UsdGeom" in it for it in [*kept, caplog.text])


@pytest.mark.core
def test_code_that_fails_leaves_the_scene_and_its_stacks_and_names_line_and_near_names(
    seat: Sit,
) -> None:
    live = seat(YES)
    fails = GRID.replace("range(100)", "range(50)") + "stage.DefinePrism('/A')\n"

    said = text(live.vain(fails))

    assert "line 6" in said
    assert "DefinePrism" in said
    assert " It has: DefinePrim, " in said
    assert "Nothing was changed." in said
    assert live.record()[-1]["event"] == "reverted"


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("1 +", "Line 1 is not valid Python"),
        (
            "stage.DefinePrim('rel')",
            "ErrorException: Path must be an absolute path: <rel>. Nothing",
        ),
        ("stage.GetPrimAtPath('/no').GetName()", "null prim. Nothing was changed."),
        ("stage.focalLength", "find_api knows: Camera.focalLength float"),
    ],
)
def test_what_fails_is_told_in_whole_sentences_and_is_nobodys_no(
    seat: Sit, code: str, why: str
) -> None:
    result = seat(YES).code(code)

    assert status(result) == "failed"
    assert why in text(result)


def test_a_slip_in_a_name_of_an_object_meets_the_names_of_that_object_first(seat: Sit) -> None:
    said = text(seat(YES).code('stage.GetPrimAtPaht("/World")'))

    assert " It has: GetPrimAtPath, " in said
    _, _, known = said.partition("find_api knows: ")
    names = known.partition(". ")[0].split("; ")
    assert len(names) == len(set(names))


@pytest.mark.core
@pytest.mark.parametrize("answer", [YES, NO])
def test_what_is_deleted_without_being_named_is_asked_for_by_its_names(
    seat: Sit, answer: Reply
) -> None:
    live = seat(YES, answer)
    before = live.state

    result = live.code(REMOVES)

    first, second = live.person.shown
    assert first.items == ()
    assert second.items == tuple(f"/World/Props/Tree{it}" for it in ("", "/Crown", "/Trunk"))
    assert second.confirmation.title == "Run and delete 2 cubes and 1 xform"
    assert (live.state == before) == (answer is NO)
    assert live.record()[-1]["event"] == ("reverted" if answer is NO else "end")
    code = [line["outcome"] for line in live.record() if line["event"] == "code"]
    assert code == ["agreed", "refused" if answer is NO else "done"]
    if answer is YES:
        assert status(result) == "done"
        assert not live.session.stage.GetPrimAtPath("/World/Props/Tree")
        assert len(live.session.undo_labels) == len(before[1]) + 1


def test_what_the_person_does_while_the_loss_is_asked_stays_where_the_code_then_fails(
    seat: Sit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "runs", 0, raising=False)

    work = after(lambda: live.session.stage.DefinePrim("/Mine"), YES)
    live = seat(YES, work)
    fails = f"import sys\nsys.runs += 1\n{REMOVES}\nif sys.runs > 1:\n    raise ValueError('twice')"

    said = text(live.code(fails))

    assert "twice" in said
    assert "Nothing was changed." in said
    assert all(map(live.session.stage.GetPrimAtPath, ("/Mine", "/World/Props/Tree")))


def test_code_that_deletes_others_each_time_is_asked_for_three_times(
    seat: Sit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "count", 0, raising=False)
    live = seat(*[YES] * 9)
    other = 'import sys\nsys.count += 1\nstage.RemovePrim(f"/World/Props/Placeholder_0{sys.count}")'

    said = text(live.vain(other))

    assert len(live.person.shown) == 4
    assert "deletes different items each time it runs" in said


def test_a_prim_that_is_renamed_is_not_lost(seat: Sit) -> None:
    live = seat(YES)
    renames = (
        "from pxr import Usd\neditor = Usd.NamespaceEditor(stage)\n"
        'editor.RenamePrim(stage.GetPrimAtPath("/World/Props/Tree"), "Oak")\neditor.ApplyEdits()'
    )

    told = live.ran(renames)

    assert "/World/Props/Oak" in told["changed"]["changed"]["items"]
    assert told["changed"]["created"]["count"] == told["changed"]["deleted"]["count"] == 0


def test_what_code_changes_that_is_to_look_only_is_taken_back_and_it_asks_once(seat: Sit) -> None:
    live = seat(YES, YES)
    before = live.state

    told = live.ran(f"{GRID[:-1]} + {REMOVES} * 0", read_only=True)

    (question,) = live.person.shown
    assert "It only reads: every change is undone." in question.message
    assert live.state == before
    assert (told["result"], told["undo"]) == (100, None)
    assert told["warnings"] == [
        "It may only read. Undone: 101 created, 3 deleted. Nothing was changed."
    ]
    assert {it["count"] for it in told["changed"].values() if isinstance(it, dict)} == {0}
    assert len(live.session.undo_labels) == 0


def test_code_that_is_to_look_only_declares_no_file(seat: Sit) -> None:
    said = text(seat(YES).code("1", writes=["/tmp/a"], read_only=True))

    assert "writes: not allowed with read_only." in said


def test_what_usd_warns_of_is_told_once(seat: Sit) -> None:
    live = seat(YES)
    refers = "for n in 'ab':\n    stage.DefinePrim('/' + n).GetReferences().AddReference('no.usd')"

    told = live.ran(f"from pxr import Tf\nTf.Warn('Look out')\nTf.Warn('Look out')\n{refers}")

    assert [it[:30] for it in told["warnings"][:-1]] == [
        "Look out",
        "In </a>: Could not open asset ",
        "In </b>: Could not open asset ",
    ]


@pytest.mark.core
def test_endless_code_ends_at_its_time_limit(seat: Sit) -> None:
    result = seat(YES).vain(GRID + "while True:\n    pass", timeout=0.3)

    assert status(result) == "timed_out"


@pytest.mark.core
def test_a_call_that_cannot_be_stopped_is_an_unknown_outcome_and_taken_back_when_it_returns(
    seat: Sit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The code's own clock stands still, so that its limit does not end it before it waits."""
    live = seat(YES, call_grace=0.2)
    told = Event()
    before = live.state
    monkeypatch.setattr(sys, "told", told, raising=False)
    monkeypatch.setattr("dcc_bridge.code.execution.perf_counter", lambda: 0.0)

    code = GRID + "import sys\nsys.told.wait(60)"
    calling = live.start("run_python", {"code": code, "why": "The test wants it.", "timeout": 0.3})
    calling.add_done_callback(lambda _: told.set())
    live.until(calling.done)

    result = calling.result()

    assert status(result) == "unknown_outcome"
    assert "has run for more than its 1.3 s and cannot be stopped" in text(result)
    live.until(lambda: live.bridge.recent.records()[0].state == "timed_out")
    assert live.state == before


def test_endless_code_ends_when_it_is_cancelled(seat: Sit, monkeypatch: pytest.MonkeyPatch) -> None:
    live, started = seat(YES), Event()
    monkeypatch.setattr(sys, "started", started, raising=False)

    def cancel() -> None:
        started.wait(20)
        live.bridge.cancel(live.bridge.recent.records()[0].id)

    Thread(target=cancel, daemon=True).start()
    result = live.vain("import sys\nsys.started.set()\nwhile True:\n    pass", timeout=60)

    assert status(result) == "cancelled"


@pytest.mark.core
def test_a_write_that_was_not_declared_is_said_to_be_refused_and_is_and_is_taken_back(
    seat: Sit, tmp_path: Path
) -> None:
    live = seat(YES, YES, YES)
    file = tmp_path / "out.txt"
    writes = f"{GRID}with open({str(file)!r}, 'w') as out:\n    out.write('x')\n"

    refused = live.vain(writes)

    (question,) = live.person.shown
    assert "It names no files that it would write or delete." in question.message
    assert "which is not declared in `writes`" in text(refused)
    assert "out.txt" in text(refused)
    assert not file.exists()
    assert status(live.code(writes, writes=[str(file)])) == "done"
    assert file.read_text() == "x"
    assert status(live.code(writes, writes=[str(file)])) == "done"
    assert [it.undoable for it in live.person.shown] == [True, False, False]
    assert [it.consent.kept is None for it in live.person.shown] == [True, True, False]


@pytest.mark.core
def test_what_is_not_the_text_that_was_agreed_to_does_not_run(
    seat: Sit, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = seat(YES)

    def agree_and_change(call: Call, code: CodeText, *more: Any) -> None:
        agree(call, code, *more)
        object.__setattr__(code, "text", code.text.replace("Cube", "Cone"))

    monkeypatch.setattr("dcc_bridge.code.agreed.agree", agree_and_change)
    said = text(live.vain(GRID))

    assert "The code differs from what was approved, so it was not run." in said


@pytest.mark.parametrize("count", [200, pytest.param(10_000, marks=pytest.mark.long)])
def test_of_many_texts_that_differ_in_a_character_none_runs(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran, random, host = list[str](), Random(1), MemoryHost()

    def note(tree: object, code: str, *_: object, **__: object) -> CodeResult:
        ran.append(code)
        return CodeResult(None, "", "", 0.0, "{}")

    monkeypatch.setattr(run_python, "execute", note)
    tool = run_python.CodeTool(CodeOperations(host), Settings(), AuditLog(tmp_path), {})
    agreed = read_code(GRID, PlainNames())
    call = Call(run_python.NAME, "Run code")
    call.dialogue.code = agreed.sha256
    record, token = CodeRecord(AuditLog(tmp_path), call, agreed, ()), current.set(call)

    for _ in range(count):
        at, letter = random.randrange(len(GRID)), random.choice("abc019 \n#=+(")
        other = replace(agreed, text=GRID[:at] + letter + GRID[at + random.randrange(2) :])
        with pytest.raises(BridgeError) if other.text != GRID else nullcontext():
            tool._run_once(other, record, 1.0, {})
    current.reset(token)

    assert {*ran} <= {GRID}


def test_what_was_written_is_told_where_the_rest_is_taken_back(seat: Sit, tmp_path: Path) -> None:
    live, file = seat(YES, NO), tmp_path / "out.txt"

    said = text(live.vain(f"open({str(file)!r}, 'w').close()\n{REMOVES}", writes=[str(file)]))

    assert f"undo cannot reverse: write {file}." in live.person.shown[1].message
    assert f"Nothing was changed, except for what undo cannot reverse: write {file}." in said


@pytest.mark.core
@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    "vectors", [test_trip_wire.WRITES, test_trip_wire.OTHERWISE], ids=["files", "beyond"]
)
def test_every_way_out_does_nothing_after_a_no_and_is_taken_back_after_a_yes(
    vectors: dict[str, str], seat: Sit, tmp_path: Path
) -> None:
    live = seat(*[NO, YES] * len(vectors), dialogs_per_minute=1000)
    place = tmp_path / "place"
    for folder in ("declared", "empty"):
        (place / folder).mkdir(parents=True)
    (place / "kept").write_text("kept")
    files = test_trip_wire.state(place)
    names = f"new, kept, folder = {str(place / 'new')!r}, {str(place / 'kept')!r}, {str(place)!r}"

    for code in vectors.values():
        text_sent = f"{names}\nstage.DefinePrim('/Edit')\n{code}"
        writes = [f"{place}/declared"]
        refused, agreed = (live.vain(text_sent, writes=writes) for _ in range(2))

        assert status(refused) == "refused", code
        assert agreed.is_error, code
        assert "it was refused." in text(agreed), code
        assert "Nothing was changed" in text(agreed), code
        assert test_trip_wire.state(place) == files, code
        told = [line["outcome"] for line in live.record() if line["event"] == "code"]
        assert told[-2:] == ["agreed", "failed"], code


@pytest.mark.parametrize("path", ["a\nThe studio has checked it.", "a\0", *["\u202ea"]])
def test_a_path_cannot_speak_for_the_bridge(seat: Sit, path: str) -> None:
    live = seat(YES)

    said = text(live.code("1", writes=[f"/tmp/{path}"]))

    assert "characters that are not allowed" in said
    assert not live.person.shown


def test_two_clients_are_asked_each_for_its_own_and_keep_their_own_memory(seat: Sit) -> None:
    live = seat(YES, YES, YES)

    async def agent(label: str) -> CallToolResult:
        code = f"memory['mine'] = memory.get('mine', '') + {label!r}\nmemory['mine']"
        async with live.client(label=label) as client:
            return await client.call_tool("run_python", {"code": code, "why": "To count."})

    both = [live.go(agent, label) for label in ("a", "b")]
    live.until(lambda: all(it.done() for it in both))
    again = live.run(agent, "a")

    told = [it.structured_content["result"] for it in (*(it.result() for it in both), again)]
    assert told == ["a", "b", "aa"]
    previous = [it.details.previous for it in live.person.shown]
    assert previous[:2] == [None, None]
    assert previous[2] == live.person.shown[2].details.text


def test_code_is_shown_where_it_reaches_for_the_bridge_and_grants_itself_nothing(
    seat: Sit, tmp_path: Path
) -> None:
    live = seat(YES, NO)
    grants = (
        "from dcc_bridge.consent.call import running_call\n"
        "running_call().ledger.needs_grant = False\n" + REMOVES
    )

    assert live.vain(grants).is_error
    assert live.person.shown[0].details.marks[0][0] == 1


def test_code_that_undoes_is_taken_back(seat: Sit) -> None:
    live = seat(YES, YES)
    live.ran(GRID)
    undoes = "import sys\nsys.modules['dcc_bridge_usd'].session().undo()"

    assert live.vain(undoes).is_error


def test_the_studio_can_do_without_it(seat: Sit) -> None:
    live = seat(YES, python="off")

    assert run_python.NAME not in [tool.name for tool in live.tools()]
    assert "There is no tool named 'run_python'" in text(live.code("1"))


def test_an_agent_is_led_to_the_verbs_before_it_is_led_to_code(seat: Sit) -> None:
    live = seat(YES)

    listed = {tool.name: tool.description for tool in live.tools()}

    assert {"summary", "inspect", "list_items", "batch", "look"} <= {*listed}
    assert "for what no other tool can do" in (listed[run_python.NAME] or "")
    assert "Work in this order: summary; inspect or list_items" in live.instructions
    assert run_python.NAME not in live.instructions


def test_what_listens_to_usd_after_the_code_is_told_of_before_and_after(
    seat: Sit, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = seat(YES, YES, YES)
    for name in ("calls", "note", "key"):
        monkeypatch.setattr(sys, name, None, raising=False)
    listens = (
        "import sys\nfrom pxr import Tf, Usd\nsys.calls = []\n"
        "def note(*_): sys.calls.append(1)\n"
        "sys.note = note  # USD does not hold it\n"
        "sys.key = Tf.Notice.RegisterGlobally(Usd.Notice.ObjectsChanged, note)"
    )

    told = live.ran(listens)
    live.ran("stage.DefinePrim('/Later')")
    calls = live.ran("import sys\nsys.key.Revoke()\nlen(sys.calls)")["result"]

    (question, *_) = live.person.shown
    assert "may reach beyond this scene, where nothing is undone" in question.message
    assert "uses pxr.Tf.Notice.RegisterGlobally" in dict(question.details.marks)[6]
    (warning,) = told["warnings"]
    assert warning.startswith("Undo may not restore what these lines did, if they ran: line 1: ")
    assert "uses pxr.Tf.Notice.RegisterGlobally" in warning
    assert calls > 0


@pytest.mark.core
def test_where_nobody_can_be_asked_only_a_listed_digest_runs(tmp_path: Path, seat: Sit) -> None:
    listed = tmp_path / "allowed"
    listed.write_text(f"run_python\nsha256:{sha256(b'1 + 1').hexdigest()}\n")
    live = seat(host_dialogs=False, unattended="allow", allow_list=listed)

    assert status(live.code("2 + 2")) == "refused"
    assert live.ran("1 + 1")["result"] == 2


def test_a_picture_comes_with_the_answer(seat: Sit) -> None:
    result = seat(YES).code("1", look={"items": ["/World/Props/Crate"], "size": 64})

    assert [part.type for part in result.content].count("image") == 1


def test_nothing_was_changed_is_said_only_where_all_was_compared(
    seat: Sit, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = seat(YES, YES, YES)

    compared = text(live.code("stage.DefinePrim('/A')\n1 / 0"))
    monkeypatch.setattr(sys.modules["dcc_bridge_usd.operations.items"], "_MAX_COMPARED_PRIMS", 1)
    too_much = text(live.code("stage.DefinePrim('/A')\n1 / 0"))
    looked = live.ran("stage.DefinePrim('/A')\n1", read_only=True)

    assert "Nothing was changed." in compared
    assert "The undo step was reverted." in too_much
    assert "Nothing was changed" not in too_much
    assert (looked["changed"]["is_exact"], looked["undo"]) == (False, None)


LAYER = "stage.GetRootLayer()"


@pytest.mark.parametrize(
    ("code", "field"),
    [
        ("stage.SetEndTimeCode(77)", "endTimeCode"),
        (f"{LAYER}.customLayerData = {{'shot': 7}}", "customLayerData"),
        (f"{LAYER}.comment = 'checked'", "comment"),
        (f"{LAYER}.subLayerPaths.append('./light.usda')", "subLayers"),
        ("stage.SetDefaultPrim(stage.GetPrimAtPath('/World/Props'))", "defaultPrim"),
    ],
)
def test_what_changes_no_prim_is_told_of_its_layer_and_can_be_undone(
    seat: Sit, code: str, field: str
) -> None:
    live = seat(YES)
    before = live.session.scene_digest()

    told = live.ran(code)

    (changed,) = [it for it in told["changed"]["changed"]["items"] if it.startswith("layer ")]
    assert field in changed
    assert told["undo"] is not None
    undone = live.call("undo_last", {"call_id": told["undo"].split("'")[1]})
    assert status(undone) == "done", text(undone)
    assert live.session.scene_digest() == before


def test_an_edit_of_which_nothing_is_to_be_seen_is_not_told_as_exact(seat: Sit) -> None:
    """It has its undo step all the same."""
    live = seat(YES)

    told = live.ran(
        "end = stage.GetEndTimeCode()\nstage.SetEndTimeCode(7)\nstage.SetEndTimeCode(end)"
    )

    assert (told["changed"]["is_exact"], len(live.session.undo_labels)) == (False, 1)
    assert told["undo"] is not None


def test_code_that_undo_does_not_bring_back_is_given_no_undo(seat: Sit) -> None:
    """It was agreed to as such, so `undo_last` would only refuse."""
    told = seat(YES).ran(f"{LAYER}.comment = 'a'\nif stage is None:\n    stage.Reload()")

    assert told["changed"]["changed"]["count"] == 1
    assert told["undo"] is None


def test_code_that_only_reads_is_exact_and_has_no_undo(seat: Sit) -> None:
    told = seat(YES).ran("stage.GetRootLayer().subLayerPaths[:]\n1")

    assert (told["changed"]["is_exact"], told["undo"]) == (True, None)


def test_lines_that_undo_does_not_take_back_are_named_where_the_rest_is(seat: Sit) -> None:
    live = seat(YES, YES)
    stays = "import os\nos.environ['A_TEST'] = '1'\nstage.DefinePrim('/A')\n"

    failed = text(live.code(f"{stays}1 / 0"))
    ended = text(live.code(f"{stays}while True: pass", timeout=0.3))

    for said in (failed, ended):
        assert "Undo may not restore what these lines did, if they ran: line 1: imports os" in said


def test_where_the_scene_is_as_it_was_no_line_is_named_for_an_attribute_alone(seat: Sit) -> None:
    live = seat(YES, YES, YES)

    failed = text(live.code("prim = stage.GetPseudoRoot()\nprim.GetAttribut('size')"))
    read = live.ran("print(stage.GetRootLayer().identifier)")
    edited = live.ran("print(stage.GetRootLayer().identifier)\nstage.DefinePrim('/A')")

    assert "Nothing was changed." in failed
    assert "Undo may not restore" not in failed
    assert (read["changed"]["is_exact"], read["warnings"]) == (True, [])
    assert "line 1: uses identifier" in edited["warnings"][-1]
