"""The settings of a bridge. Any thread.

`Settings.load` takes each setting from its arguments, else from the environment, else the default.
A studio may fix settings in a file that only an administrator can write (`POLICY`). The file wins
over everything else, and `Settings.under` applies it. Its path does not come from the environment,
so that nobody can name another file.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import sysconfig
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_type_hints

log = logging.getLogger(__name__)

PREFIX: Final = "DCC_BRIDGE_"
_POLICIES: Final = {
    "win32": Path(r"C:\ProgramData\dcc_bridge\policy.toml"),
    "darwin": Path("/Library/Application Support/dcc_bridge/policy.toml"),
}
# The studio's file, in TOML: the names of settings with their fixed values.
POLICY: Final = _POLICIES.get(sys.platform, Path("/etc/dcc_bridge/policy.toml"))
# Settings of older versions, which a policy or the environment may still have.
_REMOVED: Final = ("grant_minutes", "host_deadline", "client_deadline")
_AT_LEAST_ONE: Final = ("dialogs_per_minute", "pending_questions")
_LEAST_ANSWER: Final = 4000  # below that an answer says nothing
_KINDS: Final = {bool: "true or false", int: "a whole number", float: "a number"}
_BOOLEANS: Final = {"1": True, "true": True, "0": False, "false": False}  # in the environment


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a bridge.

    Attributes:
        port: The port of the server; 0 for a free one.
        runtime: The user's own folder in which running hosts are found.
        host_dialogs: Whether questions may be drawn in the host.
        question_pictures: Whether a question about a loss at the host shows the scene now and
            after.
        consent: The surface that is asked for consent, where host and client can both be asked.
        input: The surface that is asked for anything else: the "client" first, the "host", or
            "either".
        unattended: The rule where nobody can be asked: "refuse" consent, and take a declared
            fallback for other questions; "deny" every question; or "allow" consent and declared
            fallbacks, and record that.
        allow_list: A file that names the only skills for which "allow" holds, see
            `elicitation.unattended`; None for all.
        edit: Skills of risk "edit" run unasked ("allow") or are asked for first ("ask").
        python: Code of an agent is refused and its tool not listed ("off"), or runs once a person
            has agreed to its text ("ask", or "ask_hash", which keeps no text).
        many: The number of items above which an edit is asked for.
        answer_bytes: How many bytes of text and data a client gets in one answer, at most; what is
            longer is cut. Pictures are not counted.
        session_grants: Whether a person may agree to edits for the session.
        dialogs_per_minute: How many dialogs a client may cause in a minute; the next ones wait.
        pending_questions: How many questions of a client the host draws at a time; the next ones
            wait.
        deadline: Seconds for an answer, in the host's dialog and in the client alike. A call may
            wait as long for the host's main thread.
        log_level: The level from which on the bridge's own log is written.
        audit: The folder for the audit log; None for the usual one of this system.
        user_skills: The folder of the user's own skills; None for the usual one of this system.
        project: The project's folder; its skills are in "skills" below it.
        skills: Further folders of skills; in the environment a list such as PATH.
    """

    port: int = 0
    runtime: Path | None = None
    host_dialogs: bool = True
    question_pictures: bool = True
    consent: Literal["host", "either"] = "host"
    input: Literal["client", "host", "either"] = "client"
    unattended: Literal["refuse", "deny", "allow"] = "refuse"
    allow_list: Path | None = None
    edit: Literal["allow", "ask"] = "allow"
    python: Literal["off", "ask", "ask_hash"] = "ask"
    many: int = 500
    answer_bytes: int = 40_000
    session_grants: bool = True
    dialogs_per_minute: int = 10
    pending_questions: int = 3
    deadline: float = 300.0
    log_level: Literal["debug", "info", "warning", "error"] = "warning"
    audit: Path | None = None
    user_skills: Path | None = None
    project: Path | None = None
    skills: tuple[Path, ...] = ()

    @classmethod
    def load(cls, **arguments: Any) -> Settings:
        """Read the settings from the arguments, else the environment, else the defaults.

        A setting that was removed is ignored, and one warning names its variable.

        Args:
            **arguments: Values by the names of the attributes; None counts as not given.

        Returns:
            The settings.

        Raises:
            ValueError: A variable or a value is wrong; the message names it.
        """
        values = {name: value for name, value in arguments.items() if value is not None}
        for name in _REMOVED:
            variable = PREFIX + name.upper()
            if variable in os.environ:
                _warn_of_removed_variable(variable)
        for name, hint in get_type_hints(cls).items():
            text = os.environ.get(PREFIX + name.upper())
            if text is not None and name not in values:
                values[name] = _read(name, hint, text)
        return cls(**values)

    def __post_init__(self) -> None:
        for name, hint in get_type_hints(type(self)).items():
            _check(name, hint, getattr(self, name))

    def under(self, policy: Path = POLICY) -> Settings:
        """Return the settings with those that the studio fixed.

        A setting that was removed is ignored, and one warning names it.

        Args:
            policy: The studio's file.

        Returns:
            The settings; the same settings if there is no such file.

        Raises:
            ValueError: The file cannot be read, or a line is wrong; the message names the line.
        """
        if not policy.is_file():
            return self
        import tomllib  # only where there is a policy

        try:
            text = policy.read_text(encoding="utf-8")
            fixed = {}
            for name, value in tomllib.loads(text).items():
                if name in _REMOVED:
                    _warn_of_removed(policy, name, _line_of(name, text))
                    continue
                fixed[name] = _read_fixed(name, value, text)
            return replace(self, **fixed)
        except (OSError, ValueError, TypeError) as error:  # no bridge runs without the limits
            raise ValueError(f"The studio's policy {policy} cannot be read: {error}") from error


def data_folder(name: str) -> Path:
    """Return a folder that comes with the package: "plugins" or "resources".

    Raises:
        FileNotFoundError: The folder is not there.
    """
    beside = Path(__file__).parent.parent / name
    shared = Path(sysconfig.get_path("data")) / "share" / "dcc_bridge" / name
    for folder in (beside, shared):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"The folder {name!r} is neither at {beside} nor at {shared}.")


def _check(name: str, hint: Any, value: object) -> None:
    words = [word for word in get_args(hint) if isinstance(word, str)]
    if words and value not in words:
        raise ValueError(f"{name} is {' or '.join(words)}, not {value!r}.")
    if hint is bool and not isinstance(value, bool):
        raise ValueError(f"{name} is bool, not {value!r}.")
    if hint in (int, float):
        _check_number(name, hint, value)
    if hint == Path | None and not isinstance(value, Path | None):
        raise ValueError(f"{name} is a path, not {value!r}.")
    if hint == tuple[Path, ...] and not _are_paths(value):
        raise ValueError(f"{name} is a list of folders, not {value!r}.")


def _check_number(name: str, hint: type, value: object) -> None:
    kinds = (int, float) if hint is float else (int,)
    if not isinstance(value, kinds) or isinstance(value, bool):  # Python's bool is an int
        raise ValueError(f"{name} is {hint.__name__}, not {value!r}.")
    if name in _AT_LEAST_ONE and value < 1:
        raise ValueError(f"{name} is at least 1, not {value!r}.")
    if name == "answer_bytes" and value < _LEAST_ANSWER:
        raise ValueError(f"{name} is at least {_LEAST_ANSWER}, not {value!r}.")
    if value < 0:
        raise ValueError(f"{name} must not be negative, and {value!r} is.")


def _are_paths(value: object) -> bool:
    if not isinstance(value, tuple):
        return False
    return all(isinstance(path, Path) for path in value)


def _read_fixed(name: str, value: object, text: str) -> Any:
    """Return a value of the studio's file; ValueError if it is wrong, with the line."""
    hints = get_type_hints(Settings)
    line = _line_of(name, text)
    if name not in hints:
        from difflib import get_close_matches  # only where there is a slip

        advice = f"The settings are: {', '.join(hints)}."
        near = get_close_matches(name, hints, n=1)
        if near:
            advice = f"Did you mean {near[0]!r}?"
        raise ValueError(f"line {line}: there is no setting {name!r}. {advice}")
    fixed = _convert(hints[name], value)
    try:
        _check(name, hints[name], fixed)
    except ValueError as error:
        raise ValueError(f"line {line}: {error}") from None
    return fixed


@cache  # a command reads the settings several times
def _warn_of_removed(policy: Path, name: str, line: int) -> None:
    log.warning(
        "The studio's policy %s, line %d: the setting %r was removed and has no effect. Delete the "
        "line.",
        *(policy, line, name),
    )


@cache
def _warn_of_removed_variable(variable: str) -> None:
    log.warning(
        "The variable %s has no effect: its setting was removed. Delete the variable.", variable
    )


def _line_of(name: str, text: str) -> int:
    """Return the number of the line of a TOML file that sets a name, or begins its table."""
    start = re.compile(rf"""[\s\['"]*{re.escape(name)}\b""")
    for number, line in enumerate(text.splitlines(), 1):
        if start.match(line):
            return number
    return 1


def _convert(hint: Any, value: Any) -> Any:
    """Convert a value of the studio's file to the type of its setting."""
    if isinstance(value, list):
        return tuple(Path(path) for path in value)
    if hint == Path | None and isinstance(value, str):
        return Path(value)
    return value


def _read(name: str, hint: Any, text: str) -> Any:
    """Return the value of a setting from its environment variable; ValueError if it is wrong."""
    try:
        if hint is bool:
            return _BOOLEANS[text.lower()]
        if hint == tuple[Path, ...]:
            return tuple(Path(part) for part in text.split(os.pathsep) if part)
        if hint == Path | None:
            return Path(text)
        if hint in (int, float):
            return hint(text)
        return text
    except (KeyError, ValueError):
        sentence = f"{PREFIX}{name.upper()} is {_KINDS[hint]}, not {text!r}."
        raise ValueError(sentence) from None
