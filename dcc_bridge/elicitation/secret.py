"""Secrets: texts that stay out of logs, results and questions.

As long as a secret lives in this process, its text is registered here, so that the text is also
found where a skill revealed it and passed it on. Any thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final, NoReturn

from dcc_bridge.audit.redact import register, registered, without
from dcc_bridge.errors import LeakedSecret

HIDDEN: Final = "Secret(hidden)"
_MIN_SECRET_CHARS: Final = 6  # of a text that is looked for: a shorter one is found by chance


class Secret:
    """A text that a person entered on a page, for the code that needs it and for nobody else.

    A secret prints, formats and logs as `HIDDEN`, and is neither pickled nor turned into JSON. The
    text cannot be wiped from memory, as no Python text can: drop the secret once it was used.
    """

    __slots__ = ("__weakref__", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        register(self)

    def reveal(self) -> str:
        """Return the text. The calling code is responsible for where the text goes."""
        return self._text

    @property
    def hidden(self) -> frozenset[str]:
        """The texts that must not be written down; none for a short secret."""
        if len(self._text) < _MIN_SECRET_CHARS:
            return frozenset()
        return frozenset({self._text})

    def __repr__(self) -> str:
        return HIDDEN

    def __format__(self, spec: str) -> str:
        return format(HIDDEN, spec)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("A secret cannot be pickled or copied; pass it on, or call reveal().")


def refuse_secrets(value: Any, what: str) -> Any:
    """Return a value without secrets.

    Args:
        value: The value; its parts are searched too, however deep, for secrets and their texts.
        what: The name of the value in the error: "the result of sign_in".

    Raises:
        LeakedSecret: The value has a secret in it.
    """
    texts = _texts()
    if texts is not None and _is_in(value, texts):
        raise LeakedSecret(what)
    return value


def redact(text: str) -> str:
    """Return a text without the secrets in it."""
    return without(text, _texts() or (), HIDDEN)


def _texts() -> list[str] | None:
    """Return the texts of the secrets in this process; None where there is no secret at all."""
    secrets = [confidential for confidential in registered() if isinstance(confidential, Secret)]
    if not secrets:
        return None
    texts: list[str] = []
    for secret in secrets:
        texts.extend(secret.hidden)
    return texts


def _is_in(value: Any, texts: list[str]) -> bool:
    """Return whether a secret is in a value; each part is looked at once."""
    seen: dict[int, Any] = {}  # keeps the parts alive, so that no id is used twice
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Secret) or _is_text_of(part, texts):
            return True
        if id(part) not in seen:
            seen[id(part)] = part
            waiting.extend(_parts(part))
    return False


def _is_text_of(part: Any, texts: list[str]) -> bool:
    if isinstance(part, str):
        return any(text in part for text in texts)
    if isinstance(part, bytes | bytearray):
        return any(text.encode() in part for text in texts)
    return False


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        yield from value
        yield from value.values()
    elif isinstance(value, list | tuple | set | frozenset):
        yield from value
    elif is_dataclass(value):
        # A dataclass itself, of which a form is made, has only the fields with defaults.
        yield from (getattr(value, field.name, None) for field in fields(value))
    elif not isinstance(value, type) and hasattr(value, "__dict__"):
        yield from vars(value).values()
