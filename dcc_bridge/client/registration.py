"""Adds, finds and removes our entry in the configuration of an MCP client. Any thread.

If the client's own command is on PATH, that command edits the file. Else only our entry is changed
in the text, and the file is written as a whole or not at all.

Before our first change the file is copied to a backup, which is never overwritten: a later copy
would hold our own entry. If `remove` leaves the same content as the backup's, it restores the
backup.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, NoReturn

from dcc_bridge import held_files, store_programs
from dcc_bridge.client.entries import LIMITS, MODULE_WORDS, NAME, ClientEntry, ConfigFile
from dcc_bridge.client.jsonc import Document

_PACKAGE: Final = "dcc_bridge"  # the beginning of the name of each plug-in's folder, too
BACKUP: Final = ".before-dcc-bridge"  # the suffix of a backup
_COMMAND_TIMEOUT_S: Final = 60  # for a client's own command: some start a whole runtime


class ByHand(ValueError):
    """A person has to edit a file: its language is not JSON."""


class UnreadableFile(ValueError):
    """The client could not read its file. The message says why, and what to do.

    Attributes:
        why: Only the reason.
    """

    def __init__(self, file: Path, why: object) -> None:
        super().__init__(f"{why}. Correct {file}, then try again")
        self.why = str(why)


@dataclass(frozen=True, slots=True)
class Change:
    """The outcome of `add` or `remove`.

    Attributes:
        file: The client's file.
        is_new: Whether the file was changed. If not, it needed no change.
        backup: The copy of the file from before our first change, if the copy was just made or is
            still needed.
    """

    file: Path
    is_new: bool
    backup: Path | None = None


def add(config: ConfigFile, label: str, project: Path | None = None) -> Change:
    """Add or correct our entry in a client's file.

    Args:
        config: The file.
        label: The name by which hosts will know the client.
        project: The folder of the project that the entry is for; None for the user's own file.

    Returns:
        The outcome.

    Raises:
        ByHand: A person has to edit the file.
        UnreadableFile: The client could not read the file, which was not changed.
        ValueError: The client has no file for projects, or Windows would put the file elsewhere.
        OSError: The file cannot be read or written.
    """
    file = _checked_path(config, project)
    entry = ClientEntry.for_client(label)
    present = _entry(config, file)
    wanted = _wanted(config, file, entry, present)
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
            _leave_adding_to_person(label, file)
        text = _with_entry(file, config.key, wanted, present)
        backup = _back_up(file) or backup
        _replace(file, text.encode(), mode_of=file)
    return Change(file, is_new=True, backup=backup)


def preview(config: ConfigFile, label: str, project: Path | None = None) -> Change:
    """Return the outcome that `add` would have. Nothing is changed.

    It takes the arguments of `add`, and raises the same errors, but for those of writing.
    """
    file = _checked_path(config, project)
    present = _entry(config, file)
    wanted = _wanted(config, file, ClientEntry.for_client(label), present)
    if _is_same(present, wanted):
        return Change(file, is_new=False)
    if config.syntax == "json":
        _with_entry(file, config.key, wanted, present)  # which raises where it cannot be added
    elif _user_command(config, project) is None:
        _leave_adding_to_person(label, file)
    backup = None
    if _needs_backup(file):
        backup = backup_of(file)
    return Change(file, is_new=True, backup=backup)


def _checked_path(config: ConfigFile, project: Path | None) -> Path:
    """Return the path of a client's file, or raise a ValueError if Windows would redirect it."""
    file = config.path(project)
    redirection = store_programs.redirection(file)
    if redirection:
        raise ValueError(redirection)
    return file


def is_current(config: ConfigFile, label: str) -> bool:
    """Return whether the user's file has our entry, and `add` would change nothing in it.

    Args:
        config: The file.
        label: The name by which hosts will know the client.
    """
    file = config.path()
    entry = ClientEntry.for_client(label)
    try:
        present = _entry(config, file)
        return _is_same(present, _wanted(config, file, entry, present))
    except (OSError, ValueError):
        return False


def _wanted(
    config: ConfigFile, file: Path, entry: ClientEntry, present: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return our entry as it should be, with the variables that the person added to it."""
    wanted = entry.as_object(config.kind)
    if present and "command" in present and config.syntax == "json":
        env = _merged_env(file, present, entry)
        if env:
            wanted["env"] = env
    return wanted


def _merged_env(file: Path, present: Mapping[str, Any], entry: ClientEntry) -> dict[str, str]:
    """Return the variables of our entry, with those that the person added in the file."""
    env = present.get("env") or {}
    if not isinstance(env, Mapping):
        raise UnreadableFile(file, f"env of {NAME} is not an object in it")
    merged = {**env, **entry.env}
    own = entry.env.get("PYTHONPATH", "")
    if own or (_starts_module(present.get("args")) and not _starts_module(entry.args)):
        # The program that is started now must not import the bridge that such a Python imported.
        folders = [own, *_without_bridge(str(env.get("PYTHONPATH", "")))]
        merged["PYTHONPATH"] = os.pathsep.join(filter(None, folders))
        if not merged["PYTHONPATH"]:
            del merged["PYTHONPATH"]
    return merged


def _without_bridge(path: str) -> list[str]:
    """Return the folders of a PYTHONPATH but for those that a bridge is or was imported from."""
    folders = []
    for folder in path.split(os.pathsep):
        if Path(folder, _PACKAGE).is_dir():
            continue
        is_gone = not Path(folder).exists()
        if is_gone and any(part.startswith(_PACKAGE) for part in Path(folder).parts):
            continue
        folders.append(folder)
    return folders


def _starts_module(arguments: object) -> bool:
    """Return whether a Python imports our package, as an entry that an application's panel adds."""
    if not isinstance(arguments, list | tuple):
        return False
    return tuple(arguments[: len(MODULE_WORDS)]) == MODULE_WORDS


def _user_command(config: ConfigFile, project: Path | None) -> str | None:
    """Return the client's own command for the user's file; it does not write a project's file."""
    if project is not None:
        return None
    return config.own_command()


def remove(config: ConfigFile, project: Path | None = None) -> Change:
    """Remove our entry, and restore the backup if nothing else in the file has changed.

    Args:
        config: The client's file.
        project: The folder of a project; None for the user's own file.

    Returns:
        The outcome.

    Raises:
        ByHand: A person has to edit the file.
        UnreadableFile: The client could not read the file, which was not changed.
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
    """Return our entry in a file; None if there is no entry, or the file cannot be read."""
    try:
        return _entry(config, config.path(project))
    except (OSError, ValueError):
        return None


def problem(config: ConfigFile) -> str:
    """Return why the user's file, if it is JSON, cannot be read; else ""."""
    try:
        if config.syntax == "json":
            _entry(config, config.path())
    except UnreadableFile as error:
        return f"cannot be read: {error.why}"
    except OSError as error:
        return f"cannot be read: {error}"
    return ""


def backup_of(file: Path) -> Path:
    """Return the path of a file's backup, which need not exist."""
    real = Path(os.path.realpath(file))
    return real.with_name(real.name + BACKUP)


def _entry(config: ConfigFile, file: Path) -> Mapping[str, Any] | None:
    """Return our entry in a file, which need not exist; or raise UnreadableFile."""
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
    """Return whether an entry starts the same program; a missing member counts as empty."""
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
    """Return the text of a file with our entry. Members that already fit are left as they are."""
    text = _read(file)
    try:
        if not present or "command" not in present:
            return Document(text).set((key, NAME), wanted)
        for name, value in wanted.items():
            if name == "env" and present.get(name):
                text = _with_env(text, (key, NAME, name), value, present[name])
            elif present.get(name) != value:
                text = Document(text).set((key, NAME, name), value)
        for variable in present.get("env") or {}:
            if variable not in wanted.get("env", {}):
                text = Document(text).remove(key, NAME, "env", variable)
    except ValueError as error:
        raise UnreadableFile(file, error) from None
    return text


def _with_env(
    text: str, path: tuple[str, ...], wanted: Mapping[str, Any], present: Mapping[str, Any]
) -> str:
    """Return a text with the `wanted` variables set in the object at a path."""
    for variable, value in wanted.items():
        if present.get(variable) != value:
            text = Document(text).set((*path, variable), value)
    return text


def _remove_entry(file: Path, key: str, *, had_file: bool) -> None:
    """Remove our entry; delete the file if we made it and it is empty now."""
    text = _read(file)
    is_ours = not had_file and not file.is_symlink()
    if is_ours and _without_entry(text, key) == ["{", "}"]:
        file.unlink()
    else:
        _replace(file, Document(text).remove(key, NAME).encode(), mode_of=file)


def _is_backup_and_entry(config: ConfigFile, backup: Path, file: Path) -> bool:
    """Return whether a file has the same content as its backup, apart from our entry."""
    if config.syntax != "json" or not backup.exists():
        return False
    try:
        if _entry(config, backup) is not None:
            return False
        content_before = _without_entry(_read(backup), config.key)
        return content_before == _without_entry(_read(file), config.key)
    except ValueError:  # the backup was not made by us
        return False


def _without_entry(text: str, key: str) -> list[str]:
    """Return the tokens of a text without our entry, and without an empty list of servers."""
    rest = Document(Document(text).remove(key, NAME))
    if rest.is_empty(key):
        rest = Document(rest.remove(key))
    return rest.significant()


def _add_by_client(
    program: str, config: ConfigFile, entry: ClientEntry, present: Mapping[str, Any] | None
) -> None:
    """Add our entry by a client's own command, replacing the entry that is present, if any."""
    file = config.path()
    content_before = b""
    if present is not None:  # clients refuse to add a name twice
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


def _leave_adding_to_person(label: str, file: Path) -> NoReturn:
    _leave_to_person(f"Paste the output of `dcc-bridge client print {label}` into {file}")


def _leave_to_person(instruction: str) -> NoReturn:
    raise ByHand(f"only its own command writes that file. {instruction} yourself")


def _run_client(program: str, words: list[str]) -> None:
    """Run a client's own command. The caller looks at the file to see whether it worked."""
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
    """Return the text of a file; "" if the file does not exist."""
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
    """Copy a file to its backup; return None if there is no file, or already a backup."""
    if not _needs_backup(file):
        return None
    backup = backup_of(file)
    _replace(backup, file.read_bytes(), mode_of=file)
    return backup


def _needs_backup(file: Path) -> bool:
    return file.exists() and not os.path.lexists(backup_of(file))


def _replace(file: Path, content: bytes, *, mode_of: Path) -> None:
    """Write a whole file or nothing.

    The file gets the permissions of `mode_of`. If `mode_of` does not exist, only the owner may read
    the file.
    """
    file = Path(os.path.realpath(file))  # a link leads to the same file as before
    file.parent.mkdir(parents=True, exist_ok=True)
    with held_files.replacing(file) as new:
        with open(new, "xb", opener=partial(os.open, mode=0o600)) as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        if mode_of.exists():
            shutil.copymode(mode_of, new)
