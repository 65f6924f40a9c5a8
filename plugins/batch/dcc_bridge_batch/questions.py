"""Questions of a skill as plain data with a digest, and the grants that a plan gives.

In the host's process. A plan takes the place of what a person agrees to for the session:
`PlanGrants.covers` is asked of each question before anybody would be.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dcc_bridge.spi.batch import Question

from .files import digest_of


def question_facts(question: Question, file: Path | None, name: str) -> dict[str, Any]:
    """Return a question as a plan keeps it: what a person would read, and all its items.

    Args:
        question: What is asked.
        file: The scene's file, whose name a message may have.
        name: What takes its place: a copy has another name than the scene.
    """
    message = question.message
    title = question.title or ""
    if file is not None:
        message, title = (it.replace(file.name, name) for it in (message, title))
    return {
        "message": message,
        "title": title,
        "items": list(question.items),
        "kinds": list(question.consent.kinds) if question.consent else [],
        "arguments": [list(pair) for pair in question.arguments],
        "details": question.details.sha256 if question.details else None,
    }


class PlanGrants:
    """Notes each question of a scene, and grants the one that a plan has. Any thread."""

    def __init__(self, label: str) -> None:
        """Take the label of the only client that a plan speaks for."""
        self._label = label
        self.skill: tuple[str, str] | None = None  # the name and digest that the plan speaks of
        self.asked: list[dict[str, Any]] = []  # since `begin`: each question, and its "kind"
        self._planned: str | None = None
        self._file: Path | None = None
        self._name = ""
        self.has_granted = False  # whether the question of the plan was answered

    def begin(self, file: Path, name: str, planned: str | None) -> None:
        """Go on with another scene.

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
        """Note a question; tell whether the plan has this very one, for this skill, unanswered."""
        facts = question_facts(question, self._file, self._name)
        self.asked.append({"kind": _kind(question), **facts})
        call = question.call
        is_ours = call.client is not None and call.client.label == self._label
        is_skill = (call.skill, call.digest) == self.skill
        is_planned = self._planned is not None and digest_of(facts) == self._planned
        if not (is_ours and is_skill and is_planned and _kind(question) == "consent"):
            return False
        self._planned = None
        self.has_granted = True
        return True

    def other(self) -> str | None:
        """Return the message of a question that is not the plan's; None: there is none.

        One that only asks for values counts as none: it was answered by nobody.
        """
        asked = [it["message"] for it in self.asked if it["kind"] != "input"]
        return asked[-1] if asked[self.has_granted :] else None


def _kind(question: Question) -> str:
    """Return "consent", "unsafe" for one to what undo does not bring back, or "input"."""
    if question.consent is None:
        return "input"
    return "consent" if question.undoable else "unsafe"
