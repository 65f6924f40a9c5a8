"""The line in which a client's questions wait for the host: it may ask so much there, and no more.

Any thread; the counting is in `rate_limits`, under its lock.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from dcc_bridge.callbacks import Clock
from dcc_bridge.elicitation.open_question import REFUSED, Opened, Showing, cancel
from dcc_bridge.elicitation.routing import Audience, label
from dcc_bridge.elicitation.types import CANCELLED

log = logging.getLogger(__name__)


class Line:
    """Lets a question through to the host in its turn, or refuses it."""

    def __init__(
        self,
        audience: Audience,
        clock: Clock,
        is_closed: Callable[[], bool],
        show: Callable[[Opened, Showing], None],
    ) -> None:
        """Take what it needs.

        Args:
            audience: Knows how much each client may ask.
            clock: Calls back after some seconds.
            is_closed: Whether every question is being ended.
            show: Shows one in the host now.
        """
        self._audience = audience
        self._clock = clock
        self._is_closed = is_closed
        self._show = show

    def enter(self, one: Opened, showing: Showing) -> None:
        """Show a question in its turn: a client that asks too often has to wait."""
        who, limits = label(one.question.call), self._audience.limits
        if who is None or showing.retried:  # asked again, it has its place still
            self._show(one, showing)
            return
        turn = limits.enter(who, lambda wait: self._place(one, showing, wait))
        if turn is None:
            one.settle(REFUSED)
            return
        showing.keep(lambda why: limits.leave(who, turn), lasting=True)
        if turn.waits:
            self._audience.tell_of_line(one.question.call)

    def _place(self, one: Opened, showing: Showing, wait: float) -> None:
        """Show a question that has got its place, perhaps after a while."""
        try:
            self._show_or_wait(one, showing, wait)
        except Exception:  # it must not go on to whoever left, nor keep the place
            log.exception("the question %s was not put to the host", one.question.id)
            one.settle(cancel(CANCELLED))

    def _show_or_wait(self, one: Opened, showing: Showing, wait: float) -> None:
        if label(one.question.call) in self._audience.limits.muted:
            one.settle(REFUSED)
        elif self._is_closed():
            return
        elif not wait:
            self._show(one, showing)
        else:
            showing.keep_clock(self._clock(wait, lambda: self._show(one, showing)))
            self._audience.tell_of_line(one.question.call)
