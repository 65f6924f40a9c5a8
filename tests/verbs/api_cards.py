"""What people ask `find_api` in each application, and the examples that its cards give.

Applications run it too: it needs pytest and no more.
"""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from dcc_bridge.skills.signature import Signature
from dcc_bridge.verbs import tools
from dcc_bridge.verbs.api_examples import MARKED
from tests.verbs.every_port import EveryPort

MAX_BYTES = 4_000  # of an answer with as many cards as there are unless asked
# What creates an item of a type that is called otherwise.
_CREATED: Final = {"LIGHT": "SPOT_LIGHT", "FONT": "TEXT_OBJECT"}
_PLAIN: Final = ("Cube", "CUBE", "Part::Box")
# Verbs that ask a person, read a file that is not there, or draw; their arguments are checked.
_OF_FILES_AND_PEOPLE: Final = ("delete", "export_file", "import_file", "look", "save")
_QUESTIONS = Path(__file__).parent / "api_questions"


def questions(application: str) -> dict[str, list[str]]:
    """Return the questions of the people of an application, each with the names that answer it."""
    text = (_QUESTIONS / f"{application}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


class Asked:
    """The answers to all questions of an application, from one reading of its API."""

    def __init__(self, operations: EveryPort, application: str) -> None:
        find = verbs_of(operations)["find_api"]
        self.right = questions(application)
        self.answers = {question: find(question) for question in self.right}

    def first(self, question: str) -> dict[str, Any]:
        """Return the first card of an answer."""
        cards: list[dict[str, Any]] = self.answers[question]["cards"]
        return cards[0]

    def check(self, question: str) -> None:
        """See that the right card is the first, tells an example, and that the answer is short."""
        first = self.first(question)
        names = [card["name"] for card in self.answers[question]["cards"]]
        assert first["name"] in self.right[question], names
        assert first["kind"] != "gone"
        assert first.get("example"), first
        assert len(json.dumps(self.answers[question])) < MAX_BYTES


def _made(operations: EveryPort, marked: re.Match[str]) -> str:
    """Make an item of a type of which an example needs one."""
    types = operations.types()
    kinds = [_CREATED.get(kind, kind) for kind in marked[1].split("|")]
    kind = next(kind for kind in [*kinds, *_PLAIN] if kind in types)
    body = None
    if kind.startswith("PartDesign::") and kind != "PartDesign::Body":
        body = operations.create("PartDesign::Body", None, None)
    return json.dumps(operations.create(kind, None, body))


def verbs_of(operations: EveryPort) -> Mapping[str, Any]:
    """Return the functions of the verbs by name."""
    return {tool.name: tool.fn for tool in tools(operations)}


def run_and_undo(operations: EveryPort, example: str) -> Any:
    """Do what an example says, in an undo step that is undone; return what it gave."""
    host = operations.host
    before = host.undo_mark()
    with host.undo_step("Example"):
        given = run_example(operations, example)
    if host.undo_mark() != before:
        host.undo()
    return given


def run_example(operations: EveryPort, example: str) -> Any:
    """Do what an example says, as an agent would: a call of a verb, or code.

    Returns:
        The answer of the verb, or the value of the last expression of the code.
    """
    verb, _, arguments = example.partition(" {")
    verbs = verbs_of(operations)
    if verb in verbs:
        given = json.loads("{" + MARKED.sub(partial(_made, operations), arguments))
        if verb in _OF_FILES_AND_PEOPLE:
            return Signature.of(verbs[verb], verb).bind(given)
        return verbs[verb](**given)
    names = dict(operations.namespace())
    tree = ast.parse(example)
    last = tree.body[-1]
    if not isinstance(last, ast.Expr):
        exec(compile(tree, "example", "exec"), names)
        return None
    exec(compile(ast.Module(tree.body[:-1], []), "example", "exec"), names)
    return eval(compile(ast.Expression(last.value), "example", "eval"), names)
