"""The page of MCP Apps in a real browser, in the frame of a chat, with results of a real server."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.action_chains import ActionChains

from dcc_bridge import skill
from dcc_bridge.elicitation.question import Reply
from dcc_bridge.elicitation.text import safe_line
from dcc_bridge.known_clients import APPS, PAGE_TYPE
from dcc_bridge.server.chat_page import URI
from dcc_bridge.skills.described import Legend, Told
from dcc_bridge.verbs import previews
from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.operations import operations
from tests.hosts.scenes import SCENE
from tests.live import Live, live
from tests.server.browser import THERE, browser
from tests.server.chat_host import ABLE, NPM, Chat, chat, script
from tests.server.task_wire import Message, Wire
from tests.stand_ins import Person

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not THERE, reason="needs chromium and chromedriver"),
    pytest.mark.skipif(NPM is None, reason="needs npm, which brings the chat's side"),
]

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360"
    "606060000000050001a5f645400000000049454e44ae426082"
)
YES = Reply("accept", {"confirm": True})
LAMP = "/World/Props/Lamp_03"
HEAD = "/World/Characters/Ines/Head"
STEPS: list[Message] = [
    {"do": "transform", "with": {"items": ["/World/Props/Tree_01"], "move": [0, 0, 150]}},
    {"do": "delete", "with": {"items": ["/World/Props/Lamp_01"]}},
]
LOOK = {"view": "front", "items": ["/World/Characters"], "marks": [HEAD], "size": 256}
BATCH = {"steps": STEPS, "look": LOOK}
HOSTILE = [
    '<img src=/hit onerror="parent.hit=window.hit=1">',
    "\"><script>window.hit=1</script><b onclick='window.hit=1'>",
    "<style>@import '/hit';</style><link rel=stylesheet href=/hit>",
    "javascript:window.hit=1",
    "\u202egnp.exe",
    "a\u200b\u2066b\u2800",
    "two\nlines\tand\ra tab",
    "nul\0bell\7",
    "__proto__",
    "long " + "x" * 1000,
    "{{7*7}}${alert(1)}</bdi></button>",
]
IS_HIT = "return window.hit !== undefined"


def wire(running: Live) -> Wire:
    """Return a client that draws pages."""
    draws = {APPS: {"mimeTypes": [PAGE_TYPE]}}
    return Wire.beside(running, declares=False, elicits=False, extensions=draws)


class Results:
    """The page, and what calls returned to a client that draws it.

    Attributes:
        content: The page, as it was read.
        tools: The tools by their names.
        look: The result of `LOOK`.
        delete: That of a deletion of `LAMP`, which the person agreed to in the application.
        batch: That of `BATCH`.
        tried: That of `BATCH` that was tried and taken back.
    """

    def __init__(self, client: Wire) -> None:
        read = client.result("resources/read", {"uri": URI})
        self.content = read["contents"][0]
        listed = client.result("tools/list", {})["tools"]
        self.tools = {tool["name"]: tool for tool in listed}
        self.look = client.call("look", arguments=LOOK)
        self.tried = client.call("batch", arguments=BATCH, _meta={"dcc-bridge/dry_run": True})
        self.delete = client.call("delete", arguments={"items": [LAMP]})
        self.batch = client.call("batch", arguments=BATCH)
        self.refused = client.call("delete", arguments={"items": ["/World/Props/Lamp_04"]})


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Call the verbs of a copy of our own scene, with a person in front of it."""
    folder = tmp_path_factory.mktemp("usd")
    scene = shutil.copy(SCENE, folder / "shot.usda")
    person = Person(YES, YES, Reply("decline", reason="not that one"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(previews, "SLOW_S", float("inf"))
        host = UsdSession(scene)
        with live(folder, host=host, operations=operations, presenter=person) as running:
            running.call("summary")  # the verbs are there by now
            return Results(wire(running))


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    with browser(tmp_path_factory.mktemp("profile")) as made:
        made.set_script_timeout(20)
        yield made


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return script(tmp_path_factory.mktemp("script"))


@pytest.fixture
def opened(driver: Chrome, bundle: bytes, results: Results) -> Iterator[Chat]:
    """Open a chat; at the end, nothing was asked for, run or complained of but what it does."""
    size = {"width": 640, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.get_log("browser")  # type: ignore[no-untyped-call]  # it has no types
    with chat(driver, bundle, results.content) as made:
        yield made
        complaints = [
            line["message"]
            for line in driver.get_log("browser")  # type: ignore[no-untyped-call]
            if line["level"] != "DEBUG"
        ]
        assert made.asked == []
        assert complaints == []
        assert not driver.execute_script(IS_HIT)


def pictures(opened: Chat) -> list[tuple[str, str, int]]:
    """Return the caption, the alternative text and the width of each picture that is drawn."""
    read = (
        "return [...document.querySelectorAll('img')].map((image) => [image.closest('figure')"
        ".innerText.trim(), image.alt, image.naturalWidth])"
    )
    ready = "return [...document.images].every((image) => image.complete)"
    opened.until(ready)
    return [tuple(it) for it in opened.driver.execute_script(read)]


def press(opened: Chat, label: str) -> None:
    """Press a button by its label, with the keyboard."""
    find = (
        "const one = [...document.querySelectorAll('button')].find((it) => it.innerText === "
        "arguments[0] && !it.hidden); one.focus(); return document.activeElement === one"
    )
    assert opened.driver.execute_script(find, label)
    ActionChains(opened.driver).send_keys(Keys.ENTER).perform()


def named(told: Message) -> list[str]:
    """Return the items that a message attaches."""
    (content,) = told["params"]["content"]
    names: list[str] = json.loads(content["text"].partition(": ")[2])
    return names


def test_a_look_is_drawn_with_the_items_that_are_in_it(opened: Chat, results: Results) -> None:
    opened.show(results.tools["look"], LOOK, results.look)

    ((caption, alt, width),) = pictures(opened)
    assert (caption, width) == ("", 256)
    assert alt.startswith("Picture of the scene, front: /World/Characters")
    assert HEAD in opened.text()
    assert opened.text().startswith("Look at the scene\nDone")


def test_an_item_is_picked_in_the_picture_and_attached(opened: Chat, results: Results) -> None:
    places = results.look["_meta"]["dcc-bridge/places"][0]
    ((left, top, right, bottom),) = [edges for item, *edges in places if item == HEAD]
    opened.show(results.tools["look"], LOOK, results.look)
    image = opened.until("return document.images[0].complete && document.images[0]")
    width, height = image.size["width"], image.size["height"]
    across = (left + right - 1) / 2 * width
    down = (top + bottom - 1) / 2 * height

    ActionChains(opened.driver).move_to_element_with_offset(image, across, down).click().perform()
    press(opened, "Attach to my next message")

    (told,) = opened.told()
    assert told["method"] == "ui/update-model-context"
    assert named(told) == [HEAD]
    opened.until("return document.body.innerText.includes('has it for your next message')")
    boxes = "return [...document.querySelectorAll('.box')].map((box) => box.hidden)"
    assert sorted(opened.driver.execute_script(boxes)) == [False, True]  # of the head and of all


def test_what_was_attached_can_be_taken_back(opened: Chat, results: Results) -> None:
    opened.show(results.tools["look"], LOOK, results.look)

    press(opened, HEAD)
    press(opened, "Attach to my next message")
    opened.told()
    press(opened, HEAD)
    press(opened, "Attach nothing")

    assert opened.told(2)[1]["params"] == {"content": []}


def test_where_the_chat_takes_nothing_the_names_are_there_to_copy(
    opened: Chat, results: Results
) -> None:
    opened.show(results.tools["look"], LOOK, results.look, able={})

    press(opened, HEAD)

    assert opened.driver.execute_script("return document.querySelector('#copied').value") == (
        json.dumps([HEAD])
    )
    hidden = "return [...document.querySelectorAll('#acts button')].every((it) => it.hidden)"
    assert opened.driver.execute_script(hidden)


def test_a_deletion_is_drawn_before_and_after(opened: Chat, results: Results) -> None:
    opened.show(results.tools["delete"], {"items": [LAMP]}, results.delete)

    before, after = pictures(opened)
    assert before[0].startswith("Before: 1 xform, marked")
    assert after[0] == "After"
    assert f"Deleted: {LAMP} (and 2 below)" in opened.text()
    assert "Delete the xform" not in opened.text()


def test_the_plan_of_a_batch_is_drawn_while_it_is_at_work(opened: Chat, results: Results) -> None:
    opened.show(results.tools["batch"], BATCH, None)

    opened.until("return document.querySelectorAll('#plan > li').length === 2")
    text = opened.text()
    assert "At work" in text
    assert "transform items: /World/Props/Tree_01; move: 0, 0, 150" in text
    assert "delete items: /World/Props/Lamp_01\nDeletes items" in text


def test_the_result_of_a_batch_stands_beside_its_plan(opened: Chat, results: Results) -> None:
    opened.show(results.tools["batch"], BATCH, results.batch)

    captions = [caption for caption, _, _ in pictures(opened)]
    assert captions[1:] == ["After", "The scene now"]
    assert "Deleted: /World/Props/Lamp_01 (and 2 below)" in opened.text()
    opened.driver.execute_script("document.querySelector('#plan details').open = true")
    assert "at -2100, 14, -800 → -2100, 14, -650" in opened.text()


def test_what_is_unfolded_stays_so_and_keeps_the_keyboard(opened: Chat, results: Results) -> None:
    opened.show(results.tools["batch"], BATCH, results.batch)
    opened.driver.execute_script("document.querySelector('#plan details').open = true")

    press(opened, "/World/Props/Tree_01")

    kept = (
        "const it = document.activeElement; return it.innerText === arguments[0] && "
        "it.getAttribute('aria-pressed') === 'true' && it.closest('details').open"
    )
    assert opened.driver.execute_script(kept, "/World/Props/Tree_01")


def test_a_batch_that_was_tried_says_what_it_would_do(opened: Chat, results: Results) -> None:
    opened.show(results.tools["batch"], BATCH, results.tried)

    assert "Tried and taken back" in opened.text()
    assert "/World/Props/Lamp_01" in opened.text()
    assert pictures(opened) == []


def test_a_question_is_not_repeated_nor_its_answer(opened: Chat, results: Results) -> None:
    assert "not that one" in json.dumps(results.refused)

    opened.show(results.tools["delete"], {"items": ["/World/Props/Lamp_04"]}, results.refused)

    opened.until("return document.body.innerText.includes('Not done')")
    assert "The chat says why." in opened.text()
    assert "not that one" not in opened.text()
    assert pictures(opened) == []


def test_a_client_that_passes_on_texts_and_pictures_alone_has_a_page(
    opened: Chat, results: Results
) -> None:
    """Some leave out the meta of a result, or its structured content."""
    content = {"content": results.batch["content"]}

    opened.show(results.tools["batch"], BATCH, content)

    assert len(pictures(opened)) == 1
    assert "Deleted: /World/Props/Lamp_01 (and 2 below)" in opened.text()
    assert "Done" in opened.text()


def test_the_scene_is_looked_at_again_on_a_press_alone(opened: Chat, results: Results) -> None:
    opened.show(results.tools["look"], LOOK, results.look)
    assert opened.outside("return window.told") == []

    press(opened, "Look again")
    (told,) = opened.told()
    opened.outside("window.answer(arguments[0])", results.look)
    opened.until("return document.images.length === 2")

    assert told == {"method": "tools/call", "params": {"name": "look", "arguments": LOOK}}
    assert [caption for caption, _, _ in pictures(opened)] == ["Before", "Now"]


def test_a_look_that_fails_keeps_the_picture(opened: Chat, results: Results) -> None:
    opened.show(results.tools["look"], LOOK, results.look)

    press(opened, "Look again")
    opened.told()
    opened.outside("window.answer(arguments[0])", results.refused)

    opened.until("return document.body.innerText.includes('could not be looked at')")
    assert len(pictures(opened)) == 1


def test_no_button_does_more_than_look_attach_and_show(opened: Chat, results: Results) -> None:
    """Whatever is pressed, while a call asks and after it, no other tool is called."""
    sent = []
    for result in (None, results.batch, results.delete, results.refused):
        opened.show(results.tools["batch"], BATCH, result)
        opened.driver.execute_script(
            "for (const one of document.querySelectorAll('details')) one.open = true;"
            "for (let turn = 0; turn < 3; turn += 1) {"
            "  for (const one of document.querySelectorAll('button, summary')) one.click(); }"
        )
        opened.until("return document.readyState === 'complete'")
        sent += opened.outside("return window.told")

    tools = {it["params"]["name"] for it in sent if it["method"] == "tools/call"}
    assert tools <= {"look"}
    assert {it["method"] for it in sent} <= {"tools/call", "ui/update-model-context"}
    assert sent


@skill(title="Look at the scene", risk="read")
def look() -> Told:
    """Look at a scene whose items have hostile names."""
    places = [(name, 0.1, 0.1, 0.5, 0.5) for name in HOSTILE]
    return [Legend("\n".join(HOSTILE), places), PIXEL]


@skill(risk="edit")
def transform() -> dict[str, Any]:
    """Change items that have hostile names."""
    changed = [{"item": name, "before": {name: name}, "after": {name: 1}} for name in HOSTILE]
    return {"found": len(HOSTILE), "changed": changed, "now": f"deleted: {HOSTILE[0]}"}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Message]:
    """Return what a real server returns of hostile names."""
    with live(tmp_path_factory.mktemp("hostile"), look, transform) as running:
        client = wire(running)
        return {name: client.call(name) for name in ("look", "transform")}


def raw(tool: str) -> Message:
    """Return a result that no server of ours sends: its names are as they are in the scene."""
    places = [[name, 0.1, 0.1, 0.5, 0.5] for name in HOSTILE]
    image = {"type": "image", "mimeType": "image/svg+xml", "data": "PHN2Zz48L3N2Zz4="}
    rows = [{"do": name, "found": name, "items": HOSTILE} for name in HOSTILE]
    words = {"type": "text", "text": "\n".join(HOSTILE)}
    pair = [{"shows": name, "mimeType": "image/png", "data": f'"{name}'} for name in HOSTILE]
    return {
        "content": [words, image],
        "structuredContent": {"steps": rows, "made": HOSTILE, "pairs": [HOSTILE], "items": [[]]},
        "isError": tool == "transform",
        "_meta": {
            "dcc-bridge/status": "failed",
            "dcc-bridge/places": [places, "no list"],
            "dcc-bridge/before_after": pair,
        },
    }


@pytest.mark.parametrize("source", ["server", "raw"])
@pytest.mark.parametrize("tool", ["look", "transform"])
def test_hostile_names_are_shown_as_text(
    opened: Chat, results: Results, hostile: dict[str, Message], source: str, tool: str
) -> None:
    """No script of theirs runs, nothing is loaded, and each hidden character is seen."""
    result = hostile[tool] if source == "server" else raw(tool)
    arguments: Message = {"view": HOSTILE[0]}
    if tool == "look":  # where there is a plan, its steps have the rows
        steps = [{"do": name, "with": {name: name, "items": HOSTILE}} for name in HOSTILE]
        arguments["steps"] = steps
    described = {**results.tools[tool], "title": HOSTILE[0]}

    opened.show(described, arguments, result)

    for width in (640, 320):
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        opened.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        opened.until("return window.innerWidth === arguments[0]", width)
        wide = "const it = document.documentElement; return it.scrollWidth > it.clientWidth"
        assert not opened.driver.execute_script(wide)
    text = opened.text()
    assert HOSTILE[0] in text
    assert [name for name in HOSTILE if len(name) < 100 and safe_line(name) not in text] == []
    assert "(1005 characters)" in text
    assert not set(text) & set("\0\7\u202e\u200b\u2066\u2800")
    count = "return document.querySelectorAll('script, style, link, iframe, b, svg').length"
    assert opened.driver.execute_script(count) == 2  # the page's own
    assert not opened.driver.execute_script(IS_HIT)


def test_a_hostile_name_is_attached_as_data(
    opened: Chat, results: Results, hostile: dict[str, Message]
) -> None:
    names = [row[0] for row in hostile["look"]["_meta"]["dcc-bridge/places"][0]]
    opened.show(results.tools["look"], {}, hostile["look"])

    press(opened, HOSTILE[0])
    press(opened, HOSTILE[1])
    press(opened, "Attach to my next message")

    (told,) = opened.told()
    assert named(told) == names[:2] == HOSTILE[:2]
    assert list(told["params"]) == ["content"]


@pytest.mark.parametrize(("theme", "back"), [("light", "255, 255, 255"), ("dark", "30, 32, 35")])
def test_the_page_has_the_theme_of_the_chat(
    opened: Chat, results: Results, theme: str, back: str
) -> None:
    colour = "return getComputedStyle(document.body).backgroundColor"
    opened.show(results.tools["look"], LOOK, results.look, theme=theme)
    assert opened.driver.execute_script(colour) == f"rgb({back})"

    own = {"--color-background-primary": "rgb(1, 2, 3)", "--font-sans": "serif"}
    opened.outside("window.restyle(arguments[0])", {"theme": theme, "styles": {"variables": own}})

    opened.until(f"{colour} === 'rgb(1, 2, 3)'")


def test_a_call_that_was_cancelled_says_so_and_the_page_goes(
    opened: Chat, results: Results
) -> None:
    opened.show(results.tools["batch"], BATCH, None)

    opened.outside("window.cancel()")
    opened.until("return document.querySelector('#state').innerText === 'Cancelled'")

    opened.driver.switch_to.default_content()
    gone = "window.tearDown().then(() => arguments[0]('gone'), (e) => arguments[0](`${e}`))"
    assert opened.driver.execute_async_script(gone) == "gone"


def test_the_frame_is_as_high_as_the_page(opened: Chat, results: Results) -> None:
    opened.show(results.tools["batch"], BATCH, results.batch, able=ABLE)

    whole = "const it = document.documentElement; return it.scrollHeight <= window.innerHeight"
    opened.until(whole)
