"""Runs agreed code on the host's main thread, with a checkpoint in each of its loops and functions.

There the time-out and a cancellation act, and the host's window is painted every 16 ms or so. No
name leads to a checkpoint: it is a constant in the compiled code. A single call into C cannot be
cut (a boolean, a bake), nor a loop in the Python of others, or in a text for ``exec``.
"""

from __future__ import annotations

import ast
import builtins
import gc
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from threading import Event, Thread, get_ident
from time import perf_counter
from types import CodeType
from typing import Any, Final, Never

from dcc_bridge.checkpoints import FolderCopies
from dcc_bridge.code.bounded import clip, failure_text, name_missing, plain_value
from dcc_bridge.code.process_state import Caught, process_kept
from dcc_bridge.code.trip_wire import ReachedOut, guarded_import, trip_wire
from dcc_bridge.consent.own_code import AGREED
from dcc_bridge.errors import BridgeError, Stopped
from dcc_bridge.skills.skill import FRAME, TURN

_MARK: Final = os.urandom(16)  # the constant in whose place the checkpoint's is put
_LAST: Final = "value of the last line"  # no name that can be written
# A copy that code may change; the site's own `exit` closes the host's `stdin`.
_BUILTINS: Final = {"__import__": guarded_import, "exit": sys.exit, "quit": sys.exit}


@dataclass(frozen=True, slots=True)
class CodeResult:
    """What came of code that ran to its end."""

    result: Any  # what JSON carries of `result`, where it was assigned, or of the last expression
    stdout: str
    stderr: str
    seconds: float
    memory: str  # JSON of its `memory`; "" where that is no dict
    warnings: tuple[str, ...] = ()  # of the application

    def warned(self, warnings: Iterable[str]) -> CodeResult:
        """Add what the application warned of: each sentence once, 50 of 1,000 bytes at most."""
        texts = [clip(it, 1000) for it in [*dict.fromkeys(warnings)][:50]]
        return replace(self, warnings=tuple(texts))

    def looked(self, did: str, left: str) -> CodeResult:
        """Tell that it was to look only, what it did all the same, and what is left of that."""
        told = f"It may only read. Undone: {did or 'nothing'}. {left}"
        return replace(self, warnings=(told, *self.warnings))


class CodeFailed(BridgeError):
    """Agreed code raised. The text has the code's own lines and the message."""

    stdout = stderr = ""  # what it had printed until then; the latter with the warnings
    near: Sequence[str] = ()  # the names most like the one that is missing, of its object

    def __init__(self, text: str, name: str = "") -> None:
        super().__init__(text)
        self.name_missing = name  # that is not there or was called wrongly, or ""


def execute(
    tree: ast.Module,
    text: str,
    namespace: dict[str, Any],
    *,
    timeout: float,
    writes: Sequence[Path] = (),
    pause: Callable[[], None] = lambda: None,
    writers: Sequence[tuple[Any, str, Callable[..., Iterable[Any]]]] = (),
    copies: FolderCopies | None = None,
) -> CodeResult:
    """Run code that a person agreed to. Main thread; not inside another.

    The tree is changed, and the namespace emptied. `pause` is called at a checkpoint every 16 ms or
    so: it paints the host's window, and raises where the call was cancelled. For `writers` see
    `CodeContext.writers`; for `copies` see `trip_wire`.

    Raises:
        CodeFailed: It raised, `SystemExit` and `KeyboardInterrupt` included, or what it left did.
        ReachedOut: It tried what it had not declared, even if it caught that.
        Stopped: It ran for longer than `timeout`.
    """
    begin, reached = perf_counter(), list[str]()
    turns, lines = _Turns(timeout, pause), text.splitlines()
    names = namespace | {"__name__": "__agreed__", "__builtins__": vars(builtins) | _BUILTINS}
    namespace.clear()
    run, value, memory, failures = Caught(), None, "", list[CodeFailed]()
    gc.collect()  # what others have left is none of the code's
    with turns, trip_wire(writes, reached, writers, copies):
        with process_kept(text) as outputs:
            with run:
                value, memory = _outcome(_compiled(tree, turns), names)
            if run.error is not None:
                failures.append(_failure(run.error, lines))
            with _finalizers(failures, lines):
                del names
                run.error = None
                gc.collect()
        printed = outputs.stdout.text(), outputs.stderr.text()
    if turns.stop is not None:
        raise turns.stop
    if reached:
        raise ReachedOut(" ".join(dict.fromkeys(reached[:5])))
    for failure in failures[:1]:
        failure.stdout, failure.stderr = printed
        raise failure
    return CodeResult(value, *printed, perf_counter() - begin, memory)


def _outcome(code: CodeType, names: dict[str, Any]) -> tuple[Any, str]:
    before = names.get("result")
    exec(code, names)
    last, result, memory = names.get(_LAST), names.get("result"), names.get("memory")
    value = plain_value(last if result is before else result)
    if not isinstance(memory, dict):
        return value, ""
    try:
        return value, json.dumps(memory, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise CodeFailed(f"memory holds a value that JSON cannot hold: {error}.") from None


def _failure(error: BaseException, lines: Sequence[str]) -> CodeFailed:
    """Tell an error without holding it, since its frames hold what the code left."""
    if type(error) is CodeFailed:  # `isinstance` would ask the code
        return CodeFailed(str(error))
    failure = CodeFailed("The code failed.")
    with Caught():  # an error's own text is code as well
        failure = CodeFailed(failure_text(error, lines), name_missing(error, lines))
        if isinstance(error, AttributeError) and error.name:
            failure.near = get_close_matches(error.name, dir(error.obj), 3)
    return failure


@contextmanager
def _finalizers(failures: list[CodeFailed], lines: Sequence[str]) -> Iterator[None]:
    """Gather what finalizers of the code raise; those of others go on as they do."""
    others = sys.unraisablehook

    def keep(raised: Any) -> None:
        trace = traceback.walk_tb(raised.exc_traceback)
        if any(frame.f_code.co_filename == AGREED for frame, _ in trace):
            failures.append(_failure(raised.exc_value, lines))
        else:
            others(raised)

    sys.unraisablehook = keep
    try:
        yield
    finally:
        sys.unraisablehook = others


class _Halted(BaseException):
    """Unwinds the code; `except Exception` does not hold it."""


class _Turns:
    """When a checkpoint paints and ends the code: a thread says when, which saves the clock."""

    def __init__(self, timeout: float, pause: Callable[[], None]) -> None:
        self.is_idle = True  # read by the code; a checkpoint calls `take_turn` where it is False
        self.stop: BaseException | None = None  # what ended the code, for its caller
        self._timeout, self._pause = timeout, pause
        self._due = self._deadline = perf_counter() + timeout
        self._stack = sys.getrecursionlimit() + 400  # so painting works in a deep recursion
        self._ident, self._is_pausing, self._ended = get_ident(), False, Event()
        self._ticker = Thread(target=self._tick, name="dcc_bridge agreed code", daemon=True)

    def __enter__(self) -> None:
        self._due = min(perf_counter() + FRAME, self._deadline)
        self._ticker.start()

    def __exit__(self, *error: object) -> None:
        """Let functions that outlive the run, such as handlers, go on, unless it was ended."""
        self._ended.set()
        self._ticker.join()
        self.is_idle = self.stop is None

    def take_turn(self) -> bool:
        """Paint, or end the code; gives True."""
        if self.stop is not None:
            raise _Halted
        if get_ident() != self._ident:
            return True
        begin = perf_counter()
        if begin >= self._deadline:
            line = sys._getframe(1).f_lineno
            what = f"The code, which was at line {line} after {self._timeout:g} s,"
            self._halt(Stopped(what, overdue=True))
        if begin >= self._due and not self._is_pausing:  # painting may call functions of the code
            self._paint()
            end = perf_counter()
            took = end - begin  # the window gets a quarter of the time, as in `track`
            self._due = end + max(FRAME, min(3 * took, TURN), took)
        self.is_idle = True  # at last: where the stack was too deep for this, the next one tries
        return True

    def _paint(self) -> None:
        caught, limit = Caught(), sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, self._stack))
        self._is_pausing = True
        with caught:
            self._pause()
        self._is_pausing = False
        with suppress(RecursionError):  # just at the limit; it is put back when the code ends
            sys.setrecursionlimit(limit)
        if caught.error is not None or self.stop is not None:
            self._halt(self.stop or caught.error)

    def _halt(self, error: BaseException | None) -> Never:
        if error is not None:  # its frames and its context would hold those of the code
            error.__traceback__ = error.__context__ = None
        self.stop, self.is_idle = error, False
        raise _Halted

    def _tick(self) -> None:
        while not self._ended.wait(FRAME / 2):
            self.is_idle = False


def _compiled(tree: ast.Module, turns: _Turns) -> CodeType:
    for node in [*ast.walk(tree)]:
        _add_checkpoint(node)
    if tree.body and isinstance(last := tree.body[-1], ast.Expr):
        target = ast.copy_location(ast.Name(_LAST, ast.Store()), last)
        tree.body[-1] = ast.copy_location(ast.Assign([target], last.value), last)
    return _with_constant(compile(tree, AGREED, "exec", dont_inherit=True), turns)


def _add_checkpoint(node: ast.AST) -> None:
    match node:
        case ast.For() | ast.AsyncFor() | ast.While() | ast.FunctionDef() | ast.AsyncFunctionDef():
            first = node.body[0]
            at = int(isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant))
            node.body.insert(at, ast.copy_location(ast.Expr(_checkpoint(node)), node))
        case ast.Lambda():
            both = [_checkpoint(node), node.body]
            node.body = ast.copy_location(ast.BoolOp(ast.And(), both), node)
        case ast.comprehension():
            node.ifs.insert(0, _checkpoint(node.target))


def _checkpoint(at: Any) -> Any:
    """Return ``turns.is_idle or turns.take_turn()``, which is true."""
    # on one line: a call of a method is told to be where that ends
    parsed = ast.parse("0 .is_idle or 0 .take_turn()", mode="eval").body
    template = ast.increment_lineno(parsed, at.lineno - 1)
    for node in ast.walk(template):
        if isinstance(node, ast.Constant):
            node.value = _MARK
    return template


def _with_constant(code: CodeType, turns: _Turns) -> CodeType:
    def changed(value: Any) -> Any:
        if isinstance(value, CodeType):
            return _with_constant(value, turns)
        return turns if isinstance(value, bytes) and value == _MARK else value

    return code.replace(co_consts=tuple(map(changed, code.co_consts)))
