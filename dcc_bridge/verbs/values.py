"""The verbs that write values, connections and keys in place of what was there. Main thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, NotRequired, TypedDict

from dcc_bridge.elicitation.text import plural
from dcc_bridge.skills.described import Described
from dcc_bridge.skills.skill import skill, track
from dcc_bridge.verbs import outputs, scene
from dcc_bridge.verbs.answers import Json, refuse, result, shown
from dcc_bridge.verbs.consents import ConsentingVerbs, cover
from dcc_bridge.verbs.items import counted, matching
from dcc_bridge.verbs.operations import SCENE, HostOperations, Keys, SocketLink, Value
from dcc_bridge.verbs.ports import CheckedValues, Connections, Keyframes

_MAX_HELD: Final = 10  # held values that a question names
_MAX_SOCKETS: Final = 30  # that an error names
_OF_PARTS: Final = ("dictionary", "entry", "cell")  # types of values that are parts of their item
_TYPES: Final = ("string", "number", "boolean", "array", "object", "null")
_AnyValue = Annotated[Any, Described({"anyOf": [{"type": name} for name in _TYPES]})]
_Key = Annotated[list[Any], Described({"type": "array", "minItems": 2, "maxItems": 2})]
ValueChange = TypedDict("ValueChange", {"item": str, "prop": str, "value": _AnyValue})  # noqa: UP013
_Wanted = tuple[str, str, Any]  # an item, a property and its new value
Link = TypedDict("Link", {"from": str, "out": str, "to": str, "in": str})
Cut = TypedDict("Cut", {"to": str, "in": str, "from": NotRequired[str], "out": NotRequired[str]})


class ValueVerbs(ConsentingVerbs[HostOperations]):
    """The verb that sets properties."""

    def verbs(self) -> list[Callable[..., Any]]:
        """Return the verbs as they are offered."""
        return [self.set_values]

    @skill(risk="edit", idempotent=True)
    def set_values(
        self,
        changes: list[ValueChange] = [],
        items: list[str] = [],
        values: Json = {},
        replace: bool = False,
    ) -> outputs.SetValues:
        """Set properties of items, or of the scene ("@scene": frame, frames, fps, camera ...).

        Args:
            changes: One value each.
            items: Or: all of these get `values`.
            values: {prop: value}.
            replace: What is keyed, driven or locked loses that; the person is asked.
        """
        wanted = _wanted(changes, self._owners(items), values)
        if not wanted:
            raise ValueError("Give changes, or items and values.")
        before = self._read(wanted, replace)
        owners = list(dict.fromkeys(item for item, _, _ in wanted))
        cover(_covered(wanted, before))
        others = [item for item in owners if item != SCENE]
        self._ask_to_set(wanted, before, others, replace)
        self._set(wanted, replace)
        of = "the scene"
        if others:
            of = counted(self._operations, others)
        summary = f"Set {plural(len(wanted), 'value')} of {of}"
        rows = self._changes(wanted, before)
        return result(owners, summary, found=len(wanted), values=rows)

    def _owners(self, items: Sequence[str]) -> list[str]:
        """Return the items that get values, with those that globs mean."""
        if SCENE in items:
            return list(items)
        return matching(self._operations, items)

    def _ask_to_set(
        self,
        wanted: Sequence[_Wanted],
        before: Sequence[Value],
        items: Sequence[str],
        replace: bool,
    ) -> None:
        """Ask the person first where the values are many, or where something that holds one goes.

        Raises:
            NotConfirmed: The person did not agree.
            ValueError: What holds the values has changed while the question was open.
        """
        held = []
        for (item, prop, _), value in track(list(zip(wanted, before, strict=True))):
            if value.held:
                held.append(f"{item}, {prop}: {value.held}")
        question_end = self._consents.add(len(wanted))
        if not question_end and not held:
            return
        what = f"Set {plural(len(wanted), 'value')}"
        holders = ""
        if held:
            what = f"Replace {plural(len(wanted), 'value')}"
            holders = "\n".join([" This removes what controls them now:", *held[:_MAX_HELD]])
        question = what + (question_end or " at once?") + holders
        self._consents.confirm(question, items or None, what)
        now = self._read(wanted, replace)
        if [value.held for value in now] != [value.held for value in before]:
            raise ValueError(
                "The keys, drivers or locks of the values changed while the question was open."
            )

    def _set(self, wanted: Sequence[_Wanted], replace: bool) -> None:
        """Write the values; ValueError names each entry that cannot be written."""
        errors = []
        for number, (item, prop, value) in enumerate(track(wanted, message="Setting values")):
            try:
                scene.write(self._operations, item, prop, value, replace=replace)
            except (LookupError, ValueError) as error:
                errors.append(f"changes[{number}]: {error}")
        refuse(errors)
        if isinstance(self._operations, CheckedValues):
            self._operations.check_written([(item, prop) for item, prop, _ in wanted])

    def _changes(self, wanted: Sequence[_Wanted], before: Sequence[Value]) -> Iterator[Json]:
        """Yield a row for each property with its value before and after."""
        for (item, prop, _), value in zip(wanted, before, strict=True):
            after = scene.read(self._operations, item, prop)
            yield {"item": item, "prop": prop, "before": shown(value), "after": shown(after)}

    def _read(self, wanted: Sequence[_Wanted], replace: bool) -> list[Value]:
        """Return the values that are to be changed; ValueError names each that cannot be."""
        values = []
        errors = []
        for number, (item, prop, _) in enumerate(track(wanted, message="Reading values")):
            try:
                value = scene.read(self._operations, item, prop)
                values.append(value)
                if value.is_fixed:
                    raise ValueError(f"{prop} of {item} is {value.held}, and cannot be set.")
                if value.held and not replace:
                    raise ValueError(f"{prop} of {item} is {value.held}; replace=True asks.")
            except (LookupError, ValueError) as error:
                errors.append(f"changes[{number}]: {error}")
        refuse(errors)
        return values


def _wanted(
    changes: Sequence[ValueChange], items: Sequence[str], values: Mapping[str, Any]
) -> list[_Wanted]:
    """Return the item, the property and the new value of each change."""
    wanted = [(change["item"], change["prop"], change["value"]) for change in changes]
    for item in track(items):
        for prop, value in values.items():
            wanted.append((item, prop, value))
    return wanted


def _covered(wanted: Sequence[_Wanted], before: Sequence[Value]) -> list[str]:
    """Return the items of which new values may take parts away.

    Values that are parts themselves, such as the curves of a sketch, a dictionary, one entry of it
    or a cell, are not lost by consent to another value: what goes of them is asked about.
    """
    items = dict.fromkeys(item for item, _, _ in wanted)
    for (item, _, _), value in zip(wanted, before, strict=True):
        is_of_parts = value.type in _OF_PARTS
        if isinstance(value.value, list):
            is_of_parts = any(isinstance(part, dict) for part in value.value)
        if is_of_parts:
            items.pop(item, None)
    return list(items)


class ConnectionVerbs(ConsentingVerbs[Connections]):
    """The verb that connects."""

    def verbs(self) -> list[Callable[..., Any]]:
        """Return the verbs as they are offered."""
        return [self.connect]

    @skill(title="Connect nodes", risk="edit")
    def connect(self, links: list[Link] = [], cut: list[Cut] = []) -> outputs.Connected:
        """Connect outputs to inputs: node networks, shaders, drivers; or cut them.

        Args:
            links: From an item's output to another one's input.
            cut: Inputs that lose what leads into them.
        """
        new = []
        for connection in links:
            source = connection["from"]
            new.append(SocketLink(source, connection["out"], connection["to"], connection["in"]))
        old = []
        for entry in cut:
            source = entry.get("from", "")
            old.append(SocketLink(source, entry.get("out", ""), entry["to"], entry["in"]))
        refuse([*self._missing_sockets(new, "links"), *self._missing_sockets(old, "cut")])
        targets = list(dict.fromkeys(link.target for link in (*new, *old)))
        cover(targets)
        self._consents.ask("Change", len(new) + len(old), "connection", targets)
        for link in track(old):
            self._operations.cut(link)
        for link in track(new):
            self._operations.connect(link)
        now = self._inputs(targets)
        lost = [link for link in new if link not in now]
        refuse([f"{link.target}, {link.into}: the connection was not made." for link in lost])
        rows = []
        for link in now:
            row = {"from": link.source, "out": link.out, "to": link.target, "in": link.into}
            rows.append(row)
        done = []
        if new:
            done.append(f"Connected {plural(len(new), 'input')}")
        if old:
            done.append(f"cut {plural(len(old), 'connection')}")
        return result(targets, ", ".join(done), found=len(rows), links=rows)

    def _inputs(self, items: Sequence[str]) -> set[SocketLink]:
        """Return what leads into items."""
        links: set[SocketLink] = set()
        for item in track(items):
            links.update(self._operations.look_into(item, "inputs") or ())
        return links

    def _missing_sockets(self, links: Sequence[SocketLink], name: str) -> list[str]:
        """Return a sentence for each socket that is not there, with those that are.

        Args:
            links: The connections that an argument of the verb names.
            name: The name of that argument.
        """
        errors = []
        for number, link in enumerate(track(links)):
            entry = f"{name}[{number}]"
            if link.source:
                _, outputs = self._operations.sockets(link.source)
                errors += _missing_socket(entry, link.source, "output", link.out, outputs)
            if link.target:
                inputs, _ = self._operations.sockets(link.target)
                errors += _missing_socket(entry, link.target, "input", link.into, inputs)
        return errors


def _missing_socket(
    entry: str, item: str, kind: str, socket: str, known: Sequence[str]
) -> list[str]:
    """Return a sentence if a socket is not among those that an item has."""
    if socket in known:
        return []
    there = ", ".join(known[:_MAX_SOCKETS]) or "none"
    return [f"{entry}: {item} has no {kind} {socket!r}; it has {there}."]


class KeyframeVerbs(ConsentingVerbs[Keyframes]):
    """The verb that animates."""

    def verbs(self) -> list[Callable[..., Any]]:
        """Return the verbs as they are offered."""
        return [self.set_keys]

    @skill(title="Set keyframes", risk="edit")
    def set_keys(
        self,
        item: str,
        prop: str,
        keys: list[_Key] = [],
        shape: Literal["", "linear", "smooth", "step"] = "",
        clear: bool = False,
    ) -> outputs.Keyed:
        """Animate: set keys of a property, or clear them.

        Args:
            item: Which one.
            prop: One of its properties.
            keys: [frame, value] each.
            shape: Of the curve between them; empty for the application's usual one.
            clear: All other keys go; the person is asked.
        """
        operations = self._operations
        operations.value(item, prop)  # which raises where there is no such item or property
        pairs = _pairs(keys)
        if not pairs and not clear:
            raise ValueError("Give keys, [[frame, value], ...], or clear=True.")
        self._ask_to_set(item, prop, pairs, clear)
        cover([item])
        operations.set_keys(item, prop, pairs, shape or operations.usual_shape, clear=clear)
        rows = [[frame, value] for frame, value in operations.keys(item, prop)]
        did = "Cleared the keys"
        if pairs:
            did = f"Set {plural(len(pairs), 'key')}"
        summary = f"{did} of {operations.name(item)}"
        return result([item], summary, found=len(rows), prop=prop, keys=rows)

    def _ask_to_set(self, item: str, prop: str, pairs: Keys, clear: bool) -> None:
        """Ask the person first where the new keys are many, or where other keys go.

        Raises:
            NotConfirmed: The person did not agree.
            ValueError: The keys have changed while the question was open.
        """
        operations = self._operations
        before = operations.keys(item, prop)
        new_frames = {frame for frame, _ in pairs}
        lost = []
        if clear:
            lost = [frame for frame, _ in before if frame not in new_frames]
        question_end = self._consents.add(len(pairs))
        if not question_end and not lost:
            return
        what = f"Set {plural(len(pairs), 'key')}"
        besides = ""
        if lost:
            what = f"Clear {plural(len(lost), 'key')}"
            if pairs:
                besides = f" and set {len(pairs)}"
        of = f"{prop} of {operations.name(item)}"
        question = f"{what} of {of}{besides}{question_end or '?'}"
        self._consents.confirm(question, [item], what)
        if operations.keys(item, prop) != before:
            raise ValueError("The keys changed while the question was open.")


def _pairs(keys: Sequence[Sequence[Any]]) -> list[tuple[float, Any]]:
    """Return the frame and the value of each key.

    Raises:
        ValueError: A key is not a frame and a value.
    """
    pairs = []
    for number, key in enumerate(keys):
        if len(key) != 2 or not isinstance(key[0], int | float):
            raise ValueError(f"keys[{number}] must be [frame, value], not {key!r}.")
        pairs.append((float(key[0]), key[1]))
    return pairs
