"""Redaction: takes hidden values out of the audit log, and tokens out of `logging`. Any thread.

- `Redacted` is a value without the parts that its schema hides.
- `register` takes an object whose texts are hidden, such as a secret; `hidden_texts` lists the
  texts of all such objects that live. `audit.log` removes these texts from every event.
- `as_json` makes any value JSON, without hidden texts, and not too long.
- `LOG_FILTER` cleans the records of our loggers.

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
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from hashlib import sha256
from itertools import islice
from typing import Any, Final, Protocol, cast

HIDDEN: Final = "(hidden)"
"""Stands in the place of a hidden value."""
MARKS: Final = frozenset({"writeOnly", "x-redact", "redact"})
"""The keywords of a schema that hide its values."""
_MIN_HIDDEN_CHARS: Final = 4
"""A shorter hidden text would be found by chance in other texts."""

MAX_NAMES: Final = 50
"""Items of a list that are recorded. The others are counted."""
_MAX_TEXT_CHARS: Final = 20_000
_MAX_FIELD_CHARS: Final = 65_536
_MAX_DEPTH: Final = 8

Schema = Mapping[str, Any]
_PREFIXES: Final = ("dcc_bridge", "mcp", "uvicorn", "httpx2", "httpcore2", "sse_starlette")
# The code of a token, and the secret from which it is derived; any other digest goes too.
_TOKEN: Final = re.compile(r"\b[0-9a-f]{64}\b")
REDACTED: Final = "[redacted]"
_registry_lock: Final = threading.Lock()
_registry: Final[weakref.WeakSet[Confidential]] = weakref.WeakSet()
_arguments: Final[weakref.WeakValueDictionary[str, Redacted]] = weakref.WeakValueDictionary()


class Confidential(Protocol):
    """An object with texts that must not be recorded."""

    @property
    def hidden(self) -> Set[str]:
        """The texts."""


def register(confidential: Confidential) -> None:
    """Hide the texts of an object in all records, for as long as the object lives."""
    with _registry_lock:
        _registry.add(confidential)


def hidden_texts(call: object) -> list[str]:
    """List the hidden texts for a call's records: all registered ones, and its hidden arguments."""
    with _registry_lock:
        arguments = _arguments.get(str(call))
    confidentials = registered()
    if arguments is not None:
        confidentials.append(arguments)
    texts: list[str] = []
    for confidential in confidentials:
        texts += confidential.hidden
    return texts


def registered() -> list[Confidential]:
    """List the registered objects that still live."""
    with _registry_lock:
        return list(_registry)


def is_hidden(schema: Schema) -> bool:
    """Return whether a schema hides its values."""
    return schema.get("format") == "password" or any(schema.get(name) is True for name in MARKS)


class Redacted:
    """A value without its hidden parts.

    Attributes:
        hidden: The hidden texts, except those that are too short to be found in other texts.
        hides: Whether anything is hidden.
        value: The value, with `HIDDEN` in the place of each hidden part.
    """

    def __init__(
        self, value: object = None, schema: Schema | None = None, call: str | None = None
    ) -> None:
        """Copy a value without the parts that a schema hides.

        Args:
            value: The value.
            schema: The JSON schema of the value; None hides nothing.
            call: The id of the call in whose records the texts are hidden; None for all records.
        """
        self._root: Schema = schema or {}
        self.hides = False
        hidden: set[str] = set()
        self.value: Any = value
        if schema:
            self.value = self._redact(value, [schema], hidden)
        self.hidden = frozenset(text for text in hidden if len(text) >= _MIN_HIDDEN_CHARS)
        if self.hidden and call is None:
            register(self)
        elif self.hidden:
            with _registry_lock:
                _arguments[str(call)] = self

    def scrub(self, value: Any) -> Any:
        """Return another value, such as an error's message, without the texts that are hidden."""
        if not self.hidden:
            return value
        return each_text(value, lambda text: without(text, self.hidden))

    def _redact(self, value: object, schemas: Iterable[Schema], hidden: set[str]) -> Any:
        """Return a value without its hidden parts, and add their texts to `hidden`."""
        branches = list(self._branches(schemas))
        if any(is_hidden(branch) for branch in branches):
            self.hides = True
            hidden.update(_texts(value))
            return HIDDEN
        if isinstance(value, Mapping):
            members = {}
            for name, member in value.items():
                members[name] = self._redact(member, _member_schemas(branches, name), hidden)
            return members
        if isinstance(value, list | tuple):
            items = []
            for index, item in enumerate(value):
                items.append(self._redact(item, _item_schemas(branches, index), hidden))
            return items
        return value

    def _branches(self, schemas: Iterable[Schema]) -> Iterator[Schema]:
        """Yield the schemas, and all schemas that they refer to by anyOf, oneOf, allOf and $ref."""
        pending = list(schemas)
        seen: set[int] = set()
        while pending:
            schema = pending.pop()
            if not isinstance(schema, Mapping) or id(schema) in seen:
                continue
            seen.add(id(schema))
            yield schema
            for word in ("anyOf", "oneOf", "allOf"):
                pending.extend(schema.get(word, ()))
            reference = schema.get("$ref")
            if isinstance(reference, str) and reference.startswith("#/"):
                pending.append(self._resolve(reference))

    def _resolve(self, reference: str) -> Schema:
        """Return the schema that a reference such as "#/$defs/Name" names; {} if there is none."""
        schema: Any = self._root
        for part in reference.removeprefix("#/").split("/"):
            if not isinstance(schema, Mapping):
                return {}
            schema = schema.get(part, {})
        return cast("Schema", schema)


def as_json(value: object, hidden: Sequence[str] = ()) -> Any:
    """Return a value as JSON can carry it, without hidden texts, and cut if it is too large."""
    plain = _plain(value, _MAX_DEPTH, hidden)
    text = json.dumps(plain)
    if len(text) <= _MAX_FIELD_CHARS:
        return plain
    return {"cut": text[:_MAX_TEXT_CHARS], "length": len(text), "sha256": digest(plain)}


def digest(value: object) -> str:
    """Return the SHA-256 of a value as canonical JSON."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
    return sha256(text.encode()).hexdigest()


def names(items: Iterable[str]) -> list[str]:
    """Return the first `MAX_NAMES` names of a list, which are recorded."""
    return list(islice(items, MAX_NAMES))


def each_text(value: Any, change: Callable[[str], str]) -> Any:
    """Return a value with every text in it changed, however deep."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {name: each_text(member, change) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [each_text(item, change) for item in value]
    return value


def _member_schemas(branches: Iterable[Schema], name: str) -> Iterator[Schema]:
    for branch in branches:
        properties = branch.get("properties", {})
        if name in properties:
            yield properties[name]
        else:
            yield branch.get("additionalProperties", {})


def _item_schemas(branches: Iterable[Schema], index: int) -> Iterator[Schema]:
    for branch in branches:
        prefix = branch.get("prefixItems", ())
        if index < len(prefix):
            yield prefix[index]
        else:
            yield branch.get("items", {})


def _texts(value: object) -> Iterator[str]:
    """Yield the texts and numbers in a value as texts."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)


def without(text: str, hidden: Iterable[str], instead: str = HIDDEN) -> str:
    """Return a text with `instead` in the place of each hidden text."""
    for secret in sorted(hidden, key=len, reverse=True):  # a longer one may hold a shorter one
        text = text.replace(secret, instead)
    return text


def _plain(value: object, depth: int, hidden: Sequence[str]) -> Any:
    """Return a value as JSON can carry it; containers below the depth become texts."""
    match value:
        case None | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case Mapping() if depth:
            return _plain_members(value, depth, hidden)
        case list() | tuple() | set() | frozenset() if depth:
            return _plain_items(value, depth, hidden)
    text = _text(value, hidden)
    if len(text) > _MAX_TEXT_CHARS:
        return f"{text[:_MAX_TEXT_CHARS]}… ({len(text):,} characters)"
    return text


def _plain_members(value: Mapping[Any, Any], depth: int, hidden: Sequence[str]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, member in islice(value.items(), MAX_NAMES):
        members[_text(name, hidden)] = _plain(member, depth - 1, hidden)
    more = len(value) - MAX_NAMES
    if more > 0:
        members["…"] = f"and {more:,} more"
    return members


def _plain_items(value: Collection[Any], depth: int, hidden: Sequence[str]) -> list[Any]:
    items = [_plain(item, depth - 1, hidden) for item in islice(value, MAX_NAMES)]
    more = len(value) - MAX_NAMES
    if more > 0:
        items.append(f"… and {more:,} more")
    return items


def _text(value: object, hidden: Sequence[str]) -> str:
    text = value if isinstance(value, str) else str(value)
    return without(text, hidden)


class _LogFilter(logging.Filter):
    """Takes tokens out of records, and makes hidden characters in them visible.

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
            record.msg = cleaned
            record.args = ()
        if record.exc_info and record.exc_info[1] is not None:
            text = "".join(traceback.format_exception(record.exc_info[1])).rstrip()
            cleaned = self.clean(text)
            if cleaned != text:
                record.exc_info = None
                record.exc_text = cleaned
        if record.stack_info:
            record.stack_info = self.clean(record.stack_info)
        return True

    def clean(self, text: str) -> str:
        """Return a text without tokens, and with nothing hidden in it."""
        return self.visible(redact_tokens(text))


LOG_FILTER: Final = _LogFilter()
"""The filter of our loggers, which cleans their records."""


def redact_tokens(text: str) -> str:
    """Return a text without everything that looks like the code of a token."""
    return _TOKEN.sub(REDACTED, text)


def install_log_filter(visible: Callable[[str], str]) -> None:
    """Add `LOG_FILTER` to every logger of ours that exists; a second time does no harm.

    Call this again after later imports, since a logger does not inherit a filter.

    Args:
        visible: Returns a text with its hidden characters made visible.
    """
    LOG_FILTER.visible = visible
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in _PREFIXES:
            logging.getLogger(name).addFilter(LOG_FILTER)
