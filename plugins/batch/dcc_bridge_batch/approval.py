"""A person's signed consent to a plan, which is valid for some hours. Any thread.

A consent is signed by HMAC (RFC 2104) over the plan's digest, the skill's digest, a name and two
times. The key is a file that only the user can read, created when first needed. So only a consent
by the same user is valid, even if other users can write in the plan's folder. A farm's worker has
no such key: the job tells the worker the digest of the valid consent.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, Final

import platformdirs

from dcc_bridge.spi.batch import Settings, held_files, private_files, record_events, shell

from . import files
from .plan import Plan, PlanError, user, when

FILE: Final = "approval.json"
DEFAULT_HOURS: Final = 72.0  # for which a consent is valid
MAX_HOURS: Final = 8_760.0  # a year
_KEY_BYTES: Final = 32
_CLOCK_TOLERANCE: Final = timedelta(minutes=5)  # by which the signer's clock may be fast
NOTHING_TO_APPROVE: Final = "No scene would be changed, so there is nothing to approve."


class NotApproved(Exception):
    """A plan has no valid consent. The message is a sentence for the person."""


def key_folder() -> Path:
    """Return the folder of the user's key."""
    return platformdirs.user_state_path("dcc_bridge") / "batch"


def _read_or_make_key() -> bytes:
    """Return the user's key, which is created if there is none."""
    file = private_files.folder(key_folder()) / "key"
    try:
        descriptor = private_files.create(file)
    except FileExistsError:
        return _read_key()
    key = secrets.token_bytes(_KEY_BYTES)
    with open(descriptor, "wb") as out:
        out.write(key)
    return key


def _read_key() -> bytes:
    """Read the user's key; raise OSError if there is none that only the user can read."""
    file = key_folder() / "key"
    with open(private_files.open_own(file), "rb") as stream:
        key = stream.read()
    if len(key) != _KEY_BYTES:
        raise OSError(f"The key of your consent is damaged: delete {file}, and approve again.")
    return key


def _signature(key: bytes, statement: Mapping[str, Any]) -> str:
    return hmac.new(key, files.canonical(statement), hashlib.sha256).hexdigest()


def approve(
    plan: Plan, hours: float = DEFAULT_HOURS, audit: Path | None = None, by: str = "terminal"
) -> dict[str, Any]:
    """Sign a plan as the user, and write the consent beside the plan and into the audit log.

    Args:
        plan: The plan that the user agreed to.
        hours: How long the consent is valid.
        audit: The folder of the audit logs; None for the usual one.
        by: Where the user agreed: "terminal", "window", or "host".

    Returns:
        The content of the file `FILE`, with "name", "signed", "expires" and "signature".

    Raises:
        NotRecorded: The audit log, which is written first, cannot be written.
        PlanError: The skill was changed, or the plan would change no scene.
        OSError: The user's key cannot be read or created.
    """
    check_worth(plan)
    plan.check_skill()
    now = datetime.now(UTC)
    ends = now + timedelta(hours=hours)
    statement = {
        "plan": plan.digest,
        "skill": plan.header["skill"]["sha256"],
        "name": user(),
        "signed": now.isoformat(timespec="seconds"),
        "expires": ends.isoformat(timespec="seconds"),
    }
    signature = _signature(_read_or_make_key(), statement)
    facts = {name: statement[name] for name in ("name", "expires")}
    record_answer(plan, by, "granted", facts, audit)
    entry = {**statement, "signature": signature}
    files.write_json(plan.folder / FILE, entry)
    return entry


def check_worth(plan: Plan) -> None:
    """Raise PlanError if a plan would change no scene, so that there is nothing to ask."""
    if not plan.asks:
        raise PlanError(NOTHING_TO_APPROVE)


def withdraw(plan: Plan) -> None:
    """Delete the consent to a plan. The plan cannot be run before it is approved again."""
    held_files.delete(plan.folder / FILE)


def record_answer(
    plan: Plan, surface: str, event: str, fields: Mapping[str, Any], audit: Path | None = None
) -> None:
    """Write the question about a plan and the person's answer into the audit log.

    Args:
        plan: The plan.
        surface: Where the person was asked: "terminal", "window", or "host".
        event: "granted" or "declined".
        fields: Additional fields of the answer's entry.
        audit: The folder of the audit logs; None for the usual one.

    Raises:
        NotRecorded: The audit log cannot be written.
    """
    skill = plan.header["skill"]["name"]
    root = plan.header["root"]
    names = [scene["path"] for scene in islice(plan.scenes(), 5)]
    question = {
        "question": plan.id,
        "message": f"Let {skill} change {plan.asks:,} of {plan.count:,} scenes below {root}?",
        "surface": surface,
        "objects": plan.count,
        "names": names,
    }
    answer = {"question": plan.id, "by": "host", **fields}
    _record(plan, [("asked", question), (event, answer)], audit)


def record_end(plan: Plan, status: str, scenes: Mapping[str, int], *, is_changed: bool) -> None:
    """Write the end of a commit or a rollback into the audit log.

    Args:
        plan: The plan.
        status: "committed", "rolled back", or "done" if no scene was changed.
        scenes: The number of scenes in each state of the ledger.
        is_changed: Whether the commit or the rollback changed any scene.

    Raises:
        NotRecorded: The audit log cannot be written.
    """
    fields = {"status": status, "changed": is_changed, "scenes": dict(scenes)}
    _record(plan, [("end", fields)])


def _record(
    plan: Plan, events: Sequence[tuple[str, Mapping[str, Any]]], audit: Path | None = None
) -> None:
    """Write events of a plan into a new file of the audit log, or raise NotRecorded."""
    common = {
        "call": f"batch-{plan.id}",
        "skill": plan.header["skill"]["name"],
        "client": None,
        "title": f"{plan.header['skill']['name']} in {plan.count:,} scenes",
        "digest": plan.header["skill"]["sha256"],
        "arguments": plan.header["arguments"],
        "objects_digest": plan.digest,
    }
    entries = [(event, {**common, **fields}) for event, fields in events]
    about = {"host": plan.header["host"], "batch": plan.digest}
    if audit is None:
        audit = Settings.load().under().audit
    record_events(about, entries, audit)


def check(plan: Plan, consent: str = "") -> str:
    """Return the name of the user who agreed to a plan.

    Args:
        plan: The plan to run.
        consent: On a farm, the digest of the consent that is valid; "" for the user's own.

    Raises:
        NotApproved: The plan has no valid consent. The message says what is missing.
    """
    entry = _read_consent(plan.folder)
    why = ""
    if entry is not None:
        try:
            return _validate(plan, entry, consent)
        except NotApproved as error:
            why = f" {error}"
    raise NotApproved(
        f"This plan is not approved yet.{why} Next: {command('approve', plan.folder)}"
    )


def command(name: str, folder: Path) -> str:
    """Return the command line for a plan, as a person types it.

    Args:
        name: The command of ``dcc-bridge batch``.
        folder: The plan's folder.
    """
    return shell.line(["dcc-bridge", "batch", name, str(folder)])


def digest(plan: Plan) -> str:
    """Return the digest of the consent to a plan, for a farm's worker.

    Raises:
        OSError: There is no consent, or its file cannot be read.
    """
    return files.digest_of(files.read_json(plan.folder / FILE))


def _validate(plan: Plan, entry: Mapping[str, Any], consent: str) -> str:
    """Return the name in a consent; raise NotApproved if the consent is not valid."""
    try:
        name = str(entry["name"])
        subject = (entry["plan"], entry["skill"])
        signed = datetime.fromisoformat(entry["signed"])
        expires = datetime.fromisoformat(entry["expires"])
        is_on_time = signed - _CLOCK_TOLERANCE <= datetime.now(UTC) < expires
        is_signed = files.digest_of(entry) == consent if consent else _is_own(entry)
    except (ValueError, TypeError, KeyError):
        raise NotApproved("The approval was changed.") from None
    if not is_signed:
        raise NotApproved("The approval was changed or was given by another user.")
    if subject != (plan.digest, plan.header["skill"]["sha256"]):
        raise NotApproved("The approval is for another plan or another version of the skill.")
    if not is_on_time:
        raise NotApproved(f"The approval by {name} ended at {when(entry['expires'])}.")
    return name


def _is_own(entry: Mapping[str, Any]) -> bool:
    """Return whether a consent is signed with the user's key."""
    statement = {name: value for name, value in entry.items() if name != "signature"}
    try:
        key = _read_key()
    except FileNotFoundError:  # this user never approved a plan
        return False
    except OSError as error:
        raise NotApproved(str(error)) from None
    return hmac.compare_digest(str(entry["signature"]), _signature(key, statement))


def _read_consent(folder: Path) -> dict[str, Any] | None:
    """Read the consent in a plan's folder; None if there is no file that can be read."""
    try:
        entry = files.read_json(folder / FILE)
    except (OSError, ValueError):
        return None
    if not isinstance(entry, dict):
        return None
    return entry
