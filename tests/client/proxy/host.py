"""A small host in a process of its own, which starts quickly.

``python -m tests.client.proxy.host FOLDER SCENE`` prints its id once it takes requests. A scene
called "untitled" has no file.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dcc_bridge import check_cancelled, elicit_form_sync, elicit_url_sync, report_progress, skill
from dcc_bridge.bridge import Bridge
from dcc_bridge.skills.skill import describe
from tests.client.proxy.until_killed import serve
from tests.stand_ins import FakeHost

LARGE = 3_000_000
LEDGER = "ledger"
NAME: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
}


class Small(FakeHost):
    """A scene of two cameras."""

    name = "Small"


@skill(risk="read", thread="any")
def wait(seconds: float = 60.0) -> str:
    """Take long, and say how far it is."""
    report_progress(1, 2, "half of it")
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        check_cancelled()
        time.sleep(0.02)
    return "done"


@skill(risk="read")
def visit() -> dict[str, Any]:
    """Send the person to a page."""
    heard = elicit_url_sync("Go there?", "https://example.com/there")
    return {"action": heard.action, "by": heard.answered_by}


@skill(risk="read")
def large() -> str:
    """Say much."""
    return "x" * LARGE


@skill(risk="read")
def learned() -> str:
    """Be there."""
    return "learned"


def skills(host: Small, bridge: Bridge) -> list[Callable[..., Any]]:
    """Make what the host can do."""

    @skill(risk="read")
    def where() -> str:
        """Say which scene is open."""
        return host.scene()

    @skill(risk="read")
    def who() -> dict[str, Any]:
        """Say what is known of the client that spoke last."""
        seen = bridge.clients.seen[0]
        told = seen.client.label, seen.client.name, seen.era, seen.form, seen.url
        return dict(zip(("label", "name", "era", "form", "url"), told, strict=True))

    @skill(risk="read")
    def ask(times: int = 1) -> dict[str, Any]:
        """Ask for names."""
        heard = [elicit_form_sync(f"{host.scene()}: name {n}?", NAME) for n in range(times)]
        return {
            "scene": host.scene(),
            "actions": [one.action for one in heard],
            "names": [(one.data or {}).get("name") for one in heard],
            "by": [one.answered_by for one in heard],
        }

    @skill(risk="edit", task="ask")
    def ask_in_task(item: str = "cam3") -> str:
        """Add an item and ask for a name, in a task where the client can do that."""
        host.items.append(item)
        return f"{host.scene()}: {(elicit_form_sync('Name?', NAME).data or {}).get('name')}"

    @skill(risk="edit", undo="Select")
    def choose(item: str) -> str:
        """Select an item."""
        host.select([item])
        return item

    @skill(risk="read")
    def learn() -> str:
        """Add a skill to those that there are."""
        bridge.registry.add(describe(learned))
        return "There is one more."

    @skill(risk="read")
    def note(number: int, seconds: float = 0.0) -> str:
        """Write down that it was called, and where."""
        time.sleep(seconds / 2)
        file = host.file()
        line = f"{number} {bridge.instance.id} {file.absolute() if file is not None else ''}\n"
        with open(Path(bridge.settings.runtime or "", LEDGER), "ab", buffering=0) as ledger:
            ledger.write(line.encode())
        time.sleep(seconds / 2)
        return str(number)

    return [where, who, wait, ask, ask_in_task, visit, choose, large, learn, note]


def main() -> None:
    runtime, scene = map(Path, sys.argv[1:])
    host = Small(["cam1", "cam2"], file=None if scene.name == "untitled" else scene)
    serve(runtime, host, lambda bridge: skills(host, bridge))


if __name__ == "__main__":
    main()
