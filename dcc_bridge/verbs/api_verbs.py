"""The words that people say for what a verb does, so that `find_api` names the verb before code.

One table for all hosts; a host has the cards of the verbs whose ports it implements. Main thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Final, NamedTuple

from dcc_bridge.verbs.operations import SCENE, ApiEntry, Said
from dcc_bridge.verbs.ports import (
    ApiSearch,
    Building,
    Deleting,
    Drawing,
    FileExchange,
    Keyframes,
    Materials,
    Saving,
)

KIND: Final = "verb"
_SURE: Final = 1.3  # how much likelier a verb is meant than code, where people say the same of both
_NOUN: Final = "thing"  # in a phrase: what a scene consists of, as each application calls it
_FRAME: Final = "set_values of frame"
_SUFFIX: Final = ".suffix"  # in an example: the suffix of a scene's file


class _Verb(NamedTuple):
    """A card about a verb.

    Attributes:
        name: Of the card: the verb, and for what if it has several cards.
        port: What a host implements that has the verb.
        text: What it does.
        said: What people say for it, between commas; "thing" stands for each word for an item.
        example: A call; "<item>" stands for an item of the scene. "" where each host says its own.
    """

    name: str
    port: type  # an abstract one
    text: str
    said: str
    example: str


_VERBS: Final = (
    _Verb(
        "save",
        Saving,
        "Save the scene in its own file, or with a path in another one, which is its own from then"
        " on. The person is asked",
        "save, save scene, save the scene, save file, save the file, save stage, save document,"
        " save project, write scene to disk, write file to disk",
        "save {}",
    ),
    _Verb(
        "save with a path",
        Saving,
        "The verb save with a path: the scene is saved there, and that is its own file from then"
        " on. The person is asked",
        "save as, save as a new file, save as new file, save a copy of the scene,"
        " save under another name, save a new version",
        'save {"path": "new.suffix"}',
    ),
    _Verb(
        "export_file",
        FileExchange,
        "Export items or the scene to a file; its suffix says the format",
        "export, export scene, export file, export to a file, export selection, export a thing,"
        " save a thing as a file, export fbx, export obj, export stl, export gltf, export glb,"
        " export usd, export step, export alembic, save as stl, save the model as stl,"
        " convert file, convert usdc to usda, export to another file",
        'export_file {"path": "exported.suffix"}',
    ),
    _Verb(
        "render",
        Drawing,
        "Render pictures to files, or one into the answer, of frames or as a turntable",
        "render, render image, render image to a file, render to file, render still,"
        " render frames, render animation, save render, save an image of the scene, playblast,"
        " turntable, render a turntable, preview animation",
        'render {"view": "three_quarter"}',
    ),
    _Verb(
        "import_file",
        FileExchange,
        "Import a file of models, scenes or images",
        "import, import file, import a model, import an obj file, import fbx, import stl,"
        " import a step file, import gltf, import usd, load a model from a file",
        'import_file {"path": "model.obj"}',
    ),
    _Verb(
        "set_values of frames",
        Keyframes,
        'The verb set_values: "frames" of "@scene" are the first and the last frame',
        "frame range, set frame range, start frame, end frame, start and end frame, time range,"
        " animation range, animation length, timeline range, first and last frame",
        'set_values {"items": ["@scene"], "values": {"frames": [1, 100]}}',
    ),
    _Verb(
        "set_values of fps",
        Keyframes,
        'The verb set_values: "fps" of "@scene" is the frame rate',
        "frame rate, change frame rate, fps, set fps, frames per second",
        'set_values {"items": ["@scene"], "values": {"fps": 25}}',
    ),
    _Verb(
        _FRAME,
        Keyframes,
        'The verb set_values: "frame" of "@scene" is the frame that is shown',
        "current frame, set current frame, set the current frame, go to a frame, change frame",
        'set_values {"items": ["@scene"], "values": {"frame": 12}}',
    ),
    _Verb(
        "set_keys",
        Keyframes,
        "Set keys of a property, [frame, value] each, or clear them",
        "keyframe, set keyframe, set a key, insert keyframe, add keyframe, add an animation key,"
        " animate, animate a thing, animate a property, animation key, add key to a thing,"
        " set time samples",
        "",
    ),
    _Verb(
        "delete",
        Deleting,
        "Delete items, or those whose name matches a pattern. The person sees the list first",
        "delete, remove, delete thing, remove thing, delete a thing, remove a thing, delete things,"
        " delete all things, delete all things in the scene, delete a thing from the document,"
        " erase a thing",
        'delete {"pattern": "Old_*"}',
    ),
    _Verb(
        "duplicate",
        Building,
        "Copy items with all below them, as instances or whole",
        "duplicate, copy thing, duplicate thing, copy a thing, duplicate a thing, clone a thing,"
        " make copies of a thing, make a copy",
        'duplicate {"items": ["<item>"], "count": 2}',
    ),
    _Verb(
        "rename",
        Building,
        "Rename items, by name or by pattern; what refers to them follows",
        "rename, rename thing, rename a thing, rename things, rename several things,"
        " change the name of a thing, batch rename",
        'rename {"names": {"<item>": "Renamed"}}',
    ),
    _Verb(
        "group",
        Building,
        'Put items below a parent; "@scene" for none. Into a collection, set, layer or folder with'
        " into and kind",
        "parent, parent thing, parent a thing, parent one thing to another, set parent,"
        " set parent of a thing, reparent, reparent a thing, unparent,"
        " move thing to another parent, group things, change hierarchy",
        'group {"items": ["<item>"], "under": "@scene"}',
    ),
    _Verb(
        "transform",
        Building,
        "Move, rotate, scale or aim items, or set them down on others",
        "move a thing, move thing, move a thing to another position, rotate a thing, scale a thing,"
        " set translation rotation and scale, set position of a thing, place a thing, transform,"
        " translate a thing",
        'transform {"items": ["<item>"], "at": [0, 1, 0]}',
    ),
    _Verb(
        "assign_material",
        Materials,
        "Give items a material, an existing one or one made of values",
        "assign material, assign a material, assign material to a thing, apply material,"
        " apply material to a thing, set material, set material of a thing, bind material,"
        " bind a material to a mesh, give a thing a material, material to mesh",
        'assign_material {"items": ["<Mesh|Cube|MESH|mesh|Part::Box|Part::Feature>"],'
        ' "material": "Paint", "values": {"base_color": [0.8, 0.1, 0.1], "roughness": 0.4}}',
    ),
    _Verb(
        "look",
        Drawing,
        "See the scene, or some items, as one picture with a legend. It is no render",
        "look at the scene, see the scene, screenshot, take a screenshot, viewport screenshot,"
        " preview, preview picture, preview render, render preview, picture of the scene",
        'look {"size": 256}',
    ),
)


def cards(operations: ApiSearch) -> Iterator[ApiEntry]:
    """Yield a card for each thing that a verb of a host does."""
    for verb in _of(operations):
        example = verb.example.replace(_SUFFIX, operations.host.suffix)
        yield ApiEntry(verb.name, KIND, verb.text, example=example, weight=_SURE)


def said(operations: ApiSearch) -> Mapping[str, Said]:
    """Return what people say for entries of the API, and for the cards of a host's verbs.

    For such a card a host may say more of its own, and another example.
    """
    nouns = dict.fromkeys(["object", "item", operations.host.item_noun])
    spoken = dict(operations.said())
    for verb in _of(operations):
        phrases = [phrase.strip() for phrase in verb.said.split(",")]
        named = {phrase.replace(_NOUN, noun): None for phrase in phrases for noun in nouns}
        own = spoken.get(verb.name, Said())
        words = [own.words, *named]
        spoken[verb.name] = Said(",".join(filter(None, words)), own.example)
    return spoken


def _of(operations: ApiSearch) -> list[_Verb]:
    verbs = [verb for verb in _VERBS if isinstance(operations, verb.port)]
    if _has_frame(operations):
        return verbs
    return [verb for verb in verbs if verb.name != _FRAME]


def _has_frame(operations: ApiSearch) -> bool:
    """Return whether the frame that is shown can be set."""
    with suppress(LookupError, ValueError):
        return not operations.value(SCENE, "frame").held
    return False
