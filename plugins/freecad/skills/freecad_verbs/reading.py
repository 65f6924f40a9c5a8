"""What there is in a document, and what is wrong with it. Main thread."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice
from typing import Any, Final

import FreeCAD

from dcc_bridge.hosts.freecad.freecad_document import document, find, plain, transactions
from dcc_bridge.verbs.acts import Acts, ApiEntry, Part, Rule, SocketLink, Value

from .places import below, children, own_shape, parent_of, scratch_document
from .properties import CELL, FILES, form, held, is_told, linked, links_of

_MODULES: Final = ("FreeCAD", "Part", "Mesh", "Sketcher", "PartDesign", "Draft", "Spreadsheet")
_EXPORTERS: Final = ("Part", "Mesh", "Import", "ImportGui", "Points")
_ABSTRACT: Final = {"Part::Boolean", "Part::Datum", "Part::Primitive", "App::DocumentObject"}
_PYTHON: Final = re.compile("Python$|^App::FeatureTest")  # types that do nothing without a proxy
_MEMBER: Final = re.compile(r"(?:<<([^>]+)>>|\b([A-Za-z_]\w*))\.([A-Za-z_][\w.]*)")
_TEXTS: Final = ("Text", "LabelText")
RECOMPUTES: Final = Rule(
    "recomputes", "it cannot be computed", "set_values or connect(cut=...), as the reason says"
)
VALID: Final = Rule("valid_shape", "its shape is not valid", "delete, or create it anew")
NOT_EMPTY: Final = Rule("not_empty", "it has no shape", "set_values with what it is made of")


class Reads(Acts):
    """The acts on what there is."""

    def namespace(self) -> dict[str, Any]:
        """Give code the application and the active document, as FreeCAD's macros have them."""
        gui = {"Gui": FreeCAD.Gui} if FreeCAD.GuiUp else {}
        return {"App": FreeCAD, "FreeCAD": FreeCAD, "doc": FreeCAD.ActiveDocument, **gui}

    @contextmanager
    def in_context(self, warnings: list[str]) -> Iterator[None]:
        """Keep what could not be computed, and could before."""
        before = {*_faults()}
        yield
        warnings += [it for it in _faults() if it not in before]

    def writers(self) -> Sequence[tuple[Any, str, Any]]:
        """Give the modules' functions that write files.

        Those of documents and shapes cannot be replaced: they only are noticed, or not even that.
        """
        for name in _EXPORTERS:
            with suppress(ImportError):  # it has none in a console, or was built without
                importlib.import_module(name)
        modules = filter(None, map(sys.modules.get, _EXPORTERS))
        return [(it, "export", lambda _, file, *__, **___: [file]) for it in modules]

    def items(self, under: str | None = None) -> Iterator[str]:
        """Give the names of objects; of those below one in the order of the tree."""
        if under is not None:
            yield from dict.fromkeys(str(each.Name) for each in below(find(under)))
        elif FreeCAD.ActiveDocument is not None:
            yield from (str(obj.Name) for obj in document().Objects)

    def kind(self, item: str) -> str:
        """Give the type, such as "Part::Box"."""
        return str(find(item).TypeId)

    def name(self, item: str) -> str:
        """Give the label, which is what the person reads and what `rename` changes."""
        return str(find(item).Label)

    def parent(self, item: str) -> str | None:
        """Give the group, part or body that an object is in."""
        parent = parent_of(find(item))
        return None if parent is None else str(parent.Name)

    def users(self, thing: str) -> Iterator[str]:
        """Give the objects that use one, or a file."""
        by_file = [item for item, _, path in self.files() if thing in (path, path.split("/")[-1])]
        users = by_file or [str(user.Name) for user in find(thing).InList]
        yield from dict.fromkeys(users)

    def look_into(self, item: str, part: Part) -> Any:
        """Tell one part of an object."""
        transactions().compute()
        obj = find(item)
        match part:
            case "values":
                names = [name for name in obj.PropertiesList if is_told(obj, name)]
                return {name: _value(obj, name) for name in names}
            case "inputs":
                return list(_inputs(obj))
            case "uses":
                files = [path for _, _, path in self.files([obj])]
                return [*dict.fromkeys(str(used.Name) for used in obj.OutList), *files]
            case "counts":
                return _counts(obj)
            case "text":
                return _text(obj)
        return None

    def types(self) -> list[str]:
        """Give the types of the modules that are loaded, with those that models are made of."""
        for module in ("Part", "PartDesign", "Sketcher", "Mesh", "Spreadsheet"):
            __import__(module)
        if FreeCAD.ActiveDocument is None:
            return []
        known = document().supportedTypes()
        return [name for name in known if name not in _ABSTRACT and not _PYTHON.search(name)]

    def files(self, objects: Iterable[Any] | None = None) -> Iterator[tuple[str, str, str]]:
        """Give the files of properties, and other documents of which objects are linked."""
        if objects is None:
            objects = document().Objects if FreeCAD.ActiveDocument else ()
        for obj in objects:
            for name in obj.PropertiesList:
                if form(obj, name) in FILES and getattr(obj, name):
                    yield str(obj.Name), name, str(getattr(obj, name))
            for name in links_of(obj):
                for used in linked(getattr(obj, name)):
                    if used.Document.Name != obj.Document.Name:
                        yield str(obj.Name), name, str(used.Document.FileName)

    # ---- check

    def rules(self) -> tuple[Rule, ...]:
        """Give what can be wrong with a model."""
        return RECOMPUTES, VALID, NOT_EMPTY

    def failures(self, rule: str, items: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Give the objects that fail, and "" of those that do not."""
        transactions().compute()
        for item in items:
            yield item, _fault(rule, find(item))

    # ---- find_api

    def api(self) -> Iterator[ApiEntry]:
        """Give the types with their properties, of one object each, and functions of modules."""
        for kind in self.types():
            yield ApiEntry(f"create type {kind}", "type")
            yield from _properties(kind)
        for module in filter(None, map(sys.modules.get, _MODULES)):
            for name in dir(module):
                it = getattr(module, name, None)
                if callable(it) and not name.startswith("_"):
                    text = " ".join((it.__doc__ or "").split())
                    yield ApiEntry(f"{module.__name__}.{name}", "function", text[:160])


def _faults() -> Iterator[str]:
    document = FreeCAD.ActiveDocument
    for obj in document.Objects if document else ():
        if fault := _fault(RECOMPUTES.name, obj):
            yield f"{obj.Name} cannot be computed: {fault}"


def _fault(rule: str, obj: Any) -> str:
    """Say what is wrong with an object; nothing where it passes."""
    if rule == RECOMPUTES.name:
        return str(obj.getStatusString()) if "Invalid" in obj.State else ""
    if rule == NOT_EMPTY.name:
        is_empty = obj.isDerivedFrom("Part::Feature") and obj.Shape.isNull()
        return f"a {obj.TypeId} without a shape" if is_empty else ""
    shape = own_shape(obj)
    is_wrong = hasattr(shape, "isValid") and not shape.isValid()
    return f"an invalid {shape.ShapeType.lower()}" if is_wrong else ""


def _properties(kind: str) -> Iterator[ApiEntry]:
    """Tell the properties of a type, which FreeCAD knows of objects alone."""
    entries = []
    with scratch_document() as scratch, suppress(TypeError, RuntimeError):
        obj = scratch.addObject(kind, "It")  # some are listed, but cannot stand alone
        for name in filter(partial(is_told, obj), obj.PropertiesList):
            choices = obj.getEnumerationsOfProperty(name) or ()
            signature = ", ".join([form(obj, name), *choices])
            told = obj.getDocumentationOfProperty(name)
            entries.append(ApiEntry(f"{kind}.{name}", "property", told, signature))
    yield from entries


def _value(obj: Any, name: str) -> Value:
    kind = form(obj, name).partition("::Property")[2]
    return Value(plain(getattr(obj, name)), kind, held(obj, name))


def _inputs(obj: Any) -> Iterator[SocketLink]:
    for path, text in obj.ExpressionEngine:
        for label, name, member in _MEMBER.findall(text):
            labelled = document().getObjectsByLabel(label) if label else []
            source = labelled[0] if labelled else document().getObject(name)
            if source is not None:
                yield SocketLink(source.Name, member, obj.Name, path.lstrip("."))
    for name in links_of(obj):
        for source in linked(getattr(obj, name)):
            yield SocketLink(source.Name, "Shape", obj.Name, name)


def _counts(obj: Any) -> dict[str, Any] | None:
    counts: dict[str, Any] = {}
    shape = own_shape(obj)
    if shape is not None and obj.isDerivedFrom("Mesh::Feature"):
        counts = {"faces": shape.CountFacets, "edges": shape.CountEdges}
        counts |= {"points": shape.CountPoints, "volume": shape.Volume, "area": shape.Area}
        counts["closed"] = shape.isSolid()
    elif shape is not None:
        parts = "Faces", "Edges", "Vertexes", "Solids", "Shells"
        counts = {part.lower(): len(getattr(shape, part)) for part in parts}
        counts |= {"volume": shape.Volume, "area": shape.Area}
    if members := children(obj):
        counts["children"] = len(members)
    return counts or None


def _text(obj: Any) -> Any:
    texts: dict[str, Any] = {path.lstrip("."): text for path, text in obj.ExpressionEngine}
    texts |= {name: plain(getattr(obj, name)) for name in _TEXTS if name in obj.PropertiesList}
    if obj.isDerivedFrom("Spreadsheet::Sheet"):
        cells = (name for name in obj.PropertiesList if CELL.fullmatch(name))
        for cell in islice(cells, 100):
            alias = obj.getAlias(cell)
            texts[f"{cell} ({alias})" if alias else cell] = obj.getContents(cell)
    return texts or None
