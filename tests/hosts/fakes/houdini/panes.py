"""The panes of the stand-in that the bridge uses."""

from __future__ import annotations

from tests.hosts.fakes.houdini.nodes import OpNode


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
