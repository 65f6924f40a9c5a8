"""Every exception of the bridge, in one tree. Any thread.

Catch the wide exceptions: `BridgeError` for all of them, `NotConfirmed` if a person did not agree
for whatever reason, `SkillError` for a skill that cannot be called. Recover from the narrow ones.
Each stands after its base. A message names the offender and says what to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

DISTRIBUTION: Final = "dcc-bridge-mcp"  # the package index has another one named dcc-bridge
NO_OTHER_WAY: Final = (  # the end of each message about a refusal, for the agent
    "Do not try to reach the same result another way; ask the person what they want instead."
)


def own_version() -> str:
    """Return the version of the bridge. Any thread. It raises nothing.

    Returns:
        Such as "0.1.0"; "0" where it runs from its source.
    """
    from importlib import metadata  # 10 ms, which a host that starts need not wait for

    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return "0"


class BridgeError(Exception):
    """The base of every error the bridge raises on purpose; its text may be shown to an agent."""


class Busy(BridgeError):
    """The host or the bridge is busy, so a call or a question cannot begin now."""


class Paused(BridgeError):
    """The person at the host lets no edit begin for now."""

    def __init__(self, host: str, how: str) -> None:
        """Make the message that says that edits wait.

        Args:
            host: The application's name.
            how: How edits were paused, a clause without a full stop.
        """
        super().__init__(
            f"{how.capitalize()}; nothing was changed. Do not try another way; ask the person at "
            f"{host} to resume when they are ready. Reading still works."
        )


class WrongThread(BridgeError):
    """A call that blocks was made where blocking would stop its own answer."""


class Ended(BridgeError):
    """A task or a thread that a skill started used the bridge after the end of its call."""

    def __init__(self, what: str) -> None:
        """Make the message that says which call has ended.

        Args:
            what: The call, as the subject of a sentence.
        """
        super().__init__(
            f"{what} has ended, so its tasks and threads can no longer change the scene. "
            "A skill must wait for the tasks and threads that it starts."
        )


class BridgeClosed(BridgeError):
    """The bridge stopped before the work could be done."""

    def __init__(self, what: str = "The call") -> None:
        """Make the message that says which work has ended.

        Args:
            what: The work, as the subject of a sentence.
        """
        super().__init__(f"{what} ended because the bridge was stopped in the host.")


class StartError(BridgeError):
    """The bridge could not start."""


class Unreachable(BridgeError):
    """A client finds no bridge at a URL, or the one that was there went away."""

    def __init__(self, url: str, why: str) -> None:
        """Make the message that says which bridge cannot be reached, and why.

        Args:
            url: The address at which the client looked.
            why: What went wrong, without a full stop.
        """
        super().__init__(f"The host at {url} cannot be reached: {why}.")


class NotConfirmed(BridgeError):
    """The person did not agree; nothing may be changed.

    Attributes:
        how: How the question ended, in the words of `dcc_bridge.elicitation.types.outcome`.
        said: The reason in the person's own words, or "" where they gave none.
    """

    how = "the question ended without an answer"
    said = ""

    def __init__(
        self, question: str, words: str = "", how: str = "", left: str = "Nothing was changed."
    ) -> None:
        """Make the message that says which question ended, and how.

        Args:
            question: The message of the question; the first line is quoted.
            words: The person's reason; "" where they gave none.
            how: How the question ended, a clause; "" for the `how` of the class.
            left: The state of the scene after the question, a sentence.
        """
        if how:
            self.how = how
        self.said = words
        first_line = question.partition("\n")[0]
        outcome = f"{self.how[:1].upper()}{self.how[1:]}: {first_line!r}."
        if words:
            outcome = f"{outcome} The reason given: {words!r}."
        super().__init__(f"{outcome} {left} {NO_OTHER_WAY}")


class Declined(NotConfirmed):
    """The person said no."""


class Cancelled(NotConfirmed):
    """The person closed the question, or it ended by itself."""


class Stopped(Cancelled):
    """The call of a running skill was cancelled, or took too long, and the skill has noticed it."""

    def __init__(self, what: str, *, overdue: bool = False) -> None:
        """Make the message that says which skill was stopped.

        Args:
            what: The skill, as the subject of a sentence.
            overdue: Whether the skill ran for too long; else it was cancelled.
        """
        why = "exceeded its time limit" if overdue else "was cancelled"
        BridgeError.__init__(self, f"{what} {why}.")


class TimedOut(NotConfirmed):
    """The question was not answered in time."""


class HostBlocked(NotConfirmed):
    """The host's main thread waited for the skill that asked: for its lock, or for its end."""


class NobodyToAsk(NotConfirmed):
    """No surface can draw the question: the host has no window, and the client draws no forms."""


class DryRunEnd(BridgeError):
    """A dry run came to its end and was taken back; the text says what it would change."""


class CannotDryRun(BridgeError):
    """A body cannot be tried to its end, so nothing can be told of what it would change."""

    def __init__(self, skill: str, why: str) -> None:
        """Make the message.

        Args:
            skill: The skill's title.
            why: The reason, a sentence about the skill.
        """
        super().__init__(f"{skill} cannot be tried. {why} Nothing was changed.")


class NoConsent(BridgeError):
    """A skill changed the scene without a grant, or lost more than was granted; it was undone."""

    def __init__(self, skill: str, did: str = "") -> None:
        """Make the message that says which skill it was.

        Args:
            skill: Its name.
            did: What it did, as the predicate of a sentence; "" for any change of the scene.
        """
        if did:
            text = f"{skill} {did} without approval, so its changes were undone."
        else:
            text = (
                f"{skill} changed the scene without the consent of a person, so its changes were "
                "undone. Nobody could be asked, or the skill did not ask."
            )
        super().__init__(text)


class UndidOthers(NoConsent):
    """A skill undid edits of others; where more was edited on top, nobody can redo them."""

    def __init__(self, skill: str, is_redone: bool = False) -> None:
        """Make the message that says which skill it was.

        Args:
            skill: Its name.
            is_redone: Whether the edits were redone.
        """
        left = "were redone"
        if not is_redone:
            left = "could not be redone: ask the person to check the scene"
        sentence = f"{skill} undid edits of others without approval."
        BridgeError.__init__(self, f"{sentence} Those edits {left}.")


class NotGranted(NoConsent):
    """A skill was about to do something that cannot be undone, without a grant."""

    def __init__(self, skill: str, what: str) -> None:
        """Make the message that says what the skill wanted to do.

        Args:
            skill: Its name.
            what: What it wanted to do, such as "open other.usda".
        """
        BridgeError.__init__(
            self,
            f"{skill} wanted to {what}. Undo cannot reverse this and nobody approved it, so it was "
            "not done. The skill must ask first: confirm_sync(..., undoable=False).",
        )


class LostAnyway(NoConsent):
    """A skill did something that cannot be undone, without a grant, and the host cannot refuse."""

    def __init__(self, host: str, what: str, kept: str) -> None:
        """Make the message that says what was lost.

        Args:
            host: The application's name.
            what: What the skill did: "open another scene".
            kept: Where the copy is, or why there is none, in a sentence.
        """
        BridgeError.__init__(
            self,
            f"The skill went on to {what}. Nobody approved this, but {host} cannot refuse it and "
            f"undo cannot reverse it. {kept} "
            "The skill must ask first: confirm_sync(..., undoable=False).",
        )


class InstructionError(BridgeError):
    """An instruction, which is a text for agents, cannot be served or is not there."""


class SkillError(BridgeError):
    """A skill cannot be listed, found or called."""


class BrokenSkill(SkillError):
    """A skill's file cannot be loaded."""


class UnknownSkill(SkillError):
    """No skill has that name."""

    def __init__(self, name: str, near: Sequence[str] = ()) -> None:
        """Make the message that says which name is unknown.

        Args:
            name: The name.
            near: Names of skills that are spelled alike.
        """
        text = f"There is no tool named {name!r}."
        if near:
            text = f"{text} Did you mean {' or '.join(near)}?"
        super().__init__(f"{text} List the tools to see all names.")


class WrongRisk(SkillError):
    """A skill that says that it only reads calls one that deletes or overwrites."""

    def __init__(self, skill: str) -> None:
        """Make the message with the name of the skill that says that it only reads."""
        super().__init__(
            f'{skill} is declared as risk="read", but it calls a skill that deletes or overwrites. '
            'Nobody was asked, and nothing was done. Declare risk="edit" or risk="destructive".'
        )


class BadArguments(SkillError):
    """A skill's arguments do not fit its signature."""


class NotChosen(BadArguments):
    """An argument is missing, and nobody could be asked to choose it."""


class InvalidRequest(LookupError, ValueError):
    """A verb was asked for what the scene does not have or does not take; the text says for what.

    It is the caller's mistake, so it is logged in a line. Any other error of a body is logged with
    its traceback.
    """


class LeakedSecret(BridgeError):
    """A secret was about to leave the process in something that others read."""

    def __init__(self, what: str) -> None:
        """Make the message that says where the secret is.

        Args:
            what: A noun with its article: "the result".
        """
        super().__init__(
            f"There is a secret in {what}. Others can read {what}, so it was not passed on. "
            "Use the secret only where it is needed. Do not return it or put it into a message."
        )


class MissingExtra(BridgeError):
    """An optional part of the installation is not there."""

    def __init__(self, what: str, extra: str) -> None:
        """Make the message that says what is missing, and the command that installs it.

        Args:
            what: The feature that needs the part, as the subject of a sentence: "The demo".
            extra: The extra of the distribution that brings the part: "demo" or "batch".
        """
        command = f'pip install "{DISTRIBUTION}[{extra}]"'
        super().__init__(f"{what} needs a package that is not installed. Run: {command}")


class RefusedAddress(BridgeError):
    """A URL that does not lead to a page, or hides where it leads."""

    def __init__(self, url: str, why: str) -> None:
        """Make the message that says why a URL is refused.

        Args:
            url: The URL, of which the first 100 characters are shown.
            why: The reason, a clause without a full stop.
        """
        shown = url
        if len(url) > 100:
            shown = url[:99] + "…"
        super().__init__(
            f"The address {shown!r} was refused: {why}. The person was not asked to open it."
        )


class SchemaError(BridgeError):
    """A form that the protocol's subset of JSON Schema cannot carry."""


class SecretField(SchemaError):
    """A form that asks for a secret, which would reach the client and the model."""

    def __init__(self, name: str) -> None:
        """Make the message with the name of the field that looks like a secret."""
        super().__init__(
            f"The field {name!r} looks like a secret. A form passes through the client and the "
            "model: use dcc_bridge.elicitation.ask_secret instead. The person then enters the "
            "secret on a page of the application."
        )


class NoCheckpoint(BridgeError):
    """No copy can be kept before an edit that cannot be undone, so the edit was not done.

    Attributes:
        why: What went wrong, without a full stop.
    """

    def __init__(self, where: object, why: str) -> None:
        """Make the message that says why there is no copy.

        Args:
            where: The folder in which the copy should be.
            why: What went wrong, without a full stop.
        """
        self.why = why
        super().__init__(
            f"No copy can be kept in {where}: {why}. The edit cannot be undone, so it was not "
            "done without a copy. Nothing was changed."
        )


class PartlyApplied(BridgeError):
    """An edit failed and could not be rolled back whole, because somebody else edited on top."""

    def __init__(self, skill: str) -> None:
        """Make the message with the name of the skill whose edit it was."""
        super().__init__(
            f"{skill} failed in the middle of an edit and could not be rolled back completely: "
            "another change was made after it. Use the host's own undo to go back."
        )


class NotUndoable(PartlyApplied):
    """An edit cannot be rolled back: a later change on top of the edit cannot be undone."""

    def __init__(self, why: str) -> None:
        """Make the message that says why the edit cannot be rolled back.

        Args:
            why: A whole sentence.
        """
        BridgeError.__init__(self, why)


class NotRecorded(BridgeError):
    """The record of who agreed to what cannot be written, so nothing may be changed."""

    def __init__(self, why: object) -> None:
        """Make the message that says why the record cannot be written, and who can mend that.

        Args:
            why: A whole sentence, or an error whose text is one.
        """
        super().__init__(
            f"The audit record cannot be written: {why} Without it, nothing may be changed. "
            "Skills that only read still work. The person must free space on the disk or set "
            "DCC_BRIDGE_AUDIT to a writable folder."
        )
