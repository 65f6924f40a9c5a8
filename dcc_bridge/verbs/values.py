"""The verbs that write values, connections and keys in place of what was there. Main thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, NotRequired, TypedDict

from dcc_bridge.elicitation.text import plural
from dcc_bridge.skills.skill import skill, track
from dcc_bridge.verbs.answers import Json, refuse, result, shown
from dcc_bridge.verbs.consents import Consenting, cover
from dcc_bridge.verbs.items import counted
from dcc_bridge.verbs.operations import SCENE, HostOperations, SocketLink, Value
from dcc_bridge.verbs.ports import Connections, Keyframes

_NAMED: Final = 10  # held values that a question names
ValueChange = TypedDict("ValueChange", {"item": str, "prop": str, "value": Any})  # noqa: UP013
Link = TypedDict("Link", {"from": str, "out": str, "to": str, "in": str})
Cut = TypedDict("Cut", {"to": str, "in": str, "from": NotRequired[str], "out": NotRequired[str]})


class ValueVerbs(Consenting[HostOperations]):
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
    ) -> Any:
        """Set properties of items, or of the scene (item "@scene": frame, start, end, fps, camera).

        Args:
            changes: One value each.
            items: Or: all of these get `values`.
            values: {prop: value}.
            replace: What is keyed, driven or locked loses that; the person is asked.
        """
        wanted = [(it["item"], it["prop"], it["value"]) for it in changes]
        wanted += [(it, prop, value) for it in track(items) for prop, value in values.items()]
        if not wanted:
            raise ValueError("Give changes, or items and values.")
        before = self._read(wanted, replace)
        owners = list(dict.fromkeys(item for item, _, _ in wanted))
        cover(owners)
        others = [item for item in owners if item != SCENE]
        pairs = list(zip(wanted, before, strict=True))
        held = [f"{item}, {prop}: {was.held}" for (item, prop, _), was in track(pairs) if was.held]
        if ask := self._consents.add(len(wanted)) or " at once?" * bool(held):
            what = f"{'Replace' if held else 'Set'} {plural(len(wanted), 'value')}"
            holds = "\n".join([" This removes what controls them now:", *held[:_NAMED]]) * bool(
                held
            )
            self._consents.confirm(what + ask + holds, others or None, what)
            if [it.held for it in self._read(wanted, replace)] != [it.held for it in before]:
                raise ValueError(
                    "The keys, drivers or locks of the values changed while the question was open."
                )
        errors = []
        for number, (item, prop, value) in enumerate(track(wanted, message="Setting values")):
            try:
                self._operations.set_value(item, prop, value, replace=replace)
            except (LookupError, ValueError) as error:
                errors.append(f"changes[{number}]: {error}")
        refuse(errors)
        of = counted(self._operations, others) if others else "the scene"
        rows = ({"item": item, "prop": prop, "before": shown(was),
                 "after": shown(self._operations.value(item, prop))}
                for (item, prop, _), was in pairs)  # fmt: skip
        did = f"Set {plural(len(wanted), 'value')} of {of}"
        return result(owners, did, found=len(wanted), values=rows)

    def _read(self, wanted: Sequence[tuple[str, str, Any]], replace: bool) -> list[Value]:
        """Read what is to be changed; ValueError names each entry that cannot be."""
        before, errors = [], []
        for number, (item, prop, _) in enumerate(track(wanted, message="Reading values")):
            try:
                was = self._operations.value(item, prop)
                before.append(was)
                if was.is_fixed:
                    raise ValueError(f"{prop} of {item} is {was.held}, and cannot be set.")
                if was.held and not replace:
                    raise ValueError(f"{prop} of {item} is {was.held}; replace=True asks.")
            except (LookupError, ValueError) as error:
                errors.append(f"changes[{number}]: {error}")
        refuse(errors)
        return before


class ConnectionVerbs(Consenting[Connections]):
    """The verb that connects."""

    def verbs(self) -> list[Callable[..., Any]]:
        """Return the verbs as they are offered."""
        return [self.connect]

    @skill(risk="edit")
    def connect(self, links: list[Link] = [], cut: list[Cut] = []) -> Any:
        """Connect outputs to inputs: node networks, shaders, drivers; or cut them.

        Args:
            links: From an item's output to another one's input.
            cut: Inputs that lose what leads into them.
        """
        made = [SocketLink(it["from"], it["out"], it["to"], it["in"]) for it in links]
        gone = [SocketLink(it.get("from", ""), it.get("out", ""), it["to"], it["in"]) for it in cut]
        refuse([*self._wrong(made, "links"), *self._wrong(gone, "cut")])
        targets = list(dict.fromkeys(link.target for link in (*made, *gone)))
        cover(targets)
        self._consents.ask("Change", len(made) + len(gone), "connection", targets)
        for link in track(gone):
            self._operations.cut(link)
        for link in track(made):
            self._operations.connect(link)
        now = set[SocketLink]()
        for target in track(targets):
            now.update(self._operations.look_into(target, "inputs") or ())
        lost = [link for link in made if link not in now]
        refuse([f"{it.target}, {it.into}: the connection was not made." for it in lost])
        did = [f"Connected {plural(len(made), 'input')}" if made else "",
               f"cut {plural(len(gone), 'connection')}" if gone else ""]  # fmt: skip
        rows = [{"from": it.source, "out": it.out, "to": it.target, "in": it.into} for it in now]
        return result(targets, ", ".join(filter(None, did)), found=len(rows), links=rows)

    def _wrong(self, links: Sequence[SocketLink], name: str) -> list[str]:
        """Say which sockets are not there, and which are."""
        errors = []
        for number, link in enumerate(track(links)):
            for item, side, socket in ((link.source, 1, link.out), (link.target, 0, link.into)):
                known = self._operations.sockets(item)[side] if item else [socket]
                if socket not in known:
                    kind, has = ("input", "output")[side], ", ".join(known[:30]) or "none"
                    what = f"{name}[{number}]: {item} has no {kind} {socket!r}"
                    errors.append(f"{what}; it has {has}.")
        return errors


class KeyframeVerbs(Consenting[Keyframes]):
    """The verb that animates."""

    def verbs(self) -> list[Callable[..., Any]]:
        """Return the verbs as they are offered."""
        return [self.set_keys]

    @skill(risk="edit")
    def set_keys(
        self,
        item: str,
        prop: str,
        keys: list[list[Any]] = [],
        shape: Literal["linear", "smooth", "step"] = "smooth",
        clear: bool = False,
    ) -> Any:
        """Animate: set keys of a property, or clear them.

        Args:
            item: Which one.
            prop: One of its properties.
            keys: [frame, value] each.
            shape: Of the curve between them.
            clear: All other keys go; the person is asked.
        """
        self._operations.value(item, prop)
        for number, key in enumerate(keys):
            if len(key) != 2 or not isinstance(key[0], int | float):
                raise ValueError(f"keys[{number}] must be [frame, value], not {key!r}.")
        pairs = [(float(frame), value) for frame, value in keys]
        if not pairs and not clear:
            raise ValueError("Give keys, [[frame, value], ...], or clear=True.")
        before, at = self._operations.keys(item, prop), {frame for frame, _ in pairs}
        lost = [frame for frame, _ in before if clear and frame not in at]
        if (ask := self._consents.add(len(pairs))) or lost:
            what = f"{'Clear' if lost else 'Set'} {plural(len(lost or pairs), 'key')}"
            more = f" and set {len(pairs)}" * bool(lost and pairs)
            of = f"{prop} of {self._operations.name(item)}"
            self._consents.confirm(f"{what} of {of}{more}{ask or '?'}", [item], what)
            if self._operations.keys(item, prop) != before:
                raise ValueError("The keys changed while the question was open.")
        cover([item])
        self._operations.set_keys(item, prop, pairs, shape, clear=clear)
        now = self._operations.keys(item, prop)
        did = f"Set {plural(len(pairs), 'key')}" if pairs else "Cleared the keys"
        rows = [[frame, value] for frame, value in now]
        did += f" of {self._operations.name(item)}"
        return result([item], did, found=len(rows), prop=prop, keys=rows)
