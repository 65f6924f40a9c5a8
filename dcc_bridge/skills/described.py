"""JSON schemas that are written out in a type, where the type itself says less. Any thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Annotated, Any, Final

Schema = dict[str, Any]
TEXT: Final[Schema] = {"type": "string"}


@dataclass(frozen=True, slots=True)
class Described:
    """A JSON schema in an annotation: ``Annotated[Any, Described({...})]``.

    Agents read it in place of the schema of the type. It checks nothing: an argument is checked by
    its type, and a result is sent as it is.

    Attributes:
        schema: The JSON schema. A result is an object: a text stands in it under ``result``.
    """

    schema: Mapping[str, Any]

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: Any) -> dict[str, Any]:
        """Return the schema where pydantic describes an argument."""
        return self.copied()

    def copied(self) -> dict[str, Any]:
        """Return a copy of the schema, which may be changed."""
        return dict(deepcopy(self.schema))


Place = tuple[str, float, float, float, float]
"""An item, and its left, upper, right and lower edge in a picture, as shares of it."""


class Legend(str):
    """The text of the picture after it in a result, which also knows what is where in it.

    Attributes:
        places: The places of items in the picture, for a client that shows it to a person.
    """

    places: Sequence[Place]

    def __new__(cls, text: str, places: Sequence[Place]) -> Legend:
        """Return the text, with the places."""
        legend = super().__new__(cls, text)
        legend.places = places
        return legend


Told = Annotated[
    Any, Described({"type": "object", "properties": {"result": TEXT}, "required": ["result"]})
]
"""The type of a result that is a text, beside which there may be pictures."""
