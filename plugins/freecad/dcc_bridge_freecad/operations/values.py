"""Values, and the expressions by which objects depend on each other. Main thread."""

from __future__ import annotations

from typing import Any

from dcc_bridge.spi import SCENE, Building, Connections, SocketLink, Value

from ..document import document, find, plain
from ..parts import linked
from ..transactions import transactions
from .properties import CELL, explained, form, held, links_of, paths, read, write

_WHOLE = "Shape"  # what goes into a link: the object itself


class _Values(Building, Connections):
    """The operations on values."""

    def value(self, item: str, prop: str) -> Value:
        """Read a property, a part of one, or a cell of a spreadsheet."""
        if item == SCENE:
            if prop == "units":
                return Value("mm", "Length")
            raise LookupError(f"A document of FreeCAD has no {prop!r}: it has units.")
        transactions().compute()
        obj = find(item)
        value = read(obj, prop)
        kind = "" if "." in prop or CELL.fullmatch(prop) else form(obj, prop)
        return Value(plain(value), kind.partition("::Property")[2], held(obj, prop))

    def set_value(self, item: str, prop: str, value: Any, *, replace: bool = False) -> None:
        """Write a property; with `replace` the expressions that drive it go."""
        if item == SCENE:
            raise ValueError(f"{prop!r} of a document cannot be set: FreeCAD always counts in mm.")
        obj = find(item)
        if prop == "Label":
            self.rename(item, str(value))
            return
        if replace:
            _free(obj, prop)
        if why := held(obj, prop):
            raise ValueError(f"{item}.{prop} cannot be set: {why}.")
        write(obj, prop, value)
        transactions().stale.add(document().Name)

    def sockets(self, item: str) -> tuple[list[str], list[str]]:
        """Return what an expression can drive, with the links, and what it can use."""
        obj = find(item)
        known = paths(obj)
        writable = [path for path in known if "read-only" not in held(obj, path)]
        is_formed = "Placement" in obj.PropertiesList
        return [*writable, *links_of(obj)], [*([_WHOLE] if is_formed else []), *known]

    def connect(self, link: SocketLink) -> None:
        """Drive a property by an expression, or put an object into a link of another one."""
        source, target = find(link.source), find(link.target)
        if (link.source, link.target) != (source.Name, target.Name):
            raise LookupError(f"Connect by names: {source.Name} to {target.Name}.")
        if link.into in links_of(target):
            _put(source, target, link)
        else:
            _drive(source, target, link)
        transactions().stale.add(document().Name)

    def cut(self, link: SocketLink) -> None:
        """Take an expression away; the value stays as it was computed. Or empty a link."""
        target = find(link.target)
        if link.into in links_of(target):
            left = [it for it in linked(getattr(target, link.into)) if it.Name != link.source]
            is_list = "List" in form(target, link.into)
            setattr(target, link.into, left if is_list and link.source else [] if is_list else None)
        elif not _free(target, link.into):
            raise ValueError(f"No expression leads into {link.target}.{link.into}.")
        transactions().stale.add(document().Name)


def _free(obj: Any, path: str) -> bool:
    """Take the expressions away that drive a path or a part of it."""
    driven = [
        name for name, _ in obj.ExpressionEngine if (name.lstrip(".") + ".").startswith(f"{path}.")
    ]
    for name in driven:
        obj.setExpression(name, None)
    return bool(driven)


def _put(source: Any, target: Any, link: SocketLink) -> None:
    if link.out != _WHOLE:
        raise ValueError(
            f"{link.target}.{link.into} takes an object: connect {_WHOLE!r} and not {link.out!r}."
        )
    if target in [source, *source.OutListRecursive]:
        raise ValueError(f"{link.source} is made of {link.target}: that would be a circle.")
    kind, before = form(target, link.into), getattr(target, link.into)
    value: Any = (source, []) if "Sub" in kind else source
    with explained(f"{link.target}.{link.into} does not take {link.source}"):
        setattr(target, link.into, [*before, value] if "List" in kind else value)


def _drive(source: Any, target: Any, link: SocketLink) -> None:
    text = f"{source.Name}.{link.out}"
    with explained(f"{link.source}.{link.out} cannot drive {link.target}.{link.into}"):
        given, taken = target.evalExpression(text), read(target, link.into)
        units = [it.Unit.Type for it in (given, taken) if hasattr(it, "Unit") and it.Unit.Type]
        if len(set(units)) == 2:
            raise ValueError(f"the one is {units[0]}, the other {units[1]}")
        target.setExpression(link.into, text)
