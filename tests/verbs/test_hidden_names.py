"""In Blender, where a name may hold anything, an agent and its form see what is hidden in it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from mcp_types import ElicitResult

from tests.blender import bpy_module
from tests.live import text
from tests.verbs.words import blender, ending

pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]
NAME = "Key\x1b[31m\u202egnp"
SHOWN = "Key‹U+001B›[31m‹U+202E›gnp"  # noqa: RUF001 - ours


@pytest.mark.parametrize("version", bpy_module.VERSIONS)
def test_an_object_is_deleted_by_the_name_that_was_shown(version: str, tmp_path: Path) -> None:
    heard: list[str] = []

    def person(params: Any) -> ElicitResult:
        heard.append(params.model_dump_json())
        return ElicitResult(action="accept", content={"confirm": True})

    with ending(lambda home: blender(version, home), tmp_path) as running:
        things = [{"type": "CUBE", "name": NAME}]
        created = running.call("create", {"things": things})
        listed = running.call("list_items", {"name": "Key*"})
        (name,) = re.findall('Key[^"]*gnp', text(listed))
        deleted = running.call("delete", {"items": [name]}, asked=person)
        after = running.call("inspect", {"items": [name]})

    assert name == SHOWN
    assert not deleted.is_error, text(deleted)
    assert "There is no object" in text(after)
    said = [it.model_dump_json() for it in (created, listed, deleted, after)]
    shown = "".join([*said, *heard])
    assert len(heard) == 1
    assert "\u202e" not in shown
    assert "\\u001b" not in shown  # as JSON writes it
