"""The process of a warm host: a bridge with four tools more: about, open, asked, save. Main thread.

It is started by `dcc_bridge_batch.hosts` in the host's batch interpreter, keeps its application
open for one scene after the other, and is found by nobody else: its runtime folder is its session's
own. Its tools answer one label alone, and what a skill asks is granted by an approved plan alone.

It ends when the file "stop" lies in its folder, when the folder is gone, when the process that it
was started for is gone, and when nobody has called it for long.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from dcc_bridge import skill
from dcc_bridge.spi import BridgeError, Host, UndoMark, digest, own_version
from dcc_bridge.spi.batch import Settings, calling_client
from dcc_bridge.spi.headless import Headless, open_headless

from . import approval, files, host_files
from .host_job import JOB, REPORT, STOP, Job
from .plan import Plan, PlanError
from .questions import PlanGrants

_POLL: Final = 0.2  # seconds
_MOST_TOLD: Final = 20  # items of which it is compared what the host tells of them
_NOTHING: Final = "The skill ran, and changed nothing."
_NOT_ASKED: Final = "It asks nothing now: there is nothing to do."
_ELSEWHERE: Final = "The skill left another scene open, so nothing was saved."


@dataclass(frozen=True, slots=True)
class _Look:
    """A look at the items of a question, and at the scene around them.

    Attributes:
        kinds: The type of each item, or "gone".
        items: A digest of what they and those below them are, and of the values that are told.
        content: A digest of all that the scene holds, where the host can tell.
    """

    kinds: list[str]
    items: str
    content: str | None

    @classmethod
    def at(cls, host: Host, items: list[str]) -> _Look:
        told = [_told(host, it) for it in items[:_MOST_TOLD]]
        facts = digest([host.fingerprint(items) if items else "", told])
        return cls(host.kinds(items), facts, host_files.content(host))


def _told(host: Host, item: str) -> object:
    try:
        return host.describe(item)
    except LookupError:
        return "gone"


class Desk:
    """The scene of now: opened, asked about, saved. Its tools run on threads of the pool."""

    def __init__(
        self, headless: Headless[Host], job: Job, plan: Plan | None, grants: PlanGrants
    ) -> None:
        self._headless = headless
        self._host = headless.host
        self._calls = host_files.CALLS[job.host]
        self._job = job
        self._plan = plan
        self.grants = grants
        self.last_call = time.monotonic()
        self._file: Path | None = None  # of the scene that was opened, as the host names it
        self._items: list[str] = []
        self._before = _Look([], "", None)  # when the scene was opened
        self._mark = UndoMark(0)  # where the undo stack was then

    def add_tools(self) -> None:
        """Add the tools to the bridge. Once it is ready."""
        for tool in (self.batch_about, self.batch_open, self.batch_asked, self.batch_save):
            self._headless.add_tool(tool)

    @skill(risk="read", thread="any")
    def batch_about(self) -> dict[str, Any]:
        """Say which host and which skill this is."""
        return self._run(self._about)

    @skill(risk="read", thread="any")
    def batch_open(self, file: str, name: str, number: int = -1) -> dict[str, Any]:
        """Open a scene, or a copy of it, as it is on disk.

        Args:
            file: Its whole path.
            name: The scene's own name.
            number: The scene of the plan whose question is granted; -1 grants nothing.
        """
        return self._run(lambda: self._open(Path(file), name, number))

    @skill(risk="read", thread="any")
    def batch_asked(self) -> dict[str, Any]:
        """List what the skill has asked since the scene was opened."""
        return self._run(lambda: {"asked": self.grants.asked, "other": self.grants.other()})

    @skill(risk="read", thread="any")
    def batch_save(self) -> dict[str, Any]:
        """Save the scene to its own file, open it again, and say whether all is in it.

        Nothing is saved where the skill has asked anything else than what was granted.
        """
        return self._run(self._save)

    def _run(self, fn: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Do something on the main thread, as the person would; an error is a part of the result.

        Any thread of the pool. PermissionError: the caller is another client.
        """
        self.last_call = time.monotonic()
        if calling_client() != self._job.label:
            raise PermissionError("This tool is for the batch that started this host.")
        try:
            return self._headless.call_on_main(fn, "a batch")
        except (BridgeError, PlanError, OSError, ValueError) as error:
            return {"error": str(error)}
        except Exception as error:  # noqa: BLE001 - a host may raise anything for a scene
            return {"error": f"{type(error).__name__}: {error}"}
        finally:
            self.last_call = time.monotonic()

    # ---- on the main thread

    def _about(self) -> dict[str, Any]:
        found = self._headless.find_skill(self._job.skill)
        file = found.file
        return {
            "version": version(self._host),
            "bridge": own_version(),
            "skill_sha256": found.digest,
            "skill_file": str(file.resolve()) if file is not None else None,
        }

    def _open(self, file: Path, name: str, number: int) -> dict[str, Any]:
        planned = None
        self._items = []
        if number >= 0:
            if self._plan is None:
                raise PlanError("This host makes a plan, and runs none.")
            scene = self._plan.scene(number)
            planned = scene["question_sha256"] if scene["state"] == "asks" else None
            self._items = scene["question"]["items"] if planned else []
            recorded = self._plan.header["skill"]
            self.grants.skill = recorded["name"], recorded["sha256"]
        self.grants.begin(file, name, planned)
        self._calls.open(self._host, file)
        self._file = self._host.file()
        if number >= 0:
            self._before = _Look.at(self._host, self._items)
        self._mark = self._host.undo_mark()
        return {"scene": self._host.scene()}

    def _save(self) -> dict[str, Any]:
        """Save and prove, where there is something to be saved."""
        other = self.grants.other()
        if other is not None:
            return {"other": other}
        if not self.grants.has_granted:
            return {"unchanged": _NOT_ASKED}
        file = self._host.file()
        if file is None or file != self._file:
            raise PlanError(_ELSEWHERE)
        if self._host.undo_mark() == self._mark:
            return {"unchanged": _NOTHING}
        others = host_files.foreign_files(self._host)
        if others:
            names = ", ".join(path.name for path in others[:5])
            raise PlanError(f"Saving would write {names} too, which the plan does not speak of.")
        return self._proved(self._host, file)

    def _proved(self, host: Host, file: Path) -> dict[str, Any]:
        """Save the scene and open it again; PlanError: what the skill did is not in it."""
        edited = _Look.at(host, self._items)
        was = files.digest_file(file)
        self._calls.save(host)
        sha256 = files.digest_file(file)
        self._calls.open(host, file)
        if sha256 == was:
            raise PlanError("The host said that it saved the scene, and its file is as it was.")
        now = _Look.at(host, self._items)
        if (now.kinds, now.content) != (edited.kinds, edited.content):
            raise PlanError("The saved file was opened again, and lacks what the skill did.")
        proof = self._proof(now)
        if proof is None:
            return {"unchanged": _NOTHING}
        changed = sum(a != b for a, b in zip(self._before.kinds, now.kinds, strict=True))
        return {"sha256": sha256, "changed": changed, "proof": proof}

    def _proof(self, now: _Look) -> str | None:
        """Say in what the saved scene differs from the one that was opened; None: in nothing.

        "items": in what was agreed to. "scene": in something else that it holds. "file": nothing
        that this host tells of differs, but the file does.
        """
        if self._items and now.items != self._before.items:
            return "items"
        if now.content is None or self._before.content is None:
            return "file"
        return "scene" if now.content != self._before.content else None


def main() -> None:
    """Do the job that the environment names; its report says how far it is."""
    job = Job(**json.loads(Path(os.environ[JOB]).read_text(encoding="utf-8")))
    report = Path(job.folder, REPORT)
    try:
        _serve(job, report)
    except PlanError as error:
        files.write_json(report, {"error": str(error), "is_final": True})
    except (BridgeError, approval.NotApproved, OSError, ValueError) as error:
        files.write_json(report, {"error": str(error)})
    except Exception as error:  # noqa: BLE001 - a host may raise anything as it starts
        files.write_json(report, {"error": f"{type(error).__name__}: {error}"})


def version(host: Host) -> str:
    """Name a host with its version, as a plan does."""
    return f"{host.name} {host.version}"


def _check_version(plan: Plan, now: str) -> None:
    """Have the host be the one of the plan; PlanError: it is another version."""
    planned = plan.header["version"]
    if planned != now:
        raise PlanError(
            f"The plan was made in {planned}, and this is {now}, which may do something else. Make "
            "a new plan, or go on with --any-version (the job's parameter AnyVersion: yes)."
        )


def _serve(job: Job, report: Path) -> None:
    plan = None
    if job.plan is not None:
        plan = Plan.read(Path(job.plan))
        approval.check(plan, job.consent)
    settings = Settings.load(
        runtime=Path(job.folder, "runtime"),
        edit="ask",  # so that an edit that asks nothing by itself is in the plan, too
        unattended="refuse",
        host_dialogs=False,
        python="off",
        port=0,
    )
    settings = replace(settings, skills=(*settings.skills, *map(Path, job.skills)))
    grants = PlanGrants(job.label)
    with open_headless(job.host, job.scenes, settings=settings, covers=grants.covers) as headless:
        if plan is not None and not job.is_any_version:
            _check_version(plan, version(headless.host))
        desk = Desk(headless, job, plan, grants)

        def on_ready() -> None:
            desk.add_tools()
            threading.Thread(target=_watch, args=(job, desk, headless.stop), daemon=True).start()
            files.write_json(report, {"url": headless.url, "pid": os.getpid()})

        headless.run(on_ready)


def _watch(job: Job, desk: Desk, stop: Callable[[], None]) -> None:
    """Wait until there is a reason to end."""
    folder = Path(job.folder)
    while folder.is_dir() and not (folder / STOP).exists():
        if job.owner is not None and not _is_alive(job.owner):
            break
        if time.monotonic() - desk.last_call > job.idle:
            break
        time.sleep(_POLL)
    stop()


def _is_alive(pid: int) -> bool:
    """Return whether a process is there; True where only harm would tell, as on Windows."""
    if os.name != "posix":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


if __name__ == "__main__":
    main()
