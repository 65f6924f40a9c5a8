"""Read one attribute."""

from __future__ import annotations

from typing import Any

from pxr import Usd

from dcc_bridge import skill
from dcc_bridge.hosts.standalone import session
from dcc_bridge.hosts.standalone.prims import plain, require
from dcc_standalone.coercion import require_attribute


@skill(risk="read", replaced_by="inspect")
def get_attribute(path: str, name: str, time: float | None = None) -> dict[str, Any]:
    """Read an attribute of a prim.

    Args:
        path: The prim, such as "/World/Cameras/sq010/sh0010_cam".
        name: The attribute, such as "focalLength" or "xformOp:translate".
        time: The frame at which to read an animated one; without it, its value that is not
            animated, or else its first key.

    Returns:
        Its type and value; of an animated one also the number of keys, the first and last frame.
    """
    attribute = require_attribute(require(session().stage, path), name)
    keys = attribute.GetTimeSamples()
    at = Usd.TimeCode(time) if time is not None else Usd.TimeCode.Default()
    value = attribute.Get(at)
    if value is None and keys:
        value = attribute.Get(keys[0])
    facts = {
        "path": path,
        "name": name,
        "type": str(attribute.GetTypeName()),
        "value": plain(value),
    }
    animation = {"keys": len(keys), "frames": [keys[0], keys[-1]]} if keys else {}
    connected = [str(source) for source in attribute.GetConnections()]
    return facts | animation | ({"connected_to": connected} if connected else {})
