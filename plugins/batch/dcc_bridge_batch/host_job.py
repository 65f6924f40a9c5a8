"""What a warm host is started with, and the files by which it is reached. Any thread."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from dcc_bridge_batch import files

JOB: Final = "DCC_BATCH_JOB"  # the environment variable that names the job's file
REPORT: Final = "host.json"  # in the session's folder: "url" and "pid", or "error"
STOP: Final = "stop"  # the name of the file that ends it
PLANNING: Final = "batch-plan"  # the label of the client that makes a plan
MODULE: Final = "dcc_bridge_batch.warm_host"  # what runs in the host's interpreter


def label(plan_id: str) -> str:
    """Give the label of the client that runs a plan."""
    return f"batch-{plan_id}"


@dataclass(frozen=True, slots=True)
class Job:
    """What a warm host is to serve, as JSON carries it."""

    host: str  # by the name that --host takes
    folder: str  # the session's own
    skill: str  # the name of the skill that is planned, or run
    skills: list[str] = field(default_factory=list)  # more folders of skill files
    plan: str | None = None  # the folder of the plan that is run; None where one is made
    # Of the only client that it serves: the record has it beside each agreement.
    label: str = PLANNING
    consent: str = ""  # the digest of the one that counts on a farm; "" for the user's own
    owner: int | None = None  # the process with which it ends, or None
    is_any_version: bool = False  # whether the plan may be of another version of the host
    idle: float = 900.0  # seconds without a call after which it ends

    @property
    def scenes(self) -> str:
        """The module of the host's leaf that opens scenes."""
        return f"dcc_bridge_{self.host}.scenes"


def write_job(job: Job) -> Path:
    """Write a job into its folder, for `main`."""
    file = Path(job.folder, "job.json")
    files.write_json(file, asdict(job))
    return file
