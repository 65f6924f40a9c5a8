"""A bridge over the scene in memory, and a person at the host."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mcp_types import CallToolResult

from dcc_bridge.elicitation.question import Reply
from tests.live import Live
from tests.stand_ins import Person, after
from tests.verbs.memory import MemoryHost, MemoryOperations, node

YES = Reply("accept", {"confirm": True})
NO = Reply("decline")


class Studio(Live):
    """A bridge with the verbs, and a person who answers as told."""

    def __init__(self, where: Path, *answers: Any, **more: Any) -> None:
        self.person = Person(*answers)
        lights = {f"/Set/{name}": node("Light") for name in ("Key", "Fill", "Rim")}
        nodes = {"/": node("Scene"), "/Set": node("Group"), **lights, "/Tree": node("Mesh")}
        host = more.pop("host", None) or MemoryHost(nodes, file=where / "shot.json")
        more.setdefault("operations", MemoryOperations)
        super().__init__(where / "run", host=host, presenter=self.person, **more)

    @property
    def nodes(self) -> dict[str, Any]:
        """The scene."""
        return dict(self.host.nodes)

    @property
    def asked(self) -> list[str]:
        """What the person was asked, its first lines."""
        return [question.message.partition("\n")[0] for question in self.person.shown]

    @property
    def asked_about(self) -> list[tuple[str, ...]]:
        """The items of each question that the person was asked."""
        return [question.items for question in self.person.shown]

    def edits_first(self, edit: Callable[[], object], answer: Reply = YES) -> None:
        """Have the person edit before they answer the first question, and answer all alike."""
        self.person = Person(after(edit, answer), then=answer)
        self.bridge.broker.audience.host = self.person

    def do(self, verb: str, **arguments: Any) -> Any:
        """Call a verb that must succeed; gives what it told."""
        result = self.call(verb, arguments)
        assert not result.is_error, result.content
        return result.structured_content

    def fails(self, verb: str, **arguments: Any) -> str:
        """Call a verb that must fail and change nothing; gives what it said."""
        before = self.host.scene_digest()
        stack = self.host.undo_labels
        result: CallToolResult = self.call(verb, arguments)
        assert result.is_error
        assert self.host.scene_digest() == before
        assert self.host.undo_labels == stack
        return str(getattr(result.content[0], "text", ""))


OpenStudio = Callable[..., Studio]
"""What the fixture ``open_studio`` returns."""


@contextmanager
def studio(where: Path, *answers: Any, **more: Any) -> Iterator[Studio]:
    """Run a bridge with the verbs; the person gives those answers, one after the other."""
    running = Studio(where, *answers, **more)
    try:
        yield running
    finally:
        running.stop()
