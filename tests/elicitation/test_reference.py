"""A module that was written against the reference API runs here; only its import is changed.

And what such modules are full of: forms made of models, skills that call skills.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final, TypedDict

import pytest
from mcp_types import CallToolResult, ElicitRequestFormParams, ElicitRequestParams, ElicitResult
from pydantic import BaseModel, Field, model_validator

import dcc_bridge
from dcc_bridge import (
    ElicitationMode,
    ElicitationRequest,
    ElicitationResponse,
    FormElicitation,
    UrlElicitation,
    elicit_form,
    elicit_form_sync,
    elicit_url,
    skill,
)
from tests.live import AskedFn, accept, live, say, status, text
from tests.stand_ins import FakeHost
from tests.tiers import every_era

CAMERAS: Final = ("cam0", "cam1", "cam2")

WRITTEN_ELSEWHERE: Final = '''
"""Delete objects, and rename them, after asking."""

from reference_api import elicit_form, elicit_form_sync

import scene

AGREE = {
    "type": "object",
    "properties": {"confirm": {"type": "boolean", "title": "Really delete"}},
    "required": ["confirm"],
}
PREFIX = {"type": "object", "properties": {"prefix": {"type": "string"}}, "required": ["prefix"]}


async def delete_objects(objects: list[str], **kwargs):
    answer = await elicit_form(
        message=f"Really delete {len(objects)} objects?", schema=AGREE, title="Delete"
    )
    if not answer.accepted or not answer.data.get("confirm"):
        return {"success": False, "message": answer.message or "the box was not ticked"}
    scene.delete(objects)
    return {"success": True, "deleted": len(objects)}


def rename_objects(objects: list[str], **kwargs):
    answer = elicit_form_sync(
        f"Which prefix for {len(objects)} objects?",
        PREFIX,
        title="Rename",
        fallback_values={"prefix": "old_"},
    )
    if not answer.accepted:
        return {"success": False, "message": answer.message}
    scene.rename(objects, answer.data["prefix"])
    return {"success": True, "prefix": answer.data["prefix"], "message": answer.message}
'''
DECORATED: Final = (
    WRITTEN_ELSEWHERE.replace("import scene\n", "import scene\nfrom dcc_bridge import skill\n")
    .replace("async def delete", '@skill(risk="destructive", confirms=True)\nasync def delete')
    .replace("\ndef rename", '\n@skill(risk="edit")\ndef rename')
)


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> FakeHost:
    """Give a host whose scene a module reaches as any host's: by importing it."""
    host, scene = FakeHost(CAMERAS), ModuleType("scene")

    def delete(objects: list[str]) -> None:
        host.items = [item for item in host.items if item not in objects]

    def rename(objects: list[str], prefix: str) -> None:
        host.items = [prefix + item if item in objects else item for item in host.items]

    scene.__dict__.update(delete=delete, rename=rename)
    monkeypatch.setitem(sys.modules, "scene", scene)
    return host


@pytest.fixture
def call(tmp_path: Path, host: FakeHost) -> Callable[..., CallToolResult]:
    """Change the import, and nothing else, load the file and call one of its functions."""

    def call(tool: str, written: str, era: str, asked: AskedFn | None) -> CallToolResult:
        file = tmp_path / "objects.py"
        file.write_text(written.replace("from reference_api import", "from dcc_bridge import"))
        with live(tmp_path, host=host) as running:
            running.load(file)
            return running.call(tool, {"objects": ["cam0"]}, era=era, asked=asked)

    return call


class ClientPerson:
    """Who answers at the client, in the order told."""

    def __init__(self, *answers: ElicitResult) -> None:
        self._answers = iter(answers)
        self.asked: list[str] = []

    def __call__(self, params: ElicitRequestParams) -> ElicitResult:
        self.asked.append(params.message)
        return next(self._answers)


def yes(**content: Any) -> ElicitResult:
    return ElicitResult(action="accept", content=content)


@pytest.mark.parametrize(
    ("written", "questions"),
    [
        (WRITTEN_ELSEWHERE, ["Delete objects?", "Really delete 1 objects?"]),
        (DECORATED, ["Really delete 1 objects?"]),
    ],
    ids=["as it is", "decorated"],
)
@every_era
def test_the_documented_example_is_gated_and_asks_and_with_the_decorator_asks_once(
    era: str, written: str, questions: list[str], host: FakeHost, call: Callable[..., Any]
) -> None:
    person = ClientPerson(yes(confirm=True), yes(confirm=True))

    result = call("delete_objects", written, era, person)

    assert result.structured_content == {"success": True, "deleted": 1}
    assert host.items == ["cam1", "cam2"]
    assert [line.splitlines()[0] for line in person.asked] == questions


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (accept(confirm=False), "the box was not ticked"),
        (say("decline"), "declined"),
        (say("cancel"), "cancelled"),
        (None, "elicitation_not_supported"),
    ],
)
@every_era
def test_the_documented_example_hears_a_no(
    era: str, answer: AskedFn | None, message: str, host: FakeHost, call: Callable[..., Any]
) -> None:
    result = call("delete_objects", DECORATED, era, answer)

    assert result.structured_content == {"success": False, "message": message}
    assert status(result) == "refused"
    assert host.items == list(CAMERAS)


@pytest.mark.parametrize(
    ("answer", "prefix", "message"),
    [(accept(prefix="new_"), "new_", None), (None, "old_", "fallback_values_used")],
    ids=["asked", "fallback"],
)
@every_era
def test_a_main_thread_handler_asks_or_gets_its_fallback_and_is_one_undo_step(
    era: str,
    answer: AskedFn | None,
    prefix: str,
    message: str | None,
    host: FakeHost,
    call: Callable[..., Any],
) -> None:
    result = call("rename_objects", DECORATED, era, answer)
    renamed = list(host.items)
    host.undo()

    assert result.structured_content == {"success": True, "prefix": prefix, "message": message}
    assert renamed == [f"{prefix}cam0", "cam1", "cam2"]
    assert host.items == list(CAMERAS)


@every_era
def test_a_handler_without_a_decorator_is_not_run_where_nobody_can_be_asked(
    era: str, host: FakeHost, call: Callable[..., Any]
) -> None:
    result = call("delete_objects", WRITTEN_ELSEWHERE, era, None)

    assert status(result) == "refused"
    assert host.items == list(CAMERAS)


def test_a_handler_called_outside_any_bridge_is_told_that_nobody_can_be_asked() -> None:
    schema = {"type": "object", "properties": {}}

    assert asyncio.run(elicit_form("Which?", schema)).message == "elicitation_not_supported"
    assert asyncio.run(elicit_url("Go there", "https://example.com")).accepted is False
    assert elicit_form_sync("Which?", schema).accepted is False


@pytest.mark.parametrize(
    ("name", "positional", "by_keyword"),
    [
        ("elicit_form", ["message", "schema"], ["title", "fallback_values"]),
        ("elicit_url", ["message", "url"], ["description"]),
        ("elicit_form_sync", ["message", "schema"], ["title", "fallback_values"]),
    ],
)
def test_the_functions_take_what_the_reference_takes(
    name: str, positional: list[str], by_keyword: list[str]
) -> None:
    function: Callable[..., Any] = getattr(dcc_bridge, name)
    parameters = list(inspect.signature(function).parameters.values())
    leading = parameters[: len(positional) + len(by_keyword)]

    assert [one.name for one in leading] == [*positional, *by_keyword]
    assert all(one.kind is one.POSITIONAL_OR_KEYWORD for one in leading[: len(positional)])
    assert all(one.kind is one.KEYWORD_ONLY for one in parameters[len(positional) :])
    assert all(one.default is None for one in parameters[len(positional) :])
    assert inspect.iscoroutinefunction(function) is not name.endswith("_sync")


@pytest.mark.parametrize(
    ("record", "required", "defaulted"),
    [
        (FormElicitation, ["message", "schema"], ["title"]),
        (UrlElicitation, ["message", "url"], ["description"]),
        (ElicitationRequest, ["mode", "params"], []),
        (ElicitationResponse, ["accepted"], ["data", "message"]),
    ],
)
def test_the_records_are_made_by_position(
    record: type, required: list[str], defaulted: list[str]
) -> None:
    parameters = list(inspect.signature(record).parameters.values())
    leading = parameters[: len(required) + len(defaulted)]

    assert [one.name for one in leading] == [*required, *defaulted]
    assert [one.default for one in leading] == [inspect.Parameter.empty] * len(required) + [
        None
    ] * len(defaulted)
    assert all(one.default is not one.empty for one in parameters[len(required) :])


def test_the_records_hold_what_they_are_given() -> None:
    form = FormElicitation("Delete?", {"type": "object"}, "Delete")
    page = UrlElicitation("Sign in", "https://example.com", "Opens the farm's page")
    request = ElicitationRequest(ElicitationMode.URL, page)
    answer = ElicitationResponse(True, {"confirm": True}, "fine")

    assert (form.message, form.schema, form.title) == ("Delete?", {"type": "object"}, "Delete")
    assert (request.mode, request.params) == (ElicitationMode.URL, page)
    assert (answer.accepted, answer.data, answer.message) == (True, {"confirm": True}, "fine")
    assert ElicitationResponse(False).data == {}


def test_a_mode_is_its_word() -> None:
    words: list[str] = [*ElicitationMode]

    assert words == ["form", "url"]
    assert ElicitationMode("url") is ElicitationMode.URL


class RenderModel(BaseModel):
    """How to render, as a model."""

    samples: int = Field(ge=1, le=4096)
    quality: str = "high"


@dataclass
class RenderDataclass:
    """How to render, as a dataclass."""

    samples: int
    quality: str = "high"


class RenderDict(TypedDict):
    """How to render, as a TypedDict."""

    samples: int
    quality: str


@pytest.mark.parametrize("model", [RenderModel, RenderDataclass, RenderDict])
@every_era
def test_a_model_is_asked_for_as_a_form(era: str, model: type, tmp_path: Path) -> None:
    asked: list[ElicitRequestFormParams] = []

    @skill(risk="read")
    def render() -> dict[str, Any]:
        """Ask how to render."""
        return elicit_form_sync("How to render?", model).data or {}

    def person(params: ElicitRequestParams) -> ElicitResult:
        assert isinstance(params, ElicitRequestFormParams)
        asked.append(params)
        return yes(samples=64, quality="low")

    with live(tmp_path, render) as running:
        result = running.call("render", era=era, asked=person)

    (form,) = asked
    assert result.structured_content == {"samples": 64, "quality": "low"}
    assert form.requested_schema["properties"]["samples"]["type"] == "integer"
    assert "samples" in form.requested_schema["required"]


class Range(BaseModel):
    """A range of frames, which the model itself looks at."""

    first: int
    last: int

    @model_validator(mode="after")
    def _is_forward(self) -> Range:
        if self.last < self.first:
            raise ValueError("the last frame is before the first one")
        return self


@pytest.mark.parametrize("model", [RenderModel, RenderDataclass, RenderDict])
def test_an_answer_comes_back_as_the_model_that_was_asked_for(model: type, tmp_path: Path) -> None:
    answers: list[ElicitationResponse] = []

    @skill(risk="read")
    def render() -> None:
        """Ask how to render."""
        answers.append(elicit_form_sync("How to render?", model))

    @skill(risk="read")
    async def render_later() -> None:
        """Ask how to render, in a coroutine; nobody is there to answer."""
        answers.append(
            await elicit_form("How?", model, fallback_values={"samples": 64, "quality": "high"})
        )

    with live(tmp_path, render, render_later) as running:
        running.call("render", asked=accept(samples=64, quality="high"))
        running.call("render", asked=say("decline"))
        running.call("render_later")

    agreed, declined, fallback = answers
    wanted = None if model is RenderDict else model(samples=64, quality="high")
    assert [agreed.value, declined.value, fallback.value] == [wanted, None, wanted]
    assert agreed.data == fallback.data == {"samples": 64, "quality": "high"}
    assert fallback.message == "fallback_values_used"


@every_era
def test_what_the_model_refuses_is_asked_again_with_its_reason(era: str, tmp_path: Path) -> None:
    person = ClientPerson(yes(first=9, last=1), yes(first=1, last=9))

    @skill(risk="read")
    def frames() -> str:
        """Ask for frames."""
        return str(elicit_form_sync("Which frames?", Range).value)

    with live(tmp_path, frames) as running:
        result = running.call("frames", era=era, asked=person)

    assert text(result) == "first=1 last=9"
    assert "the last frame is before the first one" in person.asked[1]
