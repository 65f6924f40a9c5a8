"""Operators and other writers, checked while code of an agent calls them. Main thread."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from functools import partial
from typing import Any, Final

import bpy

from dcc_bridge.spi import loss_check

from .loop import Quiet, beside_undo, in_window

# Operators that lose the open file, or undo what is not the code's.
_ENDS: Final = re.compile(
    r"wm\.(open_mainfile|read_\w+|revert_mainfile|recover_\w+|quit_blender|window_close)"
    r"|ed\.(undo|redo|undo_\w*history|undo_redo)"
)
# Operators that write files.
_WRITES: Final = re.compile(
    r"export_\w+\.\w+|\w+\.(\w*export\w*|save\w*|\w+_save|screenshot\w*|mixdown|unpack\w*|ocean_bake)"
)
_LOOK_UP: Final = "_bpy_ops_submodule__getattr__"  # what finds an operator, in 3.4 to 5.2
_CLASS: Final = "_BPyOpsSubModOp"  # the class of operators in 3.4 and 4.5; in 5.2 it is in C


def _watched(operator: Any, warnings: list[str]) -> Any:
    """Return a stand-in for an operator, in which code of an agent cannot find the operator.

    Args:
        operator: The operator.
        warnings: Gets the warnings of the operator, and that it may have done nothing.
    """

    class Operator:
        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            return getattr(operator, name)

        def stand_in(self, *args: Any, **kwargs: Any) -> set[str]:
            """Call the operator.

            Raises:
                NoConsent: Nobody agreed to what the operator would lose.
                ReachedOut: Nobody agreed to what the operator would write.
            """
            name: str = operator.idname_py()
            check = loss_check.get()
            if check is not None and _ENDS.fullmatch(name):
                check(f"call bpy.ops.{name}", ())
            for path in _paths(name, kwargs):  # a writer in C++ reports no file to Python
                sys.audit("open", path, "w", 0)
            with redirect_stdout(io.StringIO()) as output:
                result: set[str] = operator(*args, **kwargs)
            print(output.getvalue(), end="")
            warnings.extend(re.findall("^Warning: .*", output.getvalue(), re.MULTILINE))
            if "FINISHED" not in result:
                did = f"bpy.ops.{name} returned {' and '.join(sorted(result))}"
                warnings.append(f"{did}, so it may have done nothing.")
            return result

        __call__ = stand_in

    return Operator()


def _files(name: str, kwargs: dict[str, Any]) -> Iterator[str]:
    """Yield the files that an operator writes; "" for a file that cannot be known."""
    scene: Any = bpy.context.scene
    options = {"write_still", "animation"}
    renders = name.startswith("render.") and not options.isdisjoint(kwargs)
    bakes = name == "object.bake" and kwargs.get("save_mode") == "EXTERNAL"
    if renders or bakes or _WRITES.fullmatch(name):
        default = ""
        if renders:
            default = scene.render.filepath
        elif "mainfile" in name:
            default = bpy.data.filepath
        yield kwargs.get("filepath") or default
    if name == "render.render":
        yield from _compositor_folders()


def _compositor_folders() -> Iterator[str]:
    """Yield the folders to which nodes write as a scene is rendered."""
    trees: list[Any] = list(bpy.data.node_groups)
    trees += [getattr(scene, "node_tree", None) for scene in bpy.data.scenes]
    for tree in trees:
        if not tree:
            continue
        for node in tree.nodes:
            if node.bl_idname == "CompositorNodeOutputFile" and not node.mute:
                yield getattr(node, "directory", "") or getattr(node, "base_path", "")


def _paths(name: str, kwargs: dict[str, Any]) -> list[str | None]:
    """Return the absolute paths that an operator writes; None for one that cannot be known."""
    paths: list[str | None] = []
    for file in _files(name, kwargs):
        paths.append(bpy.path.abspath(file) if file else None)
    return paths


class _Operator(partial[Any]):
    """An operator for a body, where Blender's own class of operators is in C, as in 5.2.

    The call of Blender's class cannot be replaced, but the `__call__` of this one can. It is in C
    as well: with a frame of ours between a body and its operator, the act would be the bridge's.
    """

    __call__ = partial.__call__

    def __getattr__(self, name: str) -> Any:
        return getattr(self.func, name)

    def __repr__(self) -> str:
        return repr(self.func)


@contextmanager
def replaceable_operators() -> Iterator[None]:
    """Have operators that are looked up in the block be of a class whose call can be replaced."""
    ops = sys.modules["bpy.ops"]
    if _CLASS in vars(ops):  # `getattr` would return a group of operators of that name
        yield
        return
    original = getattr(ops, _LOOK_UP)
    setattr(ops, _LOOK_UP, lambda *which: _Operator(original(*which)))
    try:
        yield
    finally:
        setattr(ops, _LOOK_UP, original)


def _written_by_operator(operator: Any, *_: Any, **kwargs: Any) -> list[str | None]:
    """Return the files that an operator writes, from its context and properties."""
    return _paths(operator.idname_py(), kwargs)


def writers() -> list[tuple[Any, str, Callable[..., list[Any]]]]:
    """Return the writers of files: operators, the libraries, which are a collection, and others."""
    import aud
    import imbuf

    operators = vars(sys.modules["bpy.ops"]).get(_CLASS, _Operator)
    owners: list[Any] = [bpy.types.bpy_prop_collection, aud.Sound, imbuf]
    rows: list[tuple[Any, str, Callable[..., list[Any]]]] = []
    rows += [(it, name, _argument) for it in owners for name in ("write", "save")]
    return [*rows, (operators, "__call__", _written_by_operator)]


def _argument(*args: Any, **kwargs: Any) -> list[Any]:
    paths = [it for it in (kwargs.get("filepath"), *args) if isinstance(it, str | bytes)]
    paths += [getattr(it, "filepath_raw", "") or getattr(it, "filepath", "") for it in args[:1]]
    return [bpy.path.abspath(it) if it else None for it in paths[:1]]


@contextmanager
def watched(warnings: list[str], quiet: Quiet) -> Iterator[Callable[[], str | None]]:
    """Check the operators that are looked up through `bpy.ops` in the block, in a window.

    That includes look-ups by Blender's own scripts. An operator then loses no file, and writes
    none, to which nobody agreed.

    Args:
        warnings: Gets the warnings of the operators.
        quiet: Returns a block whose changes are not noticed.

    Yields:
        A function that restores what undo does not hold, see `beside_undo`.
    """
    ops = sys.modules["bpy.ops"]
    original = getattr(ops, _LOOK_UP)
    setattr(ops, _LOOK_UP, lambda *which: _watched(original(*which), warnings))
    try:
        with in_window():
            yield beside_undo(quiet)
    finally:
        setattr(ops, _LOOK_UP, original)
