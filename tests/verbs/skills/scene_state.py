"""What only a test wants to know of a scene."""

from __future__ import annotations

from typing import Any

from dcc_bridge import skill
from dcc_bridge.elicitation.context import current_context
from tests.hosts.digests import scene_digest


@skill(risk="read")
def scene_state() -> dict[str, Any]:
    """Digest the scene, and tell how deep the undo stack is."""
    installed = current_context()
    assert installed is not None
    host = installed.host
    return {"digest": scene_digest(host), "depth": host.undo_mark().depth}
