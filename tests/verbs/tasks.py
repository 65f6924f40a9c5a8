"""Eight tasks as an agent does them: calls of tools, written once for all hosts.

What differs between hosts is in `Words`. Each task prepares its scene, works in one block that is
one undo step, looks at the scene, and finds it as it was once that step is undone. An agent's calls
and bytes are counted in the block alone; what a test asks besides is not.
"""

from __future__ import annotations

import base64
import io
import json
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from itertools import combinations, cycle, islice
from pathlib import Path
from statistics import median
from typing import Any, Final

from mcp import Client
from mcp_types import CallToolResult, ElicitRequestParams, ElicitResult, ImageContent
from PIL import Image, ImageChops

SKILLS: Final = Path(__file__).parent / "skills"
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
        before, self._is_counting = self._is_counting, False
        try:
            yield
        finally:
            self._is_counting = before

    async def make(self, things: Things) -> list[str]:
        """Make things before the task."""
        with self.aside():
            parts = [things[at : at + 100] for at in range(0, len(things), 100)]  # so many are told
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
        for call in (await self.call("recent_calls"))["calls"]:
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
            {"id": "lamps", "do": "create", "with": {"things": things}},
            {"do": "transform", "with": {"items": ["$lamps"], "look_at": product}},
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
            assert _angle_between(_ahead(lamp, words), _way(lamp["at"], middle)) < 2


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
    """Twelve placeholders become instances of a tree; a no leaves them all."""
    words = agent.words
    spots = [[float(number), 5.0, 0.0] for number in range(12)]
    marks = [
        {"type": words.group, "name": f"spot_{number:02}", "at": at}
        for number, at in enumerate(spots)
    ]
    await agent.make(marks)
    (tree,) = await agent.make([{"type": words.box, "name": "Tree"}])

    async with agent.working():
        rows = (await agent.call("list_items", name="spot_*", fields=["at"]))["rows"]
        items, places = [row["item"] for row in rows], [row["at"] for row in rows]
        steps = [  # what asks comes first: what was edited before a question is a step of its own
            {"do": "delete", "with": {"items": items}},
            {"id": "copies", "do": "duplicate", "with": {"items": [tree], "to": places}},
        ]
        agent.answers = "decline"
        before = await agent.state()
        why = await agent.fails("batch", steps=steps)
        assert "declined" in why.lower(), why
        assert await agent.state() == before
        agent.answers = "accept"
        told = await agent.call("batch", steps=steps)

        assert len(agent.questions) == 2
        assert not await agent.listed(name="spot_*")
        copies = await agent.facts(told["steps"][1]["items"])
        assert sorted(copy["at"] for copy in copies) == [_near(spot) for spot in spots]


async def turntable(agent: Agent) -> None:
    """A thing turns; four pictures of it differ."""
    words = agent.words
    thing, *boxes = await agent.make(
        [
            {"type": words.group, "name": "Turned"},
            {"type": words.box, "name": "Middle", "at": [0.0, 0.0, 0.0]},
            {"type": words.box, "name": "Aside", "at": [3.0, 1.5, 0.0]},
        ]
    )
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
        _, picture = await agent.picture(
            "batch",
            steps=[
                {
                    "do": "set_keys",
                    "with": {"item": thing, "prop": words.turn, "keys": keys, "shape": "linear"},
                },
            ],
            look={"view": "three_quarter", "frames": [1, 13, 29, 43]},
        )

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
        told = await agent.call(
            "batch",
            steps=[{"do": "transform", "with": {"items": wrong, "apply": ["scale"]}}],
            check={"rules": ["scale_applied"]},
        )
        assert told["steps"][-1]["passed"] == ["scale_applied"]

        for row, box in zip(await agent.facts(items, "bounds"), before, strict=True):
            assert row["scale"] == _near([1.0, 1.0, 1.0])
            assert [it for corner in row["bounds"] for it in corner] == _near(
                [it for corner in box for it in corner]
            )


async def import_and_mend(agent: Agent) -> None:
    """A file comes in, is checked, undone, and comes in right; it is exported over an old one."""
    words = agent.words
    file = words.foreign(agent.folder)
    old = agent.folder / f"published{words.suffix}"
    old.write_text("#usda 1.0\n")

    async with agent.working():
        rules = {"rules": list(words.rules)}
        told = await agent.call(
            "batch", steps=[{"do": "import_file", "with": {"path": str(file)}}], check=rules
        )
        came, checked = told["steps"]
        assert {*words.fails} == {*checked["failed"]}, checked
        await agent.call("undo_last")
        told = await agent.call(
            "batch",
            steps=[
                {
                    "id": "came",
                    "do": "import_file",
                    "with": {"path": str(file), "scale": words.factor},
                },
                *words.mends(came["items"], agent.folder),
            ],
            check=rules,
        )
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
        wrong = [
            *changes[:250],
            {"item": items[-1], "prop": bad_prop, "value": bad},
            *changes[251:],
        ]
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

    def steps(links: list[dict[str, str]]) -> Things:
        creations = [
            {"id": f"n{number}", "do": "create", "with": {"things": [thing]}}
            for number, thing in enumerate(plan.things)
        ]
        return [*creations, {"id": "links", "do": "connect", "with": {"links": links}}]

    async with agent.working():
        wrong = [{**link, "in": right if link["in"] == real else link["in"]} for link in plan.links]
        before = await agent.state()
        why = await agent.fails("batch", steps=steps(wrong))
        assert real in why
        assert await agent.state() == before
        told = await agent.call("batch", steps=steps(plan.links))

        links = told["steps"][-1]["links"]
        assert {(link["out"], link["in"]) for link in plan.links} <= {
            (link["out"], link["in"]) for link in links
        }


TASKS: Final[dict[str, Callable[[Agent], Awaitable[None]]]] = {
    "light rig": light_rig,
    "renames": renames,
    "placeholders": placeholders,
    "turntable": turntable,
    "unapplied scale": unapplied_scale,
    "import": import_and_mend,
    "values": many_values,
    "network": network,
}


def table(counts: Mapping[str, Count]) -> str:
    """Tell what each task took."""
    lines = [f"{name:20} {it.calls:3} calls {it.bytes:9,} bytes" for name, it in counts.items()]
    middle = median(it.calls for it in counts.values())
    return "\n".join([*lines, f"{'median':20} {middle:3} calls"])


# ---- geometry of the checks


def _near(numbers: Any) -> Any:
    import pytest

    return pytest.approx(numbers, rel=1e-4, abs=1e-4)


def _way(start: Sequence[float], end: Sequence[float]) -> list[float]:
    return [b - a for a, b in zip(start, end, strict=True)]


def _ahead(lamp: Mapping[str, Any], words: Words) -> list[float]:
    """Give where a lamp looks: its own axis, turned about x, then y, then z."""
    x, y, z = words.axis
    a, b, c = (math.radians(it) for it in lamp["rotation"])
    y, z = y * math.cos(a) - z * math.sin(a), y * math.sin(a) + z * math.cos(a)
    x, z = x * math.cos(b) + z * math.sin(b), -x * math.sin(b) + z * math.cos(b)
    return [x * math.cos(c) - y * math.sin(c), x * math.sin(c) + y * math.cos(c), z]


def _angle_between(a: Sequence[float], b: Sequence[float]) -> float:
    cosine = sum(x * y for x, y in zip(a, b, strict=True)) / math.hypot(*a) / math.hypot(*b)
    return math.degrees(math.acos(max(-1.0, min(1.0, cosine))))


def _differ(sheet: Image.Image) -> bool:
    """Whether the four pictures of a sheet are four different ones."""
    width, height = sheet.width // 2, sheet.height // 2
    corners = [(0, 0), (width, 0), (0, height), (width, height)]
    parts = [sheet.convert("L").crop((x, y, x + width, y + height)) for x, y in corners]
    pairs = combinations(parts, 2)
    return all(sum(ImageChops.difference(a, b).histogram()[40:]) > 50 for a, b in pairs)
