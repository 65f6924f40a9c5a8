"""TypedDicts that pydantic can read. Any thread.

Below Python 3.12 pydantic refuses ``typing.TypedDict`` and takes that of typing_extensions only;
an author need not know. Wherever one stands in a type it is made anew.
"""

from __future__ import annotations

import sys
import types
from typing import (
    Annotated,
    Any,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from typing_extensions import TypedDict


def readable(hint: Any) -> Any:
    """Give a type with each TypedDict in it as pydantic wants it."""
    if sys.version_info >= (3, 12):
        return hint
    if is_typeddict(hint):
        return _anew(hint)
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return Annotated[(readable(parts[0]), *parts[1:])]
    if origin in (Union, types.UnionType):
        return Union[tuple(readable(part) for part in parts)]  # noqa: UP007 - no other way from a tuple
    if origin in (list, set, frozenset, tuple, dict) and parts:
        made = tuple(part if part is ... else readable(part) for part in parts)
        return origin[made]
    return hint


def _anew(typed: Any) -> Any:
    marked = get_type_hints(typed, include_extras=True)
    fields = {name: _field(typed, name, hint) for name, hint in marked.items()}
    made = TypedDict(typed.__name__, fields)  # type: ignore[misc]  # the functional form
    made.__doc__ = typed.__doc__
    return made


def _field(typed: Any, name: str, hint: Any) -> Any:
    """Read the mark itself: with postponed annotations ``__required_keys__`` does not know it."""
    total = bool(getattr(typed, "__total__", True))
    origin = get_origin(hint)
    is_required = origin is Required or (total and origin is not NotRequired)
    inner = get_args(hint)[0] if origin in (Required, NotRequired) else hint
    made = readable(inner)
    return made if is_required else NotRequired[made]
