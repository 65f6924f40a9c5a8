"""Look for prims."""

from __future__ import annotations

from typing import Any

from dcc_bridge import skill
from dcc_bridge.hosts.standalone import session
from dcc_bridge.hosts.standalone.prims import find


@skill(risk="read", replaced_by="list_items")
def list_prims(
    type_name: str | None = None, under: str = "/", name: str = "*", limit: int = 200
) -> dict[str, Any]:
    """List the prims of the open USD scene, in its order, with their types.

    Inactive prims are not among them. Call scene_summary first to learn which types there are.

    Args:
        type_name: Only prims of exactly this USD type, such as "Camera", "Xform" or "SphereLight".
        under: Only prims below this path, such as "/World/Cameras".
        name: Only prims whose name matches this glob, such as "sh00*". With a slash in it, the
            whole path is matched: "*/sq010/*".
        limit: List no more than this many; "found" counts them all the same.
    """
    if limit < 1:
        raise ValueError(f"limit is {limit}: give at least 1.")
    matches = find(session().stage, name, type_name, under)
    listed = [{"path": str(p.GetPath()), "type": p.GetTypeName()} for p in matches[:limit]]
    return {"found": len(matches), "listed": len(listed), "prims": listed}
