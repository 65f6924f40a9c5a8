"""Redaction: what may stand in the audit log, and in the records of `logging`. Any thread.

The audit log may hold of a value: nothing hidden, only what JSON can carry, and not too much.

Whatever holds texts that must not be written down registers itself, and stays registered for as
long as it lives. The log takes all of these texts out of everything that it writes.

A value is hidden where its schema says ``"writeOnly": true``, ``"format": "password"``,
``"x-redact": true`` or ``"redact": true``. With pydantic: ``SecretStr``, or
``Annotated[str, Field(json_schema_extra={"redact": True})]``.
"""

from __future__ import annotations

import json
import logging
import math
import re
import threading
import traceback
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from hashlib import sha256
from itertools import islice
from typing import Any, Final, Protocol

HIDDEN: Final = "(hidden)"  # what stands in the place of a hidden value
MARKS: Final = frozenset({"writeOnly", "x-redact", "redact"})  # words of a schema that hide
_SHORTEST: Final = 4  # characters; a shorter text would be found in every other one

MOST_NAMES: Final = 50  # how many items of a list are written; the others are counted
_MOST_TEXT: Final = 20_000
_MOST_FIELD: Final = 65_536
_DEEPEST: Final = 8

Schema = Mapping[str, Any]
_PREFIXES: Final = ("dcc_bridge", "mcp", "uvicorn", "httpx2", "httpcore2", "sse_starlette")
# The code of a token, and the secret from which it is derived; any other digest goes too.
_TOKEN: Final = re.compile(r"\b[0-9a-f]{64}\b")
GONE: Final = "[redacted]"
_registry_lock: Final = threading.Lock()
_registry: Final[weakref.WeakSet[Confidential]] = weakref.WeakSet()
_arguments: Final[weakref.WeakValueDictionary[str, Redacted]] = weakref.WeakValueDictionary()


class Confidential(Protocol):
    """Something that holds texts which must not be written down."""

    @property
    def hidden(self) -> Set[str]:
        """The texts."""


def register(confidential: Confidential) -> None:
    """Take the texts of something out of all that is written down, for as long as it lives."""
    with _registry_lock:
        _registry.add(confidential)


def hidden_texts(call: object) -> list[str]:
    """List what must not be written of a call: all living secrets, its own hidden arguments."""
    with _registry_lock:
        arguments = _arguments.get(str(call))
    owners: list[Confidential] = [*registered(), *([arguments] if arguments is not None else [])]
    return [text for confidential in owners for text in confidential.hidden]


def registered() -> list[Confidential]:
    """List what is registered and lives."""
    with _registry_lock:
        return list(_registry)


def is_hidden(schema: Schema) -> bool:
    """Whether values of a schema must not be written down."""
    return schema.get("format") == "password" or any(schema.get(name) is True for name in MARKS)


class Redacted:
    """A value of which nothing hidden can be seen."""

    def __init__(
        self, value: object = None, schema: Schema | None = None, call: str | None = None
    ) -> None:
        """Hide what a schema hides: in the record of the call of an id alone, or in every one."""
        self._root: Schema = schema or {}
        self.hides = False  # something is hidden, be it too short to be looked for in other texts
        hidden: set[str] = set()
        # before the skill runs, which may change what it was given
        # The value, with `HIDDEN` in the place of what must not be seen.
        self.value: Any = self._show(value, [schema], hidden) if schema else value
        self.hidden = frozenset(text for text in hidden if len(text) >= _SHORTEST)
        if self.hidden and call is None:
            register(self)
        elif self.hidden:
            with _registry_lock:
                _arguments[str(call)] = self

    def scrub(self, value: Any) -> Any:
        """Take what is hidden here out of other texts too: a message, an error."""
        return each_text(value, lambda text: without(text, self.hidden)) if self.hidden else value

    def _show(self, value: object, schemas: Iterable[Schema], hidden: set[str]) -> Any:
        branches = list(self._branches(schemas))
        if any(is_hidden(branch) for branch in branches):
            self.hides = True
            hidden.update(_texts(value))
            return HIDDEN
        if isinstance(value, Mapping):
            return {n: self._show(v, _members(branches, n), hidden) for n, v in value.items()}
        if isinstance(value, list | tuple):
            items = enumerate(value)
            return [self._show(item, _elements(branches, at), hidden) for at, item in items]
        return value

    def _branches(self, schemas: Iterable[Schema]) -> Iterator[Schema]:
        """Give all schemas that a value may be meant to fit."""
        waiting, seen = list(schemas), set[int]()
        while waiting:
            schema = waiting.pop()
            if not isinstance(schema, Mapping) or id(schema) in seen:
                continue
            seen.add(id(schema))
            yield schema
            for word in ("anyOf", "oneOf", "allOf"):
                waiting.extend(schema.get(word, ()))
            waiting.extend(self._referred(schema.get("$ref")))

    def _referred(self, name: object) -> Iterator[Schema]:
        if isinstance(name, str) and name.startswith("#/"):
            schema: Any = self._root
            for part in name[2:].split("/"):
                schema = schema.get(part, {}) if isinstance(schema, Mapping) else {}
            yield schema


def as_json(value: object, hidden: Sequence[str] = ()) -> Any:
    """Give a value as JSON can carry it, without hidden texts, and cut where it is too much."""
    plain = _plain(value, _DEEPEST, hidden)
    text = json.dumps(plain)
    if len(text) <= _MOST_FIELD:
        return plain
    return {"cut": text[:_MOST_TEXT], "length": len(text), "sha256": digest(plain)}


def digest(value: object) -> str:
    """Give the SHA-256 of a value as canonical JSON."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
    return sha256(text.encode()).hexdigest()


def names(items: Iterable[str]) -> list[str]:
    """Give the first names of a list."""
    return list(islice(items, MOST_NAMES))


def each_text(value: Any, change: Callable[[str], str]) -> Any:
    """Change every text in a value, however deep."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {name: each_text(member, change) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [each_text(item, change) for item in value]
    return value


def _members(branches: Iterable[Schema], name: str) -> Iterator[Schema]:
    for branch in branches:
        named = branch.get("properties", {})
        yield named[name] if name in named else branch.get("additionalProperties", {})


def _elements(branches: Iterable[Schema], at: int) -> Iterator[Schema]:
    for branch in branches:
        first = branch.get("prefixItems", ())
        yield first[at] if at < len(first) else branch.get("items", {})


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)


def without(text: str, hidden: Iterable[str], instead: str = HIDDEN) -> str:
    """Give a text with `instead` in the place of each hidden one."""
    for secret in sorted(hidden, key=len, reverse=True):  # a longer one may hold a shorter one
        text = text.replace(secret, instead)
    return text


def _plain(value: object, deep: int, hidden: Sequence[str]) -> Any:
    match value:
        case None | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case Mapping() if deep:
            kept = islice(value.items(), MOST_NAMES)
            more = len(value) - MOST_NAMES
            cut = {"…": f"and {more:,} more"} if more > 0 else {}
            return {_text(n, hidden): _plain(member, deep - 1, hidden) for n, member in kept} | cut
        case list() | tuple() | set() | frozenset() if deep:
            kept_items = [_plain(item, deep - 1, hidden) for item in islice(value, MOST_NAMES)]
            more = len(value) - MOST_NAMES
            return [*kept_items, f"… and {more:,} more"] if more > 0 else kept_items
    text = _text(value, hidden)
    return text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]}… ({len(text):,} characters)"


def _text(value: object, hidden: Sequence[str]) -> str:
    return without(value if isinstance(value, str) else str(value), hidden)


class _LogFilter(logging.Filter):
    """Takes out of records what may be a token, and makes visible what is hidden in them.

    Attributes:
        visible: Returns a text with nothing hidden in it; set by `install_log_filter`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.visible: Callable[[str], str] = str

    def filter(self, record: logging.LogRecord) -> bool:
        """Clean the message, the traceback and the stack of a record; always let it pass."""
        try:
            message = record.getMessage()
        except (TypeError, ValueError):  # the arguments do not fit; logging reports that itself
            message = f"{record.msg} {record.args}"
        cleaned = self.clean(message)
        if cleaned != message:
            record.msg, record.args = cleaned, ()
        if record.exc_info and record.exc_info[1] is not None:
            text = "".join(traceback.format_exception(record.exc_info[1])).rstrip()
            cleaned = self.clean(text)
            if cleaned != text:
                record.exc_info, record.exc_text = None, cleaned
        if record.stack_info:
            record.stack_info = self.clean(record.stack_info)
        return True

    def clean(self, text: str) -> str:
        """Return a text without tokens, and with nothing hidden in it."""
        return self.visible(redact_tokens(text))


LOG_FILTER: Final = _LogFilter()  # cleans the records that pass it


def redact_tokens(text: str) -> str:
    """Give a text without what may be the code of a token."""
    return _TOKEN.sub(GONE, text)


def install_log_filter(visible: Callable[[str], str]) -> None:
    """Add the filter to every logger of ours that exists; a second time does no harm.

    It is called again after later imports, since a filter on a logger is not inherited. `visible`
    returns a text with nothing hidden in it.
    """
    LOG_FILTER.visible = visible
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in _PREFIXES:
            logging.getLogger(name).addFilter(LOG_FILTER)
