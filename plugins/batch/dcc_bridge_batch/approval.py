"""One consent for a plan: who gave it, signed, and for how long. Any thread.

A consent is signed by HMAC (RFC 2104) over the plan's digest, the skill's digest, a name and two
times. The key is a file that only the user can read, made when it is first needed: a consent counts
for the user who gave it, whoever else may write in the plan's folder. A farm's worker has no such
key. It is told the digest of the one consent that counts there, by the job itself.
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

from dcc_bridge.spi.batch import Settings, private_files, record_events

from . import files
from .plan import Plan, PlanError, user, when

FILE: Final = "approval.json"
HOURS: Final = 72.0
MOST_HOURS: Final = 8_760.0  # a year
_KEY_BYTES: Final = 32


NOTHING: Final = "No scene would be changed, so there is nothing to approve."


class NotApproved(Exception):
    """A plan may not be run. A sentence for the person."""


def key_folder() -> Path:
    """Return the folder of the user's key."""
    return platformdirs.user_state_path("dcc_bridge") / "batch"


def _made_key() -> bytes:
    """Return the user's key, which is made where there is none."""
    file = private_files.folder(key_folder()) / "key"
    try:
        descriptor = private_files.create(file)
    except FileExistsError:
        return _key()
    key = secrets.token_bytes(_KEY_BYTES)
    with open(descriptor, "wb") as out:
        out.write(key)
    return key


def _key() -> bytes:
    """Read the user's key. OSError: there is none that only they can read."""
    file = key_folder() / "key"
    with open(private_files.open_own(file), "rb") as stream:
        key = stream.read()
    if len(key) != _KEY_BYTES:
        raise OSError(f"The key of your consent is damaged: delete {file}, and approve again.")
    return key


def _signature(key: bytes, statement: Mapping[str, Any]) -> str:
    return hmac.new(key, files.canonical(statement), hashlib.sha256).hexdigest()


def approve(
    plan: Plan, hours: float = HOURS, audit: Path | None = None, by: str = "terminal"
) -> dict[str, Any]:
    """Sign a plan as the user, and write it down beside the plan and in the audit log.

    Args:
        plan: What they agreed to.
        hours: How long it holds.
        audit: The folder of the logs; None for the usual one.
        by: Where they did: "terminal", "window", or "host".

    Raises:
        NotRecorded: It cannot be put on record, which comes first.
        PlanError: The skill was changed, or no scene would be.
        OSError: The user's key cannot be read or made.
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
    signature = _signature(_made_key(), statement)
    facts = {name: statement[name] for name in ("name", "expires")}
    record_answer(plan, by, "granted", facts, audit)
    entry = {**statement, "signature": signature}
    files.write_json(plan.folder / FILE, entry)
    return entry


def check_worth(plan: Plan) -> None:
    """Have a plan change a scene; PlanError: it would change none, so nobody is asked."""
    if not plan.asks:
        raise PlanError(NOTHING)


def withdraw(plan: Plan) -> None:
    """Take the consent to a plan back: it is not run again before it is approved again."""
    (plan.folder / FILE).unlink(missing_ok=True)


def record_answer(
    plan: Plan, surface: str, event: str, fields: Mapping[str, Any], audit: Path | None = None
) -> None:
    """Write down what a person was asked and how they answered; NotRecorded.

    Args:
        plan: What it was about.
        surface: Where they were asked: "terminal", "window", or "host".
        event: "granted", or "declined".
        fields: What else is known of the answer.
        audit: The folder of the logs; None for the usual one.
    """
    skill = plan.header["skill"]["name"]
    root = plan.header["root"]
    names = [scene["path"] for scene in islice(plan.scenes(), 5)]
    about = {
        "question": plan.id,
        "message": f"Let {skill} change {plan.asks:,} of {plan.count:,} scenes below {root}?",
        "surface": surface,
        "objects": plan.count,
        "names": names,
    }
    answer = {"question": plan.id, "by": "host", **fields}
    _record(plan, [("asked", about), (event, answer)], audit)


def record_end(plan: Plan, status: str, scenes: Mapping[str, int], *, is_changed: bool) -> None:
    """Write down what a commit or a rollback did, and how many scenes are in which state."""
    _record(plan, [("end", {"status": status, "changed": is_changed, "scenes": dict(scenes)})])


def _record(
    plan: Plan, events: Sequence[tuple[str, Mapping[str, Any]]], audit: Path | None = None
) -> None:
    """Write events of a plan into the audit log, which has a file for them; NotRecorded."""
    facts = {
        "call": f"batch-{plan.id}",
        "skill": plan.header["skill"]["name"],
        "client": None,
        "title": f"{plan.header['skill']['name']} in {plan.count:,} scenes",
        "digest": plan.header["skill"]["sha256"],
        "arguments": plan.header["arguments"],
        "objects_digest": plan.digest,
    }
    whole = [(event, {**facts, **fields}) for event, fields in events]
    about = {"host": plan.header["host"], "batch": plan.digest}
    record_events(about, whole, audit or Settings.load().under().audit)


def check(plan: Plan, consent: str = "") -> str:
    """Return the name of the user who agreed to a plan.

    Args:
        plan: What is to be run.
        consent: The digest of the consent that counts, on a farm; "" for the user's own.

    Raises:
        NotApproved: The plan may not be run. It says what is missing.
    """
    entry = _read(plan.folder)
    why = ""
    if entry is not None:
        try:
            return _checked(plan, entry, consent)
        except NotApproved as error:
            why = f" {error}"
    raise NotApproved(
        f"Somebody must approve the plan before it is run.{why} "
        f"Next: dcc-bridge batch approve {plan.folder}"
    )


def digest(plan: Plan) -> str:
    """Return the digest of the consent to a plan, by which a farm's worker knows it. OSError."""
    return files.digest_of(files.read_json(plan.folder / FILE))


def _checked(plan: Plan, entry: Mapping[str, Any], consent: str) -> str:
    """Return who gave a consent; NotApproved says why it does not count."""
    try:
        name = str(entry["name"])
        subject = (entry["plan"], entry["skill"])
        signed = datetime.fromisoformat(entry["signed"])
        expires = datetime.fromisoformat(entry["expires"])
        is_on_time = signed - timedelta(minutes=5) <= datetime.now(UTC) < expires
        is_signed = files.digest_of(entry) == consent if consent else _is_own(entry)
    except (ValueError, TypeError, KeyError):
        raise NotApproved("The approval was changed.") from None
    if not is_signed:
        raise NotApproved("The approval was changed, or another user gave it.")
    if subject != (plan.digest, plan.header["skill"]["sha256"]):
        raise NotApproved("The approval is for another plan, or for another state of the skill.")
    if not is_on_time:
        raise NotApproved(f"The approval of {name} ended at {when(entry['expires'])}.")
    return name


def _is_own(entry: Mapping[str, Any]) -> bool:
    """Return whether the user has signed a consent with their key."""
    statement = {name: value for name, value in entry.items() if name != "signature"}
    try:
        key = _key()
    except FileNotFoundError:  # they never approved a plan
        return False
    except OSError as error:
        raise NotApproved(str(error)) from None
    return hmac.compare_digest(str(entry["signature"]), _signature(key, statement))


def _read(folder: Path) -> dict[str, Any] | None:
    """Read the consent; None where there is no file, or none that can be read."""
    try:
        entry = files.read_json(folder / FILE)
    except (OSError, ValueError):
        return None
    return entry if isinstance(entry, dict) else None
