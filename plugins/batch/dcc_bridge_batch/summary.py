"""A plan as a text that a person reads before they agree: what is asked, then what differs.

`details` is what a dialog shows, here or in a host. What the skill asks and is called with is in it
whole, or there is no dialog; of the scenes it has as many as fit, and says where the rest is. Any
thread.
"""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from dcc_bridge.spi.batch import Details, safe_line, safe_text

from . import files, report
from .plan import SCENES, Plan, Scene
from .report import Overview, scenes

_MOST_MARKED: Final = 100  # scenes that differ, each with its reason
_MOST_ITEMS: Final = 4  # of one scene
_MOST_PATH: Final = 120  # characters
_MOST_ITEM: Final = 60
_MOST_TEXT: Final = 300
_MOST_KINDS: Final = 8
_MOST_ASKED: Final = 3  # questions above the details, each as long as a line is
_REST: Final = 400  # bytes for the line that says where the rest is
_WIDTH: Final = 76  # characters of a line that a dialog does not wrap
_DEEPEST: Final = 40  # characters that a value is indented


class TooLong(Exception):
    """A plan does not fit in a dialog. A sentence for the person."""


@dataclass(slots=True)
class _Asked:
    """A question that scenes have in common, but for the name of their file.

    Attributes:
        path: Of the first scene that asks it.
        message: The question.
        arguments: What it names besides: a name and a text each.
        is_named: Whether the file's name is in it.
        count: How many scenes ask it.
    """

    path: str
    message: str
    arguments: list[list[str]]
    is_named: bool
    count: int = 1

    def where(self, plan: Plan) -> str:
        """Say in which scenes it is asked."""
        path = safe_line(self.path, _MOST_PATH)
        if self.count == 1:
            return path
        count = "each" if self.count == plan.asks else scenes(self.count)
        return f"{count}, as in {path}" if self.is_named else count


def message(plan: Plan) -> str:
    """Return the question, a few sentences; TooLong."""
    skill = safe_line(plan.header["skill"]["name"])
    asks = plan.asks
    changed = f"{asks:,} of {plan.count:,} scenes" if asks != plan.count else scenes(asks)
    kinds = Counter(plan.header["totals"]["items"])
    items = [f"{count:,} {_kind(kind)}" for kind, count in kinds.most_common(_MOST_KINDS)]
    named = f"Items: {', '.join(items)}. " if items else ""
    asked = list(_asked(plan).values())
    questions = [
        f"It asks in {it.where(plan)}: {safe_line(' '.join(it.message.split()))}\n"
        for it in asked[:_MOST_ASKED]
    ]
    if len(asked) > _MOST_ASKED:
        questions.append(f"{len(asked) - _MOST_ASKED:,} more questions are below.\n")
    return (
        f"Let {skill} change {changed} below {safe_line(plan.header['root'], _MOST_TEXT)}?\n"
        f"{''.join(questions)}"
        f"{named}Nothing is changed before the plan is run, and each original is kept until a "
        "commit."
    )


def verb(plan: Plan) -> str:
    """Return the label of the button that agrees."""
    return f"Approve {scenes(plan.asks)}"


def details(plan: Plan) -> Details:
    """Return the counts, what is asked and called with, and the scenes, odd ones first and marked.

    TooLong: what is asked and called with takes more than half of what a dialog has room for.
    """
    seen = report.overview(plan)
    asked = _asked(plan)
    lines = list(counts(seen))
    marks = list[tuple[int, str]]()
    lines += [*_questions(plan, asked), *_arguments(plan)]
    lines.append(f"Each scene: {plan.folder / report.FILE}")
    size = sum(map(_size, lines))
    if size > Details.max_bytes // 2 or len(lines) > Details.max_lines // 2:
        raise _too_long(plan)
    ranks = {key: rank for rank, key in enumerate(asked, 1)} if len(asked) > 1 else {}
    room = Details.max_bytes - _REST - size
    shown = 0
    last = ""
    for number, why in seen.order:
        scene = plan.scene(number)
        rank = ranks.get(_key(scene)) if ranks and scene["state"] == "asks" else None
        line = f"  {f'[{rank}] ' if rank else ''}{_scene(scene)}"
        part = heading(seen, is_odd=bool(why))
        new = [line] if part == last else ["", part, line]
        room -= sum(map(_size, new))
        if room < 0 or len(lines) + len(new) > Details.max_lines - 2:
            break
        lines += new
        shown += 1
        last = part
        if why and len(marks) < _MOST_MARKED:
            marks.append((len(lines), safe_line(why, _MOST_TEXT)))
    if shown < plan.count:
        rest = f"and {plan.count - shown:,} more scenes: {plan.folder / report.FILE} lists them all"
        lines += ["", rest]
    return Details("\n".join(lines), tuple(marks))


def _size(line: str) -> int:
    return len(line.encode("utf-8", "surrogatepass")) + 1


def heading(seen: Overview, *, is_odd: bool) -> str:
    """Return the line above the scenes that differ from the rest, or above the rest."""
    differing = len(seen.differing)
    if is_odd:
        verb = "differs" if differing == 1 else "differ"
        return f"{scenes(differing)} {verb} from the rest:"
    return "The others:" if differing else "The scenes:"


def counts(seen: Overview) -> Iterator[str]:
    """Yield a line for the scenes of each state, and for the items of each type."""
    for state, count in seen.states.most_common():
        yield f"{count:>7,} {'scene' if count == 1 else 'scenes'}: {report.WORDS[state]}"
    for kind, count in seen.kinds.most_common(_MOST_KINDS):
        yield f"{count:>7,} {'item' if count == 1 else 'items'} of type {_kind(kind)}"


def _too_long(plan: Plan) -> TooLong:
    where = plan.folder / report.FILE
    whole = plan.folder / SCENES
    return TooLong(
        f"What the plan would do is too long for a dialog. {where} lists each scene and cuts long "
        f"texts and lists of items; {whole} has all of it."
    )


def _texts(scene: Scene) -> list[str]:
    question = scene["question"]
    return [question["message"], *(it for pair in question["arguments"] for it in pair)]


def _key(scene: Scene) -> str:
    """Digest what a scene asks, but for its file's name."""
    name = PurePosixPath(scene["path"]).name
    return files.digest_of([it.replace(name, "\0") for it in _texts(scene)])


def _asked(plan: Plan) -> dict[str, _Asked]:
    """Return the questions of a plan by their digests, those of the most scenes first; TooLong."""
    asked, is_whole = _first_asked(plan)
    if not is_whole:
        raise _too_long(plan)
    return asked


def asked(plan: Plan, most: int) -> tuple[list[str], bool]:
    """Return a plan's distinct questions, a line each, and whether these are all of them.

    Those that the most scenes ask come first.
    """
    listed, is_whole = _first_asked(plan)
    lines = [_line(plan, it) for it in list(listed.values())[:most]]
    return lines, is_whole and len(listed) <= most


def _line(plan: Plan, it: _Asked) -> str:
    pairs = "; ".join(": ".join(pair) for pair in it.arguments)
    text = " ".join(f"{it.message} {f'({pairs})' if pairs else ''}".split())
    return f"It asks in {it.where(plan)}: {safe_line(text, len(text))}"


def _first_asked(plan: Plan) -> tuple[dict[str, _Asked], bool]:
    """Return the distinct questions by their digests, and whether a dialog has room for all."""
    asked = dict[str, _Asked]()
    room = Details.max_bytes // 2
    is_whole = True
    for scene in plan.scenes():
        if scene["state"] != "asks":
            continue
        key = _key(scene)
        if key in asked:
            asked[key].count += 1
            continue
        path = scene["path"]
        question = scene["question"]
        text = "\n".join(_texts(scene))
        room -= _size(text)
        if room < 0 and asked:
            is_whole = False
            continue
        is_named = PurePosixPath(path).name in text
        asked[key] = _Asked(path, question["message"], question["arguments"], is_named)
        is_whole = is_whole and room >= 0
    return dict(sorted(asked.items(), key=lambda it: -it[1].count)), is_whole


def _questions(plan: Plan, asked: dict[str, _Asked]) -> Iterator[str]:
    """Yield each question whole: its message, and what it names besides."""
    for rank, it in enumerate(asked.values(), 1):
        number = f"[{rank}] " if len(asked) > 1 else ""
        yield from _text(f"{number}It asks in {it.where(plan)}: ", it.message)
        for name, value in it.arguments:
            yield from _text(f"  {safe_line(name, len(name))}: ", value)


def _arguments(plan: Plan) -> Iterator[str]:
    """Yield what the skill is called with, whole."""
    arguments = plan.header["arguments"]
    if _size(json.dumps(arguments, ensure_ascii=False)) > Details.max_bytes // 2:
        raise _too_long(plan)
    for name, value in arguments.items():
        head = f"Called with {safe_line(name, len(name))} = "
        if isinstance(value, str) and "\n" in value:  # as code is
            yield from _text(head, value)
        else:
            for line in _json(head, value):
                yield from _wrapped(safe_line(line, len(line)))


def _text(head: str, text: str) -> Iterator[str]:
    if "\n" not in text:
        yield from _wrapped(head + safe_line(text, len(text)))
        return
    yield head.rstrip()
    for line in safe_text(text, len(text)).split("\n"):
        yield from _wrapped(line, "    | ")


def _json(head: str, value: Any, indent: str = "", tail: str = "") -> Iterator[str]:
    """Yield a value as JSON: in a line where it fits, else each member on its own."""
    line = f"{indent}{head}{json.dumps(value, ensure_ascii=False)}{tail}"
    is_short = len(line) <= _WIDTH or len(indent) > _DEEPEST
    if is_short or not isinstance(value, dict | list):
        yield line
        return
    if isinstance(value, dict):
        names = [f"{json.dumps(name, ensure_ascii=False)}: " for name in value]
        members = list(value.values())
        begin = "{"
        end = "}"
    else:
        names = [""] * len(value)
        members = value
        begin = "["
        end = "]"
    yield f"{indent}{head}{begin}"
    for position, (name, member) in enumerate(zip(names, members, strict=True), 1):
        yield from _json(name, member, f"{indent}  ", "," if position < len(members) else "")
    yield f"{indent}{end}{tail}"


def _wrapped(line: str, indent: str = "") -> list[str]:
    """Wrap a line between its words, with every character that it has."""
    after = " " * (len(indent) + len(line) - len(line.lstrip(" ")) + 4)
    wrap = textwrap.TextWrapper(
        max(_WIDTH, len(after) + 20),
        initial_indent=indent,
        subsequent_indent=after,
        drop_whitespace=False,
        expand_tabs=False,
        replace_whitespace=False,
        break_on_hyphens=False,
    )
    return wrap.wrap(line) or [indent]


def _scene(scene: Scene) -> str:
    path = safe_line(scene["path"], _MOST_PATH)
    question = scene["question"]
    if question is None:
        return f"{path}: {report.WORDS[scene['state']]}"
    items = question["items"]
    kinds = Counter(question["kinds"])
    if not items:
        return f"{path}: {safe_line(question['message'], _MOST_TEXT)}"
    counts = ", ".join(f"{count:,} {_kind(kind)}" for kind, count in kinds.most_common(3))
    names = ", ".join(safe_line(item, _MOST_ITEM) for item in items[:_MOST_ITEMS])
    rest = f" and {len(items) - _MOST_ITEMS:,} more" if len(items) > _MOST_ITEMS else ""
    return f"{path}: {counts or f'{len(items):,} items'}: {names}{rest}"


def _kind(kind: str) -> str:
    return safe_line(kind, 40) or "(no type)"
