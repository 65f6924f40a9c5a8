"""The job's environment: starts the warm host on enter, stops it on exit.

The host outlives the process that starts it; its folder lies in the session's working directory.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from dcc_bridge.cli import exits

from . import approval, hosts
from .host_job import Job, label
from .plan import Plan, PlanError

FOLDER: Final = "DCC_BATCH_SESSION"  # variables of the session, which its tasks get
URL: Final = "DCC_BATCH_URL"
OWNER: Final = "DCC_BATCH_OWNER"  # of the run on this computer: the host ends with it
_DIRECTORY: Final = "OPENJD_SESSION_WORKING_DIR"


def enter(
    plan: Plan,
    program: str | None,
    consent: str,
    *,
    is_any_version: bool = False,
    say: Callable[[str], None] = print,
) -> None:
    """Start the host, and tell the session where it is, or why there is none.

    Args:
        plan: What is run; it must be approved.
        program: The host's interpreter on this computer; None for the one on PATH.
        consent: The digest of the consent that counts here; "" for the user's own.
        is_any_version: Go on in another version of the host than the plan was made in.
        say: Takes the messages of Open Job Description.

    Raises:
        HostFailed: It could not be started. exits.Failure: there is no such interpreter.
        NotApproved: The plan may not be run. PlanError: its skill was changed, or the host is
            another version of it.
    """
    try:
        folder, url = _started(plan, program, consent, is_any_version)
    except (hosts.HostFailed, approval.NotApproved, PlanError, exits.Failure) as error:
        say(f"openjd_fail: {' '.join(str(error).split())}")
        raise
    say(f"openjd_env: {FOLDER}={folder}")
    say(f"openjd_env: {URL}={url}")


def _started(
    plan: Plan, program: str | None, consent: str, is_any_version: bool
) -> tuple[Path, str]:
    approval.check(plan, consent)
    plan.check_skill()
    folder = Path(os.environ.get(_DIRECTORY, os.getcwd()), "host")
    request = plan.request
    owner = os.environ.get(OWNER)
    job = Job(
        request.host,
        str(folder),
        request.skill,
        request.folders,
        plan=str(plan.folder.absolute()),
        label=label(plan.id),
        consent=consent,
        owner=int(owner) if owner else None,
        is_any_version=is_any_version,
    )
    job = replace(job, idle=job.idle + request.limit)  # nobody calls it while a skill runs
    process = hosts.start(job, program or request.interpreter)
    try:
        return folder, hosts.wait_until_ready(folder, process)
    except (hosts.HostFailed, PlanError):
        hosts.stop(folder, process)
        raise


def leave() -> None:
    """Stop the host of the session, if there is one."""
    if folder := os.environ.get(FOLDER):
        hosts.stop(Path(folder))
