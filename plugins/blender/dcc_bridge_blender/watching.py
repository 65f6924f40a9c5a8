"""Checks of the operators and other writers that an agent's code calls. Main thread.

`watched` replaces the look-up of operators in `bpy.ops` by one that returns stand-ins. A stand-in
asks the guards of the bridge before its operator loses the open file or writes a file.
"""

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

# Operators that lose the open file, or undo edits of others.
_LOSES_FILE: Final = re.compile(
    r"wm\.(open_mainfile|read_\w+|revert_mainfile|recover_\w+|quit_blender|window_close)"
    r"|ed\.(undo|redo|undo_\w*history|undo_redo)"
)
# Operators that write files.
_WRITES: Final = re.compile(
    r"export_\w+\.\w+|\w+\.(\w*export\w*|save\w*|\w+_save|screenshot\w*|mixdown|unpack\w*|ocean_bake)"
)
_LOOK_UP: Final = (
    "_bpy_ops_submodule__getattr__"  # the function that finds an operator, in 3.4 to 5.2
)
_CLASS: Final = "_BPyOpsSubModOp"  # the class of operators in 3.4 and 4.5; in 5.2 it is in C


def _watched(operator: Any, warnings: list[str]) -> Any:
    """Return a stand-in for an operator, by which an agent's code cannot reach the operator itself.

    Args:
        operator: The operator.
        warnings: Takes the warnings of the operator, and one if the operator did not finish.
    """

    class Operator:
        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            return getattr(operator, name)

        def stand_in(self, *args: Any, **kwargs: Any) -> set[str]:
            """Call the operator.

            Raises:
                NoConsent: Nobody agreed to the loss of the open file.
                ReachedOut: Nobody agreed to write the file.
            """
            name: str = operator.idname_py()
            check = loss_check.get()
            if check is not None and _LOSES_FILE.fullmatch(name):
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
    """Yield the files that an operator writes; "" for an unknown one."""
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
    """Return the absolute paths of the files that an operator writes; None for an unknown one."""
    return [_absolute(file) for file in _files(name, kwargs)]


def _absolute(path: str | bytes) -> Any:
    """Return an absolute path; None for an empty one."""
    if not path:
        return None
    return bpy.path.abspath(path)


class _Operator(partial[Any]):
    """An operator in a version whose own class of operators is in C, as 5.2.

    The call of Blender's class cannot be replaced, but the `__call__` of this class can. It is in C
    as well: with a frame of ours between the agent's code and the operator, the guards would take
    the call for one of the bridge.
    """

    __call__ = partial.__call__

    def __getattr__(self, name: str) -> Any:
        return getattr(self.func, name)

    def __repr__(self) -> str:
        return repr(self.func)


@contextmanager
def replaceable_operators() -> Iterator[None]:
    """Make `bpy.ops` return operators whose `__call__` can be replaced, within the block."""
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
    """Return the functions that write files.

    Returns:
        For each the owner, the name, and a function from the arguments of a call to the files that
        the call writes, None for an unknown one. They are the operators, the `write` of
        `bpy.data.libraries`, which is of the class of all collections, and those of `aud` and
        `imbuf`.
    """
    import aud
    import imbuf

    operators = vars(sys.modules["bpy.ops"]).get(_CLASS, _Operator)
    owners: list[Any] = [bpy.types.bpy_prop_collection, aud.Sound, imbuf]
    rows: list[tuple[Any, str, Callable[..., list[Any]]]] = []
    for owner in owners:
        rows.append((owner, "write", _written_by_arguments))
        rows.append((owner, "save", _written_by_arguments))
    return [*rows, (operators, "__call__", _written_by_operator)]


def _written_by_arguments(*args: Any, **kwargs: Any) -> list[Any]:
    """Return the file that a call writes: its first path, or that of the first argument itself."""
    for argument in (kwargs.get("filepath"), *args):
        if isinstance(argument, str | bytes):
            return [_absolute(argument)]
    if not args:
        return []
    path = getattr(args[0], "filepath_raw", "") or getattr(args[0], "filepath", "")
    return [_absolute(path)]


@contextmanager
def watched(warnings: list[str], quiet: Quiet) -> Iterator[Callable[[], str | None]]:
    """Check the operators that are looked up in `bpy.ops` within the block, which has a window.

    Operators that Blender's own scripts look up are checked as well.

    Args:
        warnings: Takes the warnings of the operators.
        quiet: Returns a context manager within which changes are not noticed.

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
