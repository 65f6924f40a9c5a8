"""Our own application with a scene, an agent that sends code, and a person who answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mcp_types import CallToolResult, Tool

from dcc_bridge.audit import reader
from dcc_bridge.elicitation.question import Reply
from dcc_bridge_usd import install
from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.operations import operations
from tests.live import Live, status, text
from tests.stand_ins import Person
from tests.verbs import usd_scene

YES, NO = Reply("accept", {"confirm": True}), Reply("decline")
GRID = """
from pxr import UsdGeom
for n in range(100):
    UsdGeom.Cube.Define(stage, f"/World/Grid/c{n:02}")
len(stage.GetPrimAtPath("/World/Grid").GetChildren())
"""
REMOVES = 'stage.RemovePrim("/World/Props/Tree")'


class Seat(Live):
    """Our application with a scene, and a person at it who answers as told."""

    def __init__(self, where: Path, *answers: Any, **settings: Any) -> None:
        self.session = UsdSession(usd_scene.make(where / "shot.usda"), has_ui=True)
        self.uninstall = install(self.session)
        self.person: Any = Person(*answers)
        super().__init__(
            where / "run",
            host=self.session,
            presenter=self.person,
            operations=operations,
            **settings,
        )

    def code(self, code: str, **more: Any) -> CallToolResult:
        """Send code, and wait for what comes of it."""
        return self.call("run_python", {"code": code, "why": "The test wants it.", **more})

    def ran(self, code: str, **more: Any) -> dict[str, Any]:
        """Send code that has to be done; gives the answer."""
        result = self.code(code, **more)
        assert status(result) == "done", text(result)
        told: dict[str, Any] = result.structured_content or json.loads(text(result))
        return told

    def vain(self, code: str, **more: Any) -> CallToolResult:
        """Send code that has to leave the scene and its stacks as they are."""
        before = self.state
        result = self.code(code, **more)
        assert self.state == before, text(result)
        return result

    def tools(self) -> list[Tool]:
        """List the tools as a client does, and keep what it was told at first."""

        async def agent() -> list[Tool]:
            async with self.client("2025-11-25") as client:
                self.instructions = str(client.instructions)
                return (await client.list_tools()).tools

        return self.run(agent)

    def record(self) -> list[dict[str, Any]]:
        """Give the lines of the audit log."""
        (file,) = reader.logs(self.bridge.audit.folder)
        return [line.fields for line in reader.AuditFile(file).lines()]

    @property
    def state(self) -> tuple[str, list[str], list[str]]:
        """All that has to be as before: the scene, and both of its stacks."""
        return self.session.scene_digest(), self.session.undo_labels, self.session.redo_labels


Sit = Callable[..., Seat]
