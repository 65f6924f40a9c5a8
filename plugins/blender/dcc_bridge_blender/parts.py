"""All aspects, and how they are read as an undo step begins and compared afterwards. Main thread.

An *aspect* is one kind of part that data-blocks have and that an edit can remove, see `aspects`.
The table `ASPECTS` joins those of nodes, sockets, assets, texts and scenes, which are here, with
the tables of the modules `parts_*`. `record` calls `parts_of` as a step begins, and the method
`gone` of each `Part` after the edit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from .aspects import (
    UNREAD,
    Aspect,
    Budget,
    NodeWords,
    WordsByKey,
    all_places,
    digest_of_values,
    key_of,
    lists_named,
    lists_with_property,
    missing_parts,
    places_with,
    read_each,
    read_each_within,
    words_by_key,
    words_for_count,
)
from .block_lists import BlockList
from .names import body_of, name_of, names_of
from .parts_animation import ANIMATION_ASPECTS
from .parts_custom import CUSTOM_ASPECTS
from .parts_geometry import GEOMETRY_ASPECTS
from .parts_objects import OBJECT_ASPECTS

# ---- nodes

_RAMP: Final = "VALTORGB"  # the type of a node with a ramp of colors


_WITH_IMAGE: Final = ("TEX_IMAGE", "TEX_ENVIRONMENT", "IMAGE")  # types of nodes with an image


class _Nodes(NamedTuple):
    """The nodes of a tree.

    Attributes:
        nodes: The words for each node.
        links: The link into each input: the address of the node that it comes from, and the words.
            The key is the address of the node that it leads to, with the input's identifier.
        ramps: The name of each node with a ramp of colors, and how many points the ramp has.
        used_blocks: The images and node groups that the nodes use.
    """

    nodes: WordsByKey
    links: Mapping[tuple[int, str], tuple[int, str]]
    ramps: Mapping[tuple[Any, ...], tuple[str, int]]
    used_blocks: list[Any]


def _read_nodes(tree: Any, budget: Budget) -> Any:
    """Return the `_Nodes` of a tree."""
    if tree is None:
        return _Nodes({}, {}, {}, [])
    if not budget.take(len(tree.nodes) + len(tree.links)):
        return UNREAD
    links = {}
    for link in tree.links:
        source = link.from_node
        target = link.to_node
        target_name = name_of(target)
        words = NodeWords(f"link from {name_of(source)} to {target_name}", target_name)
        into = (target.as_pointer(), link.to_socket.identifier)
        links[into] = (source.as_pointer(), words)
    nodes: WordsByKey = {}
    ramps = {}
    used = []
    for node in tree.nodes:
        key = (*key_of(node), node.bl_idname)
        name = name_of(node)
        kind = node.type
        nodes[key] = NodeWords(f"node {name}", name)
        if kind == _RAMP:
            ramps[key] = (name, len(node.color_ramp.elements))
        elif kind == "GROUP":
            used.append(node.node_tree)
        elif kind in _WITH_IMAGE:
            used.append(node.image)
    return _Nodes(nodes, links, ramps, used)


def _used_by_nodes(nodes: _Nodes) -> list[Any]:
    return nodes.used_blocks


def _read_own_nodes(block: Any, budget: Budget) -> Any:
    return _read_nodes(block.node_tree, budget)


def _describe_lost_nodes(before: _Nodes, now: _Nodes, _: Any) -> list[str]:
    """Return the words for nodes, for links between nodes that stay, and for points of ramps."""
    gone = missing_parts(before.nodes, now.nodes)
    addresses = {key[0] for key in now.nodes}
    for into, (source, words) in before.links.items():
        has_nodes = into[0] in addresses and source in addresses
        if has_nodes and into not in now.links:
            gone.append(words)
    for key, (name, count) in before.ramps.items():
        if key not in now.ramps:
            continue
        fewer = count - now.ramps[key][1]
        if fewer > 0:
            gone.append(NodeWords(f"{words_for_count(fewer, 'points')} of node {name}", name))
    return gone


def _read_sockets(tree: Any) -> WordsByKey:
    """Return the inputs and outputs of a node group, by their identifiers."""
    if hasattr(tree, "interface"):  # since 4.0
        items = list(tree.interface.items_tree)
        sockets = [item for item in items if item.item_type == "SOCKET"]
        panels = [item for item in items if item.item_type == "PANEL"]
    else:
        sockets = [*tree.inputs, *tree.outputs]
        panels = []
    found: WordsByKey = {(socket.identifier,): f"socket {name_of(socket)}" for socket in sockets}
    found.update(words_by_key("panel", panels))
    return found


# ---- assets, texts, scenes


def _has_asset(block: Any) -> bool:
    return block.asset_data is not None


def _describe_lost_asset(before: bool, now: bool, _: Any) -> list[str]:
    return ["asset data"] if before and not now else []


def _count_lines(text: Any) -> Counter[str]:
    """Return how often each line that is not blank is in a text."""
    return Counter(line for line in body_of(text).split("\n") if line.strip())


def _describe_lost_lines(before: Counter[str], now: Counter[str], _: Any) -> list[str]:
    count = (before - now).total()
    return [words_for_count(count, "lines")] if count else []


def _read_scene(scene: Any) -> WordsByKey:
    """Return the markers, view layers, keying sets and strips of a scene, and its rigid bodies."""
    found = words_by_key("marker", scene.timeline_markers)
    found.update(words_by_key("view layer", scene.view_layers, digest_of_values))
    for name in names_of(scene.keying_sets):
        found[name,] = f"keying set {name}"
    if scene.rigidbody_world is not None:
        found["rigid bodies",] = "rigid body world"
    editor = scene.sequence_editor
    if editor is not None:
        strips = getattr(editor, "strips_all", None)  # since 4.4
        if strips is None:
            strips = editor.sequences_all
        found.update(words_by_key("strip", strips))
    return found


ASPECTS: Final[dict[str, Aspect]] = {
    **OBJECT_ASPECTS,
    **GEOMETRY_ASPECTS,
    **ANIMATION_ASPECTS,
    "node groups": Aspect(
        applies_to=lists_named("node_groups"),
        find_places=all_places,
        read=read_each_within(_read_nodes),
        describe_loss=_describe_lost_nodes,
        used_blocks=_used_by_nodes,
    ),
    "nodes": Aspect(
        applies_to=lists_with_property("node_tree"),
        find_places=places_with("node_tree"),
        read=read_each_within(_read_own_nodes),
        describe_loss=_describe_lost_nodes,
        used_blocks=_used_by_nodes,
    ),
    "sockets": Aspect(
        applies_to=lists_named("node_groups"),
        find_places=all_places,
        read=read_each(_read_sockets),
        describe_loss=missing_parts,
    ),
    "scene": Aspect(
        applies_to=lists_named("scenes"),
        find_places=all_places,
        read=read_each(_read_scene),
        describe_loss=missing_parts,
    ),
    "text": Aspect(
        applies_to=lists_named("texts"),
        find_places=all_places,
        read=read_each(_count_lines),
        describe_loss=_describe_lost_lines,
    ),
    "asset": Aspect(
        applies_to=lists_with_property("asset_data"),
        find_places=places_with("asset_data"),
        read=read_each(_has_asset),
        describe_loss=_describe_lost_asset,
    ),
    **CUSTOM_ASPECTS,
}
"""The aspects, in the order in which a person reads what is missing."""


class Part(NamedTuple):
    """One aspect as it was, of those data-blocks of a list that had any such parts.

    Attributes:
        aspect: The aspect.
        places: The places of these data-blocks in the list.
        blocks: These data-blocks.
        before: What was read of each of them.
    """

    aspect: Aspect
    places: Sequence[int]
    blocks: list[Any]
    before: Sequence[Any]

    def without(self, deleted: Container[int]) -> Part:
        """Return the part without deleted data-blocks, which are given by their `id`."""
        places = []
        blocks = []
        values = []
        for at, block, before in zip(self.places, self.blocks, self.before, strict=True):
            if id(block) not in deleted:
                places.append(at)
                blocks.append(block)
                values.append(before)
        return Part(self.aspect, places, blocks, values)

    def gone(self, budget: Budget) -> Iterator[tuple[int, list[str]]]:
        """Yield the place of each data-block that differs, and the words for its missing parts."""
        if not self.blocks:  # all of them are deleted
            return
        now = self.aspect.read(self.blocks, budget)
        if now == self.before:
            return
        rows = zip(self.places, self.blocks, self.before, now, strict=True)
        for at, block, before, after in rows:
            is_read = before is not UNREAD and after is not UNREAD
            if is_read and before != after:
                yield at, self.aspect.describe_loss(before, after, block)


def parts_of(block_list: BlockList, budget: Budget) -> list[Part]:
    """Return all aspects of the data-blocks of a list, as they are now."""
    if not block_list.blocks:
        return []
    parts = []
    for aspect in _aspects_of(block_list.name):
        found_places = aspect.find_places(block_list)
        if found_places:
            blocks = [block_list.blocks[place] for place in found_places]
            parts.append(Part(aspect, found_places, blocks, aspect.read(blocks, budget)))
    return parts


@cache
def _aspects_of(name: str) -> list[Aspect]:
    return [aspect for aspect in ASPECTS.values() if aspect.applies_to(name)]
