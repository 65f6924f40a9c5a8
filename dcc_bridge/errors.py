"""Every exception of the bridge, in one tree.

Catch the wide ones, recover from the narrow ones::

    BridgeError
    ├── Busy                 something that cannot be shared is taken; say so and try later
    ├── WrongThread          a call that must not block was made where it would
    ├── BridgeClosed         the bridge stopped before the work could be done
    ├── StartError           the bridge could not start: port taken, already started
    ├── Unreachable          a client finds no bridge at a URL, or it went away
    ├── NotConfirmed         the person did not agree
    │   ├── Declined         they said no
    │   ├── Cancelled        they closed the question, or the call was cancelled
    │   ├── TimedOut         nobody answered in time
    │   └── NobodyToAsk      there is no surface on which to ask
    ├── NoConsent            a destructive skill went on without asking; its edit was undone
    ├── SkillError           a skill cannot be listed, found or called
    │   ├── BrokenSkill      its file cannot be loaded
    │   ├── UnknownSkill     no skill of that name
    │   └── BadArguments     its arguments do not fit its signature
    ├── SchemaError          a form that the protocol cannot carry
    │   └── SecretField      a form that asks for a secret
    └── PartlyApplied        an edit failed and could not be rolled back whole

A message names the offender and says what to do. Any thread.
"""

from __future__ import annotations


class BridgeError(Exception):
    """The base of every error the bridge raises on purpose; its text may be shown to an agent."""


class Busy(BridgeError):
    """Something that cannot be shared is taken."""


class WrongThread(BridgeError):
    """A call that blocks was made where blocking would stop its own answer."""


class BridgeClosed(BridgeError):
    """The bridge stopped before the work could be done."""

    def __init__(self, what: str = "The call") -> None:
        super().__init__(f"{what} ended because the bridge was stopped in the host.")


class StartError(BridgeError):
    """The bridge could not start."""


class Unreachable(BridgeError):
    """A client finds no bridge at a URL, or the one that was there went away."""

    def __init__(self, url: str, why: str) -> None:
        super().__init__(f"The host at {url} cannot be reached: {why}.")


class NotConfirmed(BridgeError):
    """The person did not agree; nothing may be changed."""

    reason = "did not agree"

    def __init__(self, question: str) -> None:
        super().__init__(
            f"The person {self.reason}: {question!r}. Nothing was changed. Do not try to "
            "reach the same result another way; ask them what they would like instead."
        )


class Declined(NotConfirmed):
    """The person said no."""

    reason = "said no"


class Cancelled(NotConfirmed):
    """The person closed the question, or the call that asked was cancelled."""

    reason = "closed the question without an answer"


class TimedOut(NotConfirmed):
    """Nobody answered in time."""

    reason = "did not answer in time"


class NobodyToAsk(NotConfirmed):
    """There is no surface on which to ask: no host window, and a client that cannot draw a form."""

    reason = "could not be asked, because nobody is at the host and the client draws no questions"


class NoConsent(BridgeError):
    """A destructive skill changed the scene without a grant; the change was undone."""

    def __init__(self, skill: str) -> None:
        super().__init__(
            f"{skill} changed the scene without the consent of a person, so its changes were "
            "undone. Nobody could be asked, or the skill went on without asking."
        )


class SkillError(BridgeError):
    """A skill cannot be listed, found or called."""


class BrokenSkill(SkillError):
    """A skill's file cannot be loaded."""


class UnknownSkill(SkillError):
    """No skill has that name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"There is no tool named {name!r}. List the tools to see what there is.")


class BadArguments(SkillError):
    """A skill's arguments do not fit its signature."""


class SchemaError(BridgeError):
    """A form that the protocol's subset of JSON Schema cannot carry."""


class SecretField(SchemaError):
    """A form that asks for a secret, which would reach the client and the model."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The field {name!r} looks like a secret. A form passes through the client and the "
            "model: use URL mode (elicit_url) so that the person enters it on a page instead."
        )


class PartlyApplied(BridgeError):
    """An edit failed and could not be rolled back whole, because somebody else edited on top."""

    def __init__(self, skill: str) -> None:
        super().__init__(
            f"{skill} failed in mid-edit and could not be rolled back whole: another change lies "
            "on top of it. Use the host's own undo to go back."
        )
