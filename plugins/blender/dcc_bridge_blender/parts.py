"""What is in each kind of data-block, and what of it is gone. Main thread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from .aspects import (
    UNREAD,
    Aspect,
    Budget,
    Named,
    NodeWords,
    always,
    each,
    each_part,
    each_within,
    every,
    has,
    key_of,
    missing_parts,
    named_parts,
    numbered,
)
from .block_lists import BlockList, places
from .names import body_of, custom_keys_of, name_of, names_of
from .parts_animation import ANIMATION
from .parts_geometry import GEOMETRY
from .parts_objects import OF_OBJECTS

# ---- nodes

_RAMP: Final = "VALTORGB"


class _Nodes(NamedTuple):
    """What is in a tree of nodes.

    Attributes:
        nodes: The words for each.
        links: What leads into each input: from which node, and the words.
        ramps: The name of each node that has a ramp of colors, and how many points that has.
    """

    nodes: Named
    links: Mapping[tuple[int, str], tuple[int, str]]
    ramps: Mapping[tuple[Any, ...], tuple[str, int]]


def _nodes(tree: Any, budget: Budget) -> Any:
    """Return the `_Nodes` of a tree."""
    if tree is None:
        return _Nodes({}, {}, {})
    if not budget.take(len(tree.nodes) + len(tree.links)):
        return UNREAD
    links = {}
    for link in tree.links:
        source, target = link.from_node, link.to_node
        told = f"link from {name_of(source)} to {name_of(target)}"
        words = NodeWords(told, name_of(target))
        into = target.as_pointer(), link.to_socket.identifier
        links[into] = source.as_pointer(), words
    nodes: Named = {}
    ramps = {}
    for node in tree.nodes:
        key = key_of(node)
        name = name_of(node)
        nodes[key] = NodeWords(f"node {name}", name)
        if node.type == _RAMP:
            ramps[key] = name, len(node.color_ramp.elements)
    return _Nodes(nodes, links, ramps)


def _own_nodes(block: Any, budget: Budget) -> Any:
    return _nodes(block.node_tree, budget)


def _gone_nodes(before: _Nodes, now: _Nodes, _: Any) -> list[str]:
    gone = missing_parts(before.nodes, now.nodes)
    there = {key[0] for key in now.nodes}
    for into, (source, words) in before.links.items():
        if into[0] in there and source in there and into not in now.links:
            gone.append(words)
    for key, (name, count) in before.ramps.items():
        left = now.ramps[key][1] if key in now.ramps else count
        if left < count:
            gone.append(NodeWords(f"{numbered(count - left, 'points')} of node {name}", name))
    return gone


def _sockets(tree: Any) -> Named:
    """Return what a group of nodes takes and gives, as `identifier` tells it apart."""
    if hasattr(tree, "interface"):  # since 4.0
        every = [it for it in tree.interface.items_tree if it.item_type == "SOCKET"]
    else:
        every = [*tree.inputs, *tree.outputs]
    return {(it.identifier,): f"socket {name_of(it)}" for it in every}


# ---- what else there is


def _asset(block: Any) -> bool:
    return block.asset_data is not None


def _gone_asset(before: bool, now: bool, _: Any) -> list[str]:
    return ["asset data"] if before and not now else []


def _having_custom(block_list: BlockList) -> list[int]:
    return places(custom_keys_of(block_list.blocks))


def _custom(blocks: Sequence[Any], _: Budget) -> list[list[str]]:
    """Return the custom properties that somebody has added: an add-on declares its own."""
    kinds: set[Any] = {*map(type, blocks)}
    declared = {kind: {it.identifier for it in kind.bl_rna.properties} for kind in kinds}
    every = zip(map(type, blocks), custom_keys_of(blocks), strict=True)
    return [[key for key in keys if key not in declared[kind]] for kind, keys in every]


def _gone_custom(before: list[str], now: list[str], _: Any) -> list[str]:
    return [f"custom property {key}" for key in before if key not in now]


def _lines(text: Any) -> Counter[str]:
    return Counter(line for line in body_of(text).split("\n") if line.strip())


def _gone_lines(before: Counter[str], now: Counter[str], _: Any) -> list[str]:
    count = (before - now).total()
    return [numbered(count, "lines")] if count else []


def _in_scene(scene: Any) -> Named:
    found = each_part("marker", scene.timeline_markers)
    found |= each_part("view layer", scene.view_layers)
    found |= {(name,): f"keying set {name}" for name in names_of(scene.keying_sets)}
    if scene.rigidbody_world is not None:
        found["rigid bodies",] = "rigid body world"
    editor = scene.sequence_editor
    if editor is not None:
        strips = getattr(editor, "strips_all", None)  # since 4.4
        found |= each_part("strip", editor.sequences_all if strips is None else strips)
    return found


ASPECTS: Final[dict[str, Aspect]] = {
    **OF_OBJECTS,
    **GEOMETRY,
    **ANIMATION,
    "groups of nodes": Aspect(
        {"node_groups"}.__contains__, always, each_within(_nodes), _gone_nodes
    ),
    "nodes": Aspect(has("node_tree"), every("node_tree"), each_within(_own_nodes), _gone_nodes),
    "sockets": named_parts(["node_groups"], _sockets, always),
    "scene": named_parts(["scenes"], _in_scene, always),
    "text": Aspect({"texts"}.__contains__, always, each(_lines), _gone_lines),
    "asset": Aspect(has("asset_data"), every("asset_data"), each(_asset), _gone_asset),
    "custom": Aspect(lambda name: True, _having_custom, _custom, _gone_custom),
}
"""What data-blocks have, in the order in which it is told of."""


class Part(NamedTuple):
    """What one aspect was, of those data-blocks of a list that had any of it.

    Attributes:
        aspect: The aspect.
        places: Where in the list they are.
        blocks: They.
        before: What was read of each.
    """

    aspect: Aspect
    places: Sequence[int]
    blocks: list[Any]
    before: Sequence[Any]

    def without(self, deleted: Container[int]) -> Part:
        """Return the same of those that are not deleted."""
        rows = zip(self.places, self.blocks, self.before, strict=True)
        left = [row for row in rows if id(row[1]) not in deleted]
        at, blocks, before = ([row[column] for row in left] for column in range(3))
        return Part(self.aspect, at, blocks, before)

    def gone(self, budget: Budget) -> Iterator[tuple[int, list[str]]]:
        """Yield of each that has less of it than before its place, and the words for that."""
        if not self.blocks:  # each of them is deleted
            return
        now = self.aspect.read(self.blocks, budget)
        if now == self.before:
            return
        rows = zip(self.places, self.blocks, self.before, now, strict=True)
        for at, block, before, after in rows:
            is_read = before is not UNREAD and after is not UNREAD
            if is_read and before != after:
                yield at, self.aspect.gone(before, after, block)


def parts_of(block_list: BlockList, budget: Budget) -> list[Part]:
    """Read what is in the data-blocks of a list."""
    found = []
    for aspect in _aspects_of(block_list.name) if block_list.blocks else ():
        at = aspect.having(block_list)
        if at:
            blocks = [block_list.blocks[place] for place in at]
            found.append(Part(aspect, at, blocks, aspect.read(blocks, budget)))
    return found


@cache
def _aspects_of(name: str) -> list[Aspect]:
    return [aspect for aspect in ASPECTS.values() if aspect.is_of(name)]
