"""Functions to be called when something changed. Main thread."""

from __future__ import annotations

from collections.abc import Callable


class Listeners:
    """The functions, called in the order in which they came."""

    def __init__(self) -> None:
        self._callbacks: dict[object, Callable[[], None]] = {}

    def add(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Register a function; twice if it is given twice.

        Returns:
            What takes it out again; harmless the second time.
        """
        key = object()
        self._callbacks[key] = callback

        def remove() -> None:
            self._callbacks.pop(key, None)

        return remove

    def call(self) -> None:
        """Call them all; one that was taken out meanwhile is not called any more."""
        for key in list(self._callbacks):
            if callback := self._callbacks.get(key):
                callback()
