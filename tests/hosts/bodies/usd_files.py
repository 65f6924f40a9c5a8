"""The files of the scene in our own host, in which each prim has a mark: its name."""

from __future__ import annotations

import re
from typing import Final

from tests.hosts.bodies.port import MARK

INSIDE: Final = ">"
"""It begins the marks of what is referred to."""
_REFERENCE: Final = """#usda 1.0
(
    defaultPrim = "Model"
)
def Xform "Model"
{
    def Xform "in"
    {
        def Cube "deep" {}
    }
}
"""
_TEXTS: Final = {
    "scene.usda": """#usda 1.0
(
    defaultPrim = "World"
    subLayers = [@./sub.usda@]
)
def Xform "World"
{
    def Camera "a"
    {
        float focalLength = 35
    }
    def Xform "b"
    {
        def Sphere "below" {}
    }
    def Xform "c" {}
    def "ref" ( references = @./ref.usda@ ) {}
    def "load" ( payload = @./load.usda@ ) {}
}
def Xform "Other"
{
    def Sphere "s" {}
}
""",
    "sub.usda": """#usda 1.0
over "World"
{
    def Xform "low"
    {
        def Cube "lower" {}
    }
}
""",
    "ref.usda": _REFERENCE,
    "load.usda": _REFERENCE,
    "other.usda": """#usda 1.0
def Xform "World"
{
    def Camera "elsewhere" {}
}
""",
}


_PRIM: Final = re.compile(r'( *)def (\w+ )?"(\w+)"(?: \( (.*?) \))?')
_KEYED: Final = """        float focalLength = 35
        double width.timeSamples = { 1: 2, 9: 3 }
"""
_PREFIXES: Final = {"ref.usda": INSIDE, "load.usda": f"{INSIDE}load "}


def _marked(text: str, prefix: str) -> str:
    """Return the text of a layer in which each prim has a mark: its name."""

    def line(match: re.Match[str]) -> str:
        space, kind, name, more = match.groups()
        mark = f'customData = {{ string {MARK} = "{prefix}{name}" }}'
        return f'{space}def {kind or ""}"{name}" ( {mark}\n {more or ""} )'

    return _PRIM.sub(line, text).replace("        float focalLength = 35\n", _KEYED)


FILES: Final = {name: _marked(text, _PREFIXES.get(name, "")) for name, text in _TEXTS.items()}
