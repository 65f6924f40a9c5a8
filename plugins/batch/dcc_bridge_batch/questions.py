"""Questions of a skill as plain data, and the grants of an approved plan. Any thread.

In the host's process the bridge calls `PlanGrants.covers` with each question before it asks
anybody. The plan replaces the grants that a person gives for a session.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dcc_bridge.spi.batch import Question

from .files import digest_of


def question_facts(question: Question, file: Path | None, name: str) -> dict[str, Any]:
    """Return a question as a plan stores it: the texts that a person would read, and its items.

    Args:
        question: The question.
        file: The open file, a scene or its copy, whose name may be in the texts.
        name: The scene's own name, which replaces the file's name in the texts.
    """
    message = question.message
    title = question.title or ""
    if file is not None:
        message = message.replace(file.name, name)
        title = title.replace(file.name, name)
    kinds: list[str] = []
    if question.consent:
        kinds = list(question.consent.kinds)
    details = None
    if question.details:
        details = question.details.sha256
    return {
        "message": message,
        "title": title,
        "items": list(question.items),
        "kinds": kinds,
        "arguments": [list(pair) for pair in question.arguments],
        "details": details,
    }


class PlanGrants:
    """Collects the questions of a skill in each scene, and grants the question of the plan.

    Attributes:
        skill: The name and the digest of the plan's skill; None grants nothing.
        questions: Each question since `begin`, as `question_facts` returns it, with its "kind".
        has_granted: Whether the plan's question was granted since `begin`.
    """

    def __init__(self, label: str) -> None:
        """Store the label of the only client whose questions the plan grants."""
        self._label = label
        self.skill: tuple[str, str] | None = None
        self.questions: list[dict[str, Any]] = []
        self._planned: str | None = None
        self._file: Path | None = None
        self._name = ""
        self.has_granted = False

    def begin(self, file: Path, name: str, planned: str | None) -> None:
        """Begin with another scene, without questions.

        Args:
            file: The open file: the scene, or a copy of it.
            name: The scene's own name.
            planned: The digest of the question to grant; None grants nothing.
        """
        self.questions = []
        self.has_granted = False
        self._file = file
        self._name = name
        self._planned = planned

    def covers(self, question: Question) -> bool:
        """Store a question, and return whether the plan grants it.

        A plan grants its question once in each scene, only to its own client and skill.
        """
        facts = question_facts(question, self._file, self._name)
        kind = _kind(question)
        self.questions.append({"kind": kind, **facts})
        call = question.call
        is_own_client = call.client is not None and call.client.label == self._label
        is_own_skill = (call.skill, call.digest) == self.skill
        is_planned = self._planned is not None and digest_of(facts) == self._planned
        if not (is_own_client and is_own_skill and is_planned and kind == "consent"):
            return False
        self._planned = None
        self.has_granted = True
        return True

    def unplanned_question(self) -> str | None:
        """Return the message of the last question that the plan does not have; None if none.

        A question that only asks for values does not count, because nobody has answered it.
        """
        messages = [
            question["message"] for question in self.questions if question["kind"] != "input"
        ]
        expected = 1 if self.has_granted else 0
        if len(messages) <= expected:
            return None
        return str(messages[-1])


def _kind(question: Question) -> str:
    """Return "input", or "consent", or "unsafe" for a consent to a change without undo."""
    if question.consent is None:
        return "input"
    if not question.undoable:
        return "unsafe"
    return "consent"
