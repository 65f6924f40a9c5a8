"""The instructions of a host for clients: MCP's extension "Skills over MCP". Worker.

This is ``io.modelcontextprotocol/skills`` (SEP-2640, final since 2026-09-13), which calls an
instruction a skill. It is specified for 2026-07-28 and newer: ``skills/list`` and ``skills/get``
return each instruction with its front matter and the digests of its files. The files are resources,
``skill://<name>/<file>``, which are read in every revision, and listed nowhere else. The optional
``resources/directory/read`` is not served: a list of files is complete as it is.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Sequence
from functools import partial
from pathlib import PurePosixPath
from typing import Any, Final

import mcp_types as types
from mcp.server.extension import Extension, MethodBinding
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from dcc_bridge.elicitation.text import safe_whole
from dcc_bridge.elicitation.types import SKILL_METHODS, SKILLS
from dcc_bridge.instructions.collection import Instructions, Reading
from dcc_bridge.instructions.reader import Instruction, main_uri, name_of
from dcc_bridge.server.client_channel import Context
from dcc_bridge.skills.loader import Library
from dcc_bridge.threads.background import run_in_thread
from dcc_bridge.threads.flows import wrap_future

_TTL_MS: Final = 60_000
"""For how long a client may use a list: nothing tells it of changes."""
_RESULT: Final = {"resultType": "complete", "ttlMs": _TTL_MS, "cacheScope": "private"}
_MARKDOWN: Final = "text/markdown"


class GetParams(types.RequestParams):
    """The parameters of ``skills/get``."""

    uri: str


class ServedInstructions(Extension):
    """The methods of the extension, and the files of the instructions as resources."""

    identifier = SKILLS

    def __init__(self, instructions: Instructions, library: Library) -> None:
        """Prepare; nothing is read before a client asks.

        Args:
            instructions: The instructions.
            library: Tells when the host's verbs are there, and with them its own instructions.
        """
        self._instructions = instructions
        self._library = library

    def methods(self) -> Sequence[MethodBinding]:
        """Return the methods of the extension, for the newest revision of the protocol only."""
        list_method, get_method = SKILL_METHODS
        eras = frozenset(MODERN_PROTOCOL_VERSIONS)
        return [
            MethodBinding(list_method, types.PaginatedRequestParams, self._list, eras),
            MethodBinding(get_method, GetParams, self._get, eras),
        ]

    async def read_file(self, uri: str) -> ReadResourceContents:
        """Return a file of an instruction.

        Args:
            uri: Its URI.

        Raises:
            ResourceNotFoundError: No instruction has such a file, or it cannot be served.
        """
        reading = await self._read(name_of(uri))
        for instruction in reading.served.values():
            for file in instruction.files:
                if file.uri == uri:
                    text = file.content.decode("utf-8")
                    return ReadResourceContents(content=text, mime_type=_mime_type(uri))
        raise ResourceNotFoundError(_why_missing(reading, uri))

    async def _list(
        self, request: Context, params: types.PaginatedRequestParams | None
    ) -> dict[str, Any]:
        """Answer ``skills/list``, in one page."""
        reading = await self._read()
        return {**_RESULT, "skills": [_entry(it) for it in reading.served.values()]}

    async def _get(self, request: Context, params: GetParams) -> dict[str, Any]:
        """Answer ``skills/get``."""
        reading = await self._read(name_of(params.uri))
        instruction = reading.served.get(params.uri)
        if instruction is None:
            raise MCPError(types.INVALID_PARAMS, _why_missing(reading, params.uri))
        return {**_RESULT, "skill": _entry(instruction)}

    async def _read(self, name: str | None = None) -> Reading:
        """Return the instructions, or that of a name, once the start of the host is over."""
        await wrap_future(self._library.read)
        read = partial(self._instructions.read, name)
        # On a thread of its own, as a folder may be on a drive that hangs.
        return await wrap_future(run_in_thread(read, "instructions"))


def _entry(instruction: Instruction) -> dict[str, Any]:
    """Return an instruction as the extension describes it."""
    files = [
        {"uri": file.uri, "digest": file.digest, "size": len(file.content)}
        for file in instruction.files
    ]
    return {"uri": instruction.uri, "frontmatter": instruction.fields, "resources": files}


def _mime_type(uri: str) -> str:
    """Return the type of a text by the suffix of its file."""
    if PurePosixPath(uri).suffix == ".md":
        return _MARKDOWN
    return mimetypes.guess_type(uri)[0] or "text/plain"


def _why_missing(reading: Reading, uri: str) -> str:
    """Return the sentences for a URI at which nothing is served."""
    error = reading.refused.get(main_uri(name_of(uri)))
    if error is not None:
        return safe_whole(str(error))
    return safe_whole(f"No instruction is served at {uri}. skills/list names all.")
