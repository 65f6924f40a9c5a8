"""One consent for a plan: who gave it, signed, and for how long. Any thread.

A signature is Ed25519 (RFC 8032), over the plan's digest, the skill's digest, a name and two times.
Its private key is a file that only the user can read, made when it is first needed; whoever can
read it is that user. A worker of a farm has no key: it is told which ones to trust.

The studio's file `POLICY` may name the keys that count, how many people must agree, at least 1, and
for how many hours a consent holds at most. Without "keys" the user's own key counts, and no two
people can agree::

    approvers = 2
    hours = 8
    keys = ["<what `dcc-bridge batch key` prints>", ...]
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, Final

import platformdirs
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from dcc_batch import files
from dcc_batch.plan import HEADER, Plan, PlanError, user, when
from dcc_bridge import config, private_files
from dcc_bridge.audit.log import AuditLog, log_folder

FILE: Final = "approval.json"
POLICY: Final = config.POLICY.with_name("batch.toml")  # only an administrator can write it
HOURS: Final = 72.0
MOST_HOURS: Final = 8_760.0  # a year
_PURPOSE: Final = "dcc-bridge batch approval 1"  # so that a signature is good for nothing else


NOTHING: Final = "No scene would be changed, so there is nothing to approve."


class NotApproved(Exception):
    """A plan may not be run. A sentence for the person."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Whose consent counts, and how many people must give it."""

    keys: frozenset[str]  # public keys, in hexadecimal
    approvers: int = 1  # how many different ones
    hours: float = MOST_HOURS  # how long it holds at most

    @classmethod
    def read(cls, policy: Path = POLICY, trusted: Iterable[str] = ()) -> Rule:
        """Read the studio's file; where it names no keys, the user's own and those `trusted` count.

        Not the latter where it wants several people: whoever hands a job in names them, maybe two
        of their own.

        NotApproved: the file cannot be read; whoever cannot know the rule runs nothing.
        """
        keys = frozenset(trusted)
        if not policy.is_file():
            return cls(cls._own(keys))
        try:
            fixed = tomllib.loads(policy.read_text(encoding="utf-8"))
            count, listed = fixed.get("approvers", 1), fixed.get("keys")
            if type(count) is not int or count < 1:
                raise ValueError("approvers is a whole number, at least 1")
            hours = check_hours(fixed.get("hours", MOST_HOURS))
            if listed is not None:
                return cls(frozenset(map(str, listed)), count, hours)
            return cls(cls._own(keys if count == 1 else frozenset()), count, hours)
        except (OSError, ValueError, TypeError) as error:
            raise NotApproved(f"The studio's policy {policy} cannot be read: {error}") from None

    @staticmethod
    def _own(keys: frozenset[str]) -> frozenset[str]:
        return keys | ({public_key()} if (key_folder() / "key").exists() else set())

    def people(self, wanted: int) -> int:
        """Give how many people must agree where somebody wants so many, or more.

        NotApproved: the keys of fewer count here.
        """
        count, wanted = max(1, len(self.keys)), max(wanted, self.approvers)
        if wanted > count:
            raise NotApproved(
                f"{wanted} people would have to approve the plan, and the keys of {count} count "
                f"here. Their keys must be in {POLICY}: `dcc-bridge batch key` prints each."
            )
        return wanted


def check_hours(hours: object) -> float:
    """Give for how long a consent holds; ValueError says what it must be."""
    is_bool = isinstance(hours, bool)
    if isinstance(hours, int | float) and not is_bool and 1 <= hours <= MOST_HOURS:  # NaN is not
        return float(hours)
    raise ValueError(f"1 to {MOST_HOURS:g} hours, not {hours}")


def key_folder() -> Path:
    """Give the folder of the user's key."""
    return platformdirs.user_state_path("dcc_bridge") / "batch"


def public_key() -> str:
    """Give the user's public key, in hexadecimal; the pair is made if need be."""
    return _private_key().public_key().public_bytes_raw().hex()


def _private_key() -> Ed25519PrivateKey:
    file = private_files.folder(key_folder()) / "key"
    try:
        with open(private_files.create(file), "wb") as out:
            key = Ed25519PrivateKey.generate()
            out.write(key.private_bytes_raw())
            return key
    except FileExistsError:
        with open(private_files.open_own(file), "rb") as stream:
            return Ed25519PrivateKey.from_private_bytes(stream.read())


def approve(
    plan: Plan, hours: float = HOURS, audit: Path | None = None, by: str = "terminal"
) -> dict[str, Any]:
    """Sign a plan as the user, and write it down beside the plan and in the audit log.

    Args:
        plan: What they agreed to.
        hours: How long it holds, if the studio's policy allows that.
        audit: The folder of the logs; None for the usual one.
        by: Where they did: "terminal", "window", or "host".

    Raises:
        NotRecorded: It cannot be put on record, which comes first.
        PlanError: The skill was changed, or no scene would be.
        NotApproved: The studio's policy cannot be read.
    """
    check_worth(plan)
    plan.check_skill()
    now, hours = datetime.now(UTC), min(hours, Rule.read().hours)
    statement = {
        "purpose": _PURPOSE,
        "plan": plan.digest,
        "skill": plan.header["skill"]["sha256"],
        "name": user(),
        "key": public_key(),
        "signed": now.isoformat(timespec="seconds"),
        "expires": (now + timedelta(hours=hours)).isoformat(timespec="seconds"),
    }
    signature = _private_key().sign(files.canonical(statement)).hex()
    facts = {name: statement[name] for name in ("name", "expires", "key")}
    record_answer(plan, by, "granted", facts, audit)
    entry = {**statement, "signature": signature}
    with files.locked(plan.folder / HEADER):  # another person may sign at the same time
        others = [it for it in _read(plan.folder) if it.get("key") != statement["key"]]
        files.write_json(plan.folder / FILE, [*others, entry])
    return entry


def check_worth(plan: Plan) -> None:
    """Have a plan change a scene; PlanError: it would change none, so nobody is asked."""
    if not plan.asks:
        raise PlanError(NOTHING)


def withdraw(plan: Plan) -> None:
    """Take all consents to a plan back: it is not run again before it is approved again."""
    with files.locked(plan.folder / HEADER):
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
    skill, root = plan.header["skill"]["name"], plan.header["root"]
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
    plan: Plan, events: Iterable[tuple[str, Mapping[str, Any]]], audit: Path | None = None
) -> None:
    """Write events of a plan into the audit log, which has a file for them; NotRecorded."""
    folder = log_folder(audit or config.Settings.load().under().audit)
    log = AuditLog(folder, {"host": plan.header["host"], "batch": plan.digest})
    facts = {
        "call": f"batch-{plan.id}",
        "skill": plan.header["skill"]["name"],
        "client": None,
        "title": f"{plan.header['skill']['name']} in {plan.count:,} scenes",
        "digest": plan.header["skill"]["sha256"],
        "arguments": plan.header["arguments"],
        "objects_digest": plan.digest,
    }
    try:
        log(*((event, {**facts, **fields}) for event, fields in events), durable=True)
    finally:
        log.close()


def check(plan: Plan, rule: Rule) -> list[str]:
    """Give the names of those who agreed to a plan; NotApproved says what is missing."""
    wanted = max(1, rule.approvers, int(plan.header["approvers"]))
    names: dict[str, str] = {}
    why = ""
    for entry in _read(plan.folder):
        try:
            names[entry["key"]] = _checked(plan, entry, rule)
        except NotApproved as error:
            why = f" {error}"
    if len(names) < wanted:
        people = f"{wanted} people" if wanted > 1 else "Somebody"
        so_far = f", and {len(names)} did so far" if names else ""
        raise NotApproved(
            f"{people} must approve the plan before it is run{so_far}.{why} "
            f"Next: dcc-bridge batch approve {plan.folder}"
        )
    return list(names.values())


def _checked(plan: Plan, entry: Mapping[str, Any], rule: Rule) -> str:
    """Verify a signature; NotApproved says what is wrong with it."""
    statement = {name: value for name, value in entry.items() if name != "signature"}
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(entry["key"]))
        key.verify(bytes.fromhex(entry["signature"]), files.canonical(statement))
        signed, expires = (datetime.fromisoformat(entry[it]) for it in ("signed", "expires"))
        name, subject = str(entry["name"]), (entry["purpose"], entry["plan"], entry["skill"])
        ends = min(expires, signed + timedelta(hours=rule.hours))
        is_on_time = signed - timedelta(minutes=5) <= datetime.now(UTC) < ends
    except (InvalidSignature, ValueError, TypeError, KeyError):
        raise NotApproved("A signature does not hold: the approval was changed.") from None
    if subject != (_PURPOSE, plan.digest, plan.header["skill"]["sha256"]):
        raise NotApproved("A signature is for another plan, or for another state of the skill.")
    if not is_on_time:
        raise NotApproved(f"The approval of {name} ended at {when(ends.isoformat())}.")
    if entry["key"] not in rule.keys:
        raise NotApproved(f"The key of {name} is not one that counts here.")
    return name


def _read(folder: Path) -> list[dict[str, Any]]:
    """Read the signatures; none where there is no file, or none that can be read."""
    try:
        entries = files.read_json(folder / FILE)
    except (OSError, ValueError):
        return []
    is_list = isinstance(entries, list) and all(isinstance(it, dict) for it in entries)
    return entries if is_list else []
