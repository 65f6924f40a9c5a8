"""Questions of a skill as plain data with a digest, and the grants that a plan gives. Any thread.

They are used in the host's process. A plan takes the place of the grants that a person gives for
the session: the bridge calls `PlanGrants.covers` with each question before it asks anybody.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dcc_bridge.spi.batch import Question

from .files import digest_of


def question_facts(question: Question, file: Path | None, name: str) -> dict[str, Any]:
    """Return a question as a plan stores it: the texts that a person would read, and all its items.

    Args:
        question: The question.
        file: The file that is open, whose name the texts may have; None for no file.
        name: The name that replaces the file's, since a copy has another name than its scene.
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
    """The questions that a skill asks in a scene, and the grant for the one of the plan.

    Any thread.

    Attributes:
        skill: The name and the digest of the plan's skill; None grants nothing.
        asked: Each question since `begin`, as `question_facts` returns it, with its "kind".
        has_granted: Whether the question of the plan was granted since `begin`.
    """

    def __init__(self, label: str) -> None:
        """Take the label of the only client whose questions the plan grants."""
        self._label = label
        self.skill: tuple[str, str] | None = None
        self.asked: list[dict[str, Any]] = []
        self._planned: str | None = None
        self._file: Path | None = None
        self._name = ""
        self.has_granted = False

    def begin(self, file: Path, name: str, planned: str | None) -> None:
        """Forget the questions of the last scene, and begin with another one.

        Args:
            file: The file that is open: the scene, or a copy of it.
            name: The scene's own name.
            planned: The digest of the question that is granted; None grants nothing.
        """
        self.asked = []
        self.has_granted = False
        self._file = file
        self._name = name
        self._planned = planned

    def covers(self, question: Question) -> bool:
        """Note a question, and return whether the plan grants it.

        A plan grants its question once in a scene, and to its own client and skill.
        """
        facts = question_facts(question, self._file, self._name)
        kind = _kind(question)
        self.asked.append({"kind": kind, **facts})
        call = question.call
        is_own_client = call.client is not None and call.client.label == self._label
        is_own_skill = (call.skill, call.digest) == self.skill
        is_planned = self._planned is not None and digest_of(facts) == self._planned
        if not (is_own_client and is_own_skill and is_planned and kind == "consent"):
            return False
        self._planned = None
        self.has_granted = True
        return True

    def other(self) -> str | None:
        """Return the message of the last question if the skill asked another one than the plan has.

        A question that only asks for values does not count, because nobody has answered it.

        Returns:
            The message; None if the skill asked nothing else.
        """
        messages = [question["message"] for question in self.asked if question["kind"] != "input"]
        expected = 1 if self.has_granted else 0
        if len(messages) <= expected:
            return None
        return str(messages[-1])


def _kind(question: Question) -> str:
    """Return "consent", "unsafe" for a consent to what undo does not bring back, or "input"."""
    if question.consent is None:
        return "input"
    if not question.undoable:
        return "unsafe"
    return "consent"
