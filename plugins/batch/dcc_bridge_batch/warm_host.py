"""The process of a warm host: a bridge with four additional tools (`SceneTools`). Main thread.

`dcc_bridge_batch.hosts` starts the process in the host's batch interpreter, for many scenes. Its
runtime folder is in its session's folder, so no other client finds the host. The tools serve only
the client with the job's label, and only an approved plan grants the questions of a skill.

The process ends when its folder has a file "stop" or is deleted, when the process that owns it has
ended, or when no call has come for a while.
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

_POLL_S: Final = 0.2
_MAX_DESCRIBED: Final = 20  # items whose descriptions are compared
_NOTHING_CHANGED: Final = "The skill ran and changed nothing."
_NOTHING_ASKED: Final = "The skill asks nothing now: there is nothing to do."
_OTHER_SCENE: Final = "The skill left another scene open, so nothing was saved."


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """A snapshot of the items of a question, and of the whole scene.

    Attributes:
        kinds: The type of each item, or "gone".
        items: A digest of the items, their descendants and their descriptions.
        content: A digest of the whole scene; None if the host cannot compute one.
    """

    kinds: list[str]
    items: str
    content: str | None

    @classmethod
    def take(cls, host: Host, items: list[str]) -> _Snapshot:
        descriptions = [_description(host, item) for item in items[:_MAX_DESCRIBED]]
        fingerprint = host.fingerprint(items) if items else ""
        digest_of_items = digest([fingerprint, descriptions])
        return cls(host.kinds(items), digest_of_items, host_files.content(host))


def _description(host: Host, item: str) -> object:
    try:
        return host.describe(item)
    except LookupError:
        return "gone"


class SceneTools:
    """The tools with which the batch opens and saves scenes. They run on the pool.

    Attributes:
        grants: The questions of the skill, and the grant of the plan.
        last_call: The time of the last call of a tool, by `time.monotonic`.
    """

    def __init__(
        self, headless: Headless[Host], job: Job, plan: Plan | None, grants: PlanGrants
    ) -> None:
        """Prepare the tools; `add_tools` offers them.

        Args:
            headless: The bridge of the host.
            job: The job of the host.
            plan: The plan to run; None while a plan is made.
            grants: The questions of the skill.
        """
        self._headless = headless
        self._host = headless.host
        self._calls = host_files.CALLS[job.host]
        self._job = job
        self._plan = plan
        self.grants = grants
        self.last_call = time.monotonic()
        # For the open scene: its file, as the host names it; the items of its question; their state
        # and the position in the undo stack just after the scene was opened.
        self._file: Path | None = None
        self._items: list[str] = []
        self._before = _Snapshot([], "", None)
        self._mark = UndoMark(0)

    def add_tools(self) -> None:
        """Add the tools to the bridge, once it is ready."""
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
        return self._run(
            lambda: {"asked": self.grants.questions, "other": self.grants.unplanned_question()}
        )

    @skill(risk="read", thread="any")
    def batch_save(self) -> dict[str, Any]:
        """Save the scene to its own file, open it again, and say whether all is in it.

        Nothing is saved where the skill has asked anything else than what was granted.
        """
        return self._run(self._save)

    def _run(self, fn: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Call a function on the main thread, outside of any skill; return errors as a result.

        Any thread of the pool.

        Raises:
            PermissionError: The caller is another client.
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
        skill = self._headless.find_skill(self._job.skill)
        file = None
        if skill.file is not None:
            file = str(skill.file.resolve())
        return {
            "version": version(self._host),
            "bridge": own_version(),
            "skill_sha256": skill.digest,
            "skill_file": file,
        }

    def _open(self, file: Path, name: str, number: int) -> dict[str, Any]:
        planned = None
        self._items = []
        is_run = number >= 0
        if is_run:
            if self._plan is None:
                raise PlanError("This host only makes plans. It does not run them.")
            scene = self._plan.scene(number)
            if scene["state"] == "asks":
                planned = scene["question_sha256"]
                self._items = scene["question"]["items"]
            recorded = self._plan.header["skill"]
            self.grants.skill = (recorded["name"], recorded["sha256"])
        self.grants.begin(file, name, planned)
        self._calls.open(self._host, file)
        self._file = self._host.file()
        if is_run:
            self._before = _Snapshot.take(self._host, self._items)
        self._mark = self._host.undo_mark()
        return {"scene": self._host.scene()}

    def _save(self) -> dict[str, Any]:
        """Save the scene and check the saved file, unless there is nothing to save."""
        other = self.grants.unplanned_question()
        if other is not None:
            return {"other": other}
        if not self.grants.has_granted:
            return {"unchanged": _NOTHING_ASKED}
        file = self._host.file()
        if file is None or file != self._file:
            raise PlanError(_OTHER_SCENE)
        if self._host.undo_mark() == self._mark:
            return {"unchanged": _NOTHING_CHANGED}
        others = host_files.foreign_files(self._host)
        if others:
            names = ", ".join(path.name for path in others[:5])
            raise PlanError(f"Saving would also write {names}, which the plan does not list.")
        return self._save_and_prove(self._host, file)

    def _save_and_prove(self, host: Host, file: Path) -> dict[str, Any]:
        """Save the scene and open it again; raise PlanError if it lacks the skill's changes."""
        edited = _Snapshot.take(host, self._items)
        sha256_before = files.digest_file(file)
        self._calls.save(host)
        sha256 = files.digest_file(file)
        self._calls.open(host, file)
        if sha256 == sha256_before:
            raise PlanError("The host reported a save, but the file has not changed.")
        saved = _Snapshot.take(host, self._items)
        if saved.kinds != edited.kinds or saved.content != edited.content:
            raise PlanError(
                "The saved file was opened again. It does not contain the changes of the skill."
            )
        proof = self._proof(saved)
        if proof is None:
            return {"unchanged": _NOTHING_CHANGED}
        changed = 0
        for before, now in zip(self._before.kinds, saved.kinds, strict=True):
            if before != now:
                changed += 1
        return {"sha256": sha256, "changed": changed, "proof": proof}

    def _proof(self, saved: _Snapshot) -> str | None:
        """Return how the saved scene differs from the scene that was opened; None if not at all.

        Returns:
            "items" if an approved item differs, "scene" if only the rest of the scene differs,
            "file" if the host can only see that the file differs.
        """
        if self._items and saved.items != self._before.items:
            return "items"
        if saved.content is None or self._before.content is None:
            return "file"
        if saved.content != self._before.content:
            return "scene"
        return None


def main() -> None:
    """Do the job that the environment names, and report its progress in the job's folder."""
    job_text = Path(os.environ[JOB]).read_text(encoding="utf-8")
    job = Job(**json.loads(job_text))
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
    """Return a host's name and version, as a plan has them."""
    return f"{host.name} {host.version}"


def _check_version(plan: Plan, now: str) -> None:
    """Raise PlanError unless the host has the version of the plan."""
    planned = plan.header["version"]
    if planned != now:
        raise PlanError(
            f"The plan was made in {planned}, and this is {now}, which may do something else. Make "
            "a new plan, or continue with --any-version (the job's parameter AnyVersion: yes)."
        )


def _serve(job: Job, report: Path) -> None:
    plan = None
    if job.plan is not None:
        plan = Plan.read(Path(job.plan))
        approval.check(plan, job.consent)
    settings = Settings.load(
        runtime=Path(job.folder, "runtime"),
        edit="ask",  # so that a plan also contains edits that would not ask
        unattended="refuse",
        host_dialogs=False,
        python="off",
        port=0,
    )
    skill_folders = [Path(folder) for folder in job.skills]
    settings = replace(settings, skills=(*settings.skills, *skill_folders))
    grants = PlanGrants(job.label)
    with open_headless(job.host, job.scenes, settings=settings, covers=grants.covers) as headless:
        if plan is not None and not job.is_any_version:
            _check_version(plan, version(headless.host))
        tools = SceneTools(headless, job, plan, grants)

        def on_ready() -> None:
            tools.add_tools()
            watcher = threading.Thread(
                target=_stop_when_due, args=(job, tools, headless.stop), daemon=True
            )
            watcher.start()
            files.write_json(report, {"url": headless.url, "pid": os.getpid()})

        headless.run(on_ready)


def _stop_when_due(job: Job, tools: SceneTools, stop: Callable[[], None]) -> None:
    """Call `stop` when the host has to end, as the module says. A thread of its own."""
    folder = Path(job.folder)
    while folder.is_dir() and not (folder / STOP).exists():
        if job.owner is not None and not _is_alive(job.owner):
            break
        if time.monotonic() - tools.last_call > job.idle:
            break
        time.sleep(_POLL_S)
    stop()


def _is_alive(pid: int) -> bool:
    """Return whether a process exists; always True on Windows, where `os.kill` would end it."""
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
