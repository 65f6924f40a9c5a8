"""The panes of the stand-in that the bridge uses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.hosts.fakes.houdini.nodes import OpNode
from tests.hosts.fakes.pixel import PNG


class Rect:
    """A rectangle that remembers what it contains."""

    def __init__(self, *paths: str) -> None:
        self.paths = set(paths)

    def enlargeToContain(self, other: Rect) -> None:
        self.paths |= other.paths


class NetworkEditor:
    """A network editor, and what it shows."""

    def __init__(self) -> None:
        self.network = "/obj"
        self.shown: set[str] = set()

    def setPwd(self, node: OpNode) -> None:
        self.network = node.path()

    def itemRect(self, node: OpNode) -> Rect:
        return Rect(node.path())

    def setVisibleBounds(self, bounds: Rect) -> None:
        self.shown = bounds.paths


class PythonPanel:
    """A pane that shows an interface."""

    def __init__(self) -> None:
        self.interface: str | None = None
        self.raised = 0

    def activeInterface(self) -> str | None:
        return self.interface

    def setActiveInterface(self, interface: str) -> None:
        self.interface = interface

    def setIsCurrentTab(self) -> None:
        self.raised += 1


class _Settings:
    """Flipbook settings; the person's own unless they were stashed."""

    def __init__(self, *, own: bool = True) -> None:
        self._is_own = own
        self.path = ""

    def stash(self) -> _Settings:
        return _Settings(own=False)

    def frameRange(self, frames: tuple[float, float]) -> None:
        assert not self._is_own, "the settings of the person's own flipbooks would change"

    def output(self, path: str) -> None:
        self.path = path

    def outputToMPlay(self, on: bool) -> None:
        assert not on, "a window of its own would open on the artist's screen"


class SceneViewer:
    """A scene view."""

    def curViewport(self) -> Any:
        return object()

    def flipbookSettings(self) -> _Settings:
        return _Settings()

    def flipbook(self, viewport: object, settings: _Settings) -> None:
        Path(settings.path).write_bytes(PNG)
