"""Values, and the expressions by which objects depend on each other. Main thread."""

from __future__ import annotations

from typing import Any

from dcc_bridge.spi import SCENE, Building, Connections, SocketLink, Value, no_such

from ..document import document, find, made_of
from ..parts import linked
from ..transactions import transactions
from .edge_items import EdgeItem, edge_item, values_of
from .properties import (
    explained,
    itself,
    links_of,
    lock_reason,
    paths,
    property_type,
    read,
    set_base_feature,
    told,
    touch_views,
    value_type,
    write,
)


class _Values(Building, Connections):
    """The operations on values."""

    def value(self, item: str, prop: str) -> Value:
        """Return the value of a property, of a part of a property, or of a spreadsheet's cell.

        Raises:
            LookupError: There is no such object or property.
        """
        if item == SCENE:
            if prop == "units":
                return Value("mm", "Length")
            raise LookupError(f"A document of FreeCAD has no {prop!r}.")
        transactions().compute()
        edge = edge_item(item)
        if edge is not None:
            return _value_of_edge(edge, prop)
        obj = find(item)
        value = told(obj, prop)
        return Value(value, value_type(obj, prop), lock_reason(obj, prop))

    def scene_props(self) -> list[str]:
        """Return the properties of a document: FreeCAD's undo keeps no other of them."""
        return ["units"]

    def set_value(self, item: str, prop: str, value: Any, *, replace: bool = False) -> None:
        """Write a property.

        Args:
            item: The object.
            prop: The property, a part of one, or a cell of a spreadsheet.
            value: The value as JSON carries it.
            replace: Whether to remove the expressions that drive the property.

        Raises:
            LookupError: There is no such object or property.
            ValueError: The property is locked, or does not take the value.
        """
        if item == SCENE:
            raise ValueError(f"{prop!r} of a document cannot be set: FreeCAD always counts in mm.")
        obj = find(item)
        if prop == "Label":
            self.rename(item, str(value))
            return
        if replace:
            _remove_expressions(obj, prop)
        lock = lock_reason(obj, prop)
        if lock:
            raise ValueError(f"{item}.{prop} cannot be set: {lock}.")
        write(obj, prop, value)
        transactions().stale.add(document().Name)

    def sockets(self, item: str) -> tuple[list[str], list[str]]:
        """Return an object's inputs, which are paths and links, and its outputs."""
        obj = find(item)
        outputs = paths(obj)
        inputs = [path for path in outputs if "read-only" not in lock_reason(obj, path)]
        inputs += links_of(obj)
        return inputs, [itself(obj), *outputs]

    def connect(self, link: SocketLink) -> None:
        """Drive a property by an expression, or put an object into a link of another one.

        Raises:
            LookupError: There is no such object, or a label stands in place of its name.
            ValueError: The input does not take the output.
        """
        transactions().compute()  # FreeCAD has no property of a cell before
        source = find(link.source)
        target = find(link.target)
        if (link.source, link.target) != (source.Name, target.Name):
            raise LookupError(f"Connect by names: {source.Name} to {target.Name}.")
        if link.into in links_of(target):
            _put_into_link(source, target, link)
        else:
            _drive(source, target, link)
        transactions().stale.add(document().Name)

    def cut(self, link: SocketLink) -> None:
        """Remove an expression, whose last value stays, or empty a link.

        Raises:
            ValueError: No expression drives the input.
        """
        target = find(link.target)
        if link.into in links_of(target):
            _take_out_of_link(target, link)
        elif not _remove_expressions(target, link.into):
            raise ValueError(f"No expression leads into {link.target}.{link.into}.")
        transactions().stale.add(document().Name)


def _value_of_edge(edge: EdgeItem, prop: str) -> Value:
    values = values_of(edge)
    if prop not in values:
        raise LookupError(no_such("property", prop, values))
    return values[prop]


def _remove_expressions(obj: Any, path: str) -> bool:
    """Remove the expressions that drive a path or a part of it; return whether there was one."""
    driven = []
    for name, _ in obj.ExpressionEngine:
        dotted = name.lstrip(".") + "."
        if dotted.startswith(f"{path}."):
            driven.append(name)
    for name in driven:
        obj.setExpression(name, None)
    return bool(driven)


def _take_out_of_link(target: Any, link: SocketLink) -> None:
    """Empty a link; if it is a list and the connection names a source, remove only that one."""
    value: Any = None
    if "List" in property_type(target, link.into):
        value = []
        if link.source:
            objects = linked(getattr(target, link.into))
            value = [each for each in objects if each.Name != link.source]
    setattr(target, link.into, value)
    transactions().note_new_edges(target)


def _put_into_link(source: Any, target: Any, link: SocketLink) -> None:
    whole = itself(source)
    if link.out != whole:
        raise ValueError(
            f"{link.target}.{link.into} takes an object: connect {whole!r} and not {link.out!r}."
        )
    if target in [source, *made_of(source)]:
        raise ValueError(f"{link.source} is made of {link.target}: that would be a circle.")
    kind = property_type(target, link.into)
    before = getattr(target, link.into)
    value: Any = (source, []) if "Sub" in kind else source
    with explained(f"{link.target}.{link.into} does not take {link.source}"):
        if "List" in kind:
            value = [*before, value]
        setattr(target, link.into, value)
        touch_views(target, link.into)
        set_base_feature(target, link.into)
        transactions().note_new_edges(target)


def _drive(source: Any, target: Any, link: SocketLink) -> None:
    text = f"{source.Name}.{link.out}"
    with explained(f"{link.source}.{link.out} cannot drive {link.target}.{link.into}"):
        output = target.evalExpression(text)
        current = read(target, link.into)
        units = [each.Unit.Type for each in (output, current) if hasattr(each, "Unit")]
        units = [unit for unit in units if unit]  # a number without a unit fits everywhere
        if len(set(units)) == 2:
            raise ValueError(f"the one is {units[0]}, the other {units[1]}")
        target.setExpression(link.into, text)
