"""One consent for a plan: who gave it, signed, and for how long. Any thread.

A signature is Ed25519 (RFC 8032), over the plan's digest, the skill's digest, a name and two times.
Its private key is a file that only the user can read, made when it is first needed; whoever can
read it is that user. A worker of a farm has no key: it is told which ones to trust.

The studio's file `POLICY` may name the keys that count, and how many people must agree, at least 1.
Without "keys" the user's own key counts, and no two people can agree::

    approvers = 2
    keys = ["<what `dcc-bridge batch key` prints>", ...]
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import platformdirs
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from dcc_batch import files
from dcc_batch.plan import Plan, user
from dcc_bridge import config, private_files
from dcc_bridge.audit.log import AuditLog, log_folder

FILE: Final = "approval.json"
POLICY: Final = config.POLICY.with_name("batch.toml")  # only an administrator can write it
HOURS: Final = 72.0
MOST_HOURS: Final = 8_760.0  # a year
_PURPOSE: Final = "dcc-bridge batch approval 1"  # so that a signature is good for nothing else


class NotApproved(Exception):
    """A plan may not be run. A sentence for the person."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Whose consent counts, and how many people must give it."""

    keys: frozenset[str]  # public keys, in hexadecimal
    approvers: int = 1  # how many different ones

    @classmethod
    def read(cls, policy: Path = POLICY, trusted: Iterable[str] = ()) -> Rule:
        """Read the studio's file; where it names no keys, the user's own and those `trusted` count.

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
            return cls(cls._own(keys) if listed is None else frozenset(map(str, listed)), count)
        except (OSError, ValueError, TypeError) as error:
            raise NotApproved(f"The studio's policy {policy} cannot be read: {error}") from None

    @staticmethod
    def _own(keys: frozenset[str]) -> frozenset[str]:
        return keys | ({public_key()} if (key_folder() / "key").exists() else set())

    def check_count(self, wanted: int) -> None:
        """Have so many people be able to agree; NotApproved: fewer keys count here."""
        count, wanted = max(1, len(self.keys)), max(wanted, self.approvers)
        if wanted > count:
            raise NotApproved(
                f"{wanted} people would have to approve the plan, and the keys of {count} count "
                f"here. Their keys must be in {POLICY}: `dcc-bridge batch key` prints each."
            )


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


def approve(plan: Plan, hours: float = HOURS, audit: Path | None = None) -> dict[str, Any]:
    """Sign a plan as the user, and write it down beside the plan and in the audit log.

    The record comes first: there is no consent that is not on it (NotRecorded). ``audit`` is the
    folder of the logs, None for the usual one. PlanError: the skill was changed.
    """
    plan.check_skill()
    now = datetime.now(UTC)
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
    record(plan, "granted", {"expires": statement["expires"], "key": statement["key"]}, audit)
    others = [it for it in _read(plan.folder) if it.get("key") != statement["key"]]
    entry = {**statement, "signature": signature}
    files.write_json(plan.folder / FILE, [*others, entry])
    return entry


def record(plan: Plan, event: str, fields: Mapping[str, Any], audit: Path | None = None) -> None:
    """Write an event of a plan into the audit log, which has a file for it; NotRecorded."""
    folder = log_folder(audit or config.Settings.load().under().audit)
    log = AuditLog(folder, {"host": plan.header["host"], "batch": plan.digest})
    facts = {
        "call": f"batch-{plan.id}",
        "skill": plan.header["skill"]["name"],
        "client": None,
        "by": "terminal",
        "title": f"{plan.header['skill']['name']} in {plan.count:,} scenes",
        "digest": plan.header["skill"]["sha256"],
        "arguments": plan.header["arguments"],
        "objects": plan.count,
        "objects_digest": plan.digest,
    }
    try:
        log((event, {**facts, **fields}), durable=True)
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
        people = f"{wanted} people" if wanted > 1 else "somebody"
        raise NotApproved(
            f"{people.capitalize()} must approve the plan before it is run, and {len(names)} did: "
            f"dcc-bridge batch approve {plan.folder}.{why}"
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
        is_on_time = signed - timedelta(minutes=5) <= datetime.now(UTC) < expires
    except (InvalidSignature, ValueError, TypeError, KeyError):
        raise NotApproved("A signature does not hold: the approval was changed.") from None
    if subject != (_PURPOSE, plan.digest, plan.header["skill"]["sha256"]):
        raise NotApproved("A signature is for another plan, or for another state of the skill.")
    if not is_on_time:
        raise NotApproved(f"The approval of {name} ended at {entry['expires']}.")
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
