"""The example that signs a file: the key is entered on a page and is in no result."""

from __future__ import annotations

import hmac
import runpy
from pathlib import Path

import anyio.to_thread
import httpx2
from mcp_types import ElicitRequestParams, ElicitRequestURLParams, ElicitResult

from dcc_bridge.config import data_folder
from tests.live import live, text

KEY = "not a real key"


def enter(url: str) -> None:
    with httpx2.Client(timeout=10, follow_redirects=True) as browser:
        assert "Sign shot.usda?" in browser.get(url).text
        browser.post(url, data={"exit": "accept", "secret": KEY})


async def person(params: ElicitRequestParams) -> ElicitResult:
    assert isinstance(params, ElicitRequestURLParams)
    await anyio.to_thread.run_sync(enter, params.url)
    return ElicitResult(action="accept")


def test_a_file_is_signed_with_a_key_that_the_person_enters(tmp_path: Path) -> None:
    sign_file = runpy.run_path(str(data_folder("resources") / "skills" / "sign_file.py"))
    file = tmp_path / "shot.usda"
    file.write_bytes(b"#usda 1.0")

    with live(tmp_path / "run", sign_file["sign_file"]) as running:
        result = running.call("sign_file", {"path": str(file)}, asked=person)
        missing = running.call("sign_file", {"path": str(tmp_path / "none")})

    wanted = hmac.new(KEY.encode(), b"#usda 1.0", "sha256").hexdigest()
    assert result.structured_content == {"file": "shot.usda", "hmac_sha256": wanted}
    assert KEY not in text(result)
    assert "There is no file" in text(missing)
