"""What a plan says where a scene goes away, or where nobody could read what is agreed to."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import anyio
import pytest

from dcc_bridge.errors import BadArguments, Unreachable
from dcc_bridge.skills.signature import Shape, Signature
from dcc_bridge_batch import hosts, planning
from dcc_bridge_batch.hosts import WarmHost
from dcc_bridge_batch.plan import PlanError, Request, Scene


class Deleting:
    """A host in which a scene is deleted; then, perhaps, it is gone itself."""

    def __init__(self, path: Path, error: Exception | None) -> None:
        self.path = path
        self._error = error

    async def tool(self, tool: str, **_: object) -> dict[str, Any]:
        if tool == "batch_asked":
            self.path.unlink()
            if self._error is not None:
                raise self._error
        if tool == "batch_about":
            return {"version": "1", "bridge": "1", "skill_sha256": "", "skill_file": None}
        return {"asked": [], "granted": False}

    async def skill(self, *_: object) -> tuple[str, str]:
        return "done", ""


class Strict(Deleting):
    """One whose skill takes other arguments than "patern"."""

    async def skill(self, *_: object) -> tuple[str, str]:
        with pytest.raises(BadArguments) as refused:
            Signature(Shape({"pattern": (str, ...)}), "tidy").bind({"patern": "*"})
        return "failed", str(refused.value)


class Hung(Deleting):
    """One whose skill does not end."""

    async def skill(self, *_: object) -> tuple[str, str]:
        await anyio.Event().wait()
        raise AssertionError


def planned(
    host: Deleting, monkeypatch: pytest.MonkeyPatch, scenes: list[Scene], limit: float = 9.0
) -> list[Scene]:
    """Plan one scene in such a host; gives what is added to the scenes."""
    host.path.write_text("a scene")
    request, folder = Request("usd", "tidy", {}, limit=limit), host.path.parent
    planner = planning._Planner(request, folder, folder / "host", scenes.append)

    @asynccontextmanager
    async def connected(*_: object) -> AsyncIterator[WarmHost]:
        yield cast(WarmHost, host)

    monkeypatch.setattr(hosts, "connected", connected)
    anyio.run(planner._plan_in_host, "http://nowhere", deque([(0, host.path)]))
    return scenes


HUNG = "The host ended, or hung, when the skill was run in it."


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (None, "It was deleted while it was planned."),
        (Unreachable("http://nowhere", "gone"), HUNG),
        (TimeoutError(), HUNG),
    ],
)
def test_a_scene_that_is_deleted_while_it_is_planned_is_told_and_ends_no_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception | None, why: str
) -> None:
    (line,) = planned(Deleting(tmp_path / "shot.usda", error), monkeypatch, [])

    assert (line["state"], line["why"], line["size"]) == ("failed", why, 0)


def test_a_skill_that_does_not_take_what_it_is_called_with_is_not_planned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenes: list[Scene] = []

    with pytest.raises(PlanError, match=r"Did you mean pattern\?.* No plan was made"):
        planned(Strict(tmp_path / "shot.usda", None), monkeypatch, scenes)
    assert scenes == []


def test_a_scene_that_takes_longer_than_the_plan_lets_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (line,) = planned(Hung(tmp_path / "shot.usda", None), monkeypatch, [], limit=0.01)

    assert line["why"] == HUNG


def question(**more: Any) -> dict[str, Any]:
    """Give what a skill asks."""
    facts = {"kind": "consent", "message": "Run this?", "title": "", "items": [], "kinds": []}
    return {**facts, "arguments": [], "details": None, **more}


def result(state: str, why: str = "", question: object = None) -> Scene:
    return {"state": state, "why": why, "question": question}


def test_a_question_about_a_text_that_no_plan_shows_is_not_planned() -> None:
    seen = planning._classify(result, [question(details="0" * 64)], "done", "")
    usual = planning._classify(result, [question()], "done", "")

    why = "It asks about a text that a plan cannot show: Run this?"
    assert seen == result("unsafe", why)
    assert usual["state"] == "asks"


def test_of_two_questions_a_plan_sees_what_the_skill_asks_without_an_answer_to_the_first() -> None:
    """A question is answered by nobody while a plan is made: what hangs on its answer is unseen."""
    first, second = question(message="Delete?"), question(message="And once more?")
    caught = planning._classify(result, [first, second], "done", "")
    unseen = planning._classify(result, [first], "refused", "")
    values = planning._classify(result, [question(kind="input"), first], "done", "")

    assert caught == result("twice", "It asks 2 times: And once more?")
    assert (unseen["state"], values["state"]) == ("asks", "asks")
