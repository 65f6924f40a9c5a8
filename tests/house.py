"""Lists what breaks the rules of the layout, which ``tests/test_repository.py`` tests.

They are: what a leaf takes from inside the core, what one leaf imports from another, circles of
imports, imports from a folder to one above it, and public names without a whole docstring.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, is_dataclass
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parent.parent
CORE = "dcc_bridge"
FOR_LEAVES = (
    "dcc_bridge",
    "dcc_bridge.spi",
    "dcc_bridge.spi.drawing",
    "dcc_bridge.spi.headless",
    "dcc_bridge.spi.program",
    "dcc_bridge.spi.qt",
)
"""The modules of the core that a leaf may import."""
OFFERED = (*FOR_LEAVES, "dcc_bridge.spi.batch")
"""The modules of the core that are made for others, so each of their names is documented."""
FOR_BATCH = ("dcc_bridge.cli", "dcc_bridge.client", "dcc_bridge.spi.batch")
"""Modules and packages of the core, with what is in them, that ``batch`` may import besides.

It is no application but a layer: its commands start applications, and call them as a client does.
"""


@dataclass(frozen=True)
class Module:
    """One source file.

    Attributes:
        file: Where it is.
        name: Its dotted name, as others import it.
        leaf: The folder of ``plugins`` that it belongs to, "" in the core and in the tests.
    """

    file: Path
    name: str
    leaf: str

    @cached_property
    def text(self) -> str:
        """The source."""
        return self.file.read_text("utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree."""
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node of the tree."""
        return list(ast.walk(self.tree))

    def imports(self, names: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Yield what is imported, those for types only included.

        Args:
            names: The modules that there are: what is imported from a package may be one of them.

        Yields:
            The module, and the name that is taken from it: "" for the module itself.
        """
        for node in self.nodes:
            if isinstance(node, ast.Import):
                yield from ((alias.name, "") for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                origin = self._origin(node)
                for alias in node.names:
                    inner = f"{origin}.{alias.name}"
                    yield (inner, "") if inner in names else (origin, alias.name)

    def _origin(self, node: ast.ImportFrom) -> str:
        """Return the dotted name of the module that an import, relative or not, is from."""
        module = node.module or ""
        if not node.level:
            return module
        is_package = self.file.stem == "__init__"
        parts = self.name.split(".")
        climbed = node.level - 1 if is_package else node.level
        above = ".".join(parts[: len(parts) - climbed])
        return f"{above}.{module}".strip(".")


@cache
def modules(folder: str, leaf: str = "") -> list[Module]:
    """Return every module below a folder of the repository."""
    files = sorted((ROOT / folder).rglob("*.py"))
    return [Module(file, _dotted_name(file), leaf) for file in files]


def leaves() -> list[Module]:
    """Return every module of every leaf."""
    folders = sorted(path.name for path in (ROOT / "plugins").iterdir() if path.is_dir())
    return [module for name in folders for module in modules(f"plugins/{name}", name)]


def names_taken() -> dict[str, list[str]]:
    """Return the names that leaves take from inside the core.

    Returns:
        By module of the core, the names, sorted: "" for the module itself.
    """
    names = {module.name for module in modules(CORE)}
    taken: defaultdict[str, set[str]] = defaultdict(set)
    for leaf in leaves():
        for origin, name in leaf.imports(names):
            if origin.split(".")[0] == CORE and not _may_import(leaf, origin):
                taken[origin].add(name)
    return {origin: sorted(taken[origin]) for origin in sorted(taken)}


def imports_between_leaves() -> list[str]:
    """Return the imports from one leaf to another, each as ``importer -> imported``."""
    owners = {module.name: module.leaf for module in leaves()}
    return sorted(
        {
            f"{module.name} -> {origin}"
            for module in leaves()
            for origin, _ in module.imports(owners)
            if owners.get(origin, module.leaf) != module.leaf
        }
    )


def circles() -> list[list[str]]:
    """Return the groups of modules of core and leaves that import each other in a circle.

    Imports for types only, and those inside functions, count like any other.
    """
    everything = {module.name: module for module in [*modules(CORE), *leaves()]}
    imported = {
        name: {origin for origin, _ in module.imports(everything) if origin in everything} - {name}
        for name, module in everything.items()
    }
    reached = {name: _reachable(name, imported) for name in imported}
    groups = {
        tuple(sorted(other for other in reached[name] if name in reached[other]))
        for name in imported
    }
    return sorted(list(group) for group in groups if len(group) > 1)


def imports_upwards(folders: Sequence[str]) -> list[str]:
    """Return the imports from a folder of the core to one above it, those for types included.

    Args:
        folders: The folders, the lowest first.

    Returns:
        Each import as ``importer -> imported``.
    """
    core = modules(CORE)
    names = {module.name for module in core}
    floors = {f"{CORE}.{folder}": at for at, folder in enumerate(folders)}
    found = set()
    for module in core:
        own = floors.get(_folder_of(module.name))
        if own is None:
            continue
        for origin, _ in module.imports(names):
            if floors.get(_folder_of(origin), own) > own:
                found.add(f"{module.name} -> {origin}")
    return sorted(found)


def _folder_of(name: str) -> str:
    """Return the folder of the core in which a module is, as its dotted name."""
    return ".".join(name.split(".")[:2])


def undocumented() -> list[str]:
    """Return the names that skills and leaves import and whose docstring is not whole.

    A docstring is whole if a function's or method's tells each argument, what is returned and what
    is raised, or that it raises nothing, and if a class's has all its attributes. Methods count
    where the core writes them, those of an alias not at all: the docstring of its module explains
    it, which ``tests/test_spi.py`` sees to. A module has a docstring, and its functions whole ones.
    """
    listed: list[str] = []
    for name in OFFERED:
        if not _exists(name):
            continue
        module = importlib.import_module(name)
        for attribute in module.__all__:
            listed += _not_whole(f"{name}.{attribute}", getattr(module, attribute))
    return sorted(listed)


def is_alias(public: object) -> bool:
    """Return whether a name stands for a type or a value, and has no docstring of its own."""
    kinds = (inspect.isclass, inspect.isroutine, inspect.ismodule)
    return not any(is_kind(public) for is_kind in kinds)


def _may_import(leaf: Module, origin: str) -> bool:
    """Return whether a leaf may import a module of the core."""
    if origin in FOR_LEAVES:
        return True
    is_for_batch = any(f"{origin}.".startswith(f"{package}.") for package in FOR_BATCH)
    return leaf.leaf == "batch" and is_for_batch


def _dotted_name(file: Path) -> str:
    """Return the name under which a file is imported: its packages, and itself."""
    package = file.parent
    while (package / "__init__.py").exists():
        package = package.parent
    parts = file.relative_to(package).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _reachable(start: str, imported: dict[str, set[str]]) -> set[str]:
    """Return the modules that a module imports, directly or not, with itself."""
    seen = {start}
    waiting = [start]
    while waiting:
        for name in imported[waiting.pop()] - seen:
            seen.add(name)
            waiting.append(name)
    return seen


def _exists(name: str) -> bool:
    """Return whether there is a module of this name in the core."""
    path = ROOT / Path(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").exists()


def _not_whole(name: str, public: object) -> list[str]:
    """Return the name if its docstring is not whole, and those of its methods that are not."""
    if is_alias(public):
        return []
    if inspect.ismodule(public):
        return _not_whole_in(name, public)
    if not inspect.isclass(public):
        return [] if _is_whole(public) else [name]
    listed = []
    if not public.__doc__ or _untold_fields(public):
        listed.append(name)
    listed += [f"{name}.{it}" for it, method in _own_methods(public) if not _is_whole(method)]
    making = vars(public).get("__init__")
    if making is not None and not _is_generated(public):
        told = inspect.getdoc(making) or ""
        if any(f"{argument}:" not in told for argument in inspect.signature(public).parameters):
            listed.append(f"{name}.__init__")
    return listed


def _not_whole_in(name: str, module: ModuleType) -> list[str]:
    """Return the module's name if it has no docstring, and its functions without a whole one."""
    listed = [] if module.__doc__ else [name]
    for attribute, function in vars(module).items():
        is_own = inspect.isfunction(function) and function.__module__ == module.__name__
        if is_own and not attribute.startswith("_") and not _is_whole(function):
            listed.append(f"{name}.{attribute}")
    return listed


def _is_generated(public: type) -> bool:
    """Return whether `__init__` comes from the fields of a class, which its docstring tells."""
    return is_dataclass(public) or getattr(public, "_is_protocol", False)


def _own_classes(public: type) -> list[type]:
    """Return a class and those above it that the core has written."""
    return [it for it in public.__mro__ if it.__module__.split(".")[0] == CORE]


def _untold_fields(public: type) -> list[str]:
    """Return the public attributes that the core declares in a class and does not tell there."""
    return [
        field
        for kind in _own_classes(public)
        for field in inspect.get_annotations(kind)
        if not field.startswith("_") and f"{field}:" not in (kind.__doc__ or "")
    ]


def _own_methods(public: type) -> Iterator[tuple[str, object]]:
    """Yield the public methods that the core writes for a class, each with its function.

    What overrides a method of somebody else's class, such as Qt's, is documented there.
    """
    others = [kind for kind in public.__mro__ if kind not in _own_classes(public)]
    seen = {name for kind in others for name in dir(kind)}
    for kind in _own_classes(public):
        for name, method in vars(kind).items():
            function = inspect.unwrap(getattr(method, "__func__", method))
            if name in seen or name.startswith("_") or not inspect.isfunction(function):
                continue
            seen.add(name)
            yield name, function


def _is_whole(function: object) -> bool:
    """Return whether the docstring of a function tells all that it promises."""
    text = " ".join((inspect.getdoc(function) or "").split())
    if not text or not inspect.isfunction(function):
        return False
    signature = inspect.signature(function)
    arguments = [
        it
        for it in signature.parameters.values()
        if it.kind is not it.VAR_KEYWORD and it.name not in ("self", "cls")
    ]
    sections = []
    if "aises nothing" not in text:
        sections.append("Raises:")
    if arguments:
        sections.append("Args:")
    if signature.return_annotation not in (None, "None", signature.empty):
        sections.append("Returns:")
    if inspect.isgeneratorfunction(inspect.unwrap(function)) and "Yields:" in text:
        sections.remove("Returns:")
    told = all(f"{it.name.lstrip('*')}:" in text for it in arguments)
    return told and all(section in text for section in sections)
