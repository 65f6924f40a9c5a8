"""Our own application, as the commands need it; imports neither USD nor Qt. Main thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from dcc_bridge.spi import Host, HostOperations
from dcc_bridge.spi.program import LocalProgram, MissingExtra, Opening, WindowedHost

from . import scenes
from .screen import find_screen

if TYPE_CHECKING:
    from .host import UsdSession


class UsdProgram(LocalProgram):
    """Our own application, on a USD stage. Modules that need USD are imported on demand."""

    name = "usd"
    title = "our own application"
    suffixes = (".usd", ".usda", ".usdc")
    sample = Path("scenes", "shot_010_layout.usda")

    def find_screen(self) -> tuple[bool, str]:
        """Return whether there is a screen, and why an announced screen cannot be used, or ""."""
        return find_screen()

    @contextmanager
    def opened(self, opening: Opening) -> Iterator[Host]:
        """Open the scene as the current session, for as long as the ``with``."""
        session, uninstall = scenes.start(
            opening.scene, has_ui=opening.window, as_copy=opening.as_copy
        )
        try:
            yield session
        finally:
            uninstall()

    def operations(self, host: Host) -> HostOperations:
        """Return the operations of a session."""
        return scenes.operations(host)

    def digest(self, host: Host) -> str:
        """Digest what the scene's own layers hold."""
        return cast("UsdSession", host).scene_digest()

    def show(self, host: Host, opening: Opening, on_ready: Callable[[WindowedHost], None]) -> None:
        """Serve a session in a window, until that is closed."""
        try:
            from . import plugin
        except ImportError as error:
            what = f"A window ({error}; use --headless to go without)"
            raise MissingExtra(what, "demo") from error
        plugin.run(cast("UsdSession", host), opening, on_ready)


PROGRAM: Final = UsdProgram()
