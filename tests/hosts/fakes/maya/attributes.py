"""Attributes, connections and keys of the stand-in, as the command reference has them.

`getAttr`: a compound is a list of one tuple;
`currentUnit`: every command takes and gives numbers in the units of the interface; `connectAttr`
refuses other types and locked plugs, and what is connected already, and puts a unitConversion node
between units; `connectionInfo`: a part of a connected compound is a destination too;
`listConnections`, `listAttr`, `keyframe` and `aliasAttr` give None for nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Final

from tests.hosts.fakes.maya import api
from tests.hosts.fakes.maya.node_types import TYPES, Attribute, attributes
from tests.hosts.fakes.maya.scene import Node

if TYPE_CHECKING:
    from tests.hosts.fakes.maya.application import Maya

Plug = tuple[Node, str]
CENTIMETRES: Final = {"mm": 0.1, "cm": 1.0, "m": 100.0, "in": 2.54, "ft": 30.48}
FPS: Final = {"game": 15.0, "film": 24.0, "pal": 25.0, "ntsc": 30.0, "show": 48.0, "ntscf": 60.0}


class Attributes:
    """The commands about attributes."""

    _maya: Maya
    _one: Callable[[str], Node]
    _remove: Callable[[Node], None]

    # ---- what there is

    def _plug(self, plug: str) -> Plug:
        name, _, attribute = plug.partition(".")
        node = self._one(name)
        if not self._has(node, attribute.partition("[")[0]):
            raise ValueError(f"No object matches name: {plug}")
        return node, attribute

    def _known(self, node: Node, attribute: str) -> Attribute:
        """Give what is known of an attribute; of one that only a test gave a node, by its value."""
        known = attributes(node.type).get(attribute.partition("[")[0])
        if known is not None:
            return known
        value = node.values.get(attribute)
        return Attribute("string" if isinstance(value, str) else "double", is_keyable=True)

    def _has(self, node: Node, attribute: str) -> bool:
        parts = attributes(node.type).get(attribute, Attribute("")).parts
        return attribute in node.values or bool(
            parts and all(part in node.values for part in parts)
        )

    def _names(self, node: Node) -> list[str]:
        whole = [name for name in attributes(node.type) if self._has(node, name)]
        return list(dict.fromkeys([*whole, *node.values]))

    def listAttr(self, name: str, **flags: Any) -> list[str] | None:
        """List long names; a compound is neither keyable nor a file, its parts are."""
        node, found = self._one(name), []
        for attribute in self._names(node):
            known = self._known(node, attribute)
            is_data = known.type not in ("message", "matrix", "mesh") and not known.parts
            tests = {
                "keyable": known.is_keyable and is_data,
                "scalar": is_data,
                "channelBox": False,
                "usedAsFilename": known.is_file,
                "userDefined": attribute not in attributes(node.type),
                "connectable": True,
                "write": not known.is_output,
                "read": True,
            }
            if all(tests[flag] for flag, is_on in flags.items() if is_on):
                found.append(attribute)
        return found or None

    def aliasAttr(self, name: str, query: bool) -> list[str] | None:
        self._one(name)
        return None

    def attributeQuery(self, attribute: str, node: str = "", type: str = "", **flags: Any) -> Any:
        assert "." not in attribute, "it takes an attribute's own name"
        assert "[" not in attribute, "it takes an attribute's own name"
        if flags.get("exists"):
            return self._has(self._one(node), attribute)
        known = attributes(type).get(attribute) if type else None
        type_name = type or self._one(node).type
        if known is None:
            there = self._one(node)
            known = self._known(there, attribute)
        told = {
            "attributeType": known.type if known.type != "string" else "typed",
            "listChildren": list(known.parts) or None,
            "listParent": [it for it, of in attributes(type_name).items() if attribute in of.parts]
            or None,
            "listEnum": [known.labels] if known.labels else None,
            "listDefault": self._default(known),
            "keyable": known.is_keyable,
            "multi": known.is_multi,
            "minExists": known.least is not None,
            "maxExists": known.most is not None,
            "minimum": [known.least],
            "maximum": [known.most],
        }
        return told[next(flag for flag, is_on in flags.items() if is_on)]

    def _default(self, known: Attribute) -> list[float] | None:
        """Return the default of a number; that texts have none here is assumed."""
        if known.parts or not isinstance(known.default, bool | int | float):
            return None
        return [float(known.default)]

    def attributeInfo(self, type: str, allAttributes: bool) -> list[str] | None:
        return list(attributes(type)) or None

    # ---- values

    def _factor(self, node: Node, attribute: str) -> float:
        """Give how many of our units one of the interface's has."""
        settings = self._maya.scene.settings
        of = self._known(node, attribute).type
        if of == "doubleAngle":
            return 1.0 if settings["angle"] == "deg" else 180 / math.pi
        return CENTIMETRES[settings["linear"]] if of == "doubleLinear" else 1.0

    def value_of(self, node: Node, attribute: str) -> Any:
        """Evaluate: what leads in, a curve at the frame, or its own; in our units."""
        scene = self._maya.scene
        if giver := node.inputs.get(attribute):
            source = scene.nodes[giver[0]]
            if source.is_of("animCurve"):
                return at_frame(source.keys, scene.settings["frame"])
            if source.type == "unitConversion":
                return self.value_of(source, "input")
            return self.value_of(source, giver[1])
        return node.values[attribute]

    def getAttr(self, plug: str, **flags: Any) -> Any:
        node, attribute = self._plug(plug)
        known = self._known(node, attribute)
        if flags.get("type"):
            return known.type
        if flags.get("multiIndices"):
            assert known.is_multi
            ends = [int(one[:-1].partition("[")[2]) for one in node.inputs if "[" in one]
            return sorted(ends) or None
        if known.parts:
            numbers = [self.value_of(node, part) / self._factor(node, part) for part in known.parts]
            return [tuple(numbers)]
        if known.type in ("message", "matrix", "mesh"):
            raise RuntimeError(
                "The data is not a numeric or string value, and cannot be displayed."
            )
        value = self.value_of(node, attribute)
        factor = self._factor(node, attribute)
        return value if factor == 1.0 else value / factor

    def setAttr(self, plug: str, *values: Any, **flags: Any) -> None:
        """Set, lock or unlock; out of range, locked or driven raises."""
        node, attribute = self._plug(plug)
        known = self._known(node, attribute)
        if "lock" in flags:
            if node.locked:
                raise RuntimeError(
                    "lockNode: attributes of a locked node stay as locked as they are."
                )
            self._record("setAttr", lambda: self._set_lock(node, attribute, flags["lock"]))
            return
        names = known.parts or (attribute,)
        for name, value in zip(names, values, strict=True):
            self._check(node, name, value, flags, plug)
        pairs = [(n, self._own(node, n, v)) for n, v in zip(names, values, strict=True)]
        self._record("setAttr", lambda: node.values.update(pairs))

    def _own(self, node: Node, attribute: str, value: Any) -> Any:
        known = self._known(node, attribute)
        if known.type == "bool":
            return bool(value)
        if known.type in ("long", "enum"):
            return int(value)
        factor = self._factor(node, attribute)
        return value if isinstance(value, str) else value * factor

    def _check(self, node: Node, attribute: str, value: Any, flags: Any, plug: str) -> None:
        known = self._known(node, attribute)
        if (known.type == "string") != (flags.get("type") == "string"):
            raise RuntimeError(f"setAttr: '{plug}' is not a string attribute.")
        if known.most is not None and value > known.most:
            raise RuntimeError(f"setAttr: past its maximum value of {known.most}.")

    def _set_lock(self, node: Node, attribute: str, lock: bool) -> None:
        node.locks = [one for one in node.locks if one != attribute]
        node.locks += [attribute] if lock else []

    @contextmanager
    def _recorded(self, name: str) -> Iterator[None]:
        with self._maya.undo.recorded(name):
            self._maya.scene.modified = True
            yield

    def _record(self, name: str, edit: Callable[[], Any]) -> Any:
        with self._recorded(name):
            return edit()

    # ---- connections

    def _above(self, node: Node, attribute: str) -> Iterator[str]:
        """Give an attribute, and the compound that it is a part of."""
        yield attribute
        for name, known in attributes(node.type).items():
            if attribute in known.parts:
                yield name

    def _giver(self, node: Node, attribute: str) -> tuple[str, str] | None:
        found = (node.inputs.get(one) for one in self._above(node, attribute))
        return next((giver for giver in found if giver), None)

    def _lock(self, node: Node, attribute: str) -> str:
        return next((one for one in self._above(node, attribute) if one in node.locks), "")

    def _told(self, node: Node) -> str:
        return self._maya.scene.short(self._maya.scene.path(node))

    def connectionInfo(self, plug: str, **flags: Any) -> Any:
        node, attribute = self._plug(plug)
        if flags.get("getLockedAncestor"):
            locked = self._lock(node, attribute)
            return f"{self._told(node)}.{locked}" if locked else ""
        if flags.get("getExactDestination"):
            ends = [one for one in self._above(node, attribute) if one in node.inputs]
            return f"{self._told(node)}.{ends[0]}" if ends else ""
        assert flags.get("sourceFromDestination")
        giver = self._giver(node, attribute)
        return f"{self._told(self._maya.scene.nodes[giver[0]])}.{giver[1]}" if giver else ""

    def isConnected(self, out: str, into: str, ignoreUnitConversion: bool = False) -> bool:
        (giver, given), (taker, taken) = self._plug(out), self._plug(into)
        link = taker.inputs.get(taken)
        through = self._maya.scene.nodes[link[0]] if link else None
        if ignoreUnitConversion and through is not None and through.type == "unitConversion":
            link = through.inputs.get("input")
        return link == (giver.uuid, given)

    def connectAttr(self, out: str, into: str, force: bool = False) -> str:
        (giver, given), (taker, taken) = self._plug(out), self._plug(into)
        source, target = self._known(giver, given), self._known(taker, taken)
        there = taker.inputs.get(taken)
        wrong = {
            f"'{into}' is a multi: give an index.": target.is_multi and "[" not in taken,
            f"The destination attribute '{into}' is locked.": self._lock(taker, taken),
            f"The destination attribute '{into}' is not writable.": target.is_output,
            f"'{out}' is already connected to '{into}'.": there == (giver.uuid, given),
            f"'{into}' already has an incoming connection.": there and not force,
            f"The attribute '{out}' cannot be connected to '{into}'.": _family(source.type)
            != _family(target.type),
        }
        for why, is_so in wrong.items():
            if is_so:
                raise RuntimeError(why)
        needs_unit = "doubleAngle" in (source.type, target.type) and source.type != target.type
        with self._recorded("connectAttr"):
            if there:  # it is forced
                old = self._maya.scene.nodes[there[0]]
                self._maya.fire_link(False, (old, there[1]), (taker, taken))
            origin = (giver.uuid, given)
            if needs_unit:
                between = self.new("unitConversion", "unitConversion1")
                between.inputs["input"] = origin
                origin = (between.uuid, "output")
            taker.inputs[taken] = origin
            at_last = self._maya.scene.nodes[origin[0]]
            self._maya.fire_link(True, (at_last, origin[1]), (taker, taken))
        return f"Connected {out} to {into}."

    def disconnectAttr(self, out: str, into: str) -> None:
        (giver, given), (taker, taken) = self._plug(out), self._plug(into)
        # It keeps the value that it has.
        value = self.value_of(taker, taken) if taken in taker.values else None
        with self._recorded("disconnectAttr"):
            self._maya.fire_link(False, (giver, given), (taker, taken))
            del taker.inputs[taken]
            if value is not None:
                taker.values[taken] = value

    def listConnections(self, name: str, **flags: Any) -> list[str] | None:
        """List what is connected; without ``skipConversionNodes`` those are in it too."""
        owner, _, wanted = name.partition(".")
        node = self._one(owner)
        assert not wanted or self._plug(name)
        ends = self._ends_in(node) if flags.get("source", True) else []
        ends += self._ends_out(node) if flags.get("destination", True) else []
        found: list[str] = []
        for own, other, attribute in ends:
            names = (wanted, *attributes(node.type).get(wanted, Attribute("")).parts)
            if wanted and own.partition("[")[0] not in names and own != wanted:
                continue
            if flags.get("skipConversionNodes") and other.type == "unitConversion":
                source, attribute = other.inputs["input"]
                other = self._maya.scene.nodes[source]
            if not other.is_of(flags.get("type", "")) and flags.get("type"):
                continue
            found += [f"{self._told(node)}.{own}"] if flags.get("connections") else []
            found += [self._told(other) + (f".{attribute}" if flags.get("plugs") else "")]
        return found or None

    def _ends_in(self, node: Node) -> list[tuple[str, Node, str]]:
        nodes = self._maya.scene.nodes
        return [(own, nodes[giver], given) for own, (giver, given) in node.inputs.items()]

    def _ends_out(self, node: Node) -> list[tuple[str, Node, str]]:
        """Give what hangs on a node; membership of a set is a connection of each member's."""
        nodes = self._maya.scene.nodes.values()
        ends = [
            (given, other, own)
            for other in nodes
            for own, (giver, given) in other.inputs.items()
            if giver == node.uuid
        ]
        for group in nodes:
            if any(one.partition(".")[0] == node.uuid for one in group.members):
                ends.append(("instObjGroups", group, "dagSetMembers"))
        return ends

    # ---- keys

    def _curves(self, name: str) -> list[tuple[Node, str, Node]]:
        """Give curves that drive a plug, or a node, directly: what, its attribute, the curve."""
        owner, _, attribute = name.partition(".")
        top, nodes = self._one(owner), self._maya.scene.nodes
        if top.is_of("animCurve"):
            return [(top, "output", top)]
        places = [top, *(one for one in self._maya.scene.children(top) if one.is_of("shape"))]
        return [
            (node, own, nodes[giver[0]])
            for node in ([top] if attribute else places)
            for own, giver in node.inputs.items()
            if attribute in ("", own) and nodes[giver[0]].is_of("animCurve")
        ]

    def keyframe(self, what: str, query: bool, **flags: Any) -> Any:
        """Ask for keys; `keyframe`: ``keyframeCount`` gives their number, and a curve may be named.

        That a number, and not None, is given where there are none, is assumed.
        """
        found: list[Any] = []
        if flags.get("keyframeCount"):
            return sum(len(curve.keys) for _, _, curve in self._curves(what))
        for node, own, curve in self._curves(what):
            if flags.get("name"):
                found.append(self._told(curve))
            elif flags.get("timeChange"):
                found += [key[0] for key in curve.keys]
            else:
                found += [key[1] / self._factor(node, own) for key in curve.keys]
        return found or None

    def setKeyframe(
        self, name: str, attribute: str, time: float, value: float, **tangents: str
    ) -> int:
        """Set a key; gives how many were set."""
        node, own = self._plug(f"{name}.{attribute}")
        assert tangents["inTangentType"] != "step", "a step is a way out of a key"
        giver = node.inputs.get(own)
        curve = self._maya.scene.nodes[giver[0]] if giver else None
        assert curve is None or curve.is_of("animCurve"), "it would insert a pairBlend"
        with self._recorded("setKeyframe"):
            place = curve or self._new_curve(node, own)
            kept = [key for key in place.keys if key[0] != time]
            number = value * self._factor(node, own)
            ways = (tangents["inTangentType"], tangents["outTangentType"])
            place.keys = sorted([*kept, (time, number, *ways)])
            self._tell_edited(place)
        return 1

    def _new_curve(self, node: Node, attribute: str) -> Node:
        kind = {"doubleLinear": "TL", "doubleAngle": "TA"}.get(
            self._known(node, attribute).type, "TU"
        )
        curve = self.new(f"animCurve{kind}", f"{node.name}_{attribute}")
        curve.drives = node.uuid
        node.inputs[attribute] = (curve.uuid, "output")
        return curve

    def cutKey(
        self,
        name: str,
        attribute: str,
        clear: bool,
        time: tuple[float, float] = (-math.inf, math.inf),
    ) -> int:
        """Cut the keys in a range of time; gives how many.

        A curve without keys goes, and the attribute keeps what it was at last.
        """
        assert clear, "they would go onto the clipboard"
        ends = self._curves(f"{name}.{attribute}")
        cut = 0
        with self._recorded("cutKey") if ends else nullcontext():
            for node, own, curve in ends:
                left = [key for key in curve.keys if not time[0] <= key[0] <= time[1]]
                cut += len(curve.keys) - len(left)
                value = self.value_of(node, own)
                curve.keys = left
                self._tell_edited(curve)
                if not left:
                    self._remove(curve)
                    node.values[own] = value
        return cut

    def _tell_edited(self, curve: Node) -> None:
        """Tell of an edited curve: `MAnimMessage.addAnimCurveEditedCallback`."""
        self._maya.fire("curves edited", [api.ObjectOfNode(self._maya, curve)])

    # ---- attributes that somebody added

    def addAttr(self, name: str, longName: str, attributeType: str, defaultValue: float) -> None:
        node = self._one(name)
        assert attributeType == "double"
        with self._recorded("addAttr"):
            node.values[longName] = defaultValue
            told = api.Plug(self._maya, node, longName)
            self._maya.fire(f"attributes of {node.uuid}", api.ATTRIBUTE_ADDED, told)

    def deleteAttr(self, plug: str) -> None:
        node, attribute = self._plug(plug)
        with self._recorded("deleteAttr"):
            if giver := node.inputs.pop(attribute, None):
                source = self._maya.scene.nodes[giver[0]]
                self._maya.fire_link(False, (source, giver[1]), (node, attribute))
            told = api.Plug(self._maya, node, attribute)
            self._maya.fire(f"attributes of {node.uuid}", api.ATTRIBUTE_REMOVED, told)
            del node.values[attribute]

    # ---- the scene's own

    def currentUnit(self, query: bool = False, updateAnimation: bool = True, **flags: Any) -> Any:
        """Ask or set; a new unit of time moves all keys, so that they stay at their seconds."""
        settings = self._maya.scene.settings
        ((which, wanted),) = flags.items()
        if query:
            return settings[which]
        known = {"linear": CENTIMETRES, "time": FPS, "angle": ("deg", "rad")}[which]
        if wanted not in known and not wanted.endswith("fps"):
            raise RuntimeError(f"Invalid {which} unit: {wanted}")
        with self._recorded("currentUnit"):
            if which == "time" and updateAnimation:
                factor = rate(wanted) / rate(settings["time"])
                for node in self._maya.scene.nodes.values():
                    node.keys = [(key[0] * factor, *key[1:]) for key in node.keys]
            self._maya.scene.settings[which] = wanted
        return None

    def playbackOptions(self, query: bool = False, **flags: Any) -> Any:
        if query:
            return self._maya.scene.settings[next(iter(flags))]
        undoable = {"minTime", "maxTime", "animationStartTime", "animationEndTime"}
        assert flags.keys() <= undoable, "the others are not undoable"
        return self._record("playbackOptions", lambda: self._maya.scene.settings.update(flags))

    def currentTime(self, frame: float | None = None, query: bool = False) -> float:
        settings = self._maya.scene.settings
        if query or frame is None:
            return float(settings["frame"])
        self._record("currentTime", lambda: self._maya.scene.settings.update(frame=frame))
        return frame

    def upAxis(self, query: bool, axis: bool) -> str:
        return str(self._maya.scene.settings["up"])

    # ---- new nodes

    def new(self, type_name: str, name: str, parent: Node | None = None) -> Node:
        """Add a node with all its attributes; a name that is taken gets a number."""
        scene = self._maya.scene
        node = scene.add(self.free_name(name, parent, type_name), type_name, parent)
        known = attributes(type_name).items()
        node.values = {name: one.default for name, one in known if not one.parts}
        self._maya.fire_node("node added", node)
        return node

    def free_name(self, name: str, parent: Node | None, type_name: str) -> str:
        """Give a name that no sibling has, and of what is not in the DAG nobody."""
        is_dag = "dagNode" in _bases(type_name)
        uuid = parent.uuid if parent else None
        taken = {
            node.name
            for node in self._maya.scene.nodes.values()
            if not (is_dag and node.is_dag) or uuid in (node.parent, *node.more_parents)
        }
        if name not in taken:
            return name
        stem = name.rstrip("0123456789")
        return next(f"{stem}{n}" for n in range(1, 10_000) if f"{stem}{n}" not in taken)


def at_frame(keys: list[tuple[float, float, str, str]], frame: float) -> float:
    """Evaluate a curve: steps are held, all else is a straight line."""
    before = [key for key in keys if key[0] <= frame]
    after = [key for key in keys if key[0] > frame]
    if not before or not after or before[-1][3] == "step":
        return (before or after[:1])[-1][1]
    (start, low, *_), (end, high, *_) = before[-1], after[0]
    return low + (high - low) * (frame - start) / (end - start)


def rate(unit: str) -> float:
    return FPS[unit] if unit in FPS else float(unit.removesuffix("fps"))


def _bases(type_name: str) -> list[str]:
    from tests.hosts.fakes.maya.node_types import bases

    return bases(type_name) if type_name in TYPES else ["dagNode"]


def _family(type_name: str) -> str:
    """Name what can be connected to each other."""
    numbers = ("double", "float", "bool", "long", "enum", "doubleAngle", "doubleLinear")
    triples = ("double3", "float3")
    if type_name in triples:
        return "three"
    return "number" if type_name in numbers else type_name
