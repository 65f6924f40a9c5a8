"""Deletes nodes, cleans up, and saves the scene's file. Main thread."""

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
        if what == "empty_groups":
            nodes = [it for it in find("/obj").allSubChildren(True, False) if not it.children()]
            return [node.path() for node in nodes if node.type().name() == "subnet"]
        if what == "unused":
            network = hou.node("/mat")
            known = [find(it.path()) for it in network.children()] if network is not None else []
            return [node.path() for node in known if not (node.outputs() or node.dependents(True))]
        raise ValueError(f"Houdini has no {what} that can be cleaned: it has empty_groups, unused.")

    def clean(self, what: Junk, items: Sequence[str]) -> None:
        self.delete(items)

    def delete(self, items: Sequence[str]) -> list[str]:
        for item in items:
            node = hou.node(item)
            if node is None:  # it went with what it was in
                continue
            with explained(f"{item} cannot be deleted"):
                node.destroy()
        return []

    def below(self, items: Sequence[str]) -> Sequence[str]:
        """List what is inside, but for locked assets."""
        inside = [it.path() for item in items for it in find(item).allSubChildren(True, False)]
        given = set(items)
        return [path for path in dict.fromkeys(inside) if path not in given]

    def orphans(self, items: Sequence[str]) -> Sequence[str]:
        """List the objects that follow one that goes."""
        followers = [it.path() for item in items for it in find(item).outputs()]
        given = set(items)
        return [path for path in dict.fromkeys(followers) if path not in given]

    def check_deletable(self, items: Sequence[str]) -> None:
        """Refuse what is inside a locked asset."""
        for item in items:
            if find(item).isInsideLockedHDA():
                raise ValueError(f"{item} is inside a locked asset, so it cannot be deleted.")

    def dependents(self, items: Sequence[str]) -> Sequence[str]:
        """List the nodes that refer to what goes by a parameter, but for those that go along."""
        going = {*items, *self.below(items)}
        users = [it.path() for item in going for it in find(item).dependents(True)]
        return [path for path in dict.fromkeys(users) if path not in going]

    def save_files(self, path: Path | None) -> list[Path]:
        if path is None and hou.hipFile.isNewFile():
            raise ValueError("This scene was never saved: give the path of a file.")
        target = path or Path(hou.hipFile.path())
        is_good = target.suffix.lower() in _SUFFIXES and target.is_absolute()
        if not is_good or not target.parent.is_dir():
            raise ValueError(
                f"{target} cannot be written: name a {self.host.suffix} file by its whole path, "
                "in a folder that is there."
            )
        # The licence decides on the suffix: Houdini writes .hipnc where .hip was asked for.
        return [target.with_suffix(self.host.suffix)]

    def save(self, path: Path | None) -> Path:
        (target,) = self.save_files(path)
        with explained(f"{target} was not written"):
            hou.hipFile.save(target.as_posix())
        return Path(hou.hipFile.path())
