"""Reads a document: its objects, what they use, and what is wrong with them. Main thread."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
    Computing,
    Part,
    PlainNames,
    Rule,
    Said,
    SocketLink,
    Value,
    read_each,
)

from ..document import document, examples, fault_of, find, plain
from ..edge_references import users_of_edge
from ..edges import EDGE
from ..parts import linked
from ..plain_names import PLAIN
from ..transactions import transactions
from . import api
from .edge_items import edge_item, edges_below, values_of
from .places import children, descendants, own_shape, parent_of
from .properties import (
    FILES,
    cells_of,
    is_listed,
    itself,
    links_of,
    lock_reason,
    names_of_cells,
    property_type,
    told,
    value_type,
)
from .said import SAID

_EXPORTERS: Final = ("Part", "Mesh", "Import", "ImportGui", "Points")
_WITH_WRITERS: Final = ("FreeCAD", *_EXPORTERS, "Fem", "Path", "TechDraw")
_WRITES: Final = re.compile(r"(?!\w*(ToString|Inventor|Feature|Units))(export|save|write)\w*")
_ABSTRACT: Final = {"Part::Boolean", "Part::Datum", "Part::Primitive", "App::DocumentObject"}
_CRASHING: Final = {"TechDraw::LandmarkDimension"}  # FreeCAD 0.20.2, as it computes one of nothing
_PYTHON: Final = re.compile("Python$|^App::FeatureTest")  # types that do nothing without a proxy
_MEMBER: Final = re.compile(r"(?:<<([^>]+)>>|\b([A-Za-z_]\w*))\.([A-Za-z_][\w.]*)")
# Parts of an object's content that differ although a person sees the same: FreeCAD's own notes of
# which properties were set, and of what watches the object.
_NOTES: Final = re.compile(r' status="\d+"|\s*<Extensions.*?</Extensions>', re.DOTALL)
_MAX_COMPARED: Final = 3_000  # objects; FreeCAD needs 0.2 s for so many
_MAX_CELLS: Final = 100  # of a spreadsheet, whose contents are listed
_TEXTS: Final = ("Text", "LabelText")
_SET_VALUES: Final = "set_values(items=[item], values={prop: value})"
RECOMPUTES: Final = Rule(
    "recomputes",
    f"FreeCAD cannot compute these objects; {_SET_VALUES}, or connect(cut=...), changes what the "
    "reason names.",
    _SET_VALUES,
)
VALID: Final = Rule(
    "valid_shape",
    "The shapes of these objects break the rules of solids; delete(items) removes them, and create "
    "makes new ones.",
    "delete(items)",
)
NOT_EMPTY: Final = Rule(
    "not_empty",
    f"These objects have no shape; {_SET_VALUES} names what each is made of.",
    _SET_VALUES,
)


class _Reads(ApiSearch, Checking, CodeContext, Computing):
    """The operations that read a document."""

    def namespace(self) -> dict[str, Any]:
        """Return the application and the active document, by the names that macros use."""
        gui = {"Gui": FreeCAD.Gui} if FreeCAD.GuiUp else {}
        return {"App": FreeCAD, "FreeCAD": FreeCAD, "doc": FreeCAD.ActiveDocument, **gui}

    def plain_names(self) -> PlainNames:
        return PLAIN

    @contextmanager
    def in_context(self, warnings: list[str]) -> Iterator[Callable[[], str | None]]:
        """Add the new faults of objects to the warnings; yield a comparison of all documents."""
        faults_before = {*_faults()}
        contents = _contents()
        yield lambda: _differing(contents, _contents())
        warnings += [fault for fault in _faults() if fault not in faults_before]

    def writers(self) -> Sequence[tuple[Any, str, Any]]:
        """Return the functions of modules and the methods of their classes that write files."""
        for name in _EXPORTERS:
            with suppress(ImportError):  # it has none in a console, or was built without
                importlib.import_module(name)
        modules = [*filter(None, map(sys.modules.get, _WITH_WRITERS))]
        classes: dict[type, None] = {}
        for module in modules:
            members = vars(module).values()
            classes.update(dict.fromkeys(each for each in members if isinstance(each, type)))
        rows: list[tuple[Any, str, Any]] = []
        for owner in [*modules, *classes]:
            names = [name for name in vars(owner) if _WRITES.fullmatch(name)]
            rows += [(owner, name, _written) for name in names]
        return [*rows, *_OF_OBJECTS]

    def items(self, under: str | None = None) -> Iterator[str]:
        """Yield the names of objects; of those below one in the order of the tree.

        Below "Pad/edge:" are the edges of Pad's shape, and below "Pad/edge:top" some of them.
        """
        edges = edges_below(under) if under is not None else None
        if edges is not None:
            yield from edges
        elif under is not None:
            yield from dict.fromkeys(str(each.Name) for each in descendants(find(under)))
        elif FreeCAD.ActiveDocument is not None:
            yield from (str(obj.Name) for obj in document().Objects)

    def named_like(self) -> list[str]:
        """Return an object's name, and properties of parts."""
        return examples()

    def kind(self, item: str) -> str:
        """Return the type of an object: "Part::Box"."""
        if edge_item(item) is not None:
            return EDGE
        return str(find(item).TypeId)

    def name(self, item: str) -> str:
        """Return the label, which the person reads and `rename` changes."""
        edge = edge_item(item)
        if edge is not None:
            return edge.name
        return str(find(item).Label)

    def parent(self, item: str) -> str | None:
        """Return the group, part, body or origin that an object is in; None if it is in none."""
        edge = edge_item(item)
        if edge is not None:
            return str(edge.obj.Name)
        parent = parent_of(find(item))
        return None if parent is None else str(parent.Name)

    def users(self, thing: str) -> Iterator[str]:
        """Yield the objects that use a file or an object.

        Args:
            thing: The path or the name of a file, the name of an object, or an edge.

        Raises:
            LookupError: There is no such file and no such object.
        """
        edge = edge_item(thing)
        if edge is not None:
            yield from (str(user.Name) for user in users_of_edge(edge.obj, edge.edge.number))
            return
        users = list[str]()
        for item, _, path in self.files():
            if thing in (path, path.split("/")[-1]):
                users.append(item)
        if not users:
            users = [str(user.Name) for user in find(thing).InList]
        yield from dict.fromkeys(users)

    def look_into(self, item: str, part: Part) -> Any:
        """Return one part of the facts about an object; None if there are no such facts."""
        transactions().compute()
        edge = edge_item(item)
        if edge is not None:
            return {"values": values_of(edge), "uses": [str(edge.obj.Name)]}.get(part)
        obj = find(item)
        match part:
            case "values":
                names = [name for name in obj.PropertiesList if is_listed(obj, name)]
                names += names_of_cells(obj)
                return dict(read_each(names, partial(_value, obj)))
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

    def fault(self, item: str) -> str:
        """Return why FreeCAD could not compute an object, which keeps its older shape then."""
        transactions().compute()
        if edge_item(item) is not None:
            return ""
        why = fault_of(find(item))
        if not why:
            return ""
        return f"FreeCAD cannot compute it: {why}. Its shape, if it has one, is of before"

    def types(self) -> list[str]:
        """Return the types of objects that FreeCAD can make; models' modules are loaded first."""
        for module in ("Part", "PartDesign", "Sketcher", "Mesh", "Spreadsheet", "TechDraw"):
            __import__(module)
        if FreeCAD.ActiveDocument is None:
            return []
        types = document().supportedTypes()
        left_out = _ABSTRACT | _CRASHING
        return [name for name in types if name not in left_out and not _PYTHON.search(name)]

    def files(self, objects: Iterable[Any] | None = None) -> Iterator[tuple[str, str, str]]:
        """Yield the files that objects use: of file properties, and of linked documents.

        Args:
            objects: The objects; None for all of the active document.

        Yields:
            The object, its property, and the path of the file.
        """
        if objects is None:
            objects = document().Objects if FreeCAD.ActiveDocument else ()
        for _, files in read_each(objects, _files, name_of):
            yield from files

    # ---- check

    def rules(self) -> tuple[Rule, ...]:
        """Return the rules that a document can be checked by."""
        return RECOMPUTES, VALID, NOT_EMPTY

    def failures(self, rule: str, items: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield each object with its fault by a rule; "" for an object that passes."""
        transactions().compute()
        yield from read_each(items, lambda item: _fault(rule, find(item)))

    # ---- find_api

    def api(self) -> Iterator[ApiEntry]:
        """Yield the types with their properties and methods, and what is in the loaded modules."""
        return api.entries(self.types())

    def said(self) -> Mapping[str, Said]:
        return SAID


def name_of(obj: Any) -> str:
    """Return the name of an object, which always can be read."""
    return str(obj.Name)


def _files(obj: Any) -> list[tuple[str, str, str]]:
    """Return the files that an object uses, with the object's name and the property."""
    files = []
    for name in obj.PropertiesList:
        if property_type(obj, name) in FILES and getattr(obj, name):
            files.append((str(obj.Name), name, str(getattr(obj, name))))
    for name in links_of(obj):
        for used in linked(getattr(obj, name)):
            if used.Document.Name != obj.Document.Name:
                files.append((str(obj.Name), name, str(used.Document.FileName)))
    return files


def _written(*args: Any, **kwargs: Any) -> list[Any]:
    """Return the file of a call: the first text, or that of its document; None for the settings."""
    for argument in (*args, *kwargs.values()):
        # Not `isinstance`, which asks an argument for its class: some have none.
        if issubclass(type(argument), str | bytes | PathLike):
            return [argument]
    if not args:
        return [None]
    return [getattr(args[0], "FileName", None)]


# Of a sheet and of a symbol on a page, whose own classes are in no module.
_OF_OBJECTS: Final = [
    (FreeCAD.DocumentObject, name, _written) for name in ("exportFile", "dumpSymbol")
]


def _contents() -> dict[str, list[Any]]:
    """Return the contents of the objects of each document; empty lists of too many objects."""
    documents = FreeCAD.listDocuments()
    count = sum(len(doc.Objects) for doc in documents.values())
    if count > _MAX_COMPARED:
        return {name: [] for name in documents}
    return {name: _contents_of(doc) for name, doc in documents.items()}


def _contents_of(doc: Any) -> list[Any]:
    return sorted([obj.Name, obj.TypeId, _NOTES.sub("", obj.Content)] for obj in doc.Objects)


def _differing(before: dict[str, list[Any]], now: dict[str, list[Any]]) -> str | None:
    """Return which documents were opened or closed, as the end of a sentence.

    Returns:
        "" if all is as before; None if the contents differ, or were too many to compare.
    """
    opened = ", ".join(now.keys() - before.keys())
    closed = ", ".join(before.keys() - now.keys())
    differences = []
    if opened:
        differences.append(f"{opened} is open still")
    if closed:
        differences.append(f"{closed} was closed")
    if differences:
        return f", but not the documents: {' and '.join(differences)}"
    if now == before and any(before.values()):
        return ""
    return None


def _faults() -> Iterator[str]:
    """Yield a sentence for each object of the active document that cannot be computed."""
    if not FreeCAD.ActiveDocument:
        return
    judge = partial(_fault, RECOMPUTES.name)
    for obj, fault in read_each(FreeCAD.ActiveDocument.Objects, judge, name_of):
        if fault:
            yield f"{obj.Name} cannot be computed: {fault}"


def _fault(rule: str, obj: Any) -> str:
    """Return the fault of an object by a rule; "" if the object passes."""
    if rule == RECOMPUTES.name:
        return fault_of(obj)
    if rule == NOT_EMPTY.name:
        is_empty = obj.isDerivedFrom("Part::Feature") and obj.Shape.isNull()
        return f"a {obj.TypeId} without a shape" if is_empty else ""
    shape = own_shape(obj)
    if not hasattr(shape, "isValid") or shape.isValid():
        return ""
    return f"an invalid {shape.ShapeType.lower()}"


def _value(obj: Any, name: str) -> Value:
    return Value(told(obj, name), value_type(obj, name), lock_reason(obj, name))


def _inputs(obj: Any) -> Iterator[SocketLink]:
    """Yield the connections of an object's expressions and links."""
    for path, text in obj.ExpressionEngine:
        for label, name, member in _MEMBER.findall(text):
            labelled = document().getObjectsByLabel(label) if label else []
            source = labelled[0] if labelled else document().getObject(name)
            if source is not None:
                yield SocketLink(source.Name, member, obj.Name, path.lstrip("."))
    for name in links_of(obj):
        for source in linked(getattr(obj, name)):
            yield SocketLink(source.Name, itself(source), obj.Name, name)


def _counts(obj: Any) -> dict[str, Any] | None:
    """Return the counts and sizes of a shape or mesh, and how many objects are in an object."""
    counts: dict[str, Any] = {}
    shape = own_shape(obj)
    if shape is not None and obj.isDerivedFrom("Mesh::Feature"):
        counts = {
            "faces": shape.CountFacets,
            "edges": shape.CountEdges,
            "points": shape.CountPoints,
            "volume": shape.Volume,
            "area": shape.Area,
            "closed": shape.isSolid(),
        }
    elif shape is not None:
        elements = "Faces", "Edges", "Vertexes", "Solids", "Shells"
        counts = {element.lower(): len(getattr(shape, element)) for element in elements}
        counts["volume"] = shape.Volume
        counts["area"] = shape.Area
    members = children(obj)
    if members:
        counts["children"] = len(members)
    return counts or None


def _text(obj: Any) -> Any:
    """Return the expressions, texts and first cells of an object, by their names."""
    texts: dict[str, Any] = {path.lstrip("."): text for path, text in obj.ExpressionEngine}
    texts |= {name: plain(getattr(obj, name)) for name in _TEXTS if name in obj.PropertiesList}
    for cell, alias in islice(cells_of(obj).items(), _MAX_CELLS):
        key = f"{cell} ({alias})" if alias else cell
        texts[key] = obj.getContents(cell)
    return texts or None
