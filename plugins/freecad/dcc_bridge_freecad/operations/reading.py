"""Reads a document: its objects, what they use, and what is wrong with them. Main thread."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice
from os import PathLike
from typing import Any, Final

import FreeCAD

from dcc_bridge.spi import (
    ApiEntry,
    ApiSearch,
    Checking,
    CodeContext,
    Part,
    PlainNames,
    Rule,
    SocketLink,
    Value,
)

from ..document import document, find, plain
from ..parts import linked
from ..plain_names import PLAIN
from ..transactions import transactions
from .places import below, children, own_shape, parent_of, scratch_document
from .properties import CELL, FILES, form, held, is_told, links_of

_MODULES: Final = ("FreeCAD", "Part", "Mesh", "Sketcher", "PartDesign", "Draft", "Spreadsheet")
_EXPORTERS: Final = ("Part", "Mesh", "Import", "ImportGui", "Points")
_WITH_WRITERS: Final = ("FreeCAD", *_EXPORTERS, "Fem", "Path", "TechDraw")
_WRITES: Final = re.compile(r"(?!\w*(ToString|Inventor|Feature|Units))(export|save|write)\w*")
_ABSTRACT: Final = {"Part::Boolean", "Part::Datum", "Part::Primitive", "App::DocumentObject"}
_PYTHON: Final = re.compile("Python$|^App::FeatureTest")  # types that do nothing without a proxy
_MEMBER: Final = re.compile(r"(?:<<([^>]+)>>|\b([A-Za-z_]\w*))\.([A-Za-z_][\w.]*)")
# Which properties were set since they were made, FreeCAD notes with them, and what watches them.
_NOTED: Final = re.compile(r' status="\d+"|\s*<Extensions.*?</Extensions>', re.DOTALL)
_MOST_COMPARED: Final = 3_000
_TEXTS: Final = ("Text", "LabelText")
RECOMPUTES: Final = Rule(
    "recomputes", "it cannot be computed", "set_values or connect(cut=...), as the reason says"
)
VALID: Final = Rule("valid_shape", "its shape is not valid", "delete, or create it anew")
NOT_EMPTY: Final = Rule("not_empty", "it has no shape", "set_values with what it is made of")


class _Reads(ApiSearch, Checking, CodeContext):
    """The operations on what there is."""

    def namespace(self) -> dict[str, Any]:
        """Return the application and the active document, by the names that macros use."""
        gui = {"Gui": FreeCAD.Gui} if FreeCAD.GuiUp else {}
        return {"App": FreeCAD, "FreeCAD": FreeCAD, "doc": FreeCAD.ActiveDocument, **gui}

    def plain_names(self) -> PlainNames:
        return PLAIN

    @contextmanager
    def in_context(self, warnings: list[str]) -> Iterator[Callable[[], str | None]]:
        """Keep what could not be computed, and could before; compare all documents."""
        before, contents = {*_faults()}, _contents()
        yield lambda: _differing(contents, _contents())
        warnings += [it for it in _faults() if it not in before]

    def writers(self) -> Sequence[tuple[Any, str, Any]]:
        """Return what writes files: functions of modules, methods of documents and of shapes."""
        for name in _EXPORTERS:
            with suppress(ImportError):  # it has none in a console, or was built without
                importlib.import_module(name)
        modules = [*filter(None, map(sys.modules.get, _WITH_WRITERS))]
        classes = [it for module in modules for it in vars(module).values() if isinstance(it, type)]
        owners = [*modules, *dict.fromkeys(classes)]
        names = [(it, name) for it in owners for name in vars(it) if _WRITES.fullmatch(name)]
        return [*((it, name, _written) for it, name in names), *_OF_OBJECTS]

    def items(self, under: str | None = None) -> Iterator[str]:
        """Yield the names of objects; of those below one in the order of the tree."""
        if under is not None:
            yield from dict.fromkeys(str(each.Name) for each in below(find(under)))
        elif FreeCAD.ActiveDocument is not None:
            yield from (str(obj.Name) for obj in document().Objects)

    def kind(self, item: str) -> str:
        return str(find(item).TypeId)

    def name(self, item: str) -> str:
        """Return the label, which is what the person reads and what `rename` changes."""
        return str(find(item).Label)

    def parent(self, item: str) -> str | None:
        parent = parent_of(find(item))
        return None if parent is None else str(parent.Name)

    def users(self, thing: str) -> Iterator[str]:
        by_file = [item for item, _, path in self.files() if thing in (path, path.split("/")[-1])]
        users = by_file or [str(user.Name) for user in find(thing).InList]
        yield from dict.fromkeys(users)

    def look_into(self, item: str, part: Part) -> Any:
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
        """Return the types of the modules that are loaded, with those that models are made of."""
        for module in ("Part", "PartDesign", "Sketcher", "Mesh", "Spreadsheet"):
            __import__(module)
        if FreeCAD.ActiveDocument is None:
            return []
        known = document().supportedTypes()
        return [name for name in known if name not in _ABSTRACT and not _PYTHON.search(name)]

    def files(self, objects: Iterable[Any] | None = None) -> Iterator[tuple[str, str, str]]:
        """Yield the files of properties, and other documents of which objects are linked."""
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
        return RECOMPUTES, VALID, NOT_EMPTY

    def failures(self, rule: str, items: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield the objects that fail, and "" of those that do not."""
        transactions().compute()
        for item in items:
            yield item, _fault(rule, find(item))

    # ---- find_api

    def api(self) -> Iterator[ApiEntry]:
        for kind in self.types():
            yield ApiEntry(f"create type {kind}", "type")
            yield from _properties(kind)
        for module in filter(None, map(sys.modules.get, _MODULES)):
            for name in dir(module):
                it = getattr(module, name, None)
                if callable(it) and not name.startswith("_"):
                    text = " ".join((it.__doc__ or "").split())
                    yield ApiEntry(f"{module.__name__}.{name}", "function", text[:160])


def _written(*args: Any, **kwargs: Any) -> list[Any]:
    """Return the file of a call: the first text, or that of its document; None for the settings."""
    every = (*args, *kwargs.values())  # their class is not asked: some have none
    texts = [it for it in every if issubclass(type(it), str | bytes | PathLike)]
    return texts[:1] or [getattr(args[0], "FileName", None) if args else None]


# Of a sheet and of a symbol on a page, whose own classes are in no module.
_OF_OBJECTS: Final = [
    (FreeCAD.DocumentObject, name, _written) for name in ("exportFile", "dumpSymbol")
]


def _contents() -> dict[str, list[Any]]:
    """Return what the objects of each document hold; of more than 3,000, or 0.2 s, nothing."""
    documents = FreeCAD.listDocuments()
    is_small = sum(len(it.Objects) for it in documents.values()) <= _MOST_COMPARED
    return {
        name: sorted([it.Name, it.TypeId, _NOTED.sub("", it.Content)] for it in doc.Objects)
        if is_small
        else []
        for name, doc in documents.items()
    }


def _differing(before: dict[str, list[Any]], now: dict[str, list[Any]]) -> str | None:
    came, gone = ", ".join(now.keys() - before.keys()), ", ".join(before.keys() - now.keys())
    told = [f"{came} is open still"] * bool(came) + [f"{gone} was closed"] * bool(gone)
    if told:
        return f", but not the documents: {' and '.join(told)}"
    return "" if now == before and any(before.values()) else None


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
    """Yield the properties of a type, which FreeCAD knows of objects alone."""
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
