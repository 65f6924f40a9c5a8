"""A row of the panel's lists, and the buttons on it. Any thread."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Act:
    """A button of a row.

    Attributes:
        verb: What `act` is told when the button is pressed.
        caption: What stands on the button.
        tip: What the button does, in a sentence, or "".
    """

    verb: str
    caption: str
    tip: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One thing in a list of the panel. Its texts are safe to show.

    Attributes:
        key: What tells the row from all others, as long as it is listed.
        title: What the row stands for; one with nothing but a title is a heading.
        detail: A sentence below the title, or "".
        acts: The buttons, each with a `verb`, which `PanelView.press` takes, a `caption`, and a
            `tip` that explains it.
        stands_out: Whether something waits for the person.
        done: The share that is done, from 0 to 1; -1 where work goes on and nobody knows how far
            it is, None where there is no progress to show.
    """

    key: str
    title: str
    detail: str = ""
    acts: tuple[Act, ...] = ()
    stands_out: bool = False
    done: float | None = None

    @property
    def is_heading(self) -> bool:
        """Whether it only says what comes below."""
        return not self.detail and not self.acts
