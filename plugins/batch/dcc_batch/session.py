"""What the job's environment does: starts the warm host on enter, stops it on exit.

The host outlives the process that starts it; its folder lies in the session's working directory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from dcc_batch import approval, hosts
from dcc_batch.host_job import Job, label
from dcc_batch.plan import Plan

FOLDER: Final = "DCC_BATCH_SESSION"  # variables of the session, which its tasks get
URL: Final = "DCC_BATCH_URL"
OWNER: Final = "DCC_BATCH_OWNER"  # of the run on this computer: the host ends with it
_DIRECTORY: Final = "OPENJD_SESSION_WORKING_DIR"


def enter(
    plan: Plan, program: str | None, trusted: Sequence[str], say: Callable[[str], None] = print
) -> None:
    """Start the host, and tell the session where it is. HostFailed, NotApproved, PlanError.

    Args:
        plan: What is run; it must be approved.
        program: The host's interpreter on this computer; None for the one on PATH.
        trusted: Public keys whose consent counts here.
        say: Takes the messages of Open Job Description.
    """
    approval.check(plan, approval.Rule.read(trusted=trusted))
    plan.check_skill()
    folder = Path(os.environ.get(_DIRECTORY, os.getcwd()), "host")
    request, owner = plan.request, os.environ.get(OWNER)
    job = Job(
        request.host,
        str(folder),
        request.skill,
        request.folders,
        plan=str(plan.folder.absolute()),
        label=label(plan.id),
        trusted=list(trusted),
        owner=int(owner) if owner else None,
    )
    process = hosts.start(job, program or request.interpreter)
    try:
        url = hosts.wait_until_ready(folder, process)
    except hosts.HostFailed:
        hosts.stop(folder, process)
        raise
    say(f"openjd_env: {FOLDER}={folder}")
    say(f"openjd_env: {URL}={url}")


def leave() -> None:
    """Stop the host of the session, if there is one."""
    if folder := os.environ.get(FOLDER):
        hosts.stop(Path(folder))
