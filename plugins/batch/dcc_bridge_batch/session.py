"""The environment of an Open Job Description job: starts and stops its warm host. Main thread.

The host outlives the process that starts it. Its folder lies in the session's working directory.
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

# Environment variables of the session. Its tasks get the first two.
FOLDER: Final = "DCC_BATCH_SESSION"
URL: Final = "DCC_BATCH_URL"
OWNER: Final = "DCC_BATCH_OWNER"  # the id of the local run's process, with which the host ends
_DIRECTORY: Final = "OPENJD_SESSION_WORKING_DIR"


def enter(
    plan: Plan,
    program: str | None,
    consent: str,
    *,
    is_any_version: bool = False,
    say: Callable[[str], None] = print,
) -> None:
    """Start the host, and print its folder and URL, or the error, for the session.

    Args:
        plan: The plan to run, which must be approved.
        program: The host's interpreter on this computer; None for the one on PATH.
        consent: On a farm, the digest of the consent that is valid; "" for the user's own.
        is_any_version: Whether the host may have another version than the plan.
        say: Prints a message to Open Job Description.

    Raises:
        HostFailed: The host could not be started.
        exits.Failure: There is no such interpreter.
        NotApproved: The plan has no valid consent.
        PlanError: The skill was changed, or the host has another version.
    """
    folder = Path(os.environ.get(_DIRECTORY, os.getcwd()), "host")
    try:
        url = _start_host(plan, folder, program, consent, is_any_version=is_any_version)
    except (hosts.HostFailed, approval.NotApproved, PlanError, exits.Failure) as error:
        sentence = " ".join(str(error).split())
        say(f"openjd_fail: {sentence}")
        raise
    say(f"openjd_env: {FOLDER}={folder}")
    say(f"openjd_env: {URL}={url}")


def _start_host(
    plan: Plan, folder: Path, program: str | None, consent: str, *, is_any_version: bool
) -> str:
    """Start the host of a session, and return its URL once it takes calls."""
    approval.check(plan, consent)
    plan.check_skill()
    request = plan.request
    owner_text = os.environ.get(OWNER)
    owner = int(owner_text) if owner_text else None
    job = Job(
        request.host,
        str(folder),
        request.skill,
        request.folders,
        plan=str(plan.folder.absolute()),
        label=label(plan.id),
        consent=consent,
        owner=owner,
        is_any_version=is_any_version,
    )
    job = replace(job, idle=job.idle + request.limit)  # no call comes while the skill runs
    process = hosts.start(job, program or request.interpreter)
    try:
        return hosts.wait_until_ready(folder, process)
    except (hosts.HostFailed, PlanError):
        hosts.stop(folder, process)
        raise


def leave() -> None:
    """Stop the host of the session, if there is one."""
    folder = os.environ.get(FOLDER)
    if folder:
        hosts.stop(Path(folder))
