"""How many modules one call passes through: ``python -m tests.bench.modules_passed``.

Two calls over real HTTP, the second of each kind, so that nothing of a first use counts: a question
that the client answers, and a deletion that the person at the host confirms. A move is a call or a
return from a function of one module of the package to one of another, in any thread.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from dcc_bridge import confirm_sync, elicit_form_sync, skill
from dcc_bridge.elicitation.question import Reply
from tests.live import Live, accept, live
from tests.stand_ins import FakeHost, ScriptedPresenter

NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


class Trace:
    """Counts modules and moves as long as it is on, in threads that began after it was made."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self.moves = 0
        self._is_on = False
        self._last = threading.local()

    @contextmanager
    def hooked(self) -> Iterator[None]:
        """Be called by the interpreter as long as the block lasts."""
        threading.setprofile(self._look)
        sys.setprofile(self._look)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def count(self, play: Callable[[], object]) -> None:
        """Play a call twice, and count in the second."""
        play()
        self._is_on = True
        play()
        self._is_on = False

    def _look(self, frame: FrameType, event: str, argument: object) -> None:
        name = frame.f_globals.get("__name__", "")
        if not self._is_on or event not in ("call", "return") or not name.startswith("dcc_bridge"):
            return
        self.modules.add(name)
        self.moves += getattr(self._last, "name", name) != name
        self._last.name = name


def main() -> None:
    """Print both."""

    @skill(risk="edit")
    def rename() -> str:
        """Rename the scene."""
        return str(elicit_form_sync("Which name?", NAME).data)

    @skill(risk="destructive", confirms=True)
    def delete() -> str:
        """Delete all cameras."""
        names = confirm_sync("Delete them?", items=lambda: ["cam1"], verb="Delete")
        host.items = []
        return ", ".join(names)

    host = FakeHost(["cam1"], has_ui=True)
    for name, tool, asked in (
        ("question", rename, accept(name="shot")),
        ("deletion", delete, None),
    ):
        with tempfile.TemporaryDirectory() as folder:
            person = ScriptedPresenter(*[Reply("accept", {"confirm": True})] * 2)
            trace = Trace()
            with (
                trace.hooked(),
                live(Path(folder), tool, host=host, presenter=person) as running,
            ):
                trace.count(partial(_call, running, tool.__name__, asked))
        print(f"{name}: {len(trace.modules)} modules, {trace.moves} moves between them")


def _call(running: Live, tool: str, asked: Any) -> None:
    result = running.call(tool, asked=asked)
    assert not result.is_error, result


if __name__ == "__main__":
    main()
