"""Views of the stand-in: panels, and pictures of them, as the command reference has them.

`playblast`: a picture of the panel that is named, or else of the active one; `modelEditor -camera`
takes a camera or its transform; `deleteUI` raises for what is not there. A picture shows by its
colour where its camera stands, and the frame.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.hosts.fakes.maya.scene import Node
from tests.hosts.fakes.pixel import PNG

if TYPE_CHECKING:
    from tests.hosts.fakes.maya.application import Maya

PERSONS = "modelPanel4"


class Views:
    """The commands about views."""

    _maya: Maya
    _one: Callable[[str], Node]
    _path: Callable[[str], tuple[Node, str]]
    xform: Callable[..., Any]
    currentTime: Callable[..., Any]

    def window(self, visible: bool = True, retain: bool = True) -> str:
        assert not visible, "it would open on the artist's screen"
        assert not self._maya.batch, "there is no interface in batch"
        self._maya.panels["window1"] = {}
        return "window1"

    def paneLayout(self, parent: str) -> str:
        assert parent in self._maya.panels
        return "paneLayout1"

    def modelPanel(self, name: str = "", query: bool = False, **flags: Any) -> Any:
        if query:
            return self._maya.panels[name]["camera"]
        self._maya.panels["modelPanel5"] = {"camera": "persp"}
        return "modelPanel5"

    def modelEditor(self, name: str, edit: bool, **flags: Any) -> None:
        assert name != PERSONS, "that is the artist's"
        self._maya.panels[name] |= flags

    def deleteUI(self, name: str, panel: bool = False) -> None:
        if name not in self._maya.panels:
            self._maya.seen().deleteUI(name)
            return
        del self._maya.panels[name]

    def getPanel(self, **flags: Any) -> Any:
        if "typeOf" in flags:
            return "modelPanel" if flags["typeOf"].startswith("modelPanel") else "outlinerPanel"
        return self._maya.focus if flags.get("withFocus") else [PERSONS]

    def setFocus(self, name: str) -> None:
        self._maya.focus = name

    def playblast(self, completeFilename: str, **flags: Any) -> str:
        assert not flags["viewer"], "a viewer of its own would open on the artist's screen"
        panel = self._maya.panels[flags.get("editorPanelName", PERSONS)]
        self._maya.drawn.append({**panel, "frame": flags["frame"][0]})
        if flags.get("compression") != "jpg":
            Path(completeFilename).write_bytes(PNG)
            return completeFilename
        assert flags["editorPanelName"] != PERSONS, "that is the artist's"
        _, path = self._path(panel["camera"])
        at = self.xform(path, query=True, translation=True, worldSpace=True)
        self._maya.drawn[-1]["at"] = at
        self.currentTime(flags["frame"][0])  # it is left there, for all that is said
        paint(Path(completeFilename), flags["widthHeight"], at, flags["frame"][0])
        return completeFilename


def paint(file: Path, size: tuple[int, int], at: list[float], frame: float) -> None:
    from PySide6.QtGui import QColor, QImage

    image = QImage(*size, QImage.Format.Format_RGB32)
    time = int(53 * frame) % 256
    image.fill(QColor(time, time, int(100 + 20 * sum(at)) % 256))
    assert image.save(str(file))
