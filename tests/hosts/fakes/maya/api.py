"""`maya.api.OpenMaya` of the stand-in: messages, the active selection, a plug-in's registration."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.hosts.fakes.maya.application import Maya


class SelectionList:
    """`MSelectionList`: adding what is not there raises."""

    maya: Maya

    def __init__(self) -> None:
        self.ids: list[str] = []

    def add(self, name: str) -> None:
        found = self.maya.scene.find(name)
        if not found:
            raise RuntimeError("(kInvalidParameter): Object does not exist")
        self.ids.append(found[0].uuid)


def contents(maya: Maya) -> dict[str, Any]:
    """Give what the module holds."""
    chosen = type("MSelectionList", (SelectionList,), {"maya": maya})
    return {
        "MSelectionList": chosen,
        "MGlobal": _selecting(maya, chosen),
        **_messages(maya),
        "MFnPlugin": lambda plug_in, vendor, version: maya.vendors.append((vendor, version)),
        "MObject": object,
    }


def _selecting(maya: Maya, made: Callable[[], SelectionList]) -> type:
    class MGlobal:
        """Sets the selection without an undo entry, unlike the command."""

        @staticmethod
        def setActiveSelectionList(chosen: SelectionList) -> None:
            maya.scene.selected = list(chosen.ids)
            maya.fire("SelectionChanged")

        @staticmethod
        def getActiveSelectionList() -> SelectionList:
            chosen = made()
            chosen.ids = list(maya.scene.selected)
            return chosen

    return MGlobal


def _messages(maya: Maya) -> dict[str, Any]:
    class MSceneMessage:
        kMayaExiting = "exiting"

        @staticmethod
        def addCallback(event: str, fn: Callable[..., None]) -> int:
            return maya.listen(event, fn)

    class MEventMessage:
        @staticmethod
        def addEventCallback(event: str, fn: Callable[..., None]) -> int:
            return maya.listen(event, fn)

    class MDGMessage:
        @staticmethod
        def addNodeAddedCallback(fn: Callable[..., None], of: str) -> int:
            return maya.listen("node added", fn)

        @staticmethod
        def addNodeRemovedCallback(fn: Callable[..., None], of: str) -> int:
            return maya.listen("node removed", fn)

    class MMessage:
        @staticmethod
        def removeCallback(number: int) -> None:
            """Remove one; Maya raises for one that is not there."""
            if maya.heard_by.pop(number, None) is None:
                raise RuntimeError("(kInvalidParameter): no such callback")

    return {one.__name__: one for one in (MSceneMessage, MEventMessage, MDGMessage, MMessage)}
