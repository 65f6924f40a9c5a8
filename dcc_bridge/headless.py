"""A bridge where there is no event loop: in batch interpreters and in a terminal. Main thread.

A `Pump` is the main loop, and `Headless` a bridge that the pump serves. ``dcc-bridge run`` and
``serve --host`` start a host's batch interpreter with `main`, which reads a `Job`, and serves until
the standard input ends. The input also ends when the process that started the interpreter is
killed. Signals are not used, because hosts have uses of their own for them.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from contextvars import Context
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from dcc_bridge import batch_job, bridge, checkpoints, config, errors
from dcc_bridge.elicitation.question import HostPresenter, Question
from dcc_bridge.host import Host
from dcc_bridge.skills.skill import Skill, describe
from dcc_bridge.threads import main_thread

if TYPE_CHECKING:
    from dcc_bridge.verbs.operations import HostOperations

POLL_INTERVAL_S: Final = 1.0  # between two checks whether a process without a window is to end
AnyHost = TypeVar("AnyHost", bound=Host)
T = TypeVar("T")


class Pump:
    """A main loop for a process that has none: in headless hosts and tests.

    Attributes:
        main: The way to the main thread, which the loop serves.
    """

    def __init__(self) -> None:
        self._event = threading.Event()
        self._delay: float | None = None
        self.main = main_thread.MainThread(self.wake, self.spin)

    def wake(self, delay: float) -> None:
        """Serve the queue after a delay in seconds. With 0 from any thread, else main thread."""
        if delay:
            self._delay = delay
        else:
            self._event.set()

    def spin(self, future: Future[Any]) -> None:
        """Serve the queue until the future is done. Main thread."""
        future.add_done_callback(lambda _: self._event.set())
        self.run(future.done)

    def run(self, until: Callable[[], bool]) -> None:
        """Serve the queue until a condition holds. Main thread.

        Args:
            until: Returns whether to end; called on the main thread after each drain, and each
                second.
        """
        while not until():
            delay = POLL_INTERVAL_S
            if self._delay is not None:
                delay = min(self._delay, POLL_INTERVAL_S)
            self._event.wait(delay)
            self._event.clear()
            self._delay = None
            self.main.drain()


class Headless(Generic[AnyHost]):
    """A bridge whose main thread does nothing but wait for work.

    Attributes:
        host: The application.
        main: The way to the main thread.
        bridge: The bridge itself.
        is_stopping: Whether `stop` was called.
    """

    def __init__(
        self,
        host: AnyHost,
        skills: Sequence[Path],
        *,
        settings: config.Settings | None = None,
        presenter: HostPresenter | None = None,
        operations: Callable[[Host], HostOperations] | None = None,
        covers: Callable[[Question], bool] | None = None,
    ) -> None:
        """Prepare the bridge on the main thread; nothing runs before `run`.

        Args:
            host: The application.
            skills: Folders of skill files, the most trusted first; those of the settings come
                after them.
            settings: How the bridge behaves; None for the environment and the defaults.
            presenter: Draws questions at the host; None where nobody sits there.
            operations: Makes the operations of the host for the verbs; called once, on the main
                thread. None for a host without verbs.
            covers: Returns whether a question is agreed to before anybody is asked, in place of
                the grants that people gave for the session; called once for each question, on any
                thread. None for those grants.

        Raises:
            ValueError: A variable of the environment or the studio's policy is wrong.
        """
        self._pump = Pump()
        self.host = host
        self.main = self._pump.main
        self.is_stopping = False
        self.bridge = bridge.Bridge(
            host,
            self.main,
            presenter=presenter,
            settings=settings,
            skills=skills,
            operations=operations,
            covers=covers,
        )

    @property
    def url(self) -> str:
        """The URL for agents, once requests are taken."""
        return self.bridge.url

    def add_tool(self, fn: Callable[..., Any]) -> None:
        """Offer a function to agents, besides the skills of files, once requests are taken.

        Args:
            fn: A function that `dcc_bridge.skill` has marked.

        Raises:
            SkillError: Its name is taken.
            BrokenSkill: Its signature cannot be described.
        """
        self.bridge.registry.add(describe(fn))

    def find_skill(self, name: str) -> Skill:
        """Return the skill of a name, with its file and its digest. Any thread.

        Args:
            name: As agents call it.

        Returns:
            The skill.

        Raises:
            UnknownSkill: There is no skill of that name.
            BrokenSkill: The skill's file cannot be loaded.
        """
        return self.bridge.registry.find(name).skill

    def call_on_main(self, fn: Callable[[], T], name: str) -> T:
        """Call a function on the main thread, as the person would: outside of any skill.

        Any thread.

        Args:
            fn: The function; it may open another scene.
            name: What it does, for those who wait for the main thread meanwhile.

        Returns:
            The result of the function. An error of the function is raised here.

        Raises:
            BridgeClosed: The bridge was stopped.
        """
        # In a new context: in that of a skill, only the losses that were granted are allowed.
        future = Context().run(self.main.submit, fn, name=name)
        return self.main.wait(future)

    def run(self, on_ready: Callable[[], None], until: Callable[[], bool] = lambda: False) -> None:
        """Serve until `stop`, or until a condition holds. Main thread, which is blocked.

        The bridge is stopped in the end, so this can be called once.

        Args:
            on_ready: Called on the main thread once requests are taken.
            until: Returns whether to end; called on the main thread after each call, and each
                second, so it must be quick.

        Raises:
            BridgeError: The bridge cannot be started. An error of `on_ready` or `until` stops the
                bridge, and is raised here too.
        """
        try:
            started = self.bridge.start()
            started.add_done_callback(lambda _: self._pump.wake(0.0))
            self._pump.run(lambda: self.is_stopping or started.done())
            if not self.is_stopping:
                started.result()
                on_ready()
                self._pump.run(lambda: self.is_stopping or until())
        finally:
            self.bridge.stop()

    def stop(self) -> None:
        """End `run` soon, and return at once. Any thread. It raises nothing."""
        self.is_stopping = True
        self._pump.wake(0.0)


def serve(
    host: Host,
    skills: Sequence[Path],
    until: Callable[[], bool],
    ready: Callable[[bridge.Bridge], None] = lambda _: None,
    operations: Callable[[Host], HostOperations] | None = None,
) -> None:
    """Serve in a batch interpreter, at which no person sits, until a condition holds.

    Main thread, which is blocked. The client is asked for consent, or consent is refused.

    Args:
        host: The application.
        skills: Folders of skill files, the most trusted first.
        until: Returns whether to end; called after each call of an agent, and each second.
        ready: Called with the bridge once requests are taken.
        operations: Makes the operations of the host for the verbs; None for a host without verbs.

    Raises:
        BridgeError: The bridge cannot be started.
    """
    headless = Headless(host, skills, operations=operations)
    headless.run(lambda: ready(headless.bridge), until)


@contextmanager
def open_headless(
    name: str,
    module: str,
    scene: Path | None = None,
    *,
    settings: config.Settings | None = None,
    covers: Callable[[Question], bool] | None = None,
) -> Iterator[Headless[Host]]:
    """Open an application in this batch interpreter, with a bridge that is not started yet.

    Args:
        name: The application, as ``--host`` names it.
        module: The module of its leaf that opens scenes, such as "dcc_bridge_freecad.scenes".
        scene: The file that is opened; None for the scene with which the application begins.
        settings: How the bridge behaves; None for the environment and the defaults.
        covers: Returns whether a question is agreed to before anybody is asked; see `Headless`.

    Returns:
        A context manager with the bridge; the application is open in its block. `Headless.run`
        serves.

    Raises:
        MissingExtra: The application's dependencies are not installed.
        OSError: The file cannot be read.
        ValueError: The file or a setting cannot be read.
    """
    scenes = batch_job.import_scenes(module)
    with batch_job.opened(name, scenes, scene) as host:
        yield Headless(host, [], settings=settings, covers=covers, operations=scenes.operations)


def main() -> None:
    """Do the `Job` that the environment names, and report how the job ended."""
    job_text = Path(os.environ[batch_job.JOB]).read_text(encoding="utf-8")
    job = batch_job.Job(**json.loads(job_text))
    scene = Path(job.scene) if job.scene else None
    try:
        scenes = batch_job.import_scenes(job.scenes)
        with batch_job.opened(job.host, scenes, scene) as host:
            _serve_job(job, host, scenes)
    except (errors.BridgeError, OSError, ValueError) as error:  # whose messages are sentences
        job.write_report(error=str(error))
    except Exception as error:  # noqa: BLE001 - a host may raise anything for a scene
        job.write_report(error=f"{type(error).__name__}: {error}")


def _serve_job(job: batch_job.Job, host: Host, scenes: batch_job.Scenes) -> None:
    """Serve until the standard input ends, then save the scene if the input asks for that."""
    allow_list = Path(job.allow_list) if job.allow_list else None
    settings = config.Settings.load(port=job.port, unattended=job.unattended, allow_list=allow_list)
    skill_folders = [Path(folder) for folder in job.skills]
    settings = replace(settings, skills=(*settings.skills, *skill_folders))
    headless = Headless(host, [], settings=settings, operations=scenes.operations)
    received = bytearray()
    has_input_ended = threading.Event()
    facts: dict[str, str] = {}

    def until() -> bool:
        if not has_input_ended.is_set():
            return False
        if job.save_as and received == batch_job.SAVE:
            # Here and not after `run`: the bridge's audit log is still open.
            facts.update(_save(headless.bridge, Path(job.save_as)))
        return True

    def end() -> None:
        headless.main.post(has_input_ended.set)

    def on_ready() -> None:
        reader = threading.Thread(target=_read_input, args=(received, end), daemon=True)
        reader.start()
        name = f"{host.name} {host.version}"
        job.write_report(host=name, scene=host.scene(), url=headless.bridge.url)

    headless.run(on_ready, until)
    audit = headless.bridge.audit.file
    audit_text = str(audit) if audit else None
    job.write_report(**facts, audit=audit_text)


def _read_input(received: bytearray, end: Callable[[], None]) -> None:
    """Read the standard input to its end, on a thread of its own."""
    while chunk := os.read(0, 4096):
        received += chunk
    end()


def _save(running: bridge.Bridge, target: Path) -> dict[str, str]:
    """Save the scene to a file, with a copy of the old one, and return the facts of the report."""
    last = running.recent.records()[0]
    call: dict[str, object] = {"call": last.id, "skill": last.skill, "client": last.client}
    try:
        copy = checkpoints.take(checkpoints.folder_beside(target), [target])
        call["checkpoint"] = copy
        running.audit(("begin", {**call, "writes": str(target)}), durable=True)
        running.host.save_copy(target)
    except Exception as error:  # noqa: BLE001 - a host may raise anything for a file
        why = f"The skill ran, but the scene cannot be written to {target}: {error}"
        with suppress(errors.NotRecorded):
            running.audit(("failed", {**call, "status": "failed", "error": why}))
        return {"error": why}
    try:
        ending = {**call, "status": "saved", "lost": [f"write {target}"]}
        running.audit(("end", ending), durable=True)
    except errors.NotRecorded as error:
        return {"error": f"The scene was written to {target}, but its record ends before: {error}"}
    if copy is None:
        return {"saved": str(target)}
    return {"saved": f"{target}; the previous version is in {copy}"}


if __name__ == "__main__":
    main()
