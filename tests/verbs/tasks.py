"""Nine tasks as an agent does them, and each verb once: calls of tools, written for all hosts.

What differs between hosts is in `Words`. Each task prepares its scene, works in one block that is
one undo step, looks at the scene, and finds it as it was once that step is undone. An agent's calls
and bytes are counted in the block alone; what a test asks besides is not.
"""

from __future__ import annotations

import base64
import io
import json
import math
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    Mapping,
    Sequence,
    Set,
)
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, combinations, cycle, islice
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final

import pytest
from mcp import Client
from mcp_types import CallToolResult, ElicitRequestParams, ElicitResult, ImageContent
from PIL import Image, ImageChops

from tests.verbs.operations_contract import VERBS
from tests.verbs.steps import step

if TYPE_CHECKING:
    from tests.hosts.application import Application
    from tests.live import Live

SKILLS: Final = Path(__file__).parent / "skills"
SETTINGS: Final = {"DCC_BRIDGE_SKILLS": str(SKILLS), "DCC_BRIDGE_DIALOGS_PER_MINUTE": "99"}
MOST_CALLS: Final = 6
Things = list[dict[str, Any]]


@dataclass(frozen=True)
class Network:
    """A small network of nodes: how it is built, and a socket that one takes for another."""

    things: Things
    links: list[dict[str, str]]
    wrong: tuple[str, str]  # what stands for an input, and what it is called in truth
    holder: str = ""  # the item below which the nodes are made: the id of an earlier thing


@dataclass(frozen=True)
class Words:
    """What a host calls things; "" for what it has not."""

    host: str
    box: str  # a type with a form
    group: str
    lamp: str  # what is aimed in a light rig
    numbers: tuple[str, tuple[str, ...], float]  # a type, properties of it, a value they can have
    bad: tuple[str, Any]  # a property and a value that it cannot have
    turn: str  # the property that turns an item when it is keyed
    scaled: tuple[dict[str, Any], ...]  # things with a scale that is not applied
    network: Network
    # Writes a file of another unit with a bad texture into a folder; gives the file.
    foreign: Callable[[Path], Path]
    factor: float  # by which the file's lengths fit the scene
    suffix: str  # of what is exported
    power: str = ""
    crown: str = ""  # what is in a tree, where a thing alone has no instances
    saves_as: str = ""  # a name for the scene, where it has no file
    draws: bool = True  # whether there is `look`
    axis: tuple[float, float, float] = (0.0, 0.0, -1.0)  # along which a lamp looks
    # Rules that are checked after the import, which of them fail then, and the steps that mend
    # that, which get the items.
    rules: tuple[str, ...] = ()
    fails: tuple[str, ...] = ()
    stays: tuple[str, ...] = ()  # of those, what no verb of this host mends
    mends: Callable[[Sequence[str], Path], Things] = lambda items, folder: []
    fits: float = 1.0  # the largest edge of what came in, in the scene's units
    missing: Mapping[str, str] = field(default_factory=dict)  # task: why this host cannot


@dataclass
class Count:
    """What a task took."""

    calls: int = 0
    bytes: int = 0


class Refused(Exception):
    """A tool said no."""


class Agent:
    """An MCP client that works, and counts what it costs."""

    def __init__(self, words: Words, folder: Path) -> None:
        self.words = words
        self.folder = folder
        self.count = Count()
        self.answers = "accept"  # what the person says next
        self.questions: list[str] = []
        self.called: set[str] = set()
        self.client: Client  # once it is connected
        self._is_counting = False

    async def asked(self, params: ElicitRequestParams) -> ElicitResult:
        """Answer as the person does; a form with its defaults."""
        self.questions.append(params.message)
        if self.answers != "accept":
            return ElicitResult(action="decline")
        schema: Any = getattr(params, "requested_schema", {})
        known = {"confirm": True}
        content = {n: it.get("default", known.get(n)) for n, it in schema["properties"].items()}
        return ElicitResult(action="accept", content=content)

    async def send(self, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        """Call a tool."""
        result = await self.client.call_tool(tool, arguments)
        if not result.is_error:
            self.called |= {tool, *(it["do"] for it in arguments.get("steps", ()))}
        if self._is_counting:
            self.count.calls += 1
            self.count.bytes += len(json.dumps(arguments)) + len(result.model_dump_json())
        return result

    async def call(self, tool: str, **arguments: Any) -> Any:
        """Call a tool that must succeed; gives what it told."""
        result = await self.send(tool, arguments)
        if result.is_error:
            raise Refused(f"{tool}({json.dumps(arguments)[:1500]}) said: {_text(result)}")
        return _facts(result)

    async def fails(self, tool: str, **arguments: Any) -> str:
        """Call a tool that must fail; gives why it did."""
        result = await self.send(tool, arguments)
        if not result.is_error:
            raise AssertionError(f"{tool}({json.dumps(arguments)[:1500]}) did not fail")
        return _text(result)

    async def picture(self, tool: str, **arguments: Any) -> tuple[Any, Image.Image]:
        """Call a tool that draws; gives what it told, and the picture."""
        result = await self.send(tool, arguments)
        if result.is_error:
            raise Refused(f"{tool}({json.dumps(arguments)[:1500]}) said: {_text(result)}")
        (drawn,) = (part for part in result.content if isinstance(part, ImageContent))
        data = io.BytesIO(base64.b64decode(drawn.data))
        assert len(data.getvalue()) <= 100_000
        return _facts(result), Image.open(data)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Let calls pass uncounted: they are the test's own."""
        before = self._is_counting
        self._is_counting = False
        try:
            yield
        finally:
            self._is_counting = before

    async def verbs(self) -> Set[str]:
        """Give the verbs that the host lists."""
        return {*VERBS} & {tool.name for tool in (await self.client.list_tools()).tools}

    async def make(self, things: Things) -> list[str]:
        """Make things before the task."""
        with self.aside():
            parts = [things[at : at + 20] for at in range(0, len(things), 20)]  # so many are told
            return [it for part in parts for it in made(await self.call("create", things=part))]

    async def facts(self, items: Sequence[str], *parts: str) -> list[dict[str, Any]]:
        """Look at items for the test."""
        with self.aside():
            told = []
            for at in range(0, len(items), 20):
                some = list(items[at : at + 20])
                told += (await self.call("inspect", items=some, parts=list(parts)))["items"]
            return told

    async def listed(self, **wanted: Any) -> list[dict[str, Any]]:
        """List items for the test."""
        with self.aside():
            return list((await self.call("list_items", limit=1000, **wanted))["rows"])

    async def state(self) -> dict[str, Any]:
        """Digest the scene."""
        with self.aside():
            return dict(await self.call("scene_state"))

    @asynccontextmanager
    async def working(self, steps: int = 1) -> AsyncIterator[None]:
        """Be at work: the block is so many undo steps, which take all of it back."""
        before = await self.state()
        self._is_counting = True
        try:
            yield
        finally:
            self._is_counting = False
        after = await self.state()
        assert after["depth"] - before["depth"] == steps
        assert (after["digest"] != before["digest"]) == (steps > 0)
        await self.take_back(before)

    async def take_back(self, before: Mapping[str, Any]) -> None:
        """Undo call by call, until the scene is as it was."""
        steps = (await self.state())["depth"] - before["depth"]
        for call in (await self.call("recent_calls", limit=50))["calls"]:
            if "undo_step" in call and "undone_by" not in call and steps:
                await self.call("undo_last", call_id=call["call"])
                steps -= 1
        assert (await self.state()) == before


def made(told: Mapping[str, Any]) -> list[str]:
    """Give the items that were created."""
    return [row["item"] for row in told["made"]]


def _text(result: CallToolResult) -> str:
    return " ".join(getattr(part, "text", "") for part in result.content)


def _facts(result: CallToolResult) -> Any:
    if result.structured_content is not None:
        return result.structured_content
    text = getattr(result.content[0], "text", "")
    return json.loads(text) if text[:1] in "{[" else text


# ---- the tasks


async def light_rig(agent: Agent) -> None:
    """Three lamps about a product, aimed at its middle within two degrees."""
    words = agent.words
    (product,) = await agent.make([{"type": words.box, "name": "Product", "at": [3.0, 2.0, 1.0]}])
    places = [[8.0, -4.0, 6.0], [-5.0, -3.0, 4.0], [4.0, 9.0, 5.0]]
    names = ["KeyLamp", "FillLamp", "RimLamp"]
    powers = [{words.power: power} if words.power else {} for power in (5.0, 2.0, 4.0)]
    things = [
        {"type": words.lamp, "name": name, "at": at, "values": values}
        for name, at, values in zip(names, places, powers, strict=True)
    ]

    async with agent.working():
        await agent.call("list_items", name="Product", fields=["center", "size"])
        steps: Things = [
            step("create", "lamps", things=things),
            step("transform", items=["$lamps"], look_at=product),
        ]
        if words.draws:
            look = {"items": [product], "marks": ["$lamps"], "view": "three_quarter"}
            told, picture = await agent.picture("batch", steps=steps, look=look)
            assert min(picture.size) > 100
        else:
            told = await agent.call("batch", steps=steps)
        lamps = made(told["steps"][0])

        (box,) = await agent.facts([product], "bounds")
        middle = [(a + b) / 2 for a, b in zip(*box["bounds"], strict=True)]
        for lamp, place in zip(await agent.facts(lamps), places, strict=True):
            assert lamp["at"] == _near(place)
            assert aim_error(lamp, middle, words.axis) < 2


async def renames(agent: Agent) -> None:
    """Forty crates become boxes; the two names that are taken are told, and make way."""
    words = agent.words
    crates = [{"type": words.box, "name": f"crate_{number:02}"} for number in range(1, 41)]
    taken = await agent.make([{"type": words.box, "name": f"Bin_{it}"} for it in ("07", "13")])
    await agent.make(crates)

    async with agent.working():
        told = await agent.call("rename", pattern="crate_*", to="Bin_*", preview=True)
        assert len(told["collisions"]) == 2
        names = dict(zip(taken, ("Old_07", "Old_13"), strict=True))
        await agent.call("rename", pattern="crate_*", to="Bin_*", names=names)

        assert len(await agent.listed(name="Bin_*")) == 40
        assert len(await agent.listed(name="Old_*")) == 2
        assert not await agent.listed(name="crate_*")


async def placeholders(agent: Agent) -> None:
    """Forty placeholders become instances, placed and turned as they were; a no leaves them all."""
    words = agent.words
    spots = [[float(number % 8), 5.0, float(number // 8)] for number in range(40)]
    names = [f"spot_{number:02}" for number in range(40)]
    marks = await agent.make([{"type": words.box, "name": name, "at": at}
                              for name, at in zip(names, spots, strict=True)])  # fmt: skip
    kind = words.group if words.crown else words.box
    (tree,) = await agent.make([{"type": kind, "name": "Tree"}])
    await agent.make([{"type": words.crown, "name": "Crown", "under": tree}] if words.crown else [])
    with agent.aside():
        for each in range(2):
            size = {"scale": [1.5 + each] * 3} if words.scaled else {}
            turn = [0.0, 0.0, 20.0 + 40.0 * each]
            await agent.call("transform", items=marks[each::2], rotate=turn, **size)
    before = [_placed(row) for row in await agent.facts(marks)]

    async with agent.working():
        rows = (await agent.call("list_items", name="spot_*"))["rows"]
        items = [row["item"] for row in rows]
        steps = [
            step("duplicate", "copies", items=[tree], to=items),
            step("delete", items=items),
        ]
        agent.answers = "decline"
        state = await agent.state()
        why = await agent.fails("batch", steps=steps)
        assert "declined" in why.lower(), why
        assert await agent.state() == state
        agent.answers = "accept"
        told = await agent.call("batch", steps=steps)

        assert len(agent.questions) == 2
        assert not await agent.listed(name="spot_*")
        assert told["steps"][0]["found"] == 40
        copies = [row["item"] for row in await agent.listed(name="Tree*") if row["item"] != tree]
        assert sorted(_placed(row) for row in await agent.facts(copies)) == sorted(before)
        with agent.aside():
            shapes = (await agent.call("shapes_of", items=[tree, *copies]))["shapes"]
        assert shapes == shapes[:1] * 41


async def grid(agent: Agent) -> None:
    """A hundred blocks of one material in a grid, a ring of posts, and a path, in few bytes."""
    words = agent.words
    block = {"type": words.box, "name": "Block_{n:03}", "at": [1.0, 0.0, 0.0]}
    cells = {"count": [10, 5, 2], "step": [3.0, 4.0, 5.0]}
    steps = [step("create", "blocks", things=[{**block, "repeat": cells}])]
    if "assign_material" in await agent.verbs():
        steps.append(step("assign_material", items="$blocks", values={"base_color": [1, 0, 0]}))
    ring = {"count": 8, "radius": 4.0, "axis": "z", "turn": True, "name": "Post_#"}
    line = {"along": [[0.0, 0.0, 0.0], [0.0, 8.0, 0.0]]}
    posts = [
        step("create", "post", things=[{"type": words.box, "name": "Mast", "at": [0, 0, 9.0]}]),
        step("duplicate", "posts", items="$post", repeat=ring, linked=False),
        step("transform", items=["$posts.items.0", "$posts.items.1", "$post"], repeat=line),
    ]

    async with agent.working():
        told = await agent.call("batch", steps=[*steps, *posts])

        assert len(json.dumps({"steps": steps})) < 700
        assert len(json.dumps({"steps": told["steps"][: len(steps)]})) < 700
        blocks = await agent.listed(name="Block_*", fields=["at"])
        wanted = [[1 + 3 * x, 4 * y, 5 * z] for z in range(2) for y in range(5) for x in range(10)]
        assert [row["at"] for row in blocks] == [_near(at) for at in wanted]
        if "assign_material" in await agent.verbs():
            (material,) = (it["material"] for it in told["steps"] if "material" in it)
            assert len(await agent.listed(uses=material, name="Block_*")) == 100
        rows = await agent.listed(name="Post_*", fields=["at", "rotation"])
        first, second, third = rows[:3]
        assert [it["at"] for it in (first, second)] == [_near([0, 0, 0]), _near([0, 4, 0])]
        assert third["at"] == _near([0, 4, 9])
        assert third["rotation"] == _near([0, 0, 90])
        (mast,) = await agent.listed(name="Mast", fields=["at"])
        assert mast["at"] == _near([0, 8, 0])


async def turntable(agent: Agent) -> None:
    """A thing turns; four pictures of it differ."""
    words = agent.words
    places = {"Middle": [0.0, 0.0, 0.0], "Aside": [3.0, 1.5, 0.0]}
    things = [{"type": words.box, "name": name, "at": at} for name, at in places.items()]
    thing, *boxes = await agent.make([{"type": words.group, "name": "Turned"}, *things])
    with agent.aside():
        await agent.call("group", items=boxes, under=thing)
    if not words.turn:  # then who looks goes round it
        async with agent.working(steps=0):
            _, picture = await agent.picture("look", view="around")
            assert _differ(picture)
        return

    up = 1 if (await agent.call("summary"))["up"] == "Y" else 2
    keys = [[frame, [angle if at == up else 0.0 for at in range(3)]]
            for frame, angle in ((1, 0.0), (97, 360.0))]  # fmt: skip
    async with agent.working():
        turned = {"item": thing, "prop": words.turn, "keys": keys, "shape": "linear"}
        look = {"view": "three_quarter", "frames": [1, 13, 29, 43]}
        steps = [step("set_keys", **turned)]
        _, picture = await agent.picture("batch", steps=steps, look=look)

        assert _differ(picture)
        (facts,) = await agent.facts([thing], "keys")
        assert [frame for frame, _ in facts["keys"][words.turn]] == [1, 97]


async def unapplied_scale(agent: Agent) -> None:
    """The check names what is scaled; applied, nothing has moved and the check passes."""
    items = await agent.make(list(agent.words.scaled))
    with agent.aside():
        for item, size in zip(items, ([2.0, 1.0, 3.0], [0.5, 4.0, 1.0]), strict=True):
            await agent.call("transform", items=[item], scale=size)
    before = [row["bounds"] for row in await agent.facts(items, "bounds")]

    async with agent.working():
        told = await agent.call("check", rules=["scale_applied"])
        wrong = list(told["failed"]["scale_applied"]["items"])
        assert sorted(wrong) == sorted(items)
        steps = [step("transform", items=wrong, apply=["scale"])]
        told = await agent.call("batch", steps=steps, check={"rules": ["scale_applied"]})
        assert told["steps"][-1]["passed"] == ["scale_applied"]

        for row, box in zip(await agent.facts(items, "bounds"), before, strict=True):
            assert row["scale"] == _near([1.0, 1.0, 1.0])
            assert [*chain(*row["bounds"])] == _near([*chain(*box)])


async def import_and_mend(agent: Agent) -> None:
    """A file comes in, is checked, undone, and comes in right; it is exported over an old one."""
    words = agent.words
    file = words.foreign(agent.folder)
    old = agent.folder / f"published{words.suffix}"
    old.write_text("#usda 1.0\n")

    async with agent.working():
        rules = {"rules": list(words.rules)}
        steps: Things = [step("import_file", path=str(file))]
        told = await agent.call("batch", steps=steps, check=rules)
        came, checked = told["steps"]
        assert {*words.fails} == {*checked["failed"]}, checked
        await agent.call("undo_last")
        steps[0]["with"]["scale"] = words.factor
        steps += words.mends(came["items"], agent.folder)
        told = await agent.call("batch", steps=steps, check=rules)
        items = told["steps"][0]["items"]
        await agent.call("export_file", path=str(old), items=items)

        assert {*told["steps"][-1]["failed"]} == {*words.stays}, told["steps"][-1]
        assert len(agent.questions) == 1
        assert old.stat().st_size > 100
        boxes = [row["bounds"] for row in await agent.facts(items, "bounds")]
        sizes = [b - a for low, high in filter(None, boxes) for a, b in zip(low, high, strict=True)]
        assert max(sizes) == _near(words.fits)


async def many_values(agent: Agent) -> None:
    """Five hundred values at once: one that is wrong is named, and then none is set."""
    kind, props, value = agent.words.numbers
    bad_prop, bad = agent.words.bad
    wanted = 500 // len(props)
    items = await agent.make([{"type": kind, "name": f"thing_{it:03}"} for it in range(wanted)])
    pairs = [(item, prop) for item in items for prop in props]
    changes = [{"item": item, "prop": prop, "value": value} for item, prop in pairs]
    assert len(changes) == 500

    async with agent.working():
        slip = {"item": items[-1], "prop": bad_prop, "value": bad}
        wrong = [*changes[:250], slip, *changes[251:]]
        before = await agent.state()
        why = await agent.fails("set_values", changes=wrong)
        assert "changes[250]" in why
        assert await agent.state() == before
        await agent.call("set_values", changes=changes)

        assert not agent.questions
        some = [*islice(cycle(items), 0, 100, 20)]
        for row in await agent.facts(some, "values"):
            assert {prop: row["values"][prop] for prop in props} == dict.fromkeys(props, value)


async def network(agent: Agent) -> None:
    """Nodes are made and connected; a wrong socket is answered with the right ones."""
    plan = agent.words.network
    right, real = plan.wrong

    async with agent.working():
        wrong = [{**link, "in": right if link["in"] == real else link["in"]} for link in plan.links]
        before = await agent.state()
        why = await agent.fails("batch", steps=_connected(plan, wrong))
        assert real in why
        assert await agent.state() == before
        told = await agent.call("batch", steps=_connected(plan, plan.links))
        _assert_linked(told, plan)


def _connected(plan: Network, links: list[dict[str, str]]) -> Things:
    creations = [
        step("create", f"n{number}", things=[thing]) for number, thing in enumerate(plan.things)
    ]
    return [*creations, step("connect", "links", links=links)]


def _assert_linked(told: Mapping[str, Any], plan: Network) -> None:
    there = {(link["out"], link["in"]) for link in told["steps"][-1]["links"]}
    assert {(link["out"], link["in"]) for link in plan.links} <= there


async def every_verb(agent: Agent) -> None:
    """Each verb of the host does what it says, as the scene tells afterwards, and is undone."""
    listed = await agent.verbs()
    file = {"path": str(agent.folder / agent.words.saves_as)} if agent.words.saves_as else {}
    assert (await agent.call("save", **file))["file"]
    before = await agent.state()

    block = await _built(agent, listed)
    await _seen(agent, block, listed)
    await _exchanged(agent, block)

    assert agent.called & {*VERBS} == listed
    await agent.take_back(before)


async def faults(agent: Agent) -> None:
    """An exception at any act of a batch leaves scene and undo stack as they were."""
    words = agent.words
    (kind, (prop, *_), value) = agent.words.numbers
    things = [
        {"type": words.group, "name": "Holder"},
        {"type": kind, "name": "Dial"},
        *({"type": words.box, "name": name} for name in ("Block", "Beam", "Spot")),
    ]
    holder, gauge, block, beam, gone = await agent.make(things)
    keys = {"item": block, "prop": words.turn, "keys": [[1, [0, 0, 0]], [9, [0, 0, 90]]]}
    red = {"items": [block], "values": {"base_color": [1, 0, 0]}}
    listed = await agent.verbs()
    steps: Things = [
        *_connected(words.network, words.network.links),
        step("transform", items=[block], move=[1, 0, 0], rotate=[0, 0, 30]),
        step("duplicate", items=[block], count=2),
        step("set_values", items=[gauge], values={prop: value}),
        step("group", items=[beam], under=holder),
        *([step("assign_material", **red)] if "assign_material" in listed else []),
        *([step("set_keys", **(keys | {"shape": "linear"}))] if words.turn else []),
        step("rename", names={block: "Brick"}),
        step("delete", items=[gone]),
    ]
    before = await agent.state()

    await agent.call("fail_at", number=0)
    await agent.call("batch", steps=steps)
    count = (await agent.call("fail_at", number=0))["done"]
    await agent.take_back(before)
    for number in range(1, count + 1):
        await agent.call("fail_at", number=number)
        why = await agent.fails("batch", steps=steps)
        assert "failed_at" in why and "the host fell over" in why, why  # noqa: PT018 - one sentence
        assert await agent.state() == before, number
    await agent.call("fail_at", number=-1)

    assert len(steps) >= 10
    assert count >= 12


async def _built(agent: Agent, listed: Set[str]) -> str:
    """Create, move, copy, set, group, shade, connect, animate, rename; gives a thing."""
    words = agent.words
    (kind, (prop, *_), value) = agent.words.numbers
    things = [{"type": words.group, "name": "Holder"}, {"type": kind, "name": "Dial"},
              {"type": words.box, "name": "Block", "at": [1, 2, 3]},
              {"type": words.lamp, "name": "Beam", "at": [4, 5, 6]}]  # fmt: skip
    holder, gauge, block, beam = made(await agent.call("create", things=things))
    await agent.call("transform", items=[block], move=[1, 0, 0])
    await agent.call("set_values", items=[gauge], values={prop: value})
    told = (await agent.call("inspect", items=[block, beam, gauge], parts=["values"]))["items"]
    assert [row["at"] for row in told[:2]] == [_near([2, 2, 3]), _near([4, 5, 6])]
    assert told[2]["values"][prop] == value
    assert (await agent.call("duplicate", items=[block], count=2))["found"] == 2
    assert (await agent.call("list_items", name="Block*"))["found"] == 3
    await agent.call("group", items=[beam], under=holder)
    assert len(await agent.listed(under=holder, name="Beam*")) == 1
    if "assign_material" in listed:  # in FreeCAD only a window has colours
        told = await agent.call("assign_material", items=[block], values={"base_color": [1, 0, 0]})
        assert block in [row["item"] for row in await agent.listed(uses=told["material"])]
    linked = await agent.call("batch", steps=_connected(words.network, words.network.links))
    _assert_linked(linked, words.network)
    if words.turn:
        keys = [[1, [0.0, 0.0, 0.0]], [9, [0.0, 0.0, 90.0]]]
        await agent.call("set_keys", item=block, prop=words.turn, keys=keys, shape="linear")
        (facts,) = await agent.facts([block], "keys")
        assert [frame for frame, _ in facts["keys"][words.turn]] == [1, 9]
    await agent.call("rename", names={block: "Brick"})
    (row,) = await agent.listed(name="Brick")
    return str(row["item"])


async def _seen(agent: Agent, block: str, listed: Set[str]) -> None:
    """Select, look, check, clean and look up."""
    await agent.call("select", items=[block])
    assert (await agent.call("summary"))["selected"] == 1
    assert (await agent.call("find_api", query=agent.words.box))["cards"]
    if "look" in listed:
        await agent.picture("look", items=[block], size=256)
        rendered: dict[str, Any] = {"items": [block], "view": "three_quarter", "size": [64, 48]}
        if agent.words.host == "Blender":  # the others have no renderer, and take no samples
            rendered["samples"] = 1
        await agent.picture("render", **rendered)
    rule = "unused_materials"
    what = "unused"
    if "assign_material" in listed:
        await agent.call("assign_material", items=[], material="Spare", values={"roughness": 0.5})
    else:
        rule = what = "empty_groups"
        await agent.make([{"type": agent.words.group, "name": "Spare"}])
    (spare,) = (await agent.call("check", rules=[rule]))["failed"].values()
    assert "Spare" in str(spare["items"])
    await agent.call("clean", what=[what])
    assert not (await agent.call("check", rules=[rule]))["failed"]


async def _exchanged(agent: Agent, block: str) -> None:
    """Export over an old file, import, delete."""
    (old := agent.folder / f"tour{agent.words.suffix}").write_text("#usda 1.0\n")
    await agent.call("export_file", path=str(old), items=[block])
    assert old.stat().st_size > 100
    came = await agent.call("import_file", path=str(agent.words.foreign(agent.folder)))
    assert len(await agent.facts(came["items"])) == len(came["items"]) > 0
    assert (await agent.call("delete", items=came["items"]))["still_there"] == []
    assert {row["item"] for row in await agent.listed()}.isdisjoint(came["items"])


async def deletes_what_it_made(agent: Agent) -> None:
    """A batch makes a thing, exports, moves and deletes it with another one: a no, then a yes."""
    words = agent.words
    (old,) = await agent.make([{"type": words.box, "name": "Old"}])
    thing = {"type": words.box, "name": "New", "at": [1.0, 2.0, 3.0]}
    out = str(agent.folder / f"new{words.suffix}")
    steps = [
        step("create", "m", things=[thing]),
        step("export_file", path=out, items=["$m"]),
        step("transform", items=["$m"], move=[1.0, 0.0, 0.0]),
        step("delete", items=["$m", old]),
        step("create", things=[{"type": words.box, "name": "Last"}]),
    ]
    agent.answers = "decline"
    async with agent.working(steps=0):
        await agent.fails("batch", steps=steps)
    agent.answers = "accept"
    (agent.folder / f"new{words.suffix}").unlink()
    async with agent.working():
        await agent.call("batch", steps=steps)
        assert not await agent.listed(name="Old")
        assert not await agent.listed(name="New")
        assert len(await agent.listed(name="Last")) == 1
    assert len(agent.questions) == 2


TASKS: Final[dict[str, Callable[[Agent], Awaitable[None]]]] = {
    "light rig": light_rig,
    "renames": renames,
    "placeholders": placeholders,
    "grid": grid,
    "turntable": turntable,
    "unapplied scale": unapplied_scale,
    "import": import_and_mend,
    "values": many_values,
    "network": network,
}
MORE: Final = {"every verb": every_verb, "faults": faults, "mid-batch": deletes_what_it_made}
IN_EACH: Final = ["every verb", "mid-batch"]  # what the quick run does in each host


async def do(agent: Agent, name: str, counts: dict[str, Count]) -> None:
    """Do a task, in few calls, or one of the others."""
    await (TASKS | MORE)[name](agent)
    if name in TASKS:
        assert agent.count.calls <= MOST_CALLS
        counts[name] = agent.count


def work(
    running: Application | Live, agent: Agent, task: Callable[[Agent], Awaitable[None]]
) -> None:
    """Connect an agent to a host, and have it do something."""

    async def connected() -> None:
        async with running.client(asked=agent.asked) as agent.client:
            await task(agent)

    running.run(connected, limit=300)


def in_turn(application: Application, words: Words, folder: Path, names: Sequence[str]) -> None:
    """Do one after the other in one session; what each was prepared with stays."""
    counts: dict[str, Count] = {}
    for name in names:
        work(application, Agent(words, folder), partial(do, name=name, counts=counts))
    tell(f"{words.host} in a window", counts)


def tell(host: str, counts: Mapping[str, Count]) -> None:
    """Print what each task took, and hold them to what an agent should need."""
    if counts:
        middle = median(it.calls for it in counts.values())
        lines = [f"{name:20} {it.calls:3} calls {it.bytes:9,} bytes" for name, it in counts.items()]
        print("", host, *lines, f"{'median':20} {middle:3} calls", sep="\n")
        assert middle <= MOST_CALLS


# ---- geometry of the checks


def _near(numbers: Any) -> Any:
    return pytest.approx(numbers, rel=1e-4, abs=1e-4)


def _placed(row: Mapping[str, Any]) -> list[float]:
    """Give where an item is, how it is turned, and how large it is."""
    return [round(it, 3) + 0.0 for part in ("at", "rotation", "scale") for it in row[part]]


def aim_error(
    lamp: Mapping[str, Any], target: Sequence[float], axis: Sequence[float] = (0, 0, -1)
) -> float:
    """Give by how many degrees a lamp, which looks along its own axis, misses a point."""
    return _angle_between(_ahead(lamp, axis), _way(lamp["at"], target))


def _way(start: Sequence[float], end: Sequence[float]) -> list[float]:
    return [b - a for a, b in zip(start, end, strict=True)]


def _ahead(lamp: Mapping[str, Any], axis: Sequence[float]) -> list[float]:
    """Give where a lamp looks: its own axis, turned about x, then y, then z."""
    x, y, z = axis
    a, b, c = (math.radians(it) for it in lamp["rotation"])
    y, z = y * math.cos(a) - z * math.sin(a), y * math.sin(a) + z * math.cos(a)
    x, z = x * math.cos(b) + z * math.sin(b), -x * math.sin(b) + z * math.cos(b)
    return [x * math.cos(c) - y * math.sin(c), x * math.sin(c) + y * math.cos(c), z]


def _angle_between(a: Sequence[float], b: Sequence[float]) -> float:
    cosine = sum(x * y for x, y in zip(a, b, strict=True)) / math.hypot(*a) / math.hypot(*b)
    return math.degrees(math.acos(max(-1.0, min(1.0, cosine))))


def _differ(sheet: Image.Image) -> bool:
    """Whether the four pictures of a sheet are four different ones."""
    width = sheet.width // 2
    height = sheet.height // 2
    corners = [(0, 0), (width, 0), (0, height), (width, height)]
    parts = [sheet.convert("L").crop((x, y, x + width, y + height)) for x, y in corners]
    pairs = combinations(parts, 2)
    return all(sum(ImageChops.difference(a, b).histogram()[40:]) > 50 for a, b in pairs)
