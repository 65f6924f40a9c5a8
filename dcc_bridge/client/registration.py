"""Our entry in the configuration of an MCP client: added, found, removed. Any thread.

The client's own command does it where it is on PATH. Else the file is edited in place, so nothing
but our entry changes in it, and written as a whole or not at all, after a backup was made.

The backup is made once, before the first change; no later one overwrites it, for that would hold
our own entry. Once the file holds again what the backup holds, the backup takes its place.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, NoReturn

from dcc_bridge.client.entries import LIMITS, NAME, ClientEntry, ConfigFile
from dcc_bridge.client.jsonc import Document

BACKUP: Final = ".before-dcc-bridge"  # the suffix of a backup
_TIMEOUT: Final = 60  # seconds for a client's own command: some start a whole runtime


class ByHand(ValueError):
    """A person has to edit a file: its language is not JSON."""


class UnreadableFile(ValueError):
    """A file is not as its client would read it; says why, and what to do."""

    def __init__(self, file: Path, why: object) -> None:
        super().__init__(f"{why}. Correct {file}, then try again")
        self.why = str(why)


@dataclass(frozen=True, slots=True)
class Change:
    """What was done to a file."""

    file: Path
    is_new: bool  # the file is another one now; else it was as wanted before
    # What the file held before us, if that was just saved or is still needed; or None.
    backup: Path | None = None


def add(config: ConfigFile, label: str, project: Path | None = None) -> Change:
    """Add or correct our entry in a client's file.

    Args:
        config: The file.
        label: What hosts will call the client.
        project: The folder of a project that the entry is for; None for the user's own file.

    Returns:
        What was done.

    Raises:
        ByHand: The file is left to a person.
        UnreadableFile: The file is not as its client would read it. It was not changed.
        ValueError: The client has no file for projects.
        OSError: The file cannot be read or written.
    """
    file = config.path(project)
    entry = ClientEntry.for_client(label)
    wanted = entry.as_object(config.kind)
    present = _entry(config, file)
    if present and "command" in present and config.syntax == "json":  # what is theirs in it stays
        theirs = present.get("env") or {}
        if not isinstance(theirs, Mapping):
            raise UnreadableFile(file, f"env of {NAME} is not an object in it")
        env = {**theirs, **entry.env}
        if env:
            wanted["env"] = env
    if _is_same(present, wanted):
        return Change(file, is_new=False)
    backup = None
    if project is None and (program := config.own_command()):  # it writes its user's file only
        backup = _back_up(file)
        _add_by_client(program, config, entry, present)
    now = _entry(config, file)
    if not _is_same(now, wanted):
        if config.syntax != "json":
            _leave_to_person(f"Add what `dcc-bridge client print {label}` prints to {file}")
        text = _with_entry(file, config.key, wanted, now)
        backup = _back_up(file) or backup
        _replace(file, text.encode(), mode_of=file)
    return Change(file, is_new=True, backup=backup)


def remove(config: ConfigFile, project: Path | None = None) -> Change:
    """Remove our entry, as `add` does; if nothing else was changed, the file is as before us.

    Args:
        config: The client's file.
        project: The folder of a project; None for the user's own file.

    Returns:
        What was done.

    Raises:
        ByHand: The file is left to a person.
        UnreadableFile: The file is not as its client would read it. It was not changed.
        ValueError: The client has no file for projects.
        OSError: The file cannot be read or written.
    """
    file = config.path(project)
    if _entry(config, file) is None:
        return Change(file, is_new=False)
    if project is None and (program := config.own_command()):
        _run_client(program, config.remove_command())
    backup = backup_of(file)
    if _is_backup_and_entry(config, backup, file):
        _replace(file, backup.read_bytes(), mode_of=file)
        backup.unlink()
    elif _entry(config, file) is not None:
        if config.syntax != "json":
            _leave_to_person(f"Remove {NAME!r} from {file}")
        _remove_entry(file, config.key, had_file=backup.exists())
    return Change(file, is_new=True, backup=backup if backup.exists() else None)


def find(config: ConfigFile, project: Path | None = None) -> Mapping[str, Any] | None:
    """Return our entry in a file; None where it is not there, or the file cannot be read."""
    try:
        return _entry(config, config.path(project))
    except (OSError, ValueError):
        return None


def problem(config: ConfigFile) -> str:
    """Return why the user's file cannot be read, if it is JSON; "" where it can."""
    try:
        if config.syntax == "json":
            _entry(config, config.path())
    except UnreadableFile as error:
        return f"cannot be read: {error.why}"
    except OSError as error:
        return f"cannot be read: {error}"
    return ""


def backup_of(file: Path) -> Path:
    """Say where the backup of a file is, or would be."""
    real = Path(os.path.realpath(file))
    return real.with_name(real.name + BACKUP)


def _entry(config: ConfigFile, file: Path) -> Mapping[str, Any] | None:
    """Return our entry in a file that exists or not; or raise UnreadableFile."""
    text = _read(file)
    try:
        if config.syntax == "json":
            entry = Document(text).get(config.key, NAME)
        elif config.syntax == "toml":
            servers = tomllib.loads(text.removeprefix("\ufeff")).get(config.key)
            entry = servers.get(NAME) if isinstance(servers, Mapping) else None
        else:
            return None
    except RecursionError:
        raise UnreadableFile(file, "it is nested too deeply") from None
    except ValueError as error:
        raise UnreadableFile(file, error) from None
    return entry if isinstance(entry, Mapping) else None


def _is_same(entry: Mapping[str, Any] | None, wanted: Mapping[str, Any]) -> bool:
    """Whether two entries start the same; a client's own command may leave out what is usual."""
    return entry is not None and all(
        (entry.get(key) or None) == (wanted.get(key) or None) for key in ("command", "args", "env")
    )


def _with_entry(
    file: Path, key: str, wanted: Mapping[str, Any], present: Mapping[str, Any] | None
) -> str:
    """Return the text of a file with our entry, in which what we do not want otherwise stays."""
    text = _read(file)
    try:
        if not present or "command" not in present:
            return Document(text).set((key, NAME), wanted)
        for name, value in wanted.items():
            if name == "env" and present.get(name):
                for variable, setting in value.items():
                    if present[name].get(variable) != setting:
                        text = Document(text).set((key, NAME, name, variable), setting)
            elif present.get(name) != value:
                text = Document(text).set((key, NAME, name), value)
    except ValueError as error:
        raise UnreadableFile(file, error) from None
    return text


def _remove_entry(file: Path, key: str, *, had_file: bool) -> None:
    """Remove our entry from a file, and the file too if we made it and nothing else is in it."""
    text = _read(file)
    is_ours = not had_file and not file.is_symlink() and _others(text, key) == ["{", "}"]
    if is_ours:
        file.unlink()
    else:
        _replace(file, Document(text).remove(key, NAME).encode(), mode_of=file)


def _is_backup_and_entry(config: ConfigFile, backup: Path, file: Path) -> bool:
    """Whether a file says what its backup without our entry does, and that entry alone."""
    if config.syntax != "json" or not backup.exists():
        return False
    try:
        if _entry(config, backup) is not None:
            return False
        return _others(_read(backup), config.key) == _others(_read(file), config.key)
    except ValueError:  # the backup is none of ours
        return False


def _others(text: str, key: str) -> list[str]:
    """Return all that a text says but our entry, and but the list of servers if it has no other."""
    rest = Document(Document(text).remove(key, NAME))
    if rest.is_empty(key):
        rest = Document(rest.remove(key))
    return rest.significant()


def _add_by_client(
    program: str, config: ConfigFile, entry: ClientEntry, present: Mapping[str, Any] | None
) -> None:
    """Have a client's own command add our entry, in place of the one that is `present`."""
    file = config.path()
    before = b""
    if present is not None:  # clients refuse a name that they have
        before = file.read_bytes()
        _run_client(program, config.remove_command())
    _run_client(program, config.add_command(entry))
    now = find(config)
    if present is not None and now is None:  # it removed what it did not add again
        _replace(file, before, mode_of=file)
    elif config.syntax == "toml" and now and not now.keys() & tomllib.loads(LIMITS).keys():
        head = f"[{config.key}.{NAME}]\n"
        text = _read(file).replace(head, f"{head}{LIMITS}\n")
        _replace(file, text.encode(), mode_of=file)


def _leave_to_person(do: str) -> NoReturn:
    raise ByHand(f"only its own command writes that file. {do} yourself")


def _run_client(program: str, words: list[str]) -> None:
    """Run a client's own command. Whether it has done its work is seen in the file."""
    nobody = subprocess.DEVNULL
    with suppress(OSError, subprocess.SubprocessError):
        if words:
            subprocess.run([program, *words], stdin=nobody, capture_output=True, timeout=_TIMEOUT)


def _read(file: Path) -> str:
    """Return the text of a file; "" where there is none."""
    try:
        return file.read_bytes().decode()
    except FileNotFoundError:
        if file.is_symlink():
            missing = os.path.realpath(file)
            raise UnreadableFile(file, f"it is a link to {missing}, which is not there") from None
        return ""
    except UnicodeDecodeError:
        raise UnreadableFile(file, "it is not text in UTF-8") from None


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
