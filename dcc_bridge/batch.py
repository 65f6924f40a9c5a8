"""One skill, run in a host's own batch interpreter without any client. Main thread, there.

``dcc-bridge run`` starts it, with the job in a file, and reads from another one what came of it:
the host's own output is full of other things.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Coroutine, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from dcc_bridge.audit import reader
from dcc_bridge.audit.log import AuditLog, log_folder
from dcc_bridge.audit.redact import Redacted
from dcc_bridge.callbacks import call_later
from dcc_bridge.config import Settings
from dcc_bridge.elicitation import context
from dcc_bridge.elicitation.broker import Broker
from dcc_bridge.elicitation.call import Call, Client
from dcc_bridge.errors import BridgeError, SkillError, UnknownSkill
from dcc_bridge.host import Host
from dcc_bridge.hosts import batch
from dcc_bridge.pump import Pump
from dcc_bridge.skills.call_history import Outcome
from dcc_bridge.skills.loader import Library, folders
from dcc_bridge.skills.registry import Entry, Registry
from dcc_bridge.skills.runner import Runner

JOB: Final = "DCC_BRIDGE_JOB"
"""The variable that names the job's file."""
LABEL: Final = "run"
"""Under which the record knows who asked."""


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be run, as JSON carries it.

    Attributes:
        host: Which host this is.
        skill: The skill's name.
        arguments: What it is called with.
        scene: The file that is opened, or None.
        save_as: Where the scene is written to if it is done, or None.
        skills: Folders of skill files, the most trusted first.
        unattended: What answers where nobody can be asked: the setting of that name, or None.
        allow_list: The file that says which skills go on unasked, or None.
        ending: The file into which what came of it is written.
    """

    host: str
    skill: str
    arguments: dict[str, Any]
    scene: str | None
    save_as: str | None
    skills: list[str]
    unattended: str | None
    allow_list: str | None
    ending: str


def main() -> None:
    """Do the job that the environment names; whatever comes of it is written down."""
    job = Job(**json.loads(Path(os.environ[JOB]).read_text(encoding="utf-8")))
    try:
        ending = run(job)
    except (BridgeError, OSError, ValueError) as error:  # sentences as they are
        ending = {"status": "not_started", "error": str(error)}
    except Exception as error:  # noqa: BLE001 - a host may raise anything for a scene; it is told
        ending = {"status": "not_started", "error": f"{type(error).__name__}: {error}"}
    Path(job.ending).write_text(json.dumps(ending, default=str), encoding="utf-8")


def run(job: Job) -> dict[str, Any]:
    """Run a skill.

    Returns:
        "status", "value", "error", "audit" (the record's file, if there is one) and "saved".

    Raises:
        BridgeError: It cannot be found, or its arguments do not fit.
    """
    with batch.opened(job.host, Path(job.scene) if job.scene else None) as host:
        return _run_in(host, job)


def _run_in(host: Host, job: Job) -> dict[str, Any]:
    allow_list = Path(job.allow_list) if job.allow_list else None
    settings = Settings.load(unattended=job.unattended, allow_list=allow_list).under()
    book = AuditLog(log_folder(settings.audit), {"host": host.name, "version": host.version})
    reader.recover(book.folder)
    pump = Pump()
    try:
        outcome, saved = _run(job, host, pump, settings, book), None
        if outcome.status == "done" and job.save_as:
            outcome, saved = _save(host, Path(job.save_as).absolute(), outcome)
        record = book.file
    finally:
        pump.main.close()
        book.close()
    return {
        "status": outcome.status,
        "value": _plain(outcome.value),
        "error": outcome.error,
        "audit": str(record) if record else None,
        "saved": saved,
    }


def _run(job: Job, host: Host, pump: Pump, settings: Settings, book: AuditLog) -> Outcome:
    entry = _find(job, host, pump, settings)
    skill, signature = entry.skill, entry.signature
    if signature is None:
        raise UnknownSkill(job.skill)
    bound = signature.bind(job.arguments)
    call = Call(skill.name, skill.title, skill.metadata.risk, Client(LABEL, "dcc-bridge run"))
    call.digest = skill.digest
    call.arguments = Redacted(job.arguments, signature.schema)
    broker = Broker(settings, host=None, clock=call_later, busy=lambda: False, auditor=book)
    uninstall = context.install(broker, pump.main, host)
    loop = _Loop()
    runner = Runner(host, pump.main, settings, loop.spawn, call_later, auditor=book)
    try:
        outcome = runner.start(skill, bound, call, signature.missing(bound)).outcome
        _serve(pump, outcome)
        return outcome.result()
    finally:
        broker.close()
        uninstall()
        loop.close()


def _find(job: Job, host: Host, pump: Pump, settings: Settings) -> Entry:
    own, registry = folders([Path(one) for one in job.skills], settings), Registry()
    library = Library(own, registry, pump.main, host.name)
    library.look()
    found = library.fetch(job.skill)
    _serve(pump, found)
    try:
        return found.result()
    except UnknownSkill:
        there = sorted(entry.skill.name for entry in registry.entries())
        raise SkillError(_not_there(job.skill, host.name, there)) from None


def _not_there(name: str, host: str, there: Sequence[str]) -> str:
    near = get_close_matches(name, there, n=2, cutoff=0.6)
    meant = f" Did you mean {' or '.join(near)}?" if near else ""
    every = f" There are: {', '.join(there)}." if there else ""
    return f"There is no skill {name!r} for {host}.{meant}{every}"


def _serve(pump: Pump, future: Future[Any]) -> None:
    """Serve the main thread until a future is done."""
    future.add_done_callback(lambda _: pump.wake(0.0))
    pump.run(future.done)


def _save(host: Host, target: Path, outcome: Outcome) -> tuple[Outcome, str | None]:
    try:
        host.save_copy(target)
    except (OSError, RuntimeError, ValueError) as error:
        why = f"It was done, but the scene cannot be written to {target}: {error}"
        return Outcome("failed", None, why), None
    return outcome, str(target)


def _plain(value: Any) -> Any:
    """Give what JSON can carry of a value; an image is told by its size."""
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    try:
        return json.loads(json.dumps(value))
    except TypeError:
        return str(value)


class _Loop:
    """Where coroutines run: a thread with a loop, started for the first one."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def spawn(self, work: Coroutine[Any, Any, Outcome]) -> Future[Outcome]:
        """Start a coroutine. Any thread."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
            self._thread.start()
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def close(self) -> None:
        """End the loop and its thread."""
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()


if __name__ == "__main__":
    main()
