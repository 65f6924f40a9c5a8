"""``report.html``: what a plan would do, for a person to read. Any thread.

The page loads nothing else. It contains the rows as JSON, and its script inserts each text as plain
text, never as markup. The scenes that differ from the rest come first.
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
WORDS: Final = {  # for each state of a scene
    "asks": "will be changed",
    "nothing": "nothing to do",
    "twice": "asks more than once, not changed",
    "unsafe": "cannot be planned, not changed",
    "failed": "failed, not changed",
}
# The order of the scenes in the report: the lowest rank comes first.
_RANKS: Final = {"failed": 0, "twice": 1, "unsafe": 1, "asks": 2, "nothing": 4}
_USUAL_RANK: Final = 3  # of a scene that asks and does not differ from the rest
_OUTLIER_FACTOR: Final = 4  # a scene with so many times more or fewer items than usual differs
_MAX_DETAILED: Final = 2_000  # scenes whose items are in the report
_MAX_ITEMS: Final = 50  # of one such scene
_MAX_TEXT_CHARACTERS: Final = 400
_MAX_NAMED: Final = 5  # scenes in a sentence
_PAGE: Final = Path(__file__).with_name("report.html")


@dataclass(frozen=True, slots=True)
class Overview:
    """A plan as a whole.

    Attributes:
        states: The number of scenes in each state.
        kinds: The number of items of each type.
        usual: The median number of items of a scene.
        order: The number of each scene with the reason why the scene differs from the rest, or "".
            Scenes that differ come first.
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
    """Compare all scenes of a plan with each other. This reads the file of scenes twice."""
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
    max_rare = max(1, plan.count // 50)
    can_be_rare = max_rare < plan.count // 2
    rows: list[tuple[int, int, int, str]] = []
    for scene in plan.scenes():
        similar = shapes[_shape(scene)]
        why = _difference(scene, usual, is_rare=can_be_rare and similar <= max_rare)
        rank = _RANKS[scene["state"]]
        if scene["state"] == "asks" and not why:
            rank = _USUAL_RANK
        rows.append((rank, similar, scene["n"], why))
    rows.sort(key=lambda row: row[:3])
    order = [(number, why) for _, _, number, why in rows]
    return Overview(states, kinds, usual, order)


def _shape(scene: Scene) -> str:
    """Return a scene's state and the types of its items: similar scenes have the same."""
    return f"{scene['state']}: {_types(scene)}"


def _types(scene: Scene) -> str:
    question = scene["question"]
    if not question:
        return ""
    return ", ".join(sorted(set(question["kinds"])))


def _difference(scene: Scene, usual: float, *, is_rare: bool) -> str:
    """Return the reason why a scene differs from the rest, or ""."""
    if scene["state"] in ("failed", "twice", "unsafe"):
        return str(scene["why"])
    if scene["state"] != "asks":
        return ""
    count = len(scene["question"]["items"])
    if usual and not usual / _OUTLIER_FACTOR <= count <= usual * _OUTLIER_FACTOR:
        return f"{count:,} items, where most have about {usual:,.0f}"
    if is_rare:
        return f"others have no {_types(scene)}"
    return ""


def write(plan: Plan) -> Path:
    """Write the report into the plan's folder and return its path, or raise OSError."""
    whole = overview(plan)
    skill = plan.header["skill"]["name"]
    states = Counter({WORDS[state]: count for state, count in whole.states.items()})
    fields = {
        "title": escape(f"{skill} in {scenes(plan.count)}"),
        "facts": "\n".join(_facts(plan)),
        "states": "\n".join(_bars(states)),
        "kinds": "\n".join(_bars(whole.kinds)) or "<p>No items are named.</p>",
        "differing": _heading(len(whole.differing)),
    }
    page = Template(_PAGE.read_text(encoding="utf-8"))
    head, _, tail = page.substitute(fields).partition("@ROWS@")
    target = plan.folder / FILE
    with target.open("w", encoding="utf-8", errors="backslashreplace") as out:
        out.write(head)
        separator = "[\n"
        end = "[]"
        for row in _rows(plan, whole):
            out.write(separator + _as_script(row))
            separator = ",\n"
            end = "\n]"
        out.write(end)
        out.write(tail)
    return target


def scenes(count: int) -> str:
    """Return a number of scenes as text: "1 scene", "1,200 scenes"."""
    if count == 1:
        return "1 scene"
    return f"{count:,} scenes"


def list_names(paths: Sequence[str]) -> str:
    """Return the first paths and the number of the others, for a sentence."""
    names = ", ".join(safe_line(path, 120) for path in paths[:_MAX_NAMED])
    if len(paths) <= _MAX_NAMED:
        return names
    return f"{names} and {len(paths) - _MAX_NAMED:,} more"


def facts(plan: Plan) -> dict[str, str]:
    """Return the facts about a plan that a person reads, by their captions."""
    header = plan.header
    texts = {
        "Folder": header["root"],
        "Arguments": json.dumps(header["arguments"], ensure_ascii=False),
        "Host": header["version"],
        "Made": origin(plan),
        "Plan": plan.digest,
    }
    return {name: _safe(text) for name, text in texts.items()}


def _safe(text: str) -> str:
    """Return a text made safe to show, uncut: the person agrees to all of it."""
    return safe_line(text, max(_MAX_TEXT_CHARACTERS, len(text)))


def origin(plan: Plan) -> str:
    """Return the time and the author of a plan, for a sentence."""
    return f"{when(plan.header['created'])} by {plan.header['by']}"


def _heading(differing: int) -> str:
    """Return the heading of the table of scenes, by the number of those that differ."""
    if not differing:
        return "The scenes"
    if differing == 1:
        return "The scenes: the one that differs from the rest comes first"
    return f"The scenes: the {differing:,} that differ from the rest come first"


def _facts(plan: Plan) -> Iterator[str]:
    skill = plan.header["skill"]
    named_skill = f"{skill['name']} (SHA-256 {skill['sha256'][:16]}…)"
    texts = {"Skill": _safe(named_skill), **facts(plan)}
    for name in ("Skill", "Arguments", "Host", "Folder", "Made", "Plan"):
        yield f"<dt>{name}</dt><dd>{escape(texts[name])}</dd>"


def _bars(counts: Counter[str]) -> Iterator[str]:
    """Yield a bar for each of the highest counts."""
    highest = max(counts.values(), default=1)
    for name, count in counts.most_common(30):
        text = escape(safe_line(name, 80) or "(no type)")
        width = max(1, round(100 * count / highest))
        yield (
            f'<div class="bar"><span>{text}</span><b>{count:,}</b>'
            f'<i style="width:{width}%"></i></div>'
        )


def _rows(plan: Plan, whole: Overview) -> Iterator[list[Any]]:
    """Yield the row of each scene for the script of the page.

    A row has the path, the state, the reason why the scene differs, the message, the number of
    items, their types, the items (only of the first scenes), the arguments, and the number of the
    scene's line in `plan.SCENES`.
    """
    no_question: dict[str, Any] = {"message": "", "items": [], "kinds": [], "arguments": []}
    for position, (number, why) in enumerate(whole.order):
        scene = plan.scene(number)
        question = scene["question"] or no_question
        kinds = Counter(question["kinds"]).most_common(3)
        items: list[str] = []
        if position < _MAX_DETAILED:
            items = question["items"][:_MAX_ITEMS]
        yield [
            safe_line(scene["path"], _MAX_TEXT_CHARACTERS),
            WORDS[scene["state"]],
            safe_line(why or scene["why"], _MAX_TEXT_CHARACTERS),
            safe_line(question["message"], _MAX_TEXT_CHARACTERS),
            len(question["items"]),
            ", ".join(f"{count} {safe_line(kind, 40)}" for kind, count in kinds),
            [safe_line(item, 200) for item in items],
            arguments(question),
            number + 1,
        ]


def arguments(question: Mapping[str, Any]) -> list[str]:
    """Return a line for each argument that a question names."""
    lines = []
    for name, value in question["arguments"][:_MAX_ITEMS]:
        lines.append(safe_line(f"{name}: {value}", _MAX_TEXT_CHARACTERS))
    return lines


def _as_script(value: object) -> str:
    """Serialize a value for a script element, so that no text in the value can end the script."""
    text = json.dumps(value)  # ASCII, so U+2028 and lone surrogates are escaped
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
