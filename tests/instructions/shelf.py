"""Folders of instructions for tests, and a client that reads and verifies what is served."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

from mcp import Client
from mcp_types import PaginatedRequestParams, Request, RequestParams, Result

Message = dict[str, Any]


class Listed(Result):
    """The result of ``skills/list``."""

    skills: list[Message]


class Got(Result):
    """The result of ``skills/get``."""

    skill: Message


class UriParams(RequestParams):
    """The parameters of ``skills/get``."""

    uri: str


def put(folder: Path, name: str = "light-a-shot", text: str = "Aim the key.", **head: str) -> Path:
    """Write an instruction into a folder, and return its own folder."""
    own = folder / name
    own.mkdir(parents=True, exist_ok=True)
    fields = {"name": name, "description": "Read it to light a shot.", **head}
    lines = [f"{key}: {value}" for key, value in fields.items()]
    (own / "SKILL.md").write_text("\n".join(["---", *lines, "---", "", text, ""]), "utf-8")
    return own


async def listed(client: Client) -> list[Message]:
    """Return the entries that a server lists."""
    request = Request[PaginatedRequestParams | None, str](method="skills/list", params=None)
    return (await client.session.send_request(request, Listed)).skills


async def entry_of(client: Client, uri: str) -> Message:
    """Return the entry at a URI."""
    request = Request[UriParams, str](method="skills/get", params=UriParams(uri=uri))
    return (await client.session.send_request(request, Got)).skill


async def verified(client: Client, entry: Message) -> dict[str, str]:
    """Read every file of an entry, compare its size and its digest, and return the texts."""
    texts = {}
    for file in entry["resources"]:
        (content,) = (await client.read_resource(file["uri"])).contents
        text: str = content.text  # type: ignore[union-attr]  # an instruction is text
        raw = text.encode()
        digest = f"sha256:{sha256(raw).hexdigest()}"
        assert (file["size"], file["digest"]) == (len(raw), digest)
        texts[file["uri"]] = text
    return texts
