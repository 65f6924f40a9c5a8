"""The report of a plan: what comes first, and that no text in it is markup."""

from __future__ import annotations

import io
import json
import re
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from dcc_bridge_batch import display, plan, report
from dcc_bridge_batch.plan import Plan, Request, Scene
from tests.batch.conftest import FACTS, scene_line
from tests.server import browser

EVIL = "</script><img src=x onerror=\"document.title='evil'\">\u202e"
FIND = """
const field = document.getElementById("find");
field.value = arguments[0];
field.dispatchEvent(new Event("input"));
"""


def scene(number: int, items: list[str], kind: str = "Camera", **more: Any) -> Scene:
    """Give the line of a scene that asks for some items."""
    path = more.pop("path", f"sq{number % 7}/shot_{number:06}.usda")
    return scene_line(number, path, items, kind, **more)


def show(folder: Path, scenes: Iterable[Scene], arguments: Any = None, skill: str = "tidy") -> Plan:
    """Write a plan and its report."""
    request = Request("usd", skill, {"name": EVIL} if arguments is None else arguments)
    made = plan.write(folder, request, FACTS, folder, scenes)
    report.write(made)
    return made


def odd_show(folder: Path, count: int = 200) -> Plan:
    """Plan scenes of which four differ from the rest."""
    odd = {
        20: scene(20, [], state="failed", why=EVIL, question=None),
        60: scene(60, [f"/cam_{n}" for n in range(500)]),
        100: scene(100, ["/light"], "Light"),
        140: scene(140, [EVIL], EVIL, path=f"{EVIL}.usda"),
    }
    usual = (scene(n, [f"/World/cam_{n}_{m}" for m in range(3)]) for n in range(count))
    return show(folder, (odd.get(it["n"], it) for it in usual))


def page_of(made: Plan) -> str:
    return (made.folder / report.FILE).read_text(encoding="utf-8")


def in_terminal(made: Plan, width: int) -> str:
    """Show a plan as a terminal of that width does."""
    said = io.StringIO()
    display.show_plan(made, Console(file=said, width=width))
    return said.getvalue()


def rows(made: Plan) -> list[list[Any]]:
    """Read the rows out of the page."""
    pattern = r'<script type="application/json" id="data">(.*?)</script>'
    found = re.search(pattern, page_of(made), re.DOTALL)
    assert found is not None
    listed: list[list[Any]] = json.loads(found[1])
    return listed


def test_the_scenes_that_differ_from_the_rest_come_first(tmp_path: Path) -> None:
    listed = rows(odd_show(tmp_path))

    assert len(listed) == 200
    whys = [row[2] for row in listed]
    assert all(whys[:4])
    assert not any(whys[4:])
    assert whys[0].startswith("</script>")
    assert "500 items, where most have about 3" in whys
    assert "others have no Light" in whys


def test_no_text_of_a_scene_is_markup_in_the_report_which_loads_nothing_from_elsewhere(
    tmp_path: Path,
) -> None:
    text = page_of(odd_show(tmp_path))

    assert "<img" not in text
    assert text.count("</script>") == 2
    assert "\u202e" not in text
    page = text.partition('id="data">')[0] + text.rpartition("<script>")[2]
    assert not re.search(r"<[^>]*\s(src|href)\s*=|https?://|@import|url\(", page)


def test_what_is_agreed_to_can_be_read_whole(tmp_path: Path) -> None:
    line = scene(0, [f"/World/cam_{n}" for n in range(60)], arguments=[["target", "/World/hero"]])
    arguments = {"long": "y" * 900, "last": "at the end"}
    made = show(tmp_path, [line], arguments, skill="tidy_" * 100)
    page, shown = page_of(made), in_terminal(made, 120)
    facts = dict(re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", page))
    assert [*facts] == ["Skill", "Arguments", "Host", "Folder", "Made", "Plan"]
    assert facts["Skill"].startswith("tidy_" * 100)
    assert "at the end" in facts["Arguments"]
    assert "at the end" in shown.replace("\n", " ")
    assert rows(made)[0][7:] == [["target: /World/hero"], 1]
    assert "target: /World/hero" in shown
    assert plan.SCENES in page
    assert plan.SCENES in shown.replace("\n", "")


@pytest.mark.parametrize(("count", "is_cut"), [(3, False), (40, True)])
def test_the_terminal_shows_each_distinct_question_and_says_where_more_are(
    tmp_path: Path, count: int, is_cut: bool
) -> None:
    asks = "Delete the cameras of layer {}?"
    lines = (scene(n, ["/cam"], message=asks.format(n % count)) for n in range(2 * count))
    made = show(tmp_path, lines)
    said = in_terminal(made, 400)

    asked = [it for it in said.splitlines() if it.startswith("It asks in 2 scenes")]
    assert len(asked) == min(count, 20)
    assert asked[0] == f"It asks in 2 scenes: {asks.format(0)}"
    more = f"There are more questions: {made.folder / plan.SCENES} has all of them."
    assert (more in said) is is_cut


@pytest.mark.real
@pytest.mark.skipif(not browser.THERE, reason="there is no Chromium")
def test_a_browser_shows_the_report_searches_it_and_runs_nothing_of_a_scene(tmp_path: Path) -> None:
    made = odd_show(tmp_path / "plan", 1000)

    with browser.browser(tmp_path / "profile") as page:
        page.set_window_size(1200, 1400)
        page.get((made.folder / report.FILE).as_uri())
        first = page.find_elements("css selector", "details")
        assert len(first) == 200
        assert "</script><img" in first[0].text
        first[2].find_element("css selector", "summary").click()
        page.save_screenshot(str(tmp_path / "report.png"))
        page.find_element("id", "find").send_keys("CAM_77_1")
        assert page.find_element("id", "count").text == "1 of 1,000 scenes"
        page.find_element("id", "find").clear()
        page.find_element("id", "find").send_keys("shot_")
        page.find_element("id", "only").click()
        assert len(page.find_elements("css selector", "details")) == 3  # one has another name
        assert page.title == "tidy in 1,000 scenes"
        assert page.get_log("browser") == []  # type: ignore[no-untyped-call]  # selenium's own


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.skipif(not browser.THERE, reason="there is no Chromium")
def test_a_browser_opens_the_report_of_a_hundred_thousand_scenes_and_finds_one(
    tmp_path: Path,
) -> None:
    count = 100_000
    made = show(tmp_path, (scene(n, [f"/World/cam_{n}_{m}" for m in range(5)])
                           for n in range(count)))  # fmt: skip

    with browser.browser(tmp_path / "profile") as page:
        page.get((made.folder / report.FILE).as_uri())
        begin = time.monotonic()
        page.execute_script(FIND, f"shot_{count - 1:06}")
        seconds = time.monotonic() - begin
        found = page.find_element("id", "count").text
    print(f"\nsearched 100,000 scenes in Chromium in {seconds:.1f} s", file=sys.stderr)

    assert found == f"1 of {count:,} scenes"
    assert seconds < 20


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("count", [100, 1_000, 10_000, 100_000])
def test_a_plan_and_its_report_grow_with_the_scenes_and_memory_hardly(
    tmp_path: Path, count: int
) -> None:
    import tracemalloc

    tracemalloc.start()
    begin = time.monotonic()
    made = show(tmp_path, (scene(n, [f"/World/cam_{n}_{m}" for m in range(5)])
                           for n in range(count)))  # fmt: skip
    seconds, (_, peak) = time.monotonic() - begin, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    size = (made.folder / report.FILE).stat().st_size
    lines = (made.folder / plan.SCENES).stat().st_size
    print(f"\n{count} scenes: {seconds:.1f} s, {peak / 1e6:.1f} MB at most, plan {lines / 1e6:.1f}"
          f" MB, report {size / 1e6:.1f} MB", file=sys.stderr)  # fmt: skip

    assert peak < 10e6 + 700 * count
    assert size < 200_000 + 1_000 * count
