"""The panel in words, for a surface that draws the panel without Qt: Blender's sidebar.

The surface calls `PanelView.read` for what the panel shows now, and `PanelView.press` when a person
presses a button of a row. Main thread.
"""

from __future__ import annotations

from collections.abc import Callable

from dcc_bridge.elicitation.details import DetailsView, details_view
from dcc_bridge.elicitation.question import Question
from dcc_bridge.panel import pressing, rows, state
from dcc_bridge.panel.filters import Filter, kind_names
from dcc_bridge.panel.row import Row
from dcc_bridge.panel.state import Port, State
from dcc_bridge.skills.call_history import Record


class CallView:
    """A call that ended, as the panel shows it.

    Attributes:
        id: The id of the call.
        title: What was done, or asked for.
        ended: When the call ended, in seconds since the epoch.
        sign: The outcome: "done", "undone", "unanswered", or how the call failed.
        summary: Who called, and how the call ended.
        is_code: Whether the call ran code of an agent.
        has_steps: Whether the call left a step on the host's undo stack.
    """

    def __init__(self, record: Record) -> None:
        """Put a call into words.

        Args:
            record: The call, as the history has it.
        """
        self._record = record
        self.id = record.id
        self.title = rows.subject(record)
        self.ended = record.ended or record.began
        self.sign = rows.sign(record)
        self.summary = rows.summary(record)
        self.is_code = record.effect.code is not None
        self.has_steps = bool(record.effect.steps)

    @property
    def pictures(self) -> tuple[tuple[bytes, str], ...]:
        """PNGs of what the call asked about, each with what it shows; none for most calls."""
        return self._record.pictures

    @property
    def code(self) -> DetailsView | None:
        """The code that the call ran; None for a call without code."""
        run = self._record.effect.code
        if run is None:
            return None
        return details_view(run.details)

    def facts(self, most_names: int) -> list[str]:
        """Return all facts of the call, in sentences. It raises nothing.

        Args:
            most_names: How many names of created, changed and deleted items are listed at most.

        Returns:
            The sentences, safe to show: who called, the questions and answers, the error, the id.
        """
        return list(rows.facts(self._record, most_names))


class PanelView:
    """All that the panel shows of a bridge at a moment, in words."""

    def __init__(self, snapshot: State) -> None:
        """Put a snapshot into words.

        Args:
            snapshot: The snapshot; `read` makes it.
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
        """The state of the bridge, in one sentence."""
        return rows.headline(self._state)

    @property
    def connected(self) -> str:
        """The connected clients, or why no client can connect."""
        return rows.connected(self._state)

    @property
    def muted(self) -> str:
        """The muted clients, and for how long they are muted; "" where there are none."""
        return rows.muted(self._state)

    @property
    def muted_clients(self) -> dict[str, str]:
        """The names of the muted clients by their labels; the verb "unmute" takes a label."""
        return {label: rows.who(label) for label in self._state.muted}

    @property
    def undoable(self) -> CallView | None:
        """The call whose step the host's own undo would undo; None for any other step."""
        record = self._state.undoable
        if record is None:
            return None
        return CallView(record)

    @property
    def undo_label(self) -> str:
        """The label of the step on top of the host's undo stack; "" where there is none."""
        return self._state.top.label or ""

    @property
    def address(self) -> str | None:
        """The address at which agents connect; "" while the bridge starts, None if they cannot."""
        return self._state.address

    @property
    def now(self) -> list[Row]:
        """The grants for code, the open questions, the running calls and the queued calls."""
        return rows.now(self._state)

    @property
    def clients(self) -> list[Row]:
        """The connected clients, the muted clients, and the clients on this computer."""
        return rows.clients(self._state)

    @property
    def grants(self) -> list[Row]:
        """The grants for the session."""
        return rows.grants(self._state)

    @property
    def pending(self) -> Row | None:
        """The newest edits that asked nothing, with buttons to keep and undo them; or None."""
        return rows.pending_row(self._state)

    @staticmethod
    def history_kinds() -> dict[str, str]:
        """Return the captions of the kinds that `history` takes. It raises nothing.

        Returns:
            The captions, by the kinds.
        """
        return kind_names()

    @property
    def history_clients(self) -> dict[str, str]:
        """The names of the clients in the history by their labels."""
        labels = sorted({record.client for record in self._state.ended if record.client})
        return {label: rows.who(label) for label in labels}

    def history(
        self,
        most: int,
        *,
        text: str = "",
        client: str = "",
        kind: str = "",
        lists_reads: bool = False,
    ) -> list[CallView]:
        """Return the newest calls that ended and fit a filter. It raises nothing.

        Args:
            most: How many calls at most.
            text: Words that are in the row or in the facts of the call.
            client: The label of the client; "" for every client.
            kind: "done", "undone", "refused", "failed" or "code"; "" for every kind.
            lists_reads: Whether calls that only read are listed too.

        Returns:
            The calls, the newest first.
        """
        chosen = Filter(text, client, kind, lists_reads).chosen(self._state.ended)
        return [CallView(record) for record in chosen[:most]]

    def undo_list(self, key: str) -> Row | None:
        """Return the row that lists what goes back if a call and all after it are undone.

        It raises nothing. The row's button does it; without a button it is not possible, and the
        detail says why.

        Args:
            key: The id of the call, as `CallView.id` has it.

        Returns:
            The row; its detail has a line for each step. None if the history has dropped the call.
        """
        for record in self._state.ended:
            if record.id == key:
                return rows.undo_row(self._state, record)
        return None

    def call(self, key: str) -> CallView | None:
        """Return a call that ended. It raises nothing.

        Args:
            key: The call's id, as `CallView.id` has it.

        Returns:
            The call; None if the history has dropped it.
        """
        for record in self._state.ended:
            if record.id == key:
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
    def work(port: Port) -> Row | None:
        """Return the row of the call that the main thread works on, or begins next.

        It raises nothing.

        Args:
            port: The bridge.

        Returns:
            The row; None where there is no such call, or only one that should be over in a moment.
        """
        return rows.work(port)

    @staticmethod
    def press(port: Port, key: str, verb: str, show: Callable[[Question], None]) -> None:
        """Do what a row's button says. It raises nothing.

        Nothing happens if the row's subject is gone meanwhile.

        Args:
            port: The bridge.
            key: The `key` of the row.
            verb: The `verb` of the button.
            show: Called where the button leads to a question, with the question; it shows the
                dialog.
        """
        pressing.press(port, key, verb, show)
