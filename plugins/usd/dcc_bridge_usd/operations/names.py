"""Names of prims: which is free, and which was meant. No Qt in here. Main thread."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice
from typing import Final

from pxr import Sdf, Usd

from dcc_bridge.spi import like

from ..shown import brought
from ..views import sublayers_in

_MAX_SEARCHED: Final = 20_000  # prims that are searched for a name
_MAX_LOOKED_AT: Final = 2_000  # prims among which examples are looked for
_MAX_NEAR: Final = 5  # names that are suggested
_MAX_CHILDREN: Final = 10  # that are named


def near(name: str, names: Iterable[str], above: Sdf.Path | None = None) -> str:
    """Return a sentence about the names that are like one; "" if there are none.

    Args:
        name: The name that was meant to be found.
        names: The names that there are.
        above: The prim whose children have these names; they are written as paths then.
    """
    by_lower = {each.lower(): each for each in names if each != name}
    alike = get_close_matches(name.lower(), by_lower, _MAX_NEAR, 0.6)
    if name:
        containing = [lower for lower in by_lower if name.lower() in lower]
        alike += containing[:_MAX_NEAR]
    suggestions = [by_lower[lower] for lower in dict.fromkeys(alike)][:_MAX_NEAR]
    if above:
        suggestions = [str(above.AppendChild(child)) for child in suggestions]
    if not suggestions:
        return ""
    return f" Names like it: {', '.join(suggestions)}."


def examples(stage: Usd.Stage) -> list[str]:
    """Return the first prim of each kind that is named in its own way, and a variant's property."""
    first: dict[str, str] = {}
    for prim in islice(stage.Traverse(), _MAX_LOOKED_AT):
        path = str(prim.GetPath())
        kind = prim.GetTypeName()
        if kind not in ("Material", "Shader"):
            kind = "prim"
            if prim.GetPath().pathElementCount > 1:
                kind = "inner prim"
        first.setdefault(kind, path)
        for name in prim.GetVariantSets().GetNames():
            first.setdefault("variant", f"{path}, variant:{name}")
    if "inner prim" in first:
        del first["prim"]  # which says less
    return list(first.values())


def missing(stage: Usd.Stage, what: str, path: str) -> str:
    """Return the sentences about something that is not there: what it may be, and how names look.

    Args:
        stage: The scene.
        what: What is not there: "prim at".
        path: The path, or the name.
    """
    return f"There is no {what} {path!r}.{instead(stage, path)}"


def instead(stage: Usd.Stage, path: str) -> str:
    """Return sentences about what there is in the place of a prim that is not there.

    How names look here is told where none is near.
    """
    if Sdf.Path.IsValidPathString(path) and Sdf.Path(path).IsPropertyPath():
        own = Sdf.Path(path)
        return f" That is a property: give {own.GetPrimPath()} and its {own.name}."
    if not Sdf.Path.IsValidPathString(path) or not Sdf.Path(path).IsAbsolutePath():
        places = _called(stage, path.rpartition("/")[2])
        if places:
            return f" Is it {', '.join(places)}?"
        return f" An item is a path.{like(examples(stage))}"
    parent = stage.GetPseudoRoot()
    for prefix in Sdf.Path(path).GetPrefixes():
        child = stage.GetPrimAtPath(prefix)
        if not child:
            return _instead_below(stage, parent, prefix.name, Sdf.Path(path).name)
        parent = child
    return like(examples(stage))


def _instead_below(stage: Usd.Stage, parent: Usd.Prim, missing: str, name: str) -> str:
    """Return a sentence about what there is in the place of a child that is not there.

    Args:
        stage: The scene.
        parent: The deepest prim of a path that is there.
        missing: The name of its child that is not there.
        name: The last name of the path.
    """
    places = _called(stage, name)
    if places:
        return f" {name} is at {', '.join(places)}."
    children = parent.GetAllChildrenNames()
    alike = near(missing, children[:_MAX_SEARCHED], parent.GetPath())
    if alike:
        return alike
    under = f" Under {parent.GetPath()}: {', '.join(children[:_MAX_CHILDREN])}."
    return under + like(examples(stage))


def _called(stage: Usd.Stage, name: str) -> list[str]:
    """List the first prims with a name."""
    searched = islice(stage.Traverse(), _MAX_SEARCHED)
    prims = (prim for prim in searched if prim.GetName() == name)
    return [str(prim.GetPath()) for prim in islice(prims, _MAX_NEAR)]


def valid(name: str) -> str:
    """Return a name that a prim can have: letters of every script stay, others become "_"."""
    characters = []
    for character in name:
        is_valid = Sdf.Path.IsValidIdentifier(f"_{character}")
        characters.append(character if is_valid else "_")
    text = "".join(characters)
    if Sdf.Path.IsValidIdentifier(text):
        return text
    return f"_{text}"  # it is empty, or begins with a digit


def free(above: Usd.Prim, name: str) -> str:
    """Return a name that no child of a prim has: Lamp_01, and then Lamp_02."""
    unloaded = _unloaded(above)
    if name not in unloaded and not _is_taken(above, name):
        return name
    stem = name.rstrip("0123456789")
    digits = name[len(stem) :]
    first = 1
    if digits:
        first = int(digits) + 1
    else:
        stem = f"{stem}_"
    width = max(1, len(digits))

    def nth(number: int) -> str:
        return f"{stem}{first + number:0{width}}"

    def is_taken(number: int) -> bool:
        return nth(number) in unloaded or _is_taken(above, nth(number))

    step = 1
    while is_taken(step - 1):
        step *= 2  # names usually are numbered without gaps, so all in between are taken
    # The name before `low` is taken, and the name before `high` is free.
    low = step // 2
    high = step
    while high - low > 1:
        middle = (low + high) // 2
        if is_taken(middle - 1):
            low = middle
        else:
            high = middle
    return nth(high - 1)


def _unloaded(above: Usd.Prim) -> set[str]:
    """Return the names of the prims that a payload which is not loaded has below a prim."""
    if above.IsLoaded():
        return set()
    return brought(above.GetStage(), above.GetPath())


def _is_taken(above: Usd.Prim, name: str) -> bool:
    """Return whether the scene or one of its layers has a child of that name, also a muted one."""
    path = above.GetPath().AppendChild(name)
    stage = above.GetStage()
    if stage.GetPrimAtPath(path):
        return True
    layers = stage.GetLayerStack()
    if stage.GetMutedLayers():
        layers += sublayers_in(stage.GetRootLayer())
    return any(layer.GetPrimAtPath(path) for layer in layers)


def is_hidden(stage: Usd.Stage, path: Sdf.Path) -> bool:
    """Return whether something defines a prim at a path that the scene does not show.

    That is a muted layer, or a payload that is not loaded.
    """
    if stage.GetPrimAtPath(path):
        return False
    above = stage.GetPrimAtPath(path.GetParentPath())
    if above and path.name in _unloaded(above):
        return True
    if not stage.GetMutedLayers():
        return False
    specs = [layer.GetPrimAtPath(path) for layer in sublayers_in(stage.GetRootLayer())]
    return any(spec.specifier != Sdf.SpecifierOver for spec in specs if spec)
