"""The answer of each verb, as clients read it in the list of tools. Any thread.

A schema names what an agent uses of an answer, and leaves the rest open: an answer may say more,
such as what could not be read. Every word of it is paid for by each agent that lists the tools.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

from dcc_bridge.skills.described import TEXT, Described, Schema

_COUNT: Final[Schema] = {"type": "integer"}
_NUMBER: Final[Schema] = {"type": "number"}
_FLAG: Final[Schema] = {"type": "boolean"}
_OBJECT: Final[Schema] = {"type": "object"}
_LIST: Final[Schema] = {"type": "array"}
_TEXTS: Final[Schema] = {"type": "array", "items": TEXT}
_LISTS: Final[Schema] = {"type": "array", "items": _LIST}


def _rows(**columns: Schema) -> Schema:
    """Return the schema of a list of objects with these members, or some of them.

    An element may be a text, which says how many more there are.
    """
    return {"type": "array", "items": {"properties": columns}}


def _answer(*required: str, **parts: Schema) -> Described:
    """Return the schema of an answer.

    Args:
        required: The parts that every answer has.
        parts: The schemas of the parts; one of any type has none, and is only required.
    """
    schema: Schema = {"type": "object", "properties": parts}
    if required:
        schema["required"] = list(required)
    return Described(schema)


def _edit(**parts: Schema) -> Described:
    """Return the schema of what `answers.result` returns of an edit.

    Args:
        parts: The schemas of the parts beside the number of items.
    """
    return _answer(found=_COUNT, **parts)


Summary = Annotated[
    Any,
    _answer(
        *("up", "types", "selected", "selection"),
        scene=TEXT,
        units=TEXT,
        up=TEXT,
        fps=_NUMBER,
        frames=_LIST,
        types=_OBJECT,
        selected=_COUNT,
        selection=_TEXTS,
    ),
]
ListedItems = Annotated[
    Any,
    _answer("found", "rows", found=_COUNT, rows=_rows(item=TEXT)),
]
InspectedItems = Annotated[
    Any,
    _answer("items", items=_rows(item=TEXT, type=TEXT, values=_OBJECT, held=_OBJECT)),
]
ApiCards = Annotated[
    Any,
    _answer(
        *("found", "cards"),
        found=_COUNT,
        cards=_rows(name=TEXT, kind=TEXT, text=TEXT, signature=TEXT, example=TEXT),
        near=_TEXTS,
    ),
]
Checked = Annotated[
    Any,
    _answer(
        *("looked_at", "failed", "passed"),
        looked_at=_COUNT,
        failed={
            "type": "object",
            "additionalProperties": {
                "properties": {"count": _COUNT, "items": _OBJECT, "mend": TEXT},
            },
        },
        passed=_TEXTS,
        broken=_TEXTS,
    ),
]
Items = Annotated[Any, _edit(items=_TEXTS)]
Created = Annotated[Any, _edit(made=_rows(item=TEXT, type=TEXT, values=_OBJECT))]
Moved = Annotated[Any, _edit(changed=_rows(item=TEXT))]
Grouped = Annotated[Any, _edit(items=_TEXTS, into=TEXT)]
Renamed = Annotated[Any, _edit(pairs=_LISTS, collisions=_TEXTS)]
Assigned = Annotated[Any, _edit(items=_TEXTS, material=TEXT, is_new=_FLAG, users=_TEXTS)]
SetValues = Annotated[Any, _edit(values=_rows(item=TEXT, prop=TEXT))]
Connected = Annotated[Any, _edit(links=_rows(**{"from": TEXT, "out": TEXT, "to": TEXT}))]
Keyed = Annotated[Any, _edit(prop=TEXT, keys=_LISTS)]
Imported = Annotated[Any, _edit(items=_TEXTS, file=TEXT, types=_OBJECT, warnings=_TEXTS)]
Exported = Annotated[
    Any,
    _answer("file", "bytes", file=TEXT, bytes=_COUNT, types=_OBJECT, copies=TEXT),
]
Rendered = Annotated[
    Any,
    _answer(result=TEXT, file=TEXT, pictures=_COUNT, notes=_TEXTS, copies=TEXT),
]
Saved = Annotated[Any, _answer("file", file=TEXT, copies=TEXT)]
Cleaned = Annotated[Any, _edit(items=_TEXTS, still_there=_TEXTS, why=TEXT)]
Deleted = Annotated[Any, _edit(items=_TEXTS, still_there=_TEXTS, kept_by_person=_TEXTS)]
Batched = Annotated[Any, _answer("steps", steps=_rows(do=TEXT, found=_COUNT, items=_TEXTS))]
RanCode = Annotated[
    Any,
    _answer(
        *("result", "undo"),
        stdout=TEXT,
        changed=_OBJECT,
        warnings=_TEXTS,
    ),
]
