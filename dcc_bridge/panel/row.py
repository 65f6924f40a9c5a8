"""A row of the panel's lists, and the buttons on it. Any thread."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Act:
    """A button of a row.

    Attributes:
        verb: The word that `pressing.press` takes when the button is pressed.
        caption: The caption of the button.
        tip: A sentence about what the button does, or "".
    """

    verb: str
    caption: str
    tip: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A row in a list of the panel. Its texts are safe to show.

    Attributes:
        key: Identifies the row, as long as it is listed.
        title: The subject of the row; a row with nothing but a title is a heading.
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
        """Whether the row only is a heading of the rows below."""
        return not self.detail and not self.acts
