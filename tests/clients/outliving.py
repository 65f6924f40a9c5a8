"""Two strangers' clients that know tasks, each in a process that can be killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from dcc_bridge.server import discovery
from tests.cli.commands import COMMAND
from tests.client.proxy.stage import alone
from tests.clients.kinds import HERE, KINDS
from tests.live import LIMIT
from tests.packages import from_pip

LABEL: Final = "outliving"
Reply = dict[str, Any]
AGREES: Final[Reply] = {"action": "accept", "content": {"confirm": True}}


class Told(NamedTuple):
    """What one step brought: the agent's words, the person's questions, and how a task stands."""

    text: str
    asked: list[str]
    status: str = ""
    keys: tuple[str, ...] = ()


class Client(Protocol):
    """A client and its person."""

    def call(self, tool: str, reply: Reply | None = None, **arguments: Any) -> Told:
        """Call a tool to its end, as an agent does; the person gives the same reply each time."""

    def begin(self, tool: str) -> str:
        """Call a tool and leave it at that; give what is seen of its task, the id at best."""

    def look(self, task: str) -> Told:
        """Look at a task by its id."""

    def answer(self, task: str, key: str, reply: Reply) -> None:
        """Answer a task's question."""

    def give_up(self, task: str) -> None:
        """Cancel a task."""

    def kill(self) -> None:
        """End the client as a crash does."""


class Strands:
    """Strands Agents' client."""

    def __init__(self, target: dict[str, Any], folder: Path) -> None:
        packages = from_pip(HERE / "frameworks" / "locks" / "strands.txt")
        more = {"PYTHONPATH": str(packages), "TARGET": json.dumps(target)}
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "frameworks" / "outliving.py")],
            env=os.environ | more,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def call(self, tool: str, reply: Reply | None = None, **arguments: Any) -> Told:
        return self._do("call", tool=tool, arguments=arguments, reply=reply)

    def begin(self, tool: str) -> str:
        return self._do("begin", tool=tool).text

    def look(self, task: str) -> Told:
        return self._do("look", task=task)

    def answer(self, task: str, key: str, reply: Reply) -> None:
        self._do("answer", task=task, key=key, reply=reply)

    def give_up(self, task: str) -> None:
        self._do("give_up", task=task)

    def kill(self) -> None:
        ended(self._process)

    def _do(self, what: str, **more: Any) -> Told:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"do": what, **more}) + "\n")
        self._process.stdin.flush()
        line = json.loads(self._process.stdout.readline())
        return Told(line["text"], line["asked"], line["status"], tuple(line["keys"]))


class Mcpdo:
    """The Inspector's command line: what it is connected with is kept by a process of its own."""

    def __init__(self, target: dict[str, Any], folder: Path) -> None:
        _, more = next(kind for kind in KINDS if kind.name.startswith("mcpdo")).start()
        self._command: list[str] = json.loads(more["MCPDO"])
        self._environment = os.environ | {"HOME": str(folder)}
        exports = subprocess.check_output(
            [*self._command, "private"], text=True, env=self._environment
        )
        for line in exports.splitlines():
            name, _, value = line.removeprefix("export ").partition("=")
            self._environment[name] = value.strip("'\"")
        catalog = folder / "mcp.json"
        kind = {"type": "streamable-http"} if "url" in target else {"type": "stdio"}
        catalog.write_text(json.dumps({"mcpServers": {"host": {**kind, **target}}}))
        self._environment["MCP_CATALOG_PATH"] = str(catalog)
        self._do("connect", "host", "--era", "modern", "--elicit", "both")
        self._process = int(self._do("daemon", "status")["pid"])

    def call(self, tool: str, reply: Reply | None = None, **arguments: Any) -> Told:
        asked = list[str]()
        result = self._at_host("tools/call", tool, json.dumps(arguments))
        while pending := result.get("elicitationPending"):
            asked.append(pending["message"])
            if reply is None:
                return Told(json.dumps(result), asked)
            accepts = reply["action"] == "accept"
            said = json.dumps(reply["content"]) if accepts else f"--{reply['action']}"
            result = self._at_host("elicitation/respond", pending["elicitationId"], said)
        return Told(_text(result), asked)

    def begin(self, tool: str) -> str:
        return self.call(tool).text

    def look(self, task: str) -> Told:
        state = self._at_host("tasks/get", task)
        state = state.get("task", {}).get("raw", state)
        questions = state.get("inputRequests") or {}
        words = [state.get("statusMessage"), _text(state), _text(state.get("result", {}))]
        asked = [it["params"]["message"] for it in questions.values()]
        return Told(" ".join(filter(None, words)), asked, state.get("status", ""), tuple(questions))

    def answer(self, task: str, key: str, reply: Reply) -> None:
        self._at_host("tasks/update", task, "--input-responses", json.dumps({key: reply}))

    def give_up(self, task: str) -> None:
        self._at_host("tasks/cancel", task)

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self._process, getattr(signal, "SIGKILL", signal.SIGTERM))

    def _at_host(self, *words: str) -> Any:
        return self._do("--connection", "host", *words)

    def _do(self, *words: str) -> Any:
        ran = subprocess.run(
            [*self._command, "--format", "json", *words],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT,
        )
        return json.loads(ran.stdout or ran.stderr[ran.stderr.index("{") :])


def ended(process: subprocess.Popen[str]) -> None:
    """Kill a process, which may be dead."""
    process.kill()
    process.wait()
    for pipe in filter(None, (process.stdin, process.stdout)):
        pipe.close()


CLIENTS: Final = {"strands": Strands, "mcpdo": Mcpdo}


class Host:
    """`tests.clients.long_host` in a process."""

    def __init__(self, runtime: Path) -> None:
        self._runtime = runtime
        command = [sys.executable, "-m", "tests.clients.long_host", str(runtime)]
        self._process = subprocess.Popen(
            command, env=alone(runtime), stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.id = self._process.stdout.readline().strip().removeprefix("serving ")
        assert self.id, "the host did not start"

    def target(self, way: str) -> dict[str, Any]:
        """Say how a client reaches it."""
        if way == "connect":
            words = [*COMMAND[1:], "connect", "--label", LABEL]
            return {"command": COMMAND[0], "args": words, "env": alone(self._runtime)}
        return {"url": self.instance.url, "headers": {"Authorization": f"Bearer {self.token}"}}

    @property
    def instance(self) -> discovery.Instance:
        """What it wrote down of itself."""
        return next(it for it in discovery.running(self._runtime) if it.id == self.id)

    @property
    def token(self) -> str:
        """The client's token."""
        return self.instance.token(LABEL)

    def kill(self) -> None:
        """End it as a crash does."""
        ended(self._process)


@contextmanager
def killed_at_last(it: Any) -> Iterator[Any]:
    """Have a client or a host for as long as the block lasts."""
    try:
        yield it
    finally:
        it.kill()


def until(client: Client, task: str, *statuses: str) -> Told:
    """Look at a task until it has one of those statuses."""
    end = time.monotonic() + LIMIT
    while (look := client.look(task)).status not in statuses:
        assert time.monotonic() < end, look
    return look


def _text(result: dict[str, Any]) -> str:
    error = result.get("error") or {}
    return " ".join([it.get("text", "") for it in result.get("content", [])]) or str(
        error.get("message", "")
    )
