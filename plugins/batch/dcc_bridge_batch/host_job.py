"""The job of a warm host, and the files for communicating with the host. Any thread.

A *warm host* is an application without a window that stays open for many scenes. Its *session* is
the time from its start to its end, with a folder of its own.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from . import files

JOB: Final = "DCC_BATCH_JOB"  # the environment variable that names the job's file
REPORT: Final = "host.json"  # in the session's folder: "url" and "pid", or "error"
STOP: Final = "stop"  # the name of the file in the session's folder that ends the host
PLANNING: Final = "batch-plan"  # the label of the client that makes a plan
MODULE: Final = "dcc_bridge_batch.warm_host"  # the module that runs in the host's interpreter


def label(plan_id: str) -> str:
    """Return the label of the client that runs a plan."""
    return f"batch-{plan_id}"


@dataclass(frozen=True, slots=True)
class Job:
    """The job of a warm host, which is written as JSON.

    Attributes:
        host: The application, by the name that ``--host`` takes.
        folder: The folder of the session.
        skill: The name of the skill that is planned or run.
        skills: Additional folders of skill files.
        plan: The folder of the plan to run; None to make a plan.
        label: The label of the only client that the host serves. The audit log names it with each
            consent.
        consent: On a farm, the digest of the consent that is valid; "" for the user's own.
        owner: The id of the process with which the host ends, or None.
        is_any_version: Whether the plan may be of another version of the host.
        idle: Seconds without a call after which the host ends.
    """

    host: str
    folder: str
    skill: str
    skills: list[str] = field(default_factory=list)
    plan: str | None = None
    label: str = PLANNING
    consent: str = ""
    owner: int | None = None
    is_any_version: bool = False
    idle: float = 900.0

    @property
    def scenes(self) -> str:
        """The module of the host's leaf that opens scenes."""
        return f"dcc_bridge_{self.host}.scenes"


def write_job(job: Job) -> Path:
    """Write a job into its folder, and return the file that `JOB` names."""
    file = Path(job.folder, "job.json")
    files.write_json(file, asdict(job))
    return file
