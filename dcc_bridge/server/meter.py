"""Progress as the protocol wants it: each value above the one before. Worker."""

from __future__ import annotations

from typing import Final

_LEAST: Final = 1e-6


class Meter:
    """The values that one call's client has heard.

    A skill may count twice from zero, and between two of its values the client is told that it is
    still waited for: both must not go back.
    """

    def __init__(self) -> None:
        self._last: float | None = None
        self._base = 0.0
        self._done = 0.0
        self._total: float | None = None
        self._beats = 0

    def report(self, done: float, total: float | None) -> tuple[float, float | None]:
        """Give the value, and the total, for what a skill reports."""
        if done < self._done:  # it counts from the beginning again
            self._base = self._last or 0.0
        self._done = done
        self._total = None if total is None else self._base + total
        return self._above(self._base + done), self._total

    def beat(self) -> tuple[float, float | None]:
        """Give a value for a notice that nothing happened yet."""
        self._beats += 1
        part = 1 / (self._beats * (self._beats + 1)) if self._total is None else _LEAST
        return self._above((self._last or 0.0) + part), self._total

    def _above(self, value: float) -> float:
        if self._last is not None and value <= self._last:
            value = self._last + max(abs(self._last), 1.0) * _LEAST
        self._last = value
        return value
