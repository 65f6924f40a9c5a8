"""Our entry in the configuration of an MCP client: added, found, removed. Any thread.

The client's own command does it where it is on PATH. Else the file is read and written with `json`:
as a whole or not at all, after a backup was made. Comments would be lost that way, so a file that
has some is left as it is, and its owner is shown the entry to paste.

The backup is made once, before the first change; no later one overwrites it, for that would hold
our own entry. Once the file holds again what the backup holds, the backup takes its place.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import subprocess
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from dcc_bridge.client.entries import LIMITS, NAME, ClientEntry, ConfigFile

BACKUP: Final = ".before-dcc-bridge"  # the suffix of a backup
_COMMENT_OR_COMMA: Final = re.compile(
    r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/|,(?=(?:\s|//[^\n]*|/\*.*?\*/)*[}\]])', re.DOTALL
)
_TIMEOUT: Final = 60  # seconds for a client's own command: some start a whole runtime


class ByHand(ValueError):
    """A person has to edit a file: it has comments or trailing commas, or is no JSON at all."""


@dataclass(frozen=True, slots=True)
class Change:
    """What was done to a file."""

    file: Path
    is_new: bool  # the file is another one now; else it was as wanted before
    # What the file held before us, if that was just saved or is still needed; or None.
    backup: Path | None = None


def add(config: ConfigFile, label: str, project: Path | None = None) -> Change:
    """Add or correct our entry; ValueError: it cannot be, or is left to a person with ByHand."""
    file, entry = config.path(project), ClientEntry.for_client(label)
    wanted, present = entry.as_object(config.kind), find(config, project)
    if present and "command" in present and config.syntax == "json":  # what is theirs in it stays
        env = {**(present.get("env") or {}), **entry.env}
        wanted = {**present, **wanted} | ({"env": env} if env else {})
    if _is_same(present, wanted):
        return Change(file, is_new=False)
    backup = None
    if project is None and (program := config.own_command()):  # it writes its user's file only
        backup, before = _back_up(file), file.read_bytes() if present is not None else b""
        if present is not None:  # clients refuse a name that they have
            _run_client(program, config.remove_command())
        _run_client(program, config.add_command(entry))
        text, head = _read(file), f"[{config.key}.{NAME}]\n"
        now, more = find(config), f"{head}{LIMITS}\n"
        if present is not None and now is None:  # it removed what it did not add again
            _replace(file, before, mode_of=file)
        elif config.syntax == "toml" and now and not now.keys() & tomllib.loads(LIMITS).keys():
            _replace(file, text.replace(head, more).encode(), mode_of=file)
    if not _is_same(find(config, project), wanted):
        data = _load(config, file, f"Add what `dcc-bridge client print {label}` prints to")
        backup = _back_up(file) or backup
        data.setdefault(config.key, {})[NAME] = wanted
        _write(file, data)
    return Change(file, is_new=True, backup=backup)


def remove(config: ConfigFile, project: Path | None = None) -> Change:
    """Remove our entry, as `add` does; if nothing else was changed, the file is as before us."""
    file = config.path(project)
    if _entry(_parse(_read(file), config.syntax), config.key) is None:
        return Change(file, is_new=False)
    if project is None and (program := config.own_command()):
        _run_client(program, config.remove_command())
    backup = backup_of(file)
    if _is_backup_and_entry(_read(backup), _read(file), config.key):
        _replace(file, backup.read_bytes(), mode_of=file)
        backup.unlink()
    elif find(config, project) is not None:
        data = _load(config, file, f"Remove {NAME!r} from")
        del data[config.key][NAME]
        if data == {config.key: {}} and not backup.exists():  # there was no file before us
            file.unlink()
        else:
            _write(file, data)
    return Change(file, is_new=True, backup=backup if backup.exists() else None)


def find(config: ConfigFile, project: Path | None = None) -> Mapping[str, Any] | None:
    """Give our entry in a file; None where it is not there, or the file cannot be read."""
    try:
        return _entry(_parse(_read(config.path(project)), config.syntax), config.key)
    except (OSError, ValueError):
        return None


def problem(config: ConfigFile) -> str:
    """Say why the user's file cannot be read, if it is JSON; "" where it can."""
    try:
        if config.syntax == "json":
            _parse(_read(config.path()))
    except (OSError, ValueError) as error:
        return f"cannot be read: {error}"
    return ""


def has_comments(config: ConfigFile) -> bool:
    """Whether the user's file has comments or trailing commas, so `add` leaves it alone."""
    text = _read(config.path())
    return config.syntax == "json" and any(not it[1] for it in _COMMENT_OR_COMMA.finditer(text))


def backup_of(file: Path) -> Path:
    """Say where the backup of a file is, or would be."""
    real = Path(os.path.realpath(file))
    return real.with_name(real.name + BACKUP)


def _entry(data: Mapping[str, Any], key: str) -> Mapping[str, Any] | None:
    servers = data.get(key)
    entry = servers.get(NAME) if isinstance(servers, Mapping) else None
    return entry if isinstance(entry, Mapping) else None


def _is_same(entry: Mapping[str, Any] | None, wanted: Mapping[str, Any]) -> bool:
    """Whether two entries start the same; a client's own command may leave out what is usual."""
    return entry is not None and all(
        (entry.get(key) or None) == (wanted.get(key) or None) for key in ("command", "args", "env")
    )


def _is_backup_and_entry(backup: str, text: str, key: str) -> bool:
    """Whether a text holds what a backup without our entry does, and that entry and its list."""
    if not backup or _comments(backup) != _comments(text):
        return False
    try:
        return _entry(_parse(backup), key) is None and _others(backup, key) == _others(text, key)
    except ValueError:  # the backup is none of ours
        return False


def _others(text: str, key: str) -> dict[str, Any]:
    """Give all that a text holds but our entry, and but the list of servers if it has no other."""
    data = _parse(text)
    servers = data.pop(key, None) or {}
    others = {name: server for name, server in servers.items() if name != NAME}
    return {**data, key: others} if others else data


def _run_client(program: str, words: list[str]) -> None:
    """Run a client's own command. Whether it has done its work is seen in the file."""
    nobody = subprocess.DEVNULL
    with suppress(OSError, subprocess.SubprocessError):
        if words:
            subprocess.run([program, *words], stdin=nobody, capture_output=True, timeout=_TIMEOUT)


def _load(config: ConfigFile, file: Path, do: str) -> dict[str, Any]:
    """Read a file that is to be written; ByHand says what a person has to `do` to it instead."""
    if config.syntax != "json":
        raise ByHand(f"only its own command writes that file. {do} {file} yourself")
    text = _read(file)
    data = _parse(text)
    if not isinstance(data.get(config.key, {}), dict):
        raise ValueError(f"{config.key} is not an object in it")
    try:
        json.loads(text if text.strip() else "{}")
    except ValueError:
        lost = "it has comments or trailing commas, which would be lost"
        raise ByHand(f"{lost}. {do} {file} yourself") from None
    return data


def _parse(text: str, syntax: str = "json") -> dict[str, Any]:
    """Read TOML, or JSON that may have comments and trailing commas; or raise ValueError."""
    if syntax == "toml":
        return tomllib.loads(text)
    plain = _COMMENT_OR_COMMA.sub(lambda match: match[1] or "\n" * match[0].count("\n"), text)
    try:
        data = json.loads(plain) if plain.strip() else {}
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not valid JSON from line {error.lineno} on") from None
    if not isinstance(data, dict):
        raise ValueError("it does not hold a JSON object")
    return data


def _comments(text: str) -> list[str]:
    return [match[0] for match in _COMMENT_OR_COMMA.finditer(text) if match[0].startswith("/")]


def _read(file: Path) -> str:
    """Read a file; "" where there is none. Some editors begin theirs with a byte order mark."""
    try:
        return file.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return ""


def _write(file: Path, data: Mapping[str, Any]) -> None:
    text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    _replace(file, text.encode("utf-8"), mode_of=file)


def _back_up(file: Path) -> Path | None:
    """Copy a file; None where there is none, or there is a backup."""
    backup = backup_of(file)
    if not file.exists() or os.path.lexists(backup):
        return None
    _replace(backup, file.read_bytes(), mode_of=file)
    return backup


def _replace(file: Path, content: bytes, *, mode_of: Path) -> None:
    """Write a whole file or nothing, with the permissions of `mode_of`, or its owner's alone."""
    file = Path(os.path.realpath(file))  # a link leads to the same file as before
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f".{file.name}.{secrets.token_hex(4)}.new")
    try:
        with open(new, "xb", opener=partial(os.open, mode=0o600)) as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        if mode_of.exists():
            shutil.copymode(mode_of, new)
        os.replace(new, file)
    finally:
        new.unlink(missing_ok=True)
