"""Opens USD scenes without a window. USD is imported when a scene is opened. Main thread."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from dcc_bridge.spi import Host, HostOperations
from dcc_bridge.spi.program import MissingExtra

from .current import install

if TYPE_CHECKING:
    from .host import UsdSession


def open_scene(path: Path | None) -> Host:
    """Open a file as the current session.

    Args:
        path: The scene's file; without one the scene is empty and untitled.

    Raises:
        MissingExtra: USD is not installed.
        OSError: The file is not there, or must not be read.
        ValueError: The file is not a USD file.
    """
    session, _ = start(path)
    return session


def operations(host: Host) -> HostOperations:
    """Return the operations of a session."""
    from .operations import operations

    return operations(host)


def start(
    path: Path | None, *, has_ui: bool = False, as_copy: bool = False
) -> tuple[UsdSession, Callable[[], None]]:
    """Open a session and make it the current one.

    Args:
        path: The scene's file, or None.
        has_ui: Whether there is a window.
        as_copy: Whether the scene is never saved to its file.

    Returns:
        The session, and a function that makes the session before it current again.

    Raises:
        MissingExtra: USD is not installed.
        OSError: The file is not there, or must not be read.
        ValueError: The file is not a USD file.
    """
    try:
        from .host import UsdSession
    except ImportError as error:
        what = f"The host usd ({error}; or name another with --host)"
        raise MissingExtra(what, "demo") from error
    session = UsdSession(path, has_ui=has_ui, as_copy=as_copy)
    return session, install(session)
