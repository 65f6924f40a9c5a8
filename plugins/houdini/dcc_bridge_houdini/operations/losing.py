"""Deleting nodes, cleaning up, and saving the scene's file. Main thread."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import hou

from dcc_bridge.spi import Cleaning, Deleting, Junk, Saving

from .reading import find
from .values import explained

_SUFFIXES: Final = (".hip", ".hiplc", ".hipnc")


class _Loses(Cleaning, Deleting, Saving):
    """The operations that lose something."""

    def junk(self, what: Junk) -> list[str]:
        """Return the paths of the nodes that are one kind of junk.

        Raises:
            ValueError: Houdini has no such junk.
        """
        if what == "empty_groups":
            nodes = find("/obj").allSubChildren(True, False)
            subnets = [node for node in nodes if node.type().name() == "subnet"]
            return [subnet.path() for subnet in subnets if not subnet.children()]
        if what == "unused":
            network = hou.node("/mat")
            if network is None:
                return []
            materials = [find(child.path()) for child in network.children()]
            return [node.path() for node in materials if not _is_used(node)]
        raise ValueError(f"Houdini has no {what} that can be cleaned: it has empty_groups, unused.")

    def clean(self, what: Junk, items: Sequence[str]) -> None:
        """Delete junk."""
        self.delete(items)

    def delete(self, items: Sequence[str]) -> list[str]:
        """Delete nodes with all nodes inside them.

        Returns:
            An empty list: there are no warnings.

        Raises:
            ValueError: Houdini cannot delete a node.
        """
        for item in items:
            node = hou.node(item)
            if node is None:  # deleted with its parent
                continue
            with explained(f"{item} cannot be deleted"):
                node.destroy()
        return []

    def below(self, items: Sequence[str]) -> Sequence[str]:
        """Return the nodes inside items, which are deleted too, except those in locked assets."""
        inside = list[str]()
        for item in items:
            inside += [node.path() for node in find(item).allSubChildren(True, False)]
        deleted = set(items)
        return [path for path in dict.fromkeys(inside) if path not in deleted]

    def orphans(self, items: Sequence[str]) -> Sequence[str]:
        """Return the children of items, by object inputs, that are not among the items."""
        followers = list[str]()
        for item in items:
            followers += [node.path() for node in find(item).outputs()]
        deleted = set(items)
        return [path for path in dict.fromkeys(followers) if path not in deleted]

    def check_deletable(self, items: Sequence[str]) -> None:
        """Raise ValueError for a node inside a locked asset."""
        for item in items:
            if find(item).isInsideLockedHDA():
                raise ValueError(f"{item} is inside a locked asset, so it cannot be deleted.")

    def dependents(self, items: Sequence[str]) -> Sequence[str]:
        """Return the nodes that stay and refer to deleted nodes by a parameter."""
        deleted = {*items, *self.below(items)}
        users = list[str]()
        for item in deleted:
            users += [node.path() for node in find(item).dependents(True)]
        return [path for path in dict.fromkeys(users) if path not in deleted]

    def save_files(self, path: Path | None) -> list[Path]:
        """Return the file that saving would write.

        Raises:
            ValueError: The scene has no file yet, or the path is not valid.
        """
        if path is None and hou.hipFile.isNewFile():
            raise ValueError("This scene was never saved: give the path of a file.")
        target = path or Path(hou.hipFile.path())
        is_scene = target.suffix.lower() in _SUFFIXES
        if not is_scene or not target.is_absolute() or not target.parent.is_dir():
            raise ValueError(
                f"{target} cannot be written: name a {self.host.suffix} file by its whole path, "
                "in a folder that is there."
            )
        # The licence determines the suffix: Houdini may write .hipnc instead of .hip.
        return [target.with_suffix(self.host.suffix)]

    def save(self, path: Path | None) -> Path:
        """Save the scene, and return its file.

        Raises:
            ValueError: Houdini did not write the file, or the path is not valid.
        """
        (target,) = self.save_files(path)
        with explained(f"{target} was not written"):
            hou.hipFile.save(target.as_posix())
        return Path(hou.hipFile.path())


def _is_used(node: hou.OpNode) -> bool:
    return bool(node.outputs() or node.dependents(True))
