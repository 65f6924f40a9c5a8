"""What Blender does not tell of when it changes, as one number. Main thread.

Blender evaluates what was changed, and calls its handlers. It does not for names, new data that is
in no scene, custom properties, texts and markers.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, Final

import bpy

from dcc_bridge.hosts.blender.names import body_of, custom_keys, custom_value, name_of, names_of
from dcc_bridge.hosts.blender.objects import data, lists

_WINDOWS: Final = {"window_managers", "screens", "workspaces", "all_ids"}  # 5.x: all of them
_MOST_COMPARED: Final = 50_000  # data-blocks of which more than the name is compared
_MOST_READ: Final = 2_000  # the same after a read


def census(*, read: bool = False) -> int:
    """Digest what Blender does not tell of; after a read of fewer data-blocks."""
    collections = [data(name) for name in lists().values() if name not in _WINDOWS]
    names = tuple(tuple(names_of(blocks)) for blocks in collections)
    few = sum(map(len, names)) <= (_MOST_READ if read else _MOST_COMPARED)
    blocks = chain.from_iterable(collections) if few else ()
    custom = [list(_custom(it)) for it in blocks]
    texts = [body_of(text) for text in bpy.data.texts]
    markers = [[(name_of(m), m.frame) for m in scene.timeline_markers] for scene in bpy.data.scenes]
    return hash((names, repr([values for values in custom if values]), repr(texts), repr(markers)))


def _custom(block: Any) -> Iterator[tuple[str, str]]:
    """Yield the custom properties of a data-block that somebody has set.

    What an add-on keeps beside it, such as `Object.cycles`, Blender makes empty as it is read. Up
    to 4.5 that is one of the custom properties.
    """
    of_addons = block.bl_rna.properties
    for key in custom_keys(block):
        value = custom_value(block, key)
        if key not in of_addons or _filled(value) != {}:
            yield key, repr(_filled(value) if key in of_addons else value)
    group = block.bl_system_properties_get() if hasattr(block, "bl_system_properties_get") else None
    for key in custom_keys(group) if group is not None else ():
        if (value := _filled(custom_value(group, key))) != {}:
            yield key, repr(value)


def _filled(value: Any) -> Any:
    """Return a group of properties without the groups in it in which nothing is set."""
    if not isinstance(value, dict):
        return value
    filled = {key: _filled(part) for key, part in value.items()}
    return {key: part for key, part in filled.items() if part != {}}
