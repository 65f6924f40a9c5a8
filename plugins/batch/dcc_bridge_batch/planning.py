"""Makes a plan: each scene through a warm host, as far as its question. On anyio's loop.

No host has another's scene, so they do not wait for each other. What comes of a scene is written
into a file of its worker's at once; these are merged in the order of the list at the end.
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
from typing import Any, Final

import anyio
import anyio.to_thread

from dcc_bridge.spi.batch import Unreachable

from . import files, hosts, plan, scenes
from .host_job import PLANNING, Job
from .hosts import HostFailed, WarmHost
from .plan import HostFacts, Plan, PlanError, Request, Scene

OnScene = Callable[[Scene], None]
_DETAILS: Final = "It asks about a text of its own, which no plan shows: {}"
_REFUSES: Final = "cannot be called like this:"  # as `dcc_bridge.skills.signature` says it
_NAME: Final = "Its name is not UTF-8, so no host can be told of it."
_UNSAFE: Final = "It would do what undo does not bring back: {}"


def make(
    request: Request,
    paths: Sequence[Path],
    folder: Path,
    jobs: int,
    on_scene: OnScene = lambda _: None,
) -> Plan:
    """Make a plan of scenes, and write it into a folder. Nothing is written to a scene.

    Args:
        request: What it is made for.
        paths: The scenes, each once.
        folder: Where the plan goes.
        jobs: How many hosts at a time.
        on_scene: Called with each scene that is planned, in any order, on this thread.

    Raises:
        PlanError: There is no such skill, or no common root. OSError: no space for the lines.
        HostFailed: No host could be started. exits.Failure: there is no interpreter for one.
    """
    plan.check_new(folder)
    root = scenes.common_root(paths)
    with TemporaryDirectory(prefix="dcc_batch-") as temporary:
        workers = [
            _Planner(request, root, Path(temporary, str(number)), on_scene)
            for number in range(max(1, min(jobs, len(paths))))
        ]
        anyio.run(_run_all, workers, deque(enumerate(paths)))
        facts = next(it.facts for it in workers if it.facts is not None)
        with ExitStack() as stack:
            spools = [stack.enter_context(it.spool.open("rb")) for it in workers]
            merged = heapq.merge(*map(_lines, spools), key=lambda scene: scene["n"])
            return plan.write(folder, request, facts, root, merged)


async def _run_all(workers: Sequence[_Planner], queue: deque[tuple[int, Path]]) -> None:
    try:
        async with anyio.create_task_group() as group:
            for worker in workers:
                group.start_soon(worker.run, queue)
    except* (HostFailed, PlanError, OSError) as errors:  # of several alike one says it
        error: BaseException = errors
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise error from None


def _lines(spool: Any) -> Iterator[Scene]:
    return (json.loads(line) for line in spool)


class _Planner:
    """One host after the other, for as long as there are scenes."""

    def __init__(self, request: Request, root: Path, folder: Path, on_scene: OnScene) -> None:
        self._request = request
        self._root = root
        self._folder = folder
        self._on_scene = on_scene
        self.spool = folder.with_suffix(".jsonl")
        self.facts: HostFacts | None = None
        self.spool.touch()

    async def run(self, queue: deque[tuple[int, Path]]) -> None:
        """Plan scenes until there are no more; one that ends its host harms no other."""
        request = self._request
        while queue:
            job = Job(request.host, str(self._folder), request.skill, request.folders)
            job = replace(job, idle=job.idle + request.limit, owner=os.getpid())
            process = hosts.start(job, request.interpreter)
            try:
                url = await anyio.to_thread.run_sync(
                    partial(hosts.wait_until_ready, self._folder, process)
                )
                await self._serve(url, queue)
            finally:
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(hosts.stop, self._folder, process)

    async def _serve(self, url: str, queue: deque[tuple[int, Path]]) -> None:
        number = -1
        path = self._root
        try:
            async with hosts.connected(self._folder, url, PLANNING) as host:
                self.facts = self.facts or await _about(host, self._request)
                while queue:
                    number, path = queue.popleft()
                    with anyio.fail_after(self._request.limit):
                        scene = await self._plan(host, number, path)
                    self._note(scene)
        except (Unreachable, TimeoutError) as error:
            if number < 0:
                raise HostFailed(f"The host ended before it opened a scene: {error}") from None
            why = "The host ended, or hung, when the skill was run in it."
            sha256 = ""
            with suppress(OSError):  # it may be gone with the host
                sha256 = await anyio.to_thread.run_sync(files.digest_file, path)
            self._note(self._scene(number, path, sha256, "failed", why))

    def _note(self, scene: Scene) -> None:
        with self.spool.open("ab") as out:
            out.write(files.canonical(scene) + b"\n")
        self._on_scene(scene)

    async def _plan(self, host: WarmHost, number: int, path: Path) -> Scene:
        try:
            before = files.stamp(path)
            sha256 = await anyio.to_thread.run_sync(files.digest_file, path)
        except OSError as error:
            return self._scene(number, path, "", "failed", f"It cannot be read: {error.strerror}.")
        result = partial(self._scene, number, path, sha256)
        if not _is_text(path):
            return result("failed", _NAME)
        try:
            await host.tool("batch_open", file=str(path), name=path.name)
            status, sentence = await host.skill(self._request.skill, self._request.arguments)
            asked = (await host.tool("batch_asked"))["asked"]
            _check_called(self._request.skill, sentence)
        except HostFailed as error:
            return result("failed", str(error))
        try:
            if files.stamp(path) != before:
                return result("failed", "It was changed while it was planned.")
        except OSError:
            return result("failed", "It was deleted while it was planned.")
        return _judged(result, asked, status, sentence)

    def _scene(
        self,
        number: int,
        path: Path,
        sha256: str,
        state: plan.State,
        why: str = "",
        question: dict[str, Any] | None = None,
    ) -> Scene:
        size = 0
        with suppress(OSError):  # it may be gone
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
    """Return whether a name is text: on POSIX it may be any bytes."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


async def _about(host: WarmHost, request: Request) -> HostFacts:
    try:
        return HostFacts(**await host.tool("batch_about"))
    except HostFailed as error:
        raise PlanError(f"{request.skill} cannot be planned: {error}") from None


def _check_called(skill: str, sentence: str) -> None:
    """Have a skill take what it is called with, which is the same in all scenes; PlanError."""
    if sentence.startswith(f"{skill} {_REFUSES}"):
        raise PlanError(f"{sentence} No plan was made: correct its arguments (--args).")


def _judged(
    result: Callable[..., Scene], asked: Sequence[dict[str, Any]], status: str, sentence: str
) -> Scene:
    """Say what becomes of a scene by what its skill asked."""
    consents = [it for it in asked if it["kind"] == "consent"]
    unsafe = [it for it in asked if it["kind"] == "unsafe"]
    if unsafe:
        return result("unsafe", _UNSAFE.format(unsafe[0]["message"]))
    if len(consents) > 1:
        return result("twice", f"It asks {len(consents)} times: {consents[-1]['message']}")
    if consents and consents[0]["details"] is not None:
        return result("unsafe", _DETAILS.format(consents[0]["message"]))
    if consents:
        facts = {name: value for name, value in consents[0].items() if name != "kind"}
        return result("asks", question=facts)
    if status != "done":
        return result("failed", sentence or f"The skill ended as {status}.")
    return result("nothing", "It asks nothing: there is nothing to do.")
