"""What changed in the scene, and who is told of it.

Blender evaluates what was changed, and tells its handlers. It does not tell of names, of new data
that is in no scene, of custom properties, texts and markers; those are compared. What neither is
evaluated nor compared is not seen as an edit: a fake user, how a modifier is folded in the
properties, the values of another scene's data that is not open. The frame that is shown is no edit,
as in Blender itself. Main thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Final

import bpy

from dcc_bridge.callbacks import Callbacks, Unsubscribe

_TOLD: Final = ("depsgraph_update_post", "undo_post", "redo_post", "load_post", "save_post")
_WINDOWS: Final = {"window_managers", "screens", "workspaces"}
_MOST_COMPARED: Final = 50_000
"""Data-blocks up to which custom properties are compared."""


class Changes:
    """Hears of changes for as long as anybody listens."""

    def __init__(self, loaded: Callable[[], None]) -> None:
        """Listen to Blender.

        Args:
            loaded: Called when another file was opened, before all others.
        """
        self._loaded = loaded
        self._thread = threading.get_ident()
        self._watchers = Callbacks()
        self._count = self._saved = 0
        self._handlers = ExitStack()
        for name in _TOLD:
            self._add(name, self._handler(name))

    @property
    def count(self) -> int:
        """How many changes there were that Blender evaluated."""
        layer = bpy.context.view_layer
        if layer is not None:
            layer.update()  # what waits to be evaluated is told of now
        return self._count

    @property
    def are_saved(self) -> bool:
        """Whether there was none since the file was loaded or saved."""
        return self.count == self._saved

    def watch(self, changed: Callable[[], None]) -> Unsubscribe:
        """Call whenever the scene or the selection is another one."""
        return self._watchers.add(changed)

    def tell(self) -> None:
        """Tell whoever watches."""
        self._watchers.call()

    def end(self) -> None:
        """Listen no more; harmless the second time."""
        self._handlers.close()

    def _add(self, name: str, fn: Any) -> None:
        handlers = getattr(bpy.app.handlers, name)
        handlers.append(fn)
        self._handlers.callback(_remove, handlers, fn)

    def _handler(self, name: str) -> Any:
        heard = self._evaluated if name == "depsgraph_update_post" else self._moved

        @bpy.app.handlers.persistent  # type: ignore[untyped-decorator]  # in its stubs
        def tell(_: object = None, what: object = None) -> None:
            if threading.get_ident() == self._thread:  # a render has a thread, and tells as well
                heard(name, what)

        return tell

    def _evaluated(self, _: str, what: Any) -> None:
        if what is None or what.mode == "VIEWPORT":
            self._count += 1
            self.tell()

    def _moved(self, name: str, _: object) -> None:
        self._count += 1
        if name == "load_post":
            self._loaded()
        if name in ("load_post", "save_post"):
            self._saved = self._count
        self.tell()


def _remove(handlers: list[Any], handler: Any) -> None:
    if handler in handlers:  # a script may have cleared the list
        handlers.remove(handler)


def census() -> int:
    """Digest what Blender does not tell of."""
    blocks = [getattr(bpy.data, name) for name in _lists()]
    names = tuple(tuple(each.keys()) for each in blocks)
    few = sum(map(len, names)) <= _MOST_COMPARED
    custom = [_custom(block) for each in blocks for block in each] if few else []
    texts = [text.as_string() for text in bpy.data.texts]
    markers = [[(m.name, m.frame) for m in each.timeline_markers] for each in bpy.data.scenes]
    return hash((names, repr([one for one in custom if one]), repr(texts), repr(markers)))


def _lists() -> list[str]:
    """Name the lists of data-blocks, but for what is Blender's own windows."""
    lists = (p.identifier for p in bpy.types.BlendData.bl_rna.properties if p.type == "COLLECTION")
    return [name for name in lists if name not in _WINDOWS]


def _custom(block: Any) -> list[tuple[str, str]]:
    return [(key, plain(block[key])) for key in block.keys()]  # noqa: SIM118 - it is no dict


def plain(value: Any) -> str:
    """Give a custom property's value as a text that tells two of them apart."""
    for name in ("to_dict", "to_list"):
        if hasattr(value, name):
            return repr(getattr(value, name)())
    return repr(value)
