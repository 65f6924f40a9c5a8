"""``report.html``: what a plan would do, for a person to read. Any thread.

One file that loads nothing: the rows are JSON in it, and its script puts each text where no markup
is read. The scenes that differ from the rest come first.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from statistics import median
from string import Template
from typing import Any, Final

from dcc_bridge.spi.batch import safe_line

from .plan import Plan, Scene, when

FILE: Final = "report.html"
WORDS: Final = {  # what a person reads for each state of a scene
    "asks": "will be changed",
    "nothing": "nothing to do",
    "twice": "asks more than once, left as it is",
    "unsafe": "no plan can speak for it, left as it is",
    "failed": "failed, left as it is",
}
_RANK: Final = {"twice": 1, "unsafe": 1, "failed": 0, "asks": 2, "nothing": 4}
_FAR: Final = 4  # times as many items as the usual scene has, or as few
_MOST_DETAILED: Final = 2_000  # scenes whose items are in the report
_MOST_ITEMS: Final = 50  # items of one of them
_MOST_TEXT: Final = 400
_MOST_NAMED: Final = 5  # scenes, in a sentence
_PAGE: Final = Path(__file__).with_name("report.html")


@dataclass(frozen=True, slots=True)
class Overview:
    """A plan as a whole.

    Attributes:
        states: How many scenes there are of each state.
        kinds: How many items there are of each type.
        usual: Items that half of the scenes have at most.
        order: The numbers of all scenes, those that differ from the rest first, and what each
            differs in.
    """

    states: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    usual: float = 0.0
    order: list[tuple[int, str]] = field(default_factory=list)

    @property
    def differing(self) -> list[tuple[int, str]]:
        """The scenes that differ from the rest."""
        return [(number, why) for number, why in self.order if why]


def overview(plan: Plan) -> Overview:
    """Look at all scenes of a plan, twice."""
    states = Counter[str]()
    kinds = Counter[str]()
    shapes = Counter[str]()
    counts: list[int] = []
    for scene in plan.scenes():
        states[scene["state"]] += 1
        shapes[_shape(scene)] += 1
        if scene["state"] == "asks":
            kinds.update(scene["question"]["kinds"])
            counts.append(len(scene["question"]["items"]))
    usual = float(median(counts)) if counts else 0.0
    rare = max(1, plan.count // 50)
    ranked = []
    for scene in plan.scenes():
        why = _difference(scene, usual, shapes[_shape(scene)] <= rare < plan.count // 2)
        rank = _RANK[scene["state"]] if why or scene["state"] != "asks" else 3
        ranked.append((rank, shapes[_shape(scene)], scene["n"], why))
    ranked.sort(key=lambda row: row[:3])
    return Overview(states, kinds, usual, [(number, why) for _, _, number, why in ranked])


def _shape(scene: Scene) -> str:
    """Name what a scene has in common with the most others: its state and the types of items."""
    kinds = set(scene["question"]["kinds"]) if scene["question"] else ()
    return f"{scene['state']}: {', '.join(sorted(kinds))}"


def _difference(scene: Scene, usual: float, is_rare: bool) -> str:
    """Say in what a scene differs from the rest, or ""."""
    if scene["state"] in ("failed", "twice", "unsafe"):
        return str(scene["why"])
    if scene["state"] != "asks":
        return ""
    count = len(scene["question"]["items"])
    if usual and not usual / _FAR <= count <= usual * _FAR:
        return f"{count:,} items, where most have about {usual:,.0f}"
    return f"others have no {_shape(scene).partition(': ')[2]}" if is_rare else ""


def write(plan: Plan) -> Path:
    """Write the report into the plan's folder, and give its path. OSError."""
    seen = overview(plan)
    skill = plan.header["skill"]["name"]
    fields = {
        "title": escape(f"{skill} in {scenes(plan.count)}"),
        "facts": "\n".join(_facts(plan)),
        "states": "\n".join(_bars(Counter({WORDS[k]: n for k, n in seen.states.items()}))),
        "kinds": "\n".join(_bars(seen.kinds)) or "<p>No items are named.</p>",
        "differing": _listed(len(seen.differing)),
    }
    page = Template(_PAGE.read_text(encoding="utf-8"))
    head, _, tail = page.substitute(fields).partition("@ROWS@")
    target = plan.folder / FILE
    with target.open("w", encoding="utf-8", errors="backslashreplace") as out:
        out.write(head)
        separator = "[\n"
        for row in _rows(plan, seen):
            out.write(separator + _as_script(row))
            separator = ",\n"
        out.write("\n]" if separator != "[\n" else "[]")
        out.write(tail)
    return target


def scenes(count: int) -> str:
    """Count scenes."""
    return "1 scene" if count == 1 else f"{count:,} scenes"


def named(paths: Sequence[str]) -> str:
    """Name some scenes, in a sentence, and count the rest."""
    more = f" and {len(paths) - _MOST_NAMED:,} more" if len(paths) > _MOST_NAMED else ""
    return ", ".join(safe_line(path, 120) for path in paths[:_MOST_NAMED]) + more


def facts(plan: Plan) -> dict[str, str]:
    """Return what a person reads of a plan as a whole."""
    header = plan.header
    texts = {
        "Folder": header["root"],
        "Arguments": json.dumps(header["arguments"], ensure_ascii=False),
        "Host": header["version"],
        "Made": made(plan),
        "Plan": plan.digest,
    }
    return {name: _whole(text) for name, text in texts.items()}


def _whole(text: str) -> str:
    # whole, as what is called is a part of what is agreed to
    return safe_line(text, max(_MOST_TEXT, len(text)))


def made(plan: Plan) -> str:
    """Say when a plan was made, and by whom."""
    return f"{when(plan.header['created'])} by {plan.header['by']}"


def _listed(differing: int) -> str:
    if not differing:
        return "The scenes"
    many = "the one that differs from the rest comes first"
    if differing > 1:
        many = f"the {differing:,} that differ from the rest come first"
    return f"The scenes: {many}"


def _facts(plan: Plan) -> Iterator[str]:
    skill = plan.header["skill"]
    named_skill = f"{skill['name']} (SHA-256 {skill['sha256'][:16]}…)"
    told = {"Skill": _whole(named_skill), **facts(plan)}
    for name in ("Skill", "Arguments", "Host", "Folder", "Made", "Plan"):
        yield f"<dt>{name}</dt><dd>{escape(told[name])}</dd>"


def _bars(counts: Counter[str]) -> Iterator[str]:
    most = max(counts.values(), default=1)
    for name, count in counts.most_common(30):
        text = escape(safe_line(name, 80) or "(no type)")
        width = max(1, round(100 * count / most))
        yield (
            f'<div class="bar"><span>{text}</span><b>{count:,}</b>'
            f'<i style="width:{width}%"></i></div>'
        )


def _rows(plan: Plan, seen: Overview) -> Iterator[list[Any]]:
    """Yield what the page shows of each scene: path, state, why, message, count, kinds, items...

    ... as far as they are in the report, arguments, and the number of its line in `plan.SCENES`.
    """
    for position, (number, why) in enumerate(seen.order):
        scene = plan.scene(number)
        question = scene["question"] or {"message": "", "items": [], "kinds": [], "arguments": []}
        kinds = Counter(question["kinds"]).most_common(3)
        items = question["items"][:_MOST_ITEMS] if position < _MOST_DETAILED else []
        yield [
            safe_line(scene["path"], _MOST_TEXT),
            WORDS[scene["state"]],
            safe_line(why or scene["why"], _MOST_TEXT),
            safe_line(question["message"], _MOST_TEXT),
            len(question["items"]),
            ", ".join(f"{count} {safe_line(kind, 40)}" for kind, count in kinds),
            [safe_line(item, 200) for item in items],
            arguments(question),
            number + 1,
        ]


def arguments(question: Mapping[str, Any]) -> list[str]:
    """Return what a question says that it is asked for, a line each."""
    listed = question["arguments"][:_MOST_ITEMS]
    return [safe_line(": ".join(map(str, pair)), _MOST_TEXT) for pair in listed]


def _as_script(value: object) -> str:
    """Serialize a value so that nothing in it can end the script that it stands in."""
    text = json.dumps(value)  # ASCII: U+2028 and lone surrogates are escapes
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
