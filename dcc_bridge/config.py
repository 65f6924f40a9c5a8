"""Settings: arguments first, then the environment, then the defaults. Frozen. Any thread.

A studio may fix any of them in a file that only an administrator can write (`POLICY`): what stands
there wins over everything else. Its place is not taken from the environment, so that nobody can
point to another one.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_type_hints

PREFIX: Final = "DCC_BRIDGE_"
POLICY: Final = {
    "win32": Path(r"C:\ProgramData\dcc_bridge\policy.toml"),
    "darwin": Path("/Library/Application Support/dcc_bridge/policy.toml"),
}.get(sys.platform, Path("/etc/dcc_bridge/policy.toml"))
"""The studio's file: the names of `Settings` with the values that are fixed."""


_AT_LEAST_ONE: Final = ("dialogs_per_minute", "pool")


@dataclass(frozen=True, slots=True)
class Settings:
    """How a bridge behaves.

    Attributes:
        port: Where the server listens on 127.0.0.1; 0 takes a free one.
        runtime: The user's own folder in which running hosts are found.
        host_dialogs: Questions may be drawn in the host.
        consent: Who is asked for consent where both could be: the "host", or "either".
        input: Who is asked for anything else: the "client" first, the "host", or "either".
        unattended: Where nobody can be asked: "refuse" what needs consent, or "allow" a declared
            fallback to stand for it. The record says so.
        edit: Skills of risk "edit" run unasked ("allow") or are asked for first ("ask").
        session_grants: A person may agree to edits for the session.
        silent_clients: Labels of clients that declare that they can ask, and draw nothing.
        dialogs_per_minute: Dialogs that a client may cause in a minute; the next ones wait.
        most_waiting: Questions of a client that may wait for their dialog; one more is refused.
        host_deadline: Seconds for an answer in the host's dialog.
        client_deadline: Seconds for an answer in the client.
        busy_deadline: Seconds for an answer in the client while other skills wait.
        session_grace: Seconds that a legacy session may be without a stream while it is asked.
        keepalive: Seconds between two progress notices while a question is open in the host.
        kept: Seconds for which a finished call can still be fetched.
        most_kept: How many finished calls are kept.
        pool: Threads for skills that need not run on the main thread.
    """

    port: int = 0
    runtime: Path | None = None
    host_dialogs: bool = True
    consent: Literal["host", "either"] = "host"
    input: Literal["client", "host", "either"] = "client"
    unattended: Literal["refuse", "allow"] = "refuse"
    edit: Literal["allow", "ask"] = "allow"
    session_grants: bool = True
    silent_clients: tuple[str, ...] = ()
    dialogs_per_minute: int = 10
    most_waiting: int = 50
    host_deadline: float = 45.0
    client_deadline: float = 300.0
    busy_deadline: float = 120.0
    session_grace: float = 5.0
    keepalive: float = 5.0
    kept: float = 120.0
    most_kept: int = 64
    pool: int = field(default=64)

    @classmethod
    def load(cls, **arguments: Any) -> Settings:
        """Read the settings.

        Args:
            **arguments: What was asked for; None stands for "not said".

        Raises:
            ValueError: A variable of the environment cannot be read; names it.
        """
        told = {name: value for name, value in arguments.items() if value is not None}
        hints = get_type_hints(cls)
        for one in fields(cls):
            text = os.environ.get(PREFIX + one.name.upper())
            if text is not None and one.name not in told:
                told[one.name] = _read(one.name, hints[one.name], text)
        return cls(**told)

    def __post_init__(self) -> None:
        """Refuse a value that is not of its kind."""
        hints = get_type_hints(type(self))
        for one in fields(self):
            _check(one.name, hints[one.name], getattr(self, one.name))

    def under(self, policy: Path = POLICY) -> Settings:
        """Give the settings with what the studio fixed.

        Raises:
            ValueError: Its file cannot be read; a bridge that cannot know its limits does not run.
        """
        if not policy.is_file():
            return self
        import tomllib  # only where there is a policy

        try:
            fixed = tomllib.loads(policy.read_text(encoding="utf-8"))
            told: dict[str, Any] = {
                n: tuple(v) if isinstance(v, list) else v for n, v in fixed.items()
            }
            return replace(self, **told)
        except (OSError, ValueError, TypeError) as error:
            raise ValueError(f"The studio's policy {policy} cannot be read: {error}") from error


def data_folder(name: str) -> Path:
    """Find a folder that travels beside the package: "plugins" or "resources".

    Raises:
        FileNotFoundError: The installation is not whole.
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
    kinds: dict[Any, tuple[type, ...]] = {float: (int, float), int: (int,), bool: (bool,)}
    kind = kinds.get(hint)
    if kind and (not isinstance(value, kind) or (hint is not bool and isinstance(value, bool))):
        raise ValueError(f"{name} is {hint.__name__}, not {value!r}.")
    if name in _AT_LEAST_ONE and value < 1:  # type: ignore[operator]  # its kind was just checked
        raise ValueError(f"{name} is at least 1, not {value!r}.")
    if kind and hint is not bool and value < 0:  # type: ignore[operator]  # the same
        raise ValueError(f"{name} is not negative, as {value!r} is.")
    if hint == tuple[str, ...] and not isinstance(value, tuple):
        raise ValueError(f"{name} is a list of texts, not {value!r}.")


def _read(name: str, hint: Any, text: str) -> Any:
    try:
        if hint is bool:
            return {"1": True, "true": True, "0": False, "false": False}[text.lower()]
        if hint == tuple[str, ...]:
            return tuple(part.strip() for part in text.split(",") if part.strip())
        return hint(text) if hint in (int, float) else Path(text) if name == "runtime" else text
    except (KeyError, ValueError):
        raise ValueError(f"{PREFIX}{name.upper()}={text!r} cannot be read as a setting.") from None
