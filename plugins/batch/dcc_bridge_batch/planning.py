"""Makes a plan: runs the skill in each scene up to its question, in warm hosts. On anyio's loop.

Each worker has its own host, takes scenes from a common queue, and writes the lines of its scenes
into its own file. At the end these files are merged in the order of the list.
"""

from __future__ import annotations

import heapq
import json
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, Final

import anyio
import anyio.to_thread

from dcc_bridge.spi.batch import Unreachable

from . import files, hosts, plan, scenes
from .host_job import PLANNING, Job
from .hosts import HostFailed, WarmHost
from .plan import HostFacts, Plan, PlanError, Request, Scene

OnScene = Callable[[Scene], None]
_ASKS_ABOUT_TEXT: Final = "It asks about a text that a plan cannot show: {}"
_BAD_ARGUMENTS: Final = "cannot be called like this:"  # as `dcc_bridge.skills.signature` says it
_BAD_NAME: Final = "Its name is not UTF-8, so no host can open it."
_UNSAFE: Final = "It would do something that undo cannot reverse: {}"


def make(
    request: Request,
    paths: Sequence[Path],
    folder: Path,
    jobs: int,
    on_scene: OnScene = lambda _: None,
) -> Plan:
    """Make a plan of scenes, and write it into a folder. Nothing is written to a scene.

    Args:
        request: The skill, its arguments and its host.
        paths: The scenes, each once.
        folder: The folder of the plan.
        jobs: The number of hosts that run at a time.
        on_scene: Called with the line of each scene, in any order, on this thread.

    Returns:
        The plan.

    Raises:
        PlanError: There is no such skill, or the scenes have no common folder.
        HostFailed: No host could be started.
        exits.Failure: There is no interpreter for the host.
        OSError: There is no space for the plan.
    """
    plan.check_new(folder)
    root = scenes.common_root(paths)
    count = max(1, min(jobs, len(paths)))
    with TemporaryDirectory(prefix="dcc_batch-") as temporary:
        folders = [Path(temporary, str(number)) for number in range(count)]
        workers = [_Planner(request, root, own_folder, on_scene) for own_folder in folders]
        anyio.run(_run_all, workers, deque(enumerate(paths)))
        facts = next(worker.facts for worker in workers if worker.facts is not None)
        with ExitStack() as stack:
            spools = [stack.enter_context(worker.spool.open("rb")) for worker in workers]
            lines = [_lines(spool) for spool in spools]
            merged = heapq.merge(*lines, key=lambda scene: scene["n"])
            return plan.write(folder, request, facts, root, merged)


async def _run_all(workers: Sequence[_Planner], queue: deque[tuple[int, Path]]) -> None:
    try:
        async with anyio.create_task_group() as group:
            for worker in workers:
                group.start_soon(worker.run, queue)
    except* (HostFailed, PlanError, OSError) as errors:  # raise the first: the others are alike
        error: BaseException = errors
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise error from None


def _lines(spool: BinaryIO) -> Iterator[Scene]:
    for line in spool:
        yield json.loads(line)


class _Planner:
    """A worker that plans scenes until the queue is empty, with a new host if the last one ended.

    Attributes:
        spool: The file with the lines of this worker's scenes.
        facts: The facts of the host and the skill; None until the first host is ready.
    """

    def __init__(self, request: Request, root: Path, folder: Path, on_scene: OnScene) -> None:
        self._request = request
        self._root = root
        self._folder = folder
        self._on_scene = on_scene
        self.spool = folder.with_suffix(".jsonl")
        self.facts: HostFacts | None = None
        self.spool.touch()

    async def run(self, queue: deque[tuple[int, Path]]) -> None:
        """Plan scenes until the queue is empty; start a new host whenever one has ended."""
        request = self._request
        while queue:
            job = Job(request.host, str(self._folder), request.skill, request.folders)
            job = replace(job, idle=job.idle + request.limit, owner=os.getpid())
            process = hosts.start(job, request.interpreter)
            try:
                url = await anyio.to_thread.run_sync(hosts.wait_until_ready, self._folder, process)
                await self._plan_in_host(url, queue)
            finally:
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(hosts.stop, self._folder, process)

    async def _plan_in_host(self, url: str, queue: deque[tuple[int, Path]]) -> None:
        """Plan scenes in one host, until the queue is empty or the host has ended."""
        number = -1
        path = self._root
        try:
            async with hosts.connected(self._folder, url, PLANNING) as host:
                if self.facts is None:
                    self.facts = await _about(host, self._request)
                while queue:
                    number, path = queue.popleft()
                    with anyio.fail_after(self._request.limit):
                        scene = await self._plan(host, number, path)
                    self._write(scene)
        except (Unreachable, TimeoutError) as error:
            if number < 0:
                raise HostFailed(f"The host ended before it opened a scene: {error}") from None
            why = "The host ended, or hung, when the skill was run in it."
            sha256 = ""
            with suppress(OSError):  # the scene may be gone with the host
                sha256 = await anyio.to_thread.run_sync(files.digest_file, path)
            self._write(self._scene(number, path, sha256, "failed", why))

    def _write(self, scene: Scene) -> None:
        with self.spool.open("ab") as out:
            out.write(files.canonical(scene) + b"\n")
        self._on_scene(scene)

    async def _plan(self, host: WarmHost, number: int, path: Path) -> Scene:
        """Run the skill in a scene up to its question, and return the scene's line."""
        try:
            before = files.stamp(path)
            sha256 = await anyio.to_thread.run_sync(files.digest_file, path)
        except OSError as error:
            return self._scene(number, path, "", "failed", f"It cannot be read: {error.strerror}.")
        line = partial(self._scene, number, path, sha256)
        if not _is_text(path):
            return line("failed", _BAD_NAME)
        try:
            await host.tool("batch_open", file=str(path), name=path.name)
            status, sentence = await host.skill(self._request.skill, self._request.arguments)
            result = await host.tool("batch_asked")
            _check_arguments(self._request.skill, sentence)
        except HostFailed as error:
            return line("failed", str(error))
        try:
            is_changed = files.stamp(path) != before
        except OSError:
            return line("failed", "It was deleted while it was planned.")
        if is_changed:
            return line("failed", "It was changed while it was planned.")
        return _classify(line, result["asked"], status, sentence)

    def _scene(
        self,
        number: int,
        path: Path,
        sha256: str,
        state: plan.State,
        why: str = "",
        question: dict[str, Any] | None = None,
    ) -> Scene:
        """Return a scene's line; the package's docstring explains the fields."""
        size = 0
        with suppress(OSError):  # the scene may be gone
            size = path.stat().st_size
        return {
            "n": number,
            "path": path.relative_to(self._root).as_posix(),
            "size": size,
            "sha256": sha256,
            "state": state,
            "why": why,
            "question": question,
            "question_sha256": plan.question_digest(question),
        }


def _is_text(path: Path) -> bool:
    """Return whether a path is UTF-8: on POSIX it may be any bytes."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


async def _about(host: WarmHost, request: Request) -> HostFacts:
    """Return the facts of a host and the skill; raise PlanError if the skill is missing."""
    try:
        facts = await host.tool("batch_about")
    except HostFailed as error:
        raise PlanError(f"{request.skill} cannot be planned: {error}") from None
    return HostFacts(**facts)


def _check_arguments(skill: str, sentence: str) -> None:
    """Raise PlanError if the arguments do not fit the skill: they would fit in no scene."""
    if sentence.startswith(f"{skill} {_BAD_ARGUMENTS}"):
        raise PlanError(f"{sentence} No plan was made: correct its arguments (--args).")


def _classify(
    line: Callable[..., Scene], asked: Sequence[dict[str, Any]], status: str, sentence: str
) -> Scene:
    """Return the line of a scene, with the state that follows from the skill's questions.

    Args:
        line: Makes the line from a state, a reason and a question.
        asked: The questions that the skill asked.
        status: The status of the skill's call.
        sentence: The reason why the skill failed, or "".
    """
    consents = [question for question in asked if question["kind"] == "consent"]
    unsafe = [question for question in asked if question["kind"] == "unsafe"]
    if unsafe:
        return line("unsafe", _UNSAFE.format(unsafe[0]["message"]))
    if len(consents) > 1:
        return line("twice", f"It asks {len(consents)} times: {consents[-1]['message']}")
    if consents:
        question = consents[0]
        if question["details"] is not None:
            return line("unsafe", _ASKS_ABOUT_TEXT.format(question["message"]))
        facts = {name: value for name, value in question.items() if name != "kind"}
        return line("asks", question=facts)
    if status != "done":
        return line("failed", sentence or f"The skill ended as {status}.")
    return line("nothing", "It asks nothing: there is nothing to do.")
