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
_COMMAND_TIMEOUT_S: Final = 60  # for a client's own command: some start a whole runtime


class ByHand(ValueError):
    """A person has to edit a file: its language is not JSON."""


class UnreadableFile(ValueError):
    """A file is not as its client would read it. The message says why, and what to do.

    Attributes:
        why: The reason alone.
    """

    def __init__(self, file: Path, why: object) -> None:
        super().__init__(f"{why}. Correct {file}, then try again")
        self.why = str(why)


@dataclass(frozen=True, slots=True)
class Change:
    """The outcome of `add` or `remove`.

    Attributes:
        file: The client's file.
        is_new: The file was changed; else it was as wanted before.
        backup: The copy of the file from before us, if the copy was just made or is still needed;
            else None.
    """

    file: Path
    is_new: bool
    backup: Path | None = None


def add(config: ConfigFile, label: str, project: Path | None = None) -> Change:
    """Add or correct our entry in a client's file.

    Args:
        config: The file.
        label: What hosts will call the client.
        project: The folder of a project that the entry is for; None for the user's own file.

    Returns:
        The outcome.

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
    if present and "command" in present and config.syntax == "json":
        env = _merged_env(file, present, entry)
        if env:
            wanted["env"] = env
    if _is_same(present, wanted):
        return Change(file, is_new=False)
    backup = None
    program = _user_command(config, project)
    if program is not None:
        backup = _back_up(file)
        _add_by_client(program, config, entry, present)
    present = _entry(config, file)
    if not _is_same(present, wanted):
        if config.syntax != "json":
            _leave_to_person(f"Paste the output of `dcc-bridge client print {label}` into {file}")
        text = _with_entry(file, config.key, wanted, present)
        backup = _back_up(file) or backup
        _replace(file, text.encode(), mode_of=file)
    return Change(file, is_new=True, backup=backup)


def _merged_env(file: Path, present: Mapping[str, Any], entry: ClientEntry) -> dict[str, str]:
    """Return the variables of our entry, with those that the person added in the file."""
    env = present.get("env") or {}
    if not isinstance(env, Mapping):
        raise UnreadableFile(file, f"env of {NAME} is not an object in it")
    return {**env, **entry.env}


def _user_command(config: ConfigFile, project: Path | None) -> str | None:
    """Return the client's own command for the user's file; it does not write a project's file."""
    if project is not None:
        return None
    return config.own_command()


def remove(config: ConfigFile, project: Path | None = None) -> Change:
    """Remove our entry, as `add` does; if nothing else was changed, the file is as before us.

    Args:
        config: The client's file.
        project: The folder of a project; None for the user's own file.

    Returns:
        The outcome.

    Raises:
        ByHand: The file is left to a person.
        UnreadableFile: The file is not as its client would read it. It was not changed.
        ValueError: The client has no file for projects.
        OSError: The file cannot be read or written.
    """
    file = config.path(project)
    if _entry(config, file) is None:
        return Change(file, is_new=False)
    program = _user_command(config, project)
    if program is not None:
        _run_client(program, config.remove_command())
    backup = backup_of(file)
    if _is_backup_and_entry(config, backup, file):
        _replace(file, backup.read_bytes(), mode_of=file)
        backup.unlink()
    elif _entry(config, file) is not None:
        if config.syntax != "json":
            _leave_to_person(f"Remove {NAME!r} from {file}")
        _remove_entry(file, config.key, had_file=backup.exists())
    if not backup.exists():
        return Change(file, is_new=True)
    return Change(file, is_new=True, backup=backup)


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
    """Return the path of a file's backup, which need not be there."""
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
            entry = None
            if isinstance(servers, Mapping):
                entry = servers.get(NAME)
        else:
            return None
    except RecursionError:
        raise UnreadableFile(file, "it is nested too deeply") from None
    except ValueError as error:
        raise UnreadableFile(file, error) from None
    if not isinstance(entry, Mapping):
        return None
    return entry


def _is_same(entry: Mapping[str, Any] | None, wanted: Mapping[str, Any]) -> bool:
    """Return whether an entry starts the same program; an empty member may be left out."""
    if entry is None:
        return False
    for key in ("command", "args", "env"):
        value = entry.get(key) or None
        wanted_value = wanted.get(key) or None
        if value != wanted_value:
            return False
    return True


def _with_entry(
    file: Path, key: str, wanted: Mapping[str, Any], present: Mapping[str, Any] | None
) -> str:
    """Return the text of a file with our entry. Members that we do not need to change stay."""
    text = _read(file)
    try:
        if not present or "command" not in present:
            return Document(text).set((key, NAME), wanted)
        for name, value in wanted.items():
            if name == "env" and present.get(name):
                text = _with_env(text, (key, NAME, name), value, present[name])
            elif present.get(name) != value:
                text = Document(text).set((key, NAME, name), value)
    except ValueError as error:
        raise UnreadableFile(file, error) from None
    return text


def _with_env(
    text: str, path: tuple[str, ...], wanted: Mapping[str, Any], present: Mapping[str, Any]
) -> str:
    """Return a text with the variables of our entry, which stand at a path."""
    for variable, value in wanted.items():
        if present.get(variable) != value:
            text = Document(text).set((*path, variable), value)
    return text


def _remove_entry(file: Path, key: str, *, had_file: bool) -> None:
    """Remove our entry from a file, and the file too if we made it and nothing else is in it."""
    text = _read(file)
    is_ours = not had_file and not file.is_symlink()
    if is_ours and _without_entry(text, key) == ["{", "}"]:
        file.unlink()
    else:
        _replace(file, Document(text).remove(key, NAME).encode(), mode_of=file)


def _is_backup_and_entry(config: ConfigFile, backup: Path, file: Path) -> bool:
    """Return whether a file says the same as its backup, but for our entry."""
    if config.syntax != "json" or not backup.exists():
        return False
    try:
        if _entry(config, backup) is not None:
            return False
        content_before = _without_entry(_read(backup), config.key)
        return content_before == _without_entry(_read(file), config.key)
    except ValueError:  # the backup is none of ours
        return False


def _without_entry(text: str, key: str) -> list[str]:
    """Return the tokens of a text without our entry, and without the list of servers if empty."""
    rest = Document(Document(text).remove(key, NAME))
    if rest.is_empty(key):
        rest = Document(rest.remove(key))
    return rest.significant()


def _add_by_client(
    program: str, config: ConfigFile, entry: ClientEntry, present: Mapping[str, Any] | None
) -> None:
    """Add our entry by a client's own command, in place of the entry that is `present`."""
    file = config.path()
    content_before = b""
    if present is not None:  # clients refuse a name that they have
        content_before = file.read_bytes()
        _run_client(program, config.remove_command())
    _run_client(program, config.add_command(entry))
    added = find(config)
    if present is not None and added is None:  # the command removed an entry, and added none
        _replace(file, content_before, mode_of=file)
    elif config.syntax == "toml" and added:
        _add_limits(config, file, added)


def _add_limits(config: ConfigFile, file: Path, entry: Mapping[str, Any]) -> None:
    """Add our time limits to an entry in TOML that has none."""
    if entry.keys() & tomllib.loads(LIMITS).keys():
        return
    heading = f"[{config.key}.{NAME}]\n"
    text = _read(file).replace(heading, f"{heading}{LIMITS}\n")
    _replace(file, text.encode(), mode_of=file)


def _leave_to_person(instruction: str) -> NoReturn:
    raise ByHand(f"only its own command writes that file. {instruction} yourself")


def _run_client(program: str, words: list[str]) -> None:
    """Run a client's own command. The file shows whether the command has done its work."""
    if not words:
        return
    with suppress(OSError, subprocess.SubprocessError):
        subprocess.run(
            [program, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_COMMAND_TIMEOUT_S,
        )


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
    """Copy a file to its backup; None where there is no file, or a backup already."""
    backup = backup_of(file)
    if not file.exists() or os.path.lexists(backup):
        return None
    _replace(backup, file.read_bytes(), mode_of=file)
    return backup


def _replace(file: Path, content: bytes, *, mode_of: Path) -> None:
    """Write a whole file or nothing.

    The file gets the permissions of `mode_of`. Where that is not there, only the owner may read
    the file.
    """
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
