"""A plan as text that a person reads before agreeing: the questions, then the scenes. Any thread.

A dialog shows `message` and below it `details`. These always contain the skill's questions and
arguments in full, else there is no dialog (`PlanTooLong`). They list as many scenes as fit.
"""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from dcc_bridge.spi.batch import Details, safe_line, safe_text

from . import files, report
from .plan import SCENES, Plan, Scene
from .report import Overview, scenes

_MAX_MARKS: Final = 100  # scenes that differ, each marked with its reason
_MAX_ITEMS: Final = 4  # of one scene
_MAX_PATH_CHARACTERS: Final = 120
_MAX_ITEM_CHARACTERS: Final = 60
_MAX_TEXT_CHARACTERS: Final = 300
_MAX_KINDS: Final = 8
_MAX_QUESTIONS: Final = 3  # above the details, a line each
_REST_BYTES: Final = 400  # for the line about the scenes that do not fit
_LINE_CHARACTERS: Final = 76  # of a line that a dialog does not wrap
_MAX_INDENT: Final = 40  # characters


class PlanTooLong(Exception):
    """A plan does not fit in a dialog. The message is a sentence for the person."""


@dataclass(slots=True)
class _Question:
    """A question that several scenes ask, except for the name of their file.

    Attributes:
        path: The path of the first scene with the question.
        message: The message.
        arguments: The name and the text of each argument in the question.
        is_named: Whether the file's name is in the texts.
        count: The number of scenes with the question.
    """

    path: str
    message: str
    arguments: list[list[str]]
    is_named: bool
    count: int = 1

    def where(self, plan: Plan) -> str:
        """Return the scenes with the question, for a sentence."""
        path = safe_line(self.path, _MAX_PATH_CHARACTERS)
        if self.count == 1:
            return path
        count = "each" if self.count == plan.asks else scenes(self.count)
        if not self.is_named:
            return count
        return f"{count}, as in {path}"


def message(plan: Plan) -> str:
    """Return the question about a plan for a person, in a few sentences.

    Raises:
        PlanTooLong: A dialog has no room for all questions of the skill.
    """
    skill = safe_line(plan.header["skill"]["name"])
    changed = scenes(plan.asks)
    if plan.asks != plan.count:
        changed = f"{plan.asks:,} of {plan.count:,} scenes"
    root = safe_line(plan.header["root"], _MAX_TEXT_CHARACTERS)
    lines = [f"Let {skill} change {changed} below {root}?"]
    questions = list(_all_questions(plan).values())
    for question in questions[:_MAX_QUESTIONS]:
        text = " ".join(question.message.split())
        lines.append(f"It asks in {question.where(plan)}: {safe_line(text)}")
    if len(questions) > _MAX_QUESTIONS:
        lines.append(f"{len(questions) - _MAX_QUESTIONS:,} more questions are below.")
    kinds = Counter(plan.header["totals"]["items"])
    items = [f"{count:,} {_kind(kind)}" for kind, count in kinds.most_common(_MAX_KINDS)]
    last = "Nothing changes until the plan is run. Each original is kept until a commit."
    if items:
        last = f"Items: {', '.join(items)}. {last}"
    lines.append(last)
    return "\n".join(lines)


def verb(plan: Plan) -> str:
    """Return the label of the button that agrees."""
    return f"Approve {scenes(plan.asks)}"


def details(plan: Plan) -> Details:
    """Return the counts, the questions, the arguments and the scenes of a plan.

    The scenes that differ from the rest come first, each with a mark that says why.

    Raises:
        PlanTooLong: The questions and arguments take more than half of a dialog's room.
    """
    overview = report.overview(plan)
    questions = _all_questions(plan)
    lines = list(counts(overview))
    lines += _question_texts(plan, questions)
    lines += _argument_texts(plan)
    lines.append(f"Each scene: {plan.folder / report.FILE}")
    size = _size(lines)
    if size > Details.max_bytes // 2 or len(lines) > Details.max_lines // 2:
        raise _too_long(plan)
    ranks = {key: rank for rank, key in enumerate(questions, 1)}
    marks: list[tuple[int, str]] = []
    room = Details.max_bytes - _REST_BYTES - size
    shown = 0
    last_heading = ""
    for number, why in overview.order:
        scene = plan.scene(number)
        line = f"  {_scene(scene)}"
        if len(ranks) > 1 and scene["state"] == "asks":
            rank = ranks[_question_key(scene)]
            line = f"  [{rank}] {_scene(scene)}"
        new = [line]
        heading_line = heading(overview, is_odd=bool(why))
        if heading_line != last_heading:
            new = ["", heading_line, line]
        room -= _size(new)
        if room < 0 or len(lines) + len(new) > Details.max_lines - 2:
            break
        lines += new
        shown += 1
        last_heading = heading_line
        if why and len(marks) < _MAX_MARKS:
            marks.append((len(lines), safe_line(why, _MAX_TEXT_CHARACTERS)))
    if shown < plan.count:
        rest = f"and {plan.count - shown:,} more scenes: {plan.folder / report.FILE} lists them all"
        lines += ["", rest]
    return Details("\n".join(lines), tuple(marks))


def _size(lines: Iterable[str]) -> int:
    """Return the size of lines in bytes, each with its end."""
    return sum(len(line.encode("utf-8", "surrogatepass")) + 1 for line in lines)


def heading(overview: Overview, *, is_odd: bool) -> str:
    """Return the heading of the scenes that differ from the rest (`is_odd`), or of the rest."""
    differing = len(overview.differing)
    if is_odd:
        verb = "differs" if differing == 1 else "differ"
        return f"{scenes(differing)} {verb} from the rest:"
    if differing:
        return "The others:"
    return "The scenes:"


def counts(overview: Overview) -> Iterator[str]:
    """Yield a line with the number of scenes in each state, and of items of each type."""
    for state, count in overview.states.most_common():
        noun = "scene" if count == 1 else "scenes"
        yield f"{count:>7,} {noun}: {report.WORDS[state]}"
    for kind, count in overview.kinds.most_common(_MAX_KINDS):
        noun = "item" if count == 1 else "items"
        yield f"{count:>7,} {noun} of type {_kind(kind)}"


def _too_long(plan: Plan) -> PlanTooLong:
    where = plan.folder / report.FILE
    whole = plan.folder / SCENES
    return PlanTooLong(
        f"This plan is too long for a dialog. {where} lists each scene and shortens long texts "
        f"and lists of items. {whole} has the full text."
    )


def _texts(scene: Scene) -> list[str]:
    """Return all texts of a scene's question: its message and its arguments."""
    question = scene["question"]
    texts = [question["message"]]
    for pair in question["arguments"]:
        texts += pair
    return texts


def _question_key(scene: Scene) -> str:
    """Return the digest of a scene's question, with the name of the scene's file left out."""
    name = PurePosixPath(scene["path"]).name
    return files.digest_of([text.replace(name, "\0") for text in _texts(scene)])


def _all_questions(plan: Plan) -> dict[str, _Question]:
    """Return the distinct questions by their digests, the most frequent first.

    Raises:
        PlanTooLong: A dialog has no room for all questions.
    """
    questions, is_whole = _first_questions(plan)
    if not is_whole:
        raise _too_long(plan)
    return questions


def question_lines(plan: Plan, maximum: int) -> tuple[list[str], bool]:
    """Return a line for each distinct question of a plan, the most frequent first.

    Args:
        plan: The plan.
        maximum: The maximum number of lines.

    Returns:
        The lines, and whether they contain all questions.
    """
    questions, is_whole = _first_questions(plan)
    lines = [_question_line(plan, question) for question in questions.values()]
    return lines[:maximum], is_whole and len(lines) <= maximum


def _question_line(plan: Plan, question: _Question) -> str:
    text = question.message
    pairs = "; ".join(": ".join(pair) for pair in question.arguments)
    if pairs:
        text = f"{text} ({pairs})"
    text = " ".join(text.split())
    return f"It asks in {question.where(plan)}: {safe_line(text, len(text))}"


def _first_questions(plan: Plan) -> tuple[dict[str, _Question], bool]:
    """Return the distinct questions by their digests, and whether a dialog has room for all."""
    questions: dict[str, _Question] = {}
    room = Details.max_bytes // 2
    is_whole = True
    for scene in plan.scenes():
        if scene["state"] != "asks":
            continue
        key = _question_key(scene)
        if key in questions:
            questions[key].count += 1
            continue
        path = scene["path"]
        question = scene["question"]
        text = "\n".join(_texts(scene))
        room -= _size([text])
        if room < 0:
            is_whole = False
            if questions:  # the first question is returned in any case
                continue
        is_named = PurePosixPath(path).name in text
        questions[key] = _Question(path, question["message"], question["arguments"], is_named)
    by_count = sorted(questions.items(), key=lambda item: item[1].count, reverse=True)
    return dict(by_count), is_whole


def _question_texts(plan: Plan, questions: dict[str, _Question]) -> Iterator[str]:
    """Yield the lines of each question in full: its message and its arguments."""
    for rank, question in enumerate(questions.values(), 1):
        head = f"It asks in {question.where(plan)}: "
        if len(questions) > 1:
            head = f"[{rank}] {head}"
        yield from _text(head, question.message)
        for name, value in question.arguments:
            yield from _text(f"  {safe_line(name, len(name))}: ", value)


def _argument_texts(plan: Plan) -> Iterator[str]:
    """Yield the lines of the skill's arguments in full, or raise PlanTooLong."""
    arguments = plan.header["arguments"]
    if _size([json.dumps(arguments, ensure_ascii=False)]) > Details.max_bytes // 2:
        raise _too_long(plan)
    for name, value in arguments.items():
        head = f"Called with {safe_line(name, len(name))} = "
        if isinstance(value, str) and "\n" in value:  # code, for example
            yield from _text(head, value)
            continue
        for line in _json(head, value):
            yield from _wrapped(safe_line(line, len(line)))


def _text(head: str, text: str) -> Iterator[str]:
    """Yield a text after its head, in the same line or, if it has several lines, below."""
    if "\n" not in text:
        yield from _wrapped(head + safe_line(text, len(text)))
        return
    yield head.rstrip()
    for line in safe_text(text, len(text)).split("\n"):
        yield from _wrapped(line, "    | ")


def _json(head: str, value: Any, indent: str = "", tail: str = "") -> Iterator[str]:
    """Yield a value as JSON: in one line if it fits, else one line for each member."""
    line = f"{indent}{head}{json.dumps(value, ensure_ascii=False)}{tail}"
    is_short = len(line) <= _LINE_CHARACTERS or len(indent) > _MAX_INDENT
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
        comma = "," if position < len(members) else ""
        yield from _json(name, member, f"{indent}  ", comma)
    yield f"{indent}{end}{tail}"


def _wrapped(line: str, indent: str = "") -> list[str]:
    """Wrap a line between its words, without dropping a character."""
    own_indent = len(line) - len(line.lstrip(" "))
    subsequent_indent = " " * (len(indent) + own_indent + 4)
    wrapper = textwrap.TextWrapper(
        max(_LINE_CHARACTERS, len(subsequent_indent) + 20),
        initial_indent=indent,
        subsequent_indent=subsequent_indent,
        drop_whitespace=False,
        expand_tabs=False,
        replace_whitespace=False,
        break_on_hyphens=False,
    )
    return wrapper.wrap(line) or [indent]


def _scene(scene: Scene) -> str:
    """Return the line of a scene: its path, and the items of its question."""
    path = safe_line(scene["path"], _MAX_PATH_CHARACTERS)
    question = scene["question"]
    if question is None:
        return f"{path}: {report.WORDS[scene['state']]}"
    items = question["items"]
    if not items:
        return f"{path}: {safe_line(question['message'], _MAX_TEXT_CHARACTERS)}"
    kinds = Counter(question["kinds"])
    counts = ", ".join(f"{count:,} {_kind(kind)}" for kind, count in kinds.most_common(3))
    if not counts:
        counts = f"{len(items):,} items"
    names = ", ".join(safe_line(item, _MAX_ITEM_CHARACTERS) for item in items[:_MAX_ITEMS])
    line = f"{path}: {counts}: {names}"
    if len(items) > _MAX_ITEMS:
        line += f" and {len(items) - _MAX_ITEMS:,} more"
    return line


def _kind(kind: str) -> str:
    return safe_line(kind, 40) or "(no type)"
