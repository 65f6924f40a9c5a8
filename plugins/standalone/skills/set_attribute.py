"""Change one attribute."""

from __future__ import annotations

from typing import Any

from pxr import Sdf, Tf, Usd

from dcc_bridge import skill
from dcc_bridge.hosts.standalone import session
from dcc_bridge.hosts.standalone.prims import plain, require
from dcc_standalone.coercion import coerce, require_attribute


@skill(risk="edit", replaced_by="set_values")
def set_attribute(path: str, name: str, value: Any, time: float | None = None) -> dict[str, Any]:
    """Set an attribute of a prim. The person can undo it.

    Args:
        path: The prim, such as "/World/Cameras/sq010/sh0010_cam".
        name: An attribute that it has, such as "focalLength".
        value: Of the attribute's type: a number, text, true or false, [x, y, z] for a vector or
            colour, [real, i, j, k] for a quaternion, four lists of four for a matrix, a list of
            such for an array.
        time: The frame of the key to set on an animated attribute; leave it out on one that is not.

    Returns:
        The value before and after.
    """
    attribute = require_attribute(require(session().stage, path), name)
    _check_time(attribute, time)
    at = Usd.TimeCode.Default() if time is None else Usd.TimeCode(time)
    before = plain(attribute.Get(at))
    try:
        wanted = coerce(attribute.GetTypeName(), value)
        _check_choice(attribute, wanted)
        attribute.Set(wanted, at)
    except Tf.ErrorException as error:
        raise ValueError(f"{name} of {path} cannot be set to {value!r} here.") from error
    return {"path": path, "name": name, "before": before, "after": plain(attribute.Get(at))}


def _check_time(attribute: Usd.Attribute, time: float | None) -> None:
    if time is None and attribute.GetNumTimeSamples():
        raise ValueError(
            f"{attribute.GetName()} is animated, so a value without a time would not be seen: "
            "give the frame of the key to set as time."
        )
    if time is not None and attribute.GetVariability() == Sdf.VariabilityUniform:
        raise ValueError(f"{attribute.GetName()} cannot be animated: leave time out.")


def _check_choice(attribute: Usd.Attribute, value: object) -> None:
    choices = attribute.GetMetadata("allowedTokens")
    if choices and value not in choices:
        raise ValueError(f"{attribute.GetName()} is one of {', '.join(choices)}, not {value!r}.")
