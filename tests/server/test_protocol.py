"""What a skill gives and asks goes over the wire whole, as what it is: data, an image, a file."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import pytest
from mcp_types import CallToolResult, Tool
from pydantic import BaseModel, Field

from dcc_bridge import elicit_url, elicit_url_sync, skill
from tests.live import ERAS, accept, live, say, status, text
from tests.tiers import every_era


class Vector:
    def __str__(self) -> str:
        return "(1, 2, 3)"


@every_era
@pytest.mark.parametrize(
    ("value", "told", "structured"),
    [
        (None, "Done.", None),
        ("text", "text", None),
        (7, "7", None),
        (["a", "b"], '["a", "b"]', None),
        ({"at": Vector()}, '{"at": "(1, 2, 3)"}', {"at": "(1, 2, 3)"}),
    ],
)
def test_any_result_is_one_text_and_a_dict_is_structured_too(
    era: str, value: Any, told: str, structured: Any, tmp_path: Path
) -> None:
    @skill(risk="read")
    def give() -> Any:
        return value

    with live(tmp_path, give) as running:
        result = running.call("give", era=era)

    assert text(result) == told
    assert result.structured_content == structured


def test_a_skill_is_listed_with_what_it_may_do(tmp_path: Path) -> None:
    @skill(risk="read", title="Count")
    def count(under: str = "/") -> int:
        """Count what is there.

        Args:
            under: Where to look.
        """
        return 0

    with live(tmp_path, count) as running:
        tool = running.described("count")

    assert (tool.name, tool.title, tool.description) == ("count", "Count", "Count what is there.")
    assert tool.input_schema["properties"]["under"]["description"] == "Where to look."
    assert tool.annotations is not None
    assert tool.annotations.read_only_hint is True
    assert tool.annotations.destructive_hint is False
    assert tool.annotations.idempotent_hint is None


def test_a_skill_says_that_a_second_run_changes_nothing_more(tmp_path: Path) -> None:
    @skill(risk="edit", idempotent=True)
    def show(name: str) -> None:
        """Show an item."""

    with live(tmp_path, show) as running:
        tool = running.described("show")

    assert tool.annotations is not None
    assert tool.annotations.idempotent_hint is True


@pytest.mark.parametrize("era", ERAS[1:])
def test_a_page_is_offered_to_a_client_that_can_open_one(era: str, tmp_path: Path) -> None:
    seen: list[Any] = []

    def person(params: Any) -> Any:
        seen.append(params)
        return accept()(params)

    @skill(risk="read")
    async def sign_in() -> Any:
        """Sign in."""
        answer = await elicit_url("Please sign in.", "https://example.org/in", description="Studio")
        return {"accepted": answer.accepted, "by": answer.answered_by}

    with live(tmp_path, sign_in) as running:
        result = running.call("sign_in", era=era, asked=person)

    assert json.loads(text(result)) == {"accepted": True, "by": "client"}
    assert (seen[0].url, seen[0].message) == ("https://example.org/in", "Please sign in.\n\nStudio")


@pytest.mark.parametrize(
    ("asked", "why"), [(say("decline"), "declined"), (None, "elicitation_not_supported")]
)
def test_a_page_that_nobody_opens_is_a_decline(asked: Any, why: str, tmp_path: Path) -> None:
    @skill(risk="read")
    def sign_in() -> Any:
        """Sign in."""
        answer = elicit_url_sync("Please sign in.", "https://example.org/in")
        return f"{answer.action} {answer.message}"

    with live(tmp_path, sign_in) as running:
        assert text(running.call("sign_in", asked=asked)) == f"decline {why}"


PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)
JPEG = b"\xff\xd8\xff\xe0" + bytes(8)


class Shot(BaseModel):
    name: str
    first: int = Field(default=1, alias="from")


@dataclass
class Camera:
    lens: float


class Size(TypedDict):
    width: int


def give(tmp_path: Path, value: Any, hint: Any, era: str = ERAS[-1]) -> tuple[Tool, CallToolResult]:
    def give() -> Any:
        return value

    give.__annotations__["return"] = hint

    with live(tmp_path, skill(risk="read")(give)) as running:
        return running.described("give"), running.call("give", era=era)


@every_era
@pytest.mark.parametrize(
    ("value", "hint", "structured", "property_"),
    [
        (Shot(name="s", **{"from": 7}), Shot, {"name": "s", "from": 7}, "from"),
        (Camera(35.0), Camera, {"lens": 35.0}, "lens"),
        ({"width": 2}, Size, {"width": 2}, "width"),
        ({"a": 1}, dict[str, int], {"a": 1}, None),
        ([Camera(35.0)], list[Camera], {"result": [{"lens": 35.0}]}, "result"),
        (3, int, {"result": 3}, "result"),
    ],
)
def test_a_typed_result_is_structured_as_its_schema_says(
    era: str, value: Any, hint: Any, structured: Any, property_: str | None, tmp_path: Path
) -> None:
    tool, result = give(tmp_path, value, hint, era)

    assert tool.output_schema is not None
    assert tool.output_schema["type"] == "object"
    assert property_ is None or property_ in tool.output_schema["properties"]
    assert result.structured_content == structured


@pytest.mark.parametrize("hint", [Any, str, None, bytes, Path, list[bytes], list[Path] | None])
def test_what_is_no_data_has_no_schema(hint: Any, tmp_path: Path) -> None:
    tool, result = give(tmp_path, "told", hint)

    assert tool.output_schema is None
    assert (text(result), result.structured_content) == ("told", None)


def test_an_object_that_might_have_been_none_is_structured_as_it_stands(tmp_path: Path) -> None:
    tool, result = give(tmp_path, {"n": 1}, dict[str, int] | None)

    assert tool.output_schema is None
    assert result.structured_content == {"n": 1}


def test_a_result_that_breaks_its_promise_is_told_as_an_error(tmp_path: Path) -> None:
    _, result = give(tmp_path, {"width": "wide"}, Size)

    assert result.is_error
    assert "its changes remain, but its result cannot be sent: width" in text(result)
    assert status(result) == "done"


class Handle:
    """What a host's API gives: it has no text of its own."""


class Dead(Handle):
    def __str__(self) -> str:
        raise ReferenceError("the object was deleted")


@pytest.mark.parametrize(
    ("value", "kind"),
    [(Handle(), "Handle"), ({"camera": Handle()}, "Handle"), ([Dead()], "Dead"), (len, "builtin")],
)
def test_what_is_no_json_is_told_in_a_sentence_with_its_type(
    value: Any, kind: str, tmp_path: Path
) -> None:
    _, result = give(tmp_path, value, Any)

    assert result.is_error
    assert f"a value of type {kind}" in text(result)
    assert "return names, numbers, lists or dicts" in text(result)
    assert "0x" not in text(result)


def test_a_result_of_another_type_than_its_annotation_says_so(tmp_path: Path) -> None:
    _, result = give(tmp_path, [1], dict)

    assert "a value of type list does not fit its annotation: " in text(result)


@pytest.mark.parametrize(("data", "kind"), [(PNG, "image/png"), (JPEG, "image/jpeg")])
def test_bytes_of_an_image_are_an_image(data: bytes, kind: str, tmp_path: Path) -> None:
    _, result = give(tmp_path, data, bytes)

    (block,) = result.content
    assert block.type == "image"
    assert (block.mime_type, base64.b64decode(block.data)) == (kind, data)


@pytest.mark.parametrize("hint", [list, list[Any], list[str | bytes]])
def test_an_image_among_other_things_is_an_image(hint: Any, tmp_path: Path) -> None:
    _, result = give(tmp_path, ["two shots", PNG, b"abc"], hint)

    assert not result.is_error
    assert [block.type for block in result.content] == ["text", "image", "resource"]


def test_other_bytes_are_a_resource(tmp_path: Path) -> None:
    _, result = give(tmp_path, b"abc", bytes)

    (block,) = result.content
    assert block.type == "resource"
    assert base64.b64decode(block.resource.blob) == b"abc"  # type: ignore[union-attr]  # it is bytes


def test_a_path_to_an_image_is_the_image_and_another_one_a_link(tmp_path: Path) -> None:
    image, cache = tmp_path / "shot.exr.png", tmp_path / "a cache.abc"
    image.write_bytes(PNG)
    cache.write_bytes(b"abc")

    _, result = give(tmp_path, [image, cache, tmp_path / "gone", {"n": 1}], list[Any])

    shown, linked, gone, data = result.content
    assert shown.type == "image"
    assert linked.type == "resource_link"
    assert (linked.name, linked.uri, linked.size) == ("a cache.abc", cache.as_uri(), 3)
    assert gone.type == "text"
    assert gone.text == str(tmp_path / "gone")
    assert data.type == "text"
    assert json.loads(data.text) == {"n": 1}
