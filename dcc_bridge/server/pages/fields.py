"""A form's fields as HTML: a label, what it is about, what is wrong with it, and a control.

Every control has a label of its own and is described by the other two. Any thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dcc_bridge.elicitation import plain
from dcc_bridge.elicitation.schema import Field
from dcc_bridge.server.pages import entries, filters
from dcc_bridge.server.pages.entries import NO, YES, Entry
from dcc_bridge.server.pages.markup import Attribute, Markup, element, join

_MOST_RADIOS: Final = 5
_LONG: Final = 120
"""Characters from which on a text gets several lines."""
_TYPES: Final = {"email": "email", "uri": "url", "date": "date"}
_EXAMPLES: Final = {
    "email": "For example name@studio.com",
    "uri": "For example https://studio.com/shot",
    "date-time": "For example 2026-11-20T14:30:00Z",
}
_WHAT: Final = {"string": " characters", "choices": " choices"}


@dataclass(frozen=True, slots=True)
class Row:
    """A field, as it is to be drawn.

    Attributes:
        key: Its name and id on the page.
        field: What is asked.
        entry: What is filled in.
        problem: What is wrong with that, or "".
        focused: The keyboard is here at first.
        filter: What the list is filtered by.
        filtering: The keyboard is in the filter at first.
    """

    key: str
    field: Field
    entry: Entry
    problem: str
    focused: bool
    filter: str = ""
    filtering: bool = False

    def draw(self) -> Markup:
        """Draw it."""
        match self.field.kind:
            case "boolean" if self.field.required:
                return self._box(self._tick(), self._label(), style="tick")
            case "boolean":
                choices = [(YES, "Yes"), (NO, "No"), ("", "Leave out")]
                return self._group("radio", choices)
            case "choice" if entries.is_typed(self.field):
                return self._box(self._label(), *self._notes(), self._picked())
            case "choice" if len(self.field.options) > _MOST_RADIOS:
                return self._box(self._label(), *self._notes(), self._select())
            case "choice":
                left_out = [] if self.field.required else [("", "Leave out")]
                return self._group("radio", [*self._options(), *left_out])
            case "choices" if filters.has_one(self.field):
                return self._long_group()
            case "choices":
                return self._group("checkbox", self._options())
            case _:
                return self._box(self._label(), *self._notes(), self._text())

    def _box(self, *parts: str, style: str = "") -> Markup:
        wrong = " wrong" if self.problem else ""
        notes = self._notes() if style else ()
        return element("div", *parts, *notes, class_=f"field {style}{wrong}")

    def _title(self) -> Markup:
        title = plain.line(self.field.title)
        if self.field.required:
            return join(title)
        return join(title, " ", element("span", "(optional)", class_="quiet"))

    def _label(self) -> Markup:
        return element("label", self._title(), for_=self.key)

    def _about(self) -> str:
        field = self.field
        hidden = entries.hides(field)
        withheld = hidden and f"Suggested, but not filled in, because of what it hides: {hidden}"
        count = len(field.options)
        how = f"{count} choices: type a part of one." if entries.is_typed(field) else ""
        example = _EXAMPLES.get(field.format or "", "")
        told = [field.description, how, _limits(field), example, withheld]
        return plain.passage("\n".join(filter(None, told)))

    def _notes(self) -> tuple[Markup, ...]:
        made = []
        if about := self._about():
            made.append(element("p", about, id=f"{self.key}-about", class_="quiet passage"))
        if self.problem:
            made.append(element("p", self.problem, id=f"{self.key}-problem", class_="problem"))
        return tuple(made)

    def _described(self) -> dict[str, Attribute]:
        ids = [f"{self.key}-about"] if self._about() else []
        ids += [f"{self.key}-problem"] if self.problem else []
        return {"aria_describedby": " ".join(ids) or None}

    def _attributes(self) -> dict[str, Attribute]:
        return {
            "id": self.key,
            "name": self.key,
            "autofocus": self.focused,
            "aria_required": "true" if self.field.required else None,
            "aria_invalid": "true" if self.problem else None,
            **self._described(),
        }

    def _text(self) -> Markup:
        field, text = self.field, self.entry[0] if self.entry else ""
        shared = {**self._attributes(), "autocomplete": "off"}
        if field.kind != "string":
            return element("input", type="text", inputmode="decimal", value=text, **shared)
        if _is_long(field):
            return element("textarea", "\n" + text, rows="4", **shared)  # HTML drops the first one
        return element("input", type=_TYPES.get(field.format or "", "text"), value=text, **shared)

    def _tick(self) -> Markup:
        checked = tuple(self.entry) == (YES,)
        return element("input", type="checkbox", value=YES, checked=checked, **self._attributes())

    def _select(self) -> Markup:
        chosen = self.entry[0] if self.entry else ""
        nothing = ("", "Choose…" if self.field.required else "Leave out")
        options = [
            element("option", title, value=value, selected=value == chosen)
            for value, title in [nothing, *self._options()]
        ]
        return element("select", *options, **self._attributes())

    def _options(self) -> list[tuple[str, str]]:
        """List the choices."""
        return [(str(number), title) for number, title in enumerate(entries.titles(self.field))]

    def _picked(self) -> Markup:
        """Draw one of many: a text with the choices that it fits below it."""
        text, known = self.entry[0] if self.entry else "", f"{self.key}-choices"
        attributes = {**self._attributes(), "autocomplete": "off", "list": known}
        lines = [element("option", value=title) for title in entries.titles(self.field)]
        return join(
            element("input", type="text", value=text, **attributes),
            element("datalist", *lines, id=known),
        )

    def _long_group(self) -> Markup:
        """Draw some of many, with a filter; what is ticked and not shown is sent all the same."""
        options = self._options()
        shown = [pair for pair in options if filters.is_shown(pair[1], self.filter)]
        hidden = [value for value, _ in set(options) - set(shown) if value in self.entry]
        held = [element("input", type="hidden", name=self.key, value=value) for value in hidden]
        above = filters.draw(
            self.key,
            self.filter,
            len(shown),
            len(options),
            len(hidden),
            focused=self.filtering,
        )
        return self._group("checkbox", shown, above, *held)

    def _group(self, kind: str, choices: list[tuple[str, str]], *above: Markup) -> Markup:
        chosen = tuple(self.entry) or (("",) if kind == "radio" else ())
        lines = [
            self._line(kind, number, value, title, checked=value in chosen)
            for number, (value, title) in enumerate(choices)
        ]
        return element(
            "fieldset",
            element("legend", self._title()),
            *self._notes(),
            *above,
            element("div", *lines, class_="choices"),
            id=self.key,
            class_="field wrong" if self.problem else "field",
            **self._described(),
        )

    def _line(self, kind: str, number: int, value: str, title: str, *, checked: bool) -> Markup:
        control = element(
            "input",
            type=kind,
            id=f"{self.key}-{number}",
            name=self.key,
            value=value,
            checked=checked,
            autofocus=self.focused and number == 0,
        )
        return element("div", control, element("label", title, for_=f"{self.key}-{number}"))


def _is_long(field: Field) -> bool:
    if field.format is not None:
        return False
    return (field.least or 0) >= 40 or (field.most or 0) > _LONG or "\n" in str(field.default or "")


def _limits(field: Field) -> str:
    what = _WHAT.get(field.kind, "")
    least, most = _bound(field.least), _bound(field.most)
    if least in ("", "0", "1") and field.kind in _WHAT:
        least = ""
    if least and most:
        return f"From {least} to {most}{what}."
    return f"At least {least}{what}." if least else f"At most {most}{what}." if most else ""


def _bound(value: float | None) -> str:
    return "" if value is None else f"{int(value) if float(value).is_integer() else value}"
