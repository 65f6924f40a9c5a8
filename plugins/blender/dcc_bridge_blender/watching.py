"""Operators and other writers as code of an agent calls them: what they would lose. Main thread."""

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

# Operators that lose the open file or undo what is not the code's; and those that write files.
_ENDS: Final = re.compile(
    r"wm\.(open_mainfile|read_\w+|revert_mainfile|recover_\w+|quit_blender|window_close)"
    r"|ed\.(undo|redo|undo_\w*history|undo_redo)"
)
_WRITES: Final = re.compile(
    r"export_\w+\.\w+|\w+\.(\w*export\w*|save\w*|\w+_save|screenshot\w*|mixdown|unpack\w*|ocean_bake)"
)
_LOOK_UP: Final = "_bpy_ops_submodule__getattr__"  # in 3.4 to 5.2
_CLASS: Final = "_BPyOpsSubModOp"  # of operators, in 3.4 and 4.5; in 5.2 it is in C


def _watched(operator: Any, warnings: list[str]) -> Any:
    """Give an operator as code of an agent calls it, which finds the real one nowhere in it."""

    class Operator:
        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            return getattr(operator, name)

        def stand_in(self, *args: Any, **kwargs: Any) -> set[str]:
            """Call it. NoConsent and ReachedOut say that nobody agreed to what it would do."""
            name: str = operator.idname_py()
            if _ENDS.fullmatch(name) and (check := loss_check.get()) is not None:
                check(f"call bpy.ops.{name}", ())
            for path in _paths(name, kwargs):  # a writer in C++ tells Python of none
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
    """Give the files that an operator writes, "" for one that nobody can tell."""
    scene: Any = bpy.context.scene
    renders = name.startswith("render.") and {*kwargs} & {"write_still", "animation"}
    bakes = name == "object.bake" and kwargs.get("save_mode") == "EXTERNAL"
    if renders or bakes or _WRITES.fullmatch(name):
        own = scene.render.filepath if renders else bpy.data.filepath * ("mainfile" in name)
        yield kwargs.get("filepath") or own
    trees = [*bpy.data.node_groups, *(getattr(it, "node_tree", None) for it in bpy.data.scenes)]
    for node in (it for tree in trees if tree and name == "render.render" for it in tree.nodes):
        if node.bl_idname == "CompositorNodeOutputFile" and not node.mute:
            yield getattr(node, "directory", "") or getattr(node, "base_path", "")


def _paths(name: str, kwargs: dict[str, Any]) -> list[str | None]:
    """Return the whole paths of the same, None for one that nobody can tell."""
    return [bpy.path.abspath(file) if file else None for file in _files(name, kwargs)]


class _Operator(partial[Any]):
    """An operator as a body finds it where Blender's own class of them is in C, as in 5.2.

    Nobody can replace what that class does as it is called, but this one's `__call__`. It is in C
    as well: a frame of ours between a body and its operator would make that act the bridge's.
    """

    __call__ = partial.__call__

    def __getattr__(self, name: str) -> Any:
        return getattr(self.func, name)

    def __repr__(self) -> str:
        return repr(self.func)


@contextmanager
def replaceable_operators() -> Iterator[None]:
    """Have operators that are looked up meanwhile be of a class whose call can be replaced."""
    ops = sys.modules["bpy.ops"]
    if _CLASS in vars(ops):  # to ask for it would give a group of operators of that name
        yield
        return
    original = getattr(ops, _LOOK_UP)
    setattr(ops, _LOOK_UP, lambda *which: _Operator(original(*which)))
    try:
        yield
    finally:
        setattr(ops, _LOOK_UP, original)


def _written_by_operator(operator: Any, *_: Any, **kwargs: Any) -> list[str | None]:
    """Give the files that an operator writes, which is called with its context and properties."""
    return _paths(operator.idname_py(), kwargs)


def writers() -> list[tuple[Any, str, Callable[..., list[Any]]]]:
    """Give what writes files: operators, the libraries, which are a collection, and others."""
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
    """Have a window, and operators that lose no file and write none that nobody agreed to.

    Those that are looked up through `bpy.ops` meanwhile, by Blender's own scripts too.
    """
    ops = sys.modules["bpy.ops"]
    original = getattr(ops, _LOOK_UP)
    setattr(ops, _LOOK_UP, lambda *which: _watched(original(*which), warnings))
    try:
        with in_window():
            yield beside_undo(quiet)
    finally:
        setattr(ops, _LOOK_UP, original)
