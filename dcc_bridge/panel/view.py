"""The panel in words, for a surface that draws it without Qt: Blender's sidebar. Main thread."""

from __future__ import annotations

from collections.abc import Callable

from dcc_bridge.elicitation.details import DetailsView, details_view
from dcc_bridge.elicitation.question import Question
from dcc_bridge.elicitation.text import safe_line
from dcc_bridge.panel import rows, state
from dcc_bridge.panel.row import Row
from dcc_bridge.panel.state import Port, State
from dcc_bridge.skills.call_history import Record


class CallView:
    """A call that ended, as the panel tells of it.

    Attributes:
        id: The call's own.
        title: What was done.
        ended: When it ended, in seconds since the epoch.
        sign: What became of it: "done", "undone", "unanswered", or how it failed.
        summary: Who called, and how it ended.
        is_code: Whether it ran code of an agent.
    """

    def __init__(self, record: Record) -> None:
        """Put a call into words.

        Args:
            record: The call, as the history has it.
        """
        self._record = record
        self.id = record.id
        self.title = safe_line(record.title)
        self.ended = record.ended or record.began
        self.sign = rows.sign(record)
        self.summary = rows.summary(record)
        self.is_code = record.effect.code is not None

    @property
    def code(self) -> DetailsView | None:
        """The text that it ran; None for a call that ran none."""
        run = self._record.effect.code
        return details_view(run.details) if run is not None else None

    def facts(self, most_names: int) -> list[str]:
        """Return all that is known of the call, in sentences. It raises nothing.

        Args:
            most_names: How many names are listed at most of what was created, changed and so on.

        Returns:
            The sentences, safe to show: who called, the questions and answers, the error, the id.
        """
        return list(rows.facts(self._record, most_names))


class PanelView:
    """What the panel shows of a bridge at a moment."""

    def __init__(self, snapshot: State) -> None:
        """Put a snapshot into words.

        Args:
            snapshot: How everything is.
        """
        self._state = snapshot

    @classmethod
    def read(cls, port: Port) -> PanelView:
        """Return what the panel shows of a bridge now. It raises nothing.

        Args:
            port: The bridge; its host is asked for the undo stack.

        Returns:
            A snapshot: it stays as it is, whatever happens to the bridge.
        """
        return cls(state.read(port))

    @property
    def is_paused(self) -> bool:
        """Whether no edit may begin."""
        return self._state.is_paused

    @property
    def is_asking(self) -> bool:
        """Whether a question waits for the person here."""
        return any(asked.is_here for asked in self._state.asked)

    @property
    def headline(self) -> str:
        """How things are, in one sentence."""
        return rows.headline(self._state)

    @property
    def connected(self) -> str:
        """Who is connected, or why nobody can be."""
        return rows.connected(self._state)

    @property
    def muted(self) -> str:
        """Who is muted, and for how long; "" where nobody is."""
        return rows.muted(self._state)

    @property
    def muted_clients(self) -> dict[str, str]:
        """The names of the muted clients by their labels, which is what *unmute* takes."""
        return {label: rows.who(label) for label in self._state.muted}

    @property
    def undoable(self) -> CallView | None:
        """The call whose step the host's own undo would take back; None for a step of others."""
        record = self._state.undoable
        return CallView(record) if record is not None else None

    @property
    def undo_label(self) -> str:
        """The label of the step on top of the host's undo stack; "" where there is none."""
        return self._state.top.label or ""

    @property
    def address(self) -> str | None:
        """Where agents reach the bridge; "" as long as it starts, None once they cannot."""
        return self._state.address

    @property
    def now(self) -> list[Row]:
        """Who may run code unshown, then what wants an answer, then what runs, then what waits."""
        return rows.now(self._state)

    @property
    def clients(self) -> list[Row]:
        """Who is connected or muted, and the clients on this computer."""
        return rows.clients(self._state)

    @property
    def grants(self) -> list[Row]:
        """What was agreed to for the session."""
        return rows.grants(self._state)

    def changes(self, most: int) -> list[CallView]:
        """Return the newest calls that ended and may have changed something, or that asked.

        It raises nothing.

        Args:
            most: How many at most.

        Returns:
            The calls, the newest first.
        """
        records = [record for record in self._state.ended if not record.only_read]
        return [CallView(record) for record in records[:most]]

    def code_call(self, key: str) -> CallView | None:
        """Return a call that ran code of an agent. It raises nothing.

        Args:
            key: The call's id, as `CallView.id` has it.

        Returns:
            The call; None if it ran no code, or once the history has dropped it.
        """
        for record in self._state.ended:
            if record.id == key and record.effect.code is not None:
                return CallView(record)
        return None

    def looks_like(self, before: PanelView) -> bool:
        """Return whether drawing this view would change nothing. It raises nothing.

        Args:
            before: The view that was drawn last.

        Returns:
            True if both show the same, so nothing need be drawn again.
        """
        return state.looks_like(self._state, before._state)

    @staticmethod
    def press(port: Port, key: str, verb: str, show: Callable[[Question], None]) -> None:
        """Do what a row's button says. It raises nothing.

        Nothing happens if what the row stands for is gone meanwhile.

        Args:
            port: The bridge.
            key: The `key` of the row.
            verb: The `verb` of the button.
            show: Called where the button leads to a question, with the question; it shows the
                dialog.
        """
        rows.act(port, key, verb, show)
