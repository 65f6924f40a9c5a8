"""Blender in its window: dialogs of its own and of Qt, real clicks, and its own undo.

It starts once for its own dialogs, and once for Qt's.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from PIL import Image

from dcc_bridge.known_clients import CLI_LABEL
from tests.blender import window
from tests.blender.seat import Seat, soon
from tests.client.proxy import stage
from tests.hosts.application import undone_on_record, until
from tests.hosts.screen import missing, screen
from tests.live import status, text

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(300),
    pytest.mark.skipif(window.PROGRAM is None, reason="Blender is not installed"),
    pytest.mark.skipif(bool(missing()), reason=f"not installed: {missing()}"),
]
PICTURE = os.environ.get("BLENDER_PICTURE")
"""Where a picture is written, if it is to be taken again: that of the guide, or of the clients."""
TRIALS = Path(__file__).parent / "trial" / "skills"
AGENTS = 1044, 237  # where the tab of the sidebar is that has our panel
CANCELS = {"status bar": (60, 790), "sidebar": (936, 248)}  # where the buttons are that stop
ARROW = 18  # pixels from the button Not now to the arrow of the menu beside Decline
ENTRY = 29  # from the arrow up to the first entry
FIELD = 28  # from the button Send in the sidebar to the field above it
CUBE = {"pattern": "Cube"}


@contextmanager
def seated(folder: Path, *, qt: bool = False) -> Iterator[Seat]:
    with (
        screen(*window.SIZE) as shown,
        window.blender(folder, shown, qt=qt, DCC_BRIDGE_SKILLS=str(TRIALS)) as application,
    ):
        seat = Seat(application, shown)
        seat.do("write")  # its window is up; an agent's request would not wait so long
        application.call("list_items", {})
        yield seat


@pytest.fixture(scope="module")
def seat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seat]:
    """Blender without Qt; it has to end well."""
    with seated(tmp_path_factory.mktemp("blender")) as one:
        yield one
        assert one.close() in one.codes, one.application.output


@pytest.fixture
def new(seat: Seat) -> Seat:
    seat.do("dismiss", "new")
    return seat


def keep_picture(seat: Seat, *tab: int) -> None:
    """Keep what is on the screen, if a picture is to be taken, once a tab there was clicked on."""
    if PICTURE:
        if tab:
            seat.screen.move(*tab)
            seat.screen.press()
        seat.let_pass(2)
        with Image.open(seat.screen.picture(Path(PICTURE))) as picture:
            picture.convert("RGB").quantize(256).save(PICTURE, optimize=True)


def test_a_click_in_blenders_own_dialog_deletes_and_its_own_undo_brings_back(new: Seat) -> None:
    """There is no Qt; a decline is told from a closed dialog."""
    agreed = new.ask("delete", pattern="C*")
    new.answer("accept")
    result = agreed.result()
    gone = new.seen()["objects"]
    new.undo()
    new.sees(lambda seen: "Cube" in seen["objects"])
    until(lambda: undone_on_record(new.application) == ["delete"], "the undo is not on record")
    refused = new.ask("delete", **CUBE)
    new.answer("decline")

    assert status(result) == "done"
    assert gone == ["Light"]
    assert status(refused.result()) == "refused"
    assert "Declined in the app" in text(refused.result())
    assert "Cube" in new.seen()["objects"]


@pytest.mark.parametrize(
    ("tool", "arguments", "first"),
    [("name_object", {}, "What is it called?"), ("delete", CUBE, "Delete")],
    ids=["form", "consent"],
)
def test_who_types_in_a_text_answers_nothing_until_f8_leads_into_the_question(
    new: Seat, tool: str, arguments: dict[str, str], first: str
) -> None:
    """The keys that come before, as and after it is asked are where they were meant."""
    new.go_to_text()
    typing = new.screen.begin_to_write("glow = 12345 + 67890 + 11121")
    new.screen.move(*window.REST)
    asked = new.ask(tool, **arguments)
    new.sees(lambda seen: seen["notice"])
    assert typing.wait(60) == 0
    new.screen.write(" + 31415")
    new.screen.tap("space", "Return", "d", "Return")
    seen = new.sees(lambda seen: seen["text_editor"].endswith("d\n"))

    assert seen["text_editor"] == "glow = 12345 + 67890 + 11121 + 31415 \nd\n"
    assert seen["question"] is None
    assert not asked.done()
    assert seen["notice"].startswith(first)
    keep_picture(new)
    new.screen.tap("F8")
    new.sees(lambda seen: seen["takes"])
    new.screen.tap("Escape", "Escape")  # the first one ends the typing where there is a field
    new.codes = (0, 1)
    asked.result()


def test_keys_alone_agree_and_enter_alone_never_does(new: Seat) -> None:
    """A letter chooses an answer and Enter gives it; Enter alone gives none, nor does OK."""
    closed = new.ask("delete", **CUBE)
    new.blue()
    new.screen.tap("o")  # Blender's own OK
    new.sees(lambda seen: seen["wrong"])
    open_still = not closed.done()
    new.blue()
    new.screen.tap("Return")
    ended = closed.result()
    kept = new.seen()["objects"]
    agreed = new.ask("delete", **CUBE)
    new.blue()
    new.screen.tap("d")
    new.sees(lambda seen: seen["chosen"] == "accept" and seen["takes"])
    asked_still = not agreed.done()
    new.screen.tap("Return")

    assert open_still
    assert asked_still
    assert status(ended) == "refused"
    assert "Cube" in kept
    assert "was closed in the app" in text(ended)
    assert status(agreed.result()) == "done"
    assert "Cube" not in new.seen()["objects"]


def test_a_form_is_filled_in_with_the_keyboard_and_says_beside_a_field_what_is_wrong(
    new: Seat,
) -> None:
    """The keys go to its first field; Enter ends the typing, and the next one sends."""
    asked = new.ask("name_object")
    new.blue()
    new.screen.tap("Return", "Return")
    new.sees(lambda seen: seen["problems"] == ["Please fill this in."])
    new.blue()  # it was opened again, and takes nothing in its first moment
    new.screen.tap("Escape")
    new.codes = (0, 1)
    cancelled = asked.result()
    asked = new.ask("name_object")
    new.blue()
    new.screen.write("hero")
    new.screen.tap("Return", "Return")

    assert text(cancelled).startswith("cancelled")
    assert status(asked.result()) == "done"
    assert "hero" in new.seen()["objects"]


@pytest.mark.parametrize("end", ["Esc", "its client is gone"])
def test_what_was_typed_is_there_when_the_same_is_asked_again(new: Seat, end: str) -> None:
    def type_half() -> None:
        new.blue()
        new.screen.write("hero")
        new.screen.tap("Return")
        new.sees(lambda seen: seen["filled"] == {"name": "hero"})

    if end == "Esc":
        asked = new.ask("name_object", label=CLI_LABEL)
        type_half()
        new.screen.tap("Escape")
        new.codes = (0, 1)
        asked.result()
    else:
        new.leave("name_object", {}, type_half)
    again = new.ask("name_object", label=CLI_LABEL)
    new.blue()
    new.screen.tap("Return")

    assert status(again.result()) == "done"
    assert "hero" in new.seen()["objects"]


def test_a_text_is_read_page_by_page_and_then_agreed_to(new: Seat) -> None:
    """What differs is on the first page; a letter turns the pages or copies, and is no answer."""
    asked = new.ask("agree_to_text")
    new.blue()
    new.screen.tap("s")  # Show all lines
    new.blue()  # it takes the next key once it is drawn again
    new.screen.tap("n")
    new.sees(lambda seen: seen["page"] == 1)
    new.blue()
    new.screen.tap("c")  # Copy all
    copied = new.sees(lambda seen: "cam_000" in seen["clipboard"])["clipboard"].splitlines()
    open_still = not asked.done()
    new.answer("accept")

    assert open_still
    assert len(copied) == 30
    assert "remove(" in copied[24]
    assert "cam_029" in copied[29]
    assert status(asked.result()) == "done"


def test_the_sidebar_says_what_goes_on_and_its_buttons_act(new: Seat) -> None:
    """A question, a call that runs, a pause and the history are in it, as in Qt's panel.

    The two that are always there are above what comes and goes, so they stay below the mouse.
    """
    new.do("sidebar")
    asked = new.ask("delete", **CUBE)
    new.blue()
    new.sees(lambda seen: seen["sidebar"][:3] == ["Pause", "Undo", "A question for you"])
    new.answer("accept")
    asked.result()
    new.sees(lambda seen: seen["sidebar"][:2] == ["Pause", "Undo: Deleted 1 mesh"])
    new.do("pause")
    new.sees(lambda seen: "Resume" in seen["sidebar"])
    paused = new.application.call("add_object", {"name": "late"})
    new.do("pause", "take_back")

    assert status(paused) != "done"
    new.sees(lambda seen: "Cube" in seen["objects"])


def test_the_sidebar_opens_the_card_of_code_that_ran_and_turns_its_pages(new: Seat) -> None:
    new.do("sidebar")
    code = "".join(f"bpy.data.objects['Cube'].location.x = {n}\n" for n in range(60))
    ran = new.ask("run_python", code=code, why="Move the cube.")
    new.answer("accept")
    ran.result()
    undo = new.sees(lambda seen: "Show the code" in seen["sidebar"])["undo"]

    new.do("card")
    new.screen.move(*window.REST)  # what pops up is drawn with the next event
    new.sees(lambda seen: seen["card_page"] == 0)
    new.let_pass(1)
    new.screen.tap("n")  # Next

    new.sees(lambda seen: seen["card_page"] == 1)
    new.screen.tap("Return")  # OK
    assert status(ran.result()) == "done"
    assert status(new.application.call("add_object", {"name": "later"})) == "done"
    assert undo == "Undo: Ran 60 lines of…"  # and not cut in its middle, as Blender does it


def test_a_client_that_the_sidebar_sets_up_starts_what_was_written_and_is_connected(
    new: Seat,
) -> None:
    """Its entry names a Python that Blender's own modules load in, and where the bridge is."""
    folder = new.application.folder
    (folder / ".cursor").mkdir()
    new.do("sidebar", "find_clients")
    new.sees(lambda seen: "Connect" in seen["sidebar"])
    new.do("connect_cursor")
    new.sees(lambda seen: any(line.startswith("Set up.") for line in seen["sidebar"]))
    keep_picture(new, *AGENTS)
    file = folder / ".cursor" / "mcp.json"
    entry = json.loads(file.read_text(encoding="utf-8"))["mcpServers"]["dcc-bridge"]

    async def agent() -> list[str]:
        start = StdioServerParameters(**entry)
        async with Client(stdio_client(start), mode="legacy") as session:
            await stage.until(lambda: _lists(session, "add_object"))
            return await stage.names(session)

    tools = stage.run(agent)

    assert {"add_object", "list_hosts"} <= set(tools)
    new.sees(lambda seen: "Connected" in seen["sidebar"])


async def _lists(session: Client, tool: str) -> bool:
    return tool in await stage.names(session)


@pytest.mark.parametrize("way", ["key", "status bar", "sidebar"])
def test_a_skill_that_works_says_how_far_it_is_and_one_click_stops_it(new: Seat, way: str) -> None:
    """Nothing else that is pressed meanwhile reaches the scene; the scene is as it was."""
    new.do("sidebar")
    new.click_until(AGENTS, lambda: new.seen()["has_panel"])
    asked = new.ask("move_on_and_on", name="Cube")
    works = new.sees(lambda seen: any("Moving" in line for line in seen["work"]))["work"]
    keep_picture(new)
    new.screen.tap("x", "Return")
    if way == "key":
        new.screen.tap("Escape")
    else:
        new.click_until(CANCELS[way], asked.done)
    new.codes = (0, 1)
    result = asked.result()

    assert works[0] == "Cancel"
    assert works[1].startswith("Move on and on · test · ")
    assert status(result) == "cancelled"
    assert new.sees(lambda seen: not seen["work"])["objects"] == ["Camera", "Cube", "Light"]
    assert text(new.application.call("where", {"name": "Cube"})) == "0.0"


def test_what_is_typed_into_a_text_while_a_skill_works_is_there_once_it_has_ended(
    new: Seat,
) -> None:
    """Not before: it would be an undo step in the middle of the skill's."""
    new.go_to_text()
    asked = new.ask("move_on_and_on", name="Cube")
    new.sees(lambda seen: any("Moving" in line for line in seen["work"]))
    new.screen.write("glow == 12")
    new.screen.tap("BackSpace", "3", "Return", "x", "Home", "y")
    during = new.seen()["text_editor"]
    new.screen.tap("Escape")
    new.codes = (0, 1)
    result = asked.result()

    assert not during.strip()
    new.sees(lambda seen: seen["text_editor"] == "glow == 13\nyx")
    assert status(result) == "cancelled"
    assert new.seen()["objects"] == ["Camera", "Cube", "Light"]


def test_the_window_goes_on_while_an_agent_renders_and_one_click_ends_that(
    new: Seat, tmp_path: Path
) -> None:
    """Another Blender renders: this one draws, answers what only reads, and takes edits."""
    new.do("sidebar", "count")
    file = str(tmp_path / "a.png")
    asked = new.ask("render", path=file, size=[4096, 4096], samples=1_000_000)
    new.sees(lambda seen: any("Rendering picture 1" in it for it in seen["sidebar"]))
    drawn = new.seen()["frames"]
    new.sees(lambda seen: seen["frames"] > drawn + 5)
    listed = new.application.call("list_items", {})
    made = new.application.call("create", {"things": [{"type": "CUBE", "name": "Made"}]})
    goes_on = not asked.done()
    new.do("rest", "cancel_call")

    assert goes_on, text(asked.result())
    assert "Cube" in text(listed)
    assert status(made) == "done"
    assert "Made" in new.seen()["objects"]
    assert status(asked.result()) == "cancelled"
    assert not (tmp_path / "a.png").exists()


def test_who_works_on_what_is_said_before_the_body_begins(new: Seat) -> None:
    """The body draws nothing, and Blender stands still meanwhile."""
    told = new.application.call("stand_still", {})

    assert text(told).startswith("Stand still · test · ")


def test_a_mesh_in_the_making_is_not_drawn(new: Seat) -> None:
    """It would crash Blender."""
    built = new.application.call("build_slowly", {"corners": 3000})

    assert status(built) == "done", text(built)
    new.sees(lambda seen: not seen["work"])


def test_an_item_that_is_unticked_stays(new: Seat) -> None:
    """The button says how many go; a long list is searched and ticked in the sidebar too."""
    new.do("fill")
    asked = new.ask("delete", pattern="C*")
    new.blue()
    new.do("untick_cube")
    verb = new.sees(lambda seen: "1 of 2" in (seen["caption"] or ""))["caption"]
    new.do("show_list")
    closed = new.sees(lambda seen: not seen["question"])
    still_asked = not asked.done()
    new.answer("accept")

    assert verb == "Delete 1 of 2 objects"
    assert {"Camera", "Cube"} <= set(closed["sidebar"])
    assert still_asked
    assert status(asked.result()) == "done"
    kept = new.seen()["objects"]
    assert "Cube" in kept
    assert "Camera" not in kept


def test_each_row_of_the_history_opens_what_happened(new: Seat) -> None:
    asked = new.ask("delete", **CUBE)
    new.answer("decline")
    asked.result()
    new.do("sidebar")
    new.sees(lambda seen: any("declined in the app" in line for line in seen["card"]))
    new.do("story")
    new.screen.move(*window.REST)
    keep_picture(new)
    new.screen.tap("Escape")
    new.codes = (0, 1)

    assert any(line.startswith("Call ") for line in new.seen()["card"])


def test_the_menu_beside_decline_asks_why_and_enter_declines_with_the_reason(new: Seat) -> None:
    """The field has the keys at once."""
    asked = new.ask("delete", **CUBE)

    def say_why() -> bool:
        x, y, width = new.blue()  # Not now, to the right of the menu's arrow
        new.click(x - width // 2 - ARROW, y)
        new.click(x - width // 2, y - ENTRY)
        return soon(lambda: new.seen()["chosen"] == "decline")

    until(say_why, "nobody asked why")
    new.sees(lambda seen: seen["takes"])
    new.screen.write("not mine")
    new.screen.tap("Return", "Return")

    assert "The reason given: 'not mine'" in text(asked.result())
    assert "Cube" in new.seen()["objects"]


def test_a_dialog_opens_where_it_was_opened_first(new: Seat) -> None:
    asked = new.ask("delete", **CUBE)
    first = new.blue()
    new.do("show_list")
    new.sees(lambda seen: not seen["question"])
    new.screen.move(300, 250)
    new.go()
    until(lambda: new.find_blue() == first, "it is at another place")
    new.answer("decline")

    assert status(asked.result()) == "refused"


def test_a_form_is_filled_in_and_sent_in_the_sidebar(new: Seat) -> None:
    """No dialog is opened for it, so the keys stay with the work."""
    new.do("sidebar")
    new.click_until(AGENTS, lambda: new.seen()["has_panel"])
    asked = new.ask("name_object")
    new.sees(lambda seen: "Send" in seen["sidebar"])

    def type_name() -> bool:
        new.screen.move(*window.REST)
        at = new.find_blue()  # Send
        if at is None:
            return False
        new.click(at[0], at[1] - FIELD)
        new.screen.tap("ctrl+a")
        new.screen.write("hero")
        new.screen.tap("Return")
        return soon(lambda: new.seen()["filled"] == {"name": "hero"})

    until(type_name, "the field has no text")
    keep_picture(new)
    send = new.find_blue()
    assert send is not None
    new.click_until(send[:2], asked.done)

    assert status(asked.result()) == "done"
    assert "hero" in new.seen()["objects"]


def test_what_asked_nothing_is_kept_or_undone_and_a_card_undoes_all_after_its_call(
    new: Seat,
) -> None:
    """The sidebar has the words of Qt's panel; the card lists first what goes back."""
    for name in ("one", "two", "three"):
        new.application.call("add_object", {"name": name})
    new.do("sidebar")
    offered = new.sees(lambda seen: "Keep all" in seen["sidebar"])["sidebar"]
    new.do("undo_last")
    new.sees(lambda seen: seen["objects"] == ["Camera", "Cube", "Light", "one", "two"])
    new.do("keep")
    kept = new.sees(lambda seen: "Keep all" not in seen["sidebar"])["objects"]
    new.do("oldest")
    new.screen.move(*window.REST)
    new.sees(lambda seen: seen["card_key"])

    def list_steps() -> bool:
        new.screen.tap("u")  # Undo this and all after it
        return soon(lambda: new.seen()["steps"])

    until(list_steps, "no list of the steps")
    listed = new.seen()["steps"]
    new.let_pass(1)
    new.screen.tap("Return")  # OK
    new.sees(lambda seen: seen["objects"] == ["Camera", "Cube", "Light"])
    new.screen.tap("Escape")
    new.codes = (0, 1)

    assert offered[offered.index("Keep all") :][:3] == ["Keep all", "Undo last", "Undo all"]
    assert kept == ["Camera", "Cube", "Light", "one", "two"]
    assert listed[0] == "Undo 2 steps?"
    assert listed[1:3] == ["Add object · test"] * 2


def test_the_history_is_searched_and_filtered_in_the_sidebar(new: Seat) -> None:
    new.application.call("add_object", {"name": "one"})
    new.application.call("break_off", {"name": "half"})
    new.do("sidebar")
    all_rows = new.sees(lambda seen: any("Break off" in line for line in seen["sidebar"]))
    new.do("list_failed")
    failed = new.seen()["sidebar"]
    new.do("search_nothing")
    nothing = new.seen()["sidebar"]
    new.do("list_all")

    assert any("Add object" in line for line in all_rows["sidebar"])
    history = failed[failed.index("History") :]
    assert any("Break off" in line for line in history)
    assert not any("Add object" in line for line in history)
    assert "Nothing in the history fits." in nothing


def test_esc_deletes_nothing(new: Seat) -> None:
    new.do("fill")
    asked = new.ask("delete", pattern="shot_*")
    new.blue()
    keep_picture(new)
    new.screen.tap("Escape")
    new.codes = (0, 1)

    assert status(asked.result()) == "refused"
    assert "was closed in the app" in text(asked.result())
    assert sum(name.startswith("shot_") for name in new.seen()["objects"]) == 12


def test_an_error_in_mid_edit_leaves_nothing(new: Seat) -> None:
    before = new.seen()["objects"]

    failed = new.application.call("break_off", {"name": "half"})

    assert status(failed) == "failed"
    assert new.seen()["objects"] == before


def test_an_operator_runs_while_another_thread_runs_python(new: Seat) -> None:
    """Blender lets go of the GIL for as long as it runs one."""
    pushed = new.application.call("push_beside_a_thread", {"times": 3000})

    assert status(pushed) == "done", text(pushed)


def test_a_call_that_comes_while_a_file_is_opened_runs_once_there_is_a_window_again(
    new: Seat,
) -> None:
    """Until its turn ends, no timer has one, and an operator in an override may crash Blender."""
    new.application.call("has_window", {})  # its file is imported
    new.application.order("open_slowly")
    until((new.application.folder / "opened").exists)
    called = new.application.call("has_window", {})
    new.application.obeyed()

    assert new.seen()["waited"]
    assert text(called) == "true"


@pytest.mark.long
@pytest.mark.parametrize("seconds", [3, 60])
def test_blender_goes_on_drawing_while_a_skill_waits(
    new: Seat, seconds: int, record_property: Callable[[str, object], None]
) -> None:
    """It is suspended in mid-body on the main thread; timers fire, and the view is drawn."""
    asked = new.ask("delete", **CUBE)
    new.blue()
    new.do("count")
    new.let_pass(seconds)
    counted = new.seen()
    new.do("rest")
    new.answer("accept")

    figures = {name: counted[name] for name in ("ticks", "frames", "gap", "seconds")}
    record_property("counted", figures)
    print(figures)
    assert status(asked.result()) == "done"
    # 20 ticks a second are wanted, but each frame is drawn by software, beside other tests.
    assert min(counted["ticks"], counted["frames"]) >= seconds, figures
    assert counted["gap"] < 3, figures


def test_a_file_that_is_opened_during_a_question_ends_it_for_nobody(new: Seat) -> None:
    """Blender drops the dialog; it comes again, and what was agreed to is asked of the new file."""
    asked = new.ask("delete", **CUBE)
    new.blue()
    new.do("load")
    new.answer("accept")
    new.answer("accept")

    assert status(asked.result()) == "done"
    assert "Cube" not in new.seen()["objects"]


def test_what_is_agreed_to_during_a_render_is_done_after_it(new: Seat) -> None:
    """It reads the scene on a thread of its own, and ends as if nobody had asked."""
    asked = new.ask("delete", **CUBE)
    new.blue()
    new.do("render")
    new.answer("accept")
    result = asked.result()
    new.sees(lambda seen: seen["renders"])
    new.codes = (0,)

    seen = new.seen()
    assert seen["renders"] == ["complete"]
    assert not seen["torn"]
    assert status(result) == "done"
    assert "Cube" not in seen["objects"]


def test_a_question_that_is_withdrawn_or_too_late_goes(new: Seat) -> None:
    """The client leaves; nobody answers. The next one is drawn as ever."""
    new.leave("delete", CUBE, new.blue)
    until(lambda: new.find_blue() is None, "it is drawn still")
    late = new.ask("name_object", seconds=5)
    told_late = text(late.result())
    new.sees(lambda seen: not seen["question"])
    last = new.ask("delete", **CUBE)
    new.answer("decline")

    assert told_late.startswith("timed_out")
    assert status(last.result()) == "refused"
    assert "Cube" in new.seen()["objects"]


def test_a_button_of_blenders_own_cannot_wait_for_an_answer(new: Seat) -> None:
    """Its loop stands still until the button's code returns, so it is told so at once."""
    new.do("button")

    assert "cannot wait" in new.seen()["told"]


def test_twenty_reloads_leave_it_working(new: Seat) -> None:
    new.do(*["reload"] * 20)

    asked = new.ask("delete", **CUBE)
    new.answer("accept")

    assert status(asked.result()) == "done"
    assert "Cube" not in new.seen()["objects"]


def test_a_click_in_a_dialog_of_qt_does_the_same(tmp_path: Path) -> None:
    """Where PySide6 is installed; Blender's timer serves it."""
    with seated(tmp_path, qt=True) as seat:
        agreed = seat.ask("delete", **CUBE)
        seat.click_verb()
        result = agreed.result()
        gone = seat.seen()["objects"]
        seat.undo()

        assert status(result) == "done"
        assert "Cube" not in gone
        seat.sees(lambda seen: "Cube" in seen["objects"])
        assert seat.close() == 0, seat.application.output
