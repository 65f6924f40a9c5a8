"""Who is asked in the demo, and what is told of it. On the loop of the agent's client."""

from __future__ import annotations

from typing import Final, Protocol

from dcc_bridge.cli.hosting import Running
from dcc_bridge.cli.narrator import Narrator
from dcc_bridge.client.person import Person, Script
from dcc_bridge.elicitation.question import Reply
from dcc_bridge.elicitation.schema import Form

SAID: Final = {
    "accept": "agrees",
    "decline": "says no",
    "cancel": "closes the question without an answer",
}
_NOBODY: Final = (
    "Nobody can be asked: the host has no window, and there is no terminal here for the agent's "
    "client to ask in. So it told the host that it draws no questions."
)


class Audience(Protocol):
    """Whoever is asked.

    Attributes:
        person: Whom the agent's client can ask, or None.
    """

    person: Person | None

    async def attend(self, running: Running) -> None:
        """Tell of the host's own question, and see to its answer; runs while the call does."""
        ...


class InClient:
    """A person whom the agent's client asks; told."""

    def __init__(self, person: Person, narrator: Narrator) -> None:
        """Take who answers."""
        self.person: Person | None = _Told(person, narrator)

    async def attend(self, running: Running) -> None:
        """Do nothing: the host does not ask."""


class Nobody:
    """No window, no terminal."""

    def __init__(self, narrator: Narrator) -> None:
        """Take who tells it."""
        self.person: Person | None = None
        self._narrator = narrator

    async def attend(self, running: Running) -> None:
        """Say so."""
        self._narrator.step(_NOBODY)


class _Told:
    def __init__(self, person: Person, narrator: Narrator) -> None:
        self._person = person
        self._narrator = narrator

    async def ask(self, message: str, form: Form) -> Reply:
        self._begin(message)
        return self._end(await self._person.ask(message, form))

    async def visit(self, message: str, url: str, *, ours: bool = False) -> Reply:
        self._begin(message)
        return self._end(await self._person.visit(message, url, ours=ours))

    def _begin(self, message: str) -> None:
        if isinstance(self._person, Script):
            self._narrator.step(
                "No window: the agent's client asks the person, played by --answer."
            )
            self._narrator.quote(message)
        else:
            self._narrator.step("No window: the agent's client asks you, in this terminal.")

    def _end(self, reply: Reply) -> Reply:
        if not isinstance(self._person, Script):
            self._narrator.pause()
        self._narrator.step(f"The person {SAID[reply.action]}.")
        return reply
