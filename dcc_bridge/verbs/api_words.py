"""The words of a search in an API: stems, empty words and synonyms. Any thread."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Final

from dcc_bridge.verbs.names import WORD

_ENDS: Final = ("ations", "ation", "ings", "ing", "ies", "ed", "es", "s", "e")
_SHORTEST: Final = 3  # letters of a stem
_DOUBLED: Final = re.compile(r"([bdgmnprt])\1$")  # as in "setting" and "stopped"
# Words of a question that are no words of an API.
_EMPTY: Final = frozenset(
    """
    a about all an and any automatically are as at be by can correct correctly current do does
    each every from for get getting give given has have help how i if in into is it its just
    like me my need no not of on one only or other our please possible problem programmatically
    properly question script scripted scripting several should simple so some someone something
    specific that the their them then there these this those three through to trying two use
    used using via want was way what when where which while will with within without work would
    you your api blender bpy code freecad houdini maya macro pxr python usd
    """.split()  # noqa: SIM905 - a list of 150 lines tells no more
)
# What people say, with the words that APIs have for it.
_SAME: Final = MappingProxyType(
    {
        "anim": "animation",
        "animate": "key keyframe",
        "bbox": "bounding box bounds bound",
        "bounding": "bound bounds",
        "bright": "intensity energy brightness power",
        "brightness": "intensity energy",
        "cam": "camera",
        "centre": "center",
        "clone": "duplicate copy",
        "colour": "color",
        "copy": "duplicate",
        "delete": "remove",
        "duplicate": "copy",
        "dimension": "size resolution",
        "disable": "off use mute",
        "enable": "on use",
        "erase": "remove delete",
        "fov": "angle focal",
        "hide": "visibility visible hidden",
        "img": "image",
        "invisible": "visibility hide",
        "key": "keyframe",
        "keyframe": "key",
        "lamp": "light",
        "light": "lamp",
        "load": "import open",
        "loop": "iterate",
        "mat": "material",
        "move": "translate location translation position placement",
        "orient": "rotation rotate",
        "photo": "image",
        "picture": "image",
        "pic": "image",
        "position": "location translate placement",
        "remove": "delete",
        "resize": "scale",
        "rotate": "rotation",
        "save": "export write",
        "show": "visible visibility",
        "size": "scale dimensions",
        "tex": "texture",
        "texture": "tex",
        "transparency": "opacity alpha",
        "transparent": "opacity alpha",
        "turn": "rotate",
        "vertex": "vertices point",
        "vertices": "vertex point",
        "write": "export save",
    }
)


# Words that so many names have that they tell little.
_WEAK: Final = frozenset(
    {"add", "change", "create", "get", "insert", "make", "new", "set", "value", "values"}
)
_WEAKNESS: Final = 0.3


def query_words(query: str) -> list[str]:
    """Return the words of a query, in lower case; empty ones only if it has no others."""
    every = list(dict.fromkeys(word.lower() for word in WORD.findall(query)))
    return [word for word in every if word not in _EMPTY] or every


def weight_of(word: str) -> float:
    """Return how much a word in lower case counts in a name or phrase, from 0 to 1."""
    if word in _EMPTY:
        return 0.0
    return _WEAKNESS if word in _WEAK else 1.0


def synonyms(word: str) -> list[str]:
    """Return the stems of the words that an API may have for a word in lower case."""
    return [stem(other) for other in _SAME.get(word, "").split()]


def stem(word: str) -> str:
    """Return a word in lower case without its ending: "Textures" and "texturing" are "textur"."""
    low = word.lower()
    for end in _ENDS:
        if not low.endswith(end) or len(low) - len(end) < _SHORTEST:
            continue
        if end == "s" and low.endswith(("ss", "us", "is")):
            return low
        if end == "ies":
            return f"{low[:-3]}y"
        rest = low.removesuffix(end)
        if end in ("ing", "ings", "ed"):
            rest = _DOUBLED.sub(r"\1", rest)
        return rest.removesuffix("e")
    return low
