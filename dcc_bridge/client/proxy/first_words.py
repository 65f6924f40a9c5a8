"""The answer to a client's first message, without the SDK. Main thread.

The message is a handshake ("initialize", legacy era) or a probe ("server/discover", modern era).
The SDK takes 0.6 s to import, and some clients wait only 1 s for the first answer.
"""

from __future__ import annotations

import json
from typing import Any, Final

from dcc_bridge.elicitation.types import SKILLS, TASKS
from dcc_bridge.errors import own_version
from dcc_bridge.known_clients import APPS, ICON, REVISIONS, handshake_capabilities

INSTRUCTIONS: Final = (
    "You work in applications for 3D work (Maya, Houdini, Blender, FreeCAD and others), in the "
    "scene that a person has open there. list_hosts lists them, use_host changes to another "
    "one; the other tools are those of the host in which you work, and change with it. Tools that "
    "delete or overwrite something ask that person first, and may take minutes: as a task, if your "
    "client has tasks. If a call times out, make it again with the same arguments: their answer is "
    "kept for it. When they say no, nothing was changed: do not try another way, ask them what "
    "they would like. Everything a tool changes is an undo step in the host."
)
_META: Final = "io.modelcontextprotocol/"  # the prefix of the protocol's names in "_meta"
# The revisions of the protocol in which a client may begin with each method.
_REVISIONS_BY_METHOD: Final = {"initialize": REVISIONS[1:], "server/discover": REVISIONS[:1]}
_CHANGES: Final = {"listChanged": True}
SERVER_INFO: Final = {
    "name": "dcc_bridge",
    "title": "Applications for 3D work",
    "version": own_version(),
    "icons": [ICON],
}
_CAPABILITIES: Final[dict[str, Any]] = {  # in both eras
    "completions": {},
    "prompts": _CHANGES,
    "resources": {**_CHANGES, "subscribe": True},
    "tools": _CHANGES,
}
GREETING: Final[dict[str, Any]] = {  # part of the answer to a handshake
    "capabilities": {**_CAPABILITIES, "logging": {}},
    "instructions": INSTRUCTIONS,
}
DISCOVERED: Final[dict[str, Any]] = {  # the answer to a probe
    "capabilities": {**_CAPABILITIES, "extensions": {TASKS: {}, SKILLS: {}, APPS: {}}},
    "instructions": INSTRUCTIONS,
    "supportedVersions": list(REVISIONS),
    "ttlMs": 3_600_000,
    "cacheScope": "private",
    "resultType": "complete",
}


def first_answer(line: bytes) -> dict[str, Any] | None:
    """Return the answer that the lobby would give to a handshake or a probe.

    Args:
        line: The client's first line.

    Returns:
        The message to send; None if the lobby has to answer.
    """
    try:
        request = json.loads(line)
        request_id = request["id"]
        method = request["method"]
        params = request["params"]
        meta = params.get("_meta") or {}
        if method == "initialize" and params["clientInfo"]:
            capabilities = params["capabilities"]
            version = params["protocolVersion"]
            own = handshake_capabilities(GREETING["capabilities"], capabilities)
            result = {**GREETING, "capabilities": own}
            result |= {"protocolVersion": version, "serverInfo": SERVER_INFO}
        else:
            capabilities = meta[f"{_META}clientCapabilities"]
            version = meta[f"{_META}protocolVersion"]
            result = {**DISCOVERED, "_meta": {f"{_META}serverInfo": SERVER_INFO}}
        are_plain = all(isinstance(capability, dict) for capability in capabilities.values())
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None  # another message, or an error that the lobby reports
    if type(request_id) not in (int, str) or not are_plain:
        return None
    if version not in _REVISIONS_BY_METHOD.get(method, ()):
        return None
    return {"jsonrpc": "2.0", "id": request_id, "result": result}
