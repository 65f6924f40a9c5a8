"""The session that skills reach. Main thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .host import UsdSession

_current: UsdSession | None = None


def session() -> UsdSession:
    """Return the current session.

    Raises:
        RuntimeError: No session was installed.
    """
    if _current is None:
        raise RuntimeError(
            "There is no USD session here; the application installs one at its start."
        )
    return _current


def install(session: UsdSession) -> Callable[[], None]:
    """Make a session the current one.

    Returns:
        Makes the session before it current again.
    """
    global _current
    before = _current
    _current = session

    def uninstall() -> None:
        global _current
        _current = before

    return uninstall
