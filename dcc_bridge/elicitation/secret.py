"""Secrets: texts that stay out of logs, results and questions. Any thread.

The text of each `Secret` in this process is registered for redaction. So `refuse_secrets` and
`redact` also find the text where a skill revealed the secret and passed the text on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final, NoReturn

from dcc_bridge.audit.redact import register, registered, without
from dcc_bridge.errors import LeakedSecret

HIDDEN: Final = "Secret(hidden)"
_MIN_SECRET_CHARS: Final = 6  # a shorter text would be found by chance in other texts


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
    texts = _secret_texts()
    if texts is not None and _has_secret(value, texts):
        raise LeakedSecret(what)
    return value


def redact(text: str) -> str:
    """Return a text without the secrets in it."""
    return without(text, _secret_texts() or (), HIDDEN)


def _secret_texts() -> list[str] | None:
    """Return the texts of the secrets in this process; None where there is no secret at all."""
    secrets = [confidential for confidential in registered() if isinstance(confidential, Secret)]
    if not secrets:
        return None
    texts: list[str] = []
    for secret in secrets:
        texts.extend(secret.hidden)
    return texts


def _has_secret(value: Any, texts: list[str]) -> bool:
    """Return whether a value or one of its parts, however deep, is a secret or has its text."""
    seen: dict[int, Any] = {}  # keeps the parts alive, so that no id is used twice
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, Secret) or _has_text(part, texts):
            return True
        if id(part) not in seen:
            seen[id(part)] = part
            pending.extend(_parts(part))
    return False


def _has_text(part: Any, texts: list[str]) -> bool:
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
        # The value may also be the class itself, of which a form is made: there a field without a
        # default has no value.
        yield from (getattr(value, field.name, None) for field in fields(value))
    elif not isinstance(value, type) and hasattr(value, "__dict__"):
        yield from vars(value).values()
