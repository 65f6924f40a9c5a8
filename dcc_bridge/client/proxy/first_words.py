"""What a client is told first, before the SDK is there: it takes 0.6 s, and some wait 1 s."""

from __future__ import annotations

import json
from typing import Any, Final

from dcc_bridge.elicitation.types import TASKS
from dcc_bridge.errors import own_version
from dcc_bridge.known_clients import ICON, REVISIONS

INSTRUCTIONS: Final = (
    "You work in applications for 3D work (Maya, Houdini, Blender, FreeCAD and others), in the "
    "scene that a person has open there. list_hosts lists them, use_host changes to another "
    "one; the other tools are those of the host in which you work, and change with it. Tools that "
    "delete or overwrite something ask that person first, and may take minutes to return. When "
    "they say no, nothing was changed: do not try to reach the same result another way, ask them "
    "what they would like. Everything a tool changes is an undo step in the host."
)
_META: Final = "io.modelcontextprotocol/"  # how the names begin of what stands in each request
_SPOKEN: Final = {"initialize": REVISIONS[1:], "server/discover": REVISIONS[:1]}
_CHANGES: Final = {"listChanged": True}
SERVER_INFO: Final = {
    "name": "dcc_bridge",
    "title": "Applications for 3D work",
    "version": own_version(),
    "icons": [ICON],
}
_CAPABILITIES: Final[dict[str, Any]] = {  # of both eras
    "completions": {},
    "prompts": _CHANGES,
    "resources": {**_CHANGES, "subscribe": True},
    "tools": _CHANGES,
}
GREETING: Final[dict[str, Any]] = {  # what a handshake is told
    "capabilities": {**_CAPABILITIES, "logging": {}},
    "instructions": INSTRUCTIONS,
}
DISCOVERED: Final[dict[str, Any]] = {  # what a probe is told
    "capabilities": {**_CAPABILITIES, "extensions": {TASKS: {}}},
    "instructions": INSTRUCTIONS,
    "supportedVersions": list(REVISIONS),
    "ttlMs": 3_600_000,
    "cacheScope": "private",
    "resultType": "complete",
}


def first_answer(line: bytes) -> dict[str, Any] | None:
    """Answer a handshake or a probe as the lobby does; None for what the lobby has to look at."""
    try:
        request = json.loads(line)
        id_, method, params = request["id"], request["method"], request["params"]
        meta = params.get("_meta") or {}
        if method == "initialize" and params["clientInfo"]:
            able, version = params["capabilities"], params["protocolVersion"]
            result = {**GREETING, "protocolVersion": version, "serverInfo": SERVER_INFO}
        else:
            able, version = meta[f"{_META}clientCapabilities"], meta[f"{_META}protocolVersion"]
            result = {**DISCOVERED, "_meta": {f"{_META}serverInfo": SERVER_INFO}}
        is_plain = type(id_) in (int, str) and all(isinstance(it, dict) for it in able.values())
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None  # it is no such message, or not as it has to be
    if not is_plain or version not in _SPOKEN.get(method, ()):
        return None
    return {"jsonrpc": "2.0", "id": id_, "result": result}
