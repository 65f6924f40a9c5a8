"""Runs agreed code on the host's main thread, with a checkpoint in each of its loops and functions.

A checkpoint acts on the time-out and on a cancellation, and has the window painted every 16 ms or
so. No name leads to a checkpoint: the object is a constant in the compiled code. A single call into
C cannot be cut (a boolean, a bake), nor a loop in the Python of others, or in a text for ``exec``.
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
from dcc_bridge.code.missing_names import owner_names
from dcc_bridge.code.process_state import CapturedError, restored_process
from dcc_bridge.code.trip_wire import ReachedOut, guarded_import, trip_wire
from dcc_bridge.consent.own_code import AGREED
from dcc_bridge.errors import BridgeError, Stopped
from dcc_bridge.skills.skill import FRAME_S, TURN_S

_PLACEHOLDER: Final = os.urandom(16)  # the constant that the checkpoint's object replaces
_LAST_VALUE: Final = "value of the last line"  # a key that no code can spell as a name
_MAX_WARNINGS: Final = 50
_MAX_WARNING_BYTES: Final = 1000
_STACK_RESERVE: Final = 400  # frames for painting at the bottom of a deep recursion
# Of the builtins each run gets a copy, which it may change. The `exit` of `site` would close the
# host's `stdin`.
_BUILTINS: Final = {"__import__": guarded_import, "exit": sys.exit, "quit": sys.exit}


@dataclass(frozen=True, slots=True)
class CodeResult:
    """The result of code that ran to its end.

    Attributes:
        result: The JSON value of `result` where the code assigned that, else of the last
            expression.
        stdout: The output.
        stderr: The errors and warnings.
        seconds: How long the code ran.
        memory: JSON of the code's dict `memory`; "" where that is no dict any more.
        warnings: The warnings of the application.
    """

    result: Any
    stdout: str
    stderr: str
    seconds: float
    memory: str
    warnings: tuple[str, ...] = ()

    def with_warnings(self, warnings: Iterable[str]) -> CodeResult:
        """Return the result with the application's warnings: 50 of 1,000 bytes at most.

        Args:
            warnings: Sentences; of equal ones the first is taken.
        """
        unique = list(dict.fromkeys(warnings))
        texts = [clip(text, _MAX_WARNING_BYTES) for text in unique[:_MAX_WARNINGS]]
        return replace(self, warnings=tuple(texts))

    def taken_back(self, edits: str, left: str) -> CodeResult:
        """Return the result of a read-only run, with a warning about its edits.

        Args:
            edits: The edits in words: "2 created"; "" for none.
            left: A sentence about what is left of them.
        """
        warning = f"It may only read. Undone: {edits or 'nothing'}. {left}"
        return replace(self, warnings=(warning, *self.warnings))


class CodeFailed(BridgeError):
    """Agreed code raised an error. The text has the code's own lines and the message.

    Attributes:
        name_missing: The name that is not there or was called wrongly, or "".
        near: Names of the object that are most like the missing one.
        owners: The names of the types of that object, the nearest first, as an API may list them.
        stdout: The output until then.
        stderr: The errors and warnings until then.
    """

    stdout = ""
    stderr = ""
    near: Sequence[str] = ()
    owners: Sequence[str] = ()

    def __init__(self, text: str, name: str = "") -> None:
        super().__init__(text)
        self.name_missing = name


def _no_pause() -> None:
    pass


def execute(
    tree: ast.Module,
    text: str,
    namespace: dict[str, Any],
    *,
    timeout: float,
    writes: Sequence[Path] = (),
    pause: Callable[[], None] = _no_pause,
    writers: Sequence[tuple[Any, str, Callable[..., Iterable[Any]]]] = (),
    copies: FolderCopies | None = None,
) -> CodeResult:
    """Run code that a person agreed to. Main thread; not inside another run.

    Args:
        tree: The parsed code, which is changed.
        text: The same code, for the lines in errors.
        namespace: The global names of the code, which is emptied.
        timeout: Seconds.
        writes: The files and folders that the code may write to.
        pause: Called at a checkpoint every 16 ms or so. It paints the host's window, and raises
            where the call was cancelled.
        writers: See `CodeContext.writers`.
        copies: See `trip_wire`.

    Raises:
        CodeFailed: The code raised, `SystemExit` and `KeyboardInterrupt` included; or a finalizer
            of an object that it left did.
        ReachedOut: The code tried an act that it had not declared, even if it caught the error.
        Stopped: The code ran for longer than `timeout`.
    """
    begin = perf_counter()
    reached = list[str]()
    turns = _Turns(timeout, pause)
    lines = text.splitlines()
    names = namespace | {"__name__": "__agreed__", "__builtins__": vars(builtins) | _BUILTINS}
    namespace.clear()
    run = CapturedError()
    value = None
    memory = ""
    failures = list[CodeFailed]()
    gc.collect()  # garbage of others: its finalizers are not the code's
    with turns, trip_wire(writes, reached, writers, copies):
        with restored_process(text) as outputs:
            with run:
                value, memory = _evaluate(_compiled(tree, turns), names)
            if run.error is not None:
                failures.append(_failure(run.error, lines))
            with _captured_finalizers(failures, lines):
                # Nothing may refer to the code's objects any more, so that they end here.
                del names
                run.error = None
                gc.collect()
        stdout = outputs.stdout.text()
        stderr = outputs.stderr.text()
    if turns.stop is not None:
        raise turns.stop
    if reached:
        raise ReachedOut(" ".join(dict.fromkeys(reached[:5])))
    if failures:
        failure = failures[0]
        failure.stdout = stdout
        failure.stderr = stderr
        raise failure
    return CodeResult(value, stdout, stderr, perf_counter() - begin, memory)


def _evaluate(code: CodeType, names: dict[str, Any]) -> tuple[Any, str]:
    """Execute compiled code, and return its value and its memory, both as of `CodeResult`."""
    before = names.get("result")
    exec(code, names)
    result = names.get("result")
    if result is before:
        result = names.get(_LAST_VALUE)
    memory = names.get("memory")  # first: the next line calls methods of the code
    value = plain_value(result)
    if not isinstance(memory, dict):
        return value, ""
    try:
        return value, json.dumps(memory, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise CodeFailed(f"memory holds a value that JSON cannot hold: {error}.") from None


def _failure(error: BaseException, lines: Sequence[str]) -> CodeFailed:
    """Return the failure that an error is, without a reference to the error.

    The frames of the error hold the objects that the code left.
    """
    if type(error) is CodeFailed:  # `isinstance` would call methods of the agreed code
        return CodeFailed(str(error))
    failure = CodeFailed("The code failed.")
    with CapturedError():  # the text of an error may come from a method of the agreed code
        failure = CodeFailed(failure_text(error, lines), name_missing(error, lines))
        if isinstance(error, AttributeError):
            failure.owners = owner_names(error)
            if error.name:
                failure.near = get_close_matches(error.name, dir(error.obj), 3)
    return failure


@contextmanager
def _captured_finalizers(failures: list[CodeFailed], lines: Sequence[str]) -> Iterator[None]:
    """Gather the errors of the code's finalizers; those of others go to the usual hook."""
    usual_hook = sys.unraisablehook

    def gather(raised: Any) -> None:
        trace = traceback.walk_tb(raised.exc_traceback)
        if any(frame.f_code.co_filename == AGREED for frame, _ in trace):
            failures.append(_failure(raised.exc_value, lines))
        else:
            usual_hook(raised)

    sys.unraisablehook = gather
    try:
        yield
    finally:
        sys.unraisablehook = usual_hook


class _Halted(BaseException):
    """Unwinds the code; an `except Exception` of the code does not stop the unwinding."""


class _Turns:
    """The checkpoint: it paints the window when that is due, and ends the code.

    A thread of its own says when to look, so that the code's loops need not read the clock.

    Attributes:
        is_idle: Whether a checkpoint has nothing to do. The compiled code reads it, and calls
            `take_turn` where it is False.
        stop: The error that ended the code, for its caller; None while the code may run.
    """

    def __init__(self, timeout: float, pause: Callable[[], None]) -> None:
        self.is_idle = True
        self.stop: BaseException | None = None
        self._timeout = timeout
        self._pause = pause
        self._deadline = perf_counter() + timeout
        self._due = self._deadline
        self._stack_limit = sys.getrecursionlimit() + _STACK_RESERVE
        self._ident = get_ident()
        self._is_pausing = False
        self._ended = Event()
        self._ticker = Thread(target=self._tick, name="dcc_bridge agreed code", daemon=True)

    def __enter__(self) -> None:
        self._due = min(perf_counter() + FRAME_S, self._deadline)
        self._ticker.start()

    def __exit__(self, *error: object) -> None:
        """Let functions that outlive the run, such as handlers, go on, unless it was ended."""
        self._ended.set()
        self._ticker.join()
        self.is_idle = self.stop is None

    def take_turn(self) -> bool:
        """Paint where that is due, or end the code; return True."""
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
            self._due = end + max(FRAME_S, min(3 * took, TURN_S), took)
        # This comes last: where the stack was too deep for a turn, the next checkpoint tries again.
        self.is_idle = True
        return True

    def _paint(self) -> None:
        captured = CapturedError()
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, self._stack_limit))
        self._is_pausing = True
        with captured:
            self._pause()
        self._is_pausing = False
        # Just at the limit this fails; the limit is put back when the code has ended.
        with suppress(RecursionError):
            sys.setrecursionlimit(limit)
        if self.stop is not None:
            self._halt(self.stop)
        if captured.error is not None:
            self._halt(captured.error)

    def _halt(self, error: BaseException) -> Never:
        """End the code with an error for its caller."""
        # The traceback and the context hold frames of the code.
        error.__traceback__ = None
        error.__context__ = None
        self.stop = error
        self.is_idle = False
        raise _Halted

    def _tick(self) -> None:
        while not self._ended.wait(FRAME_S / 2):
            self.is_idle = False


def _compiled(tree: ast.Module, turns: _Turns) -> CodeType:
    """Compile a tree with its checkpoints, and with the last expression as a value."""
    nodes = list(ast.walk(tree))  # a list, as the checkpoints come into the tree meanwhile
    for node in nodes:
        _add_checkpoint(node)
    last = None
    if tree.body:
        last = tree.body[-1]
    if isinstance(last, ast.Expr):
        target = ast.copy_location(ast.Name(_LAST_VALUE, ast.Store()), last)
        tree.body[-1] = ast.copy_location(ast.Assign([target], last.value), last)
    code = compile(tree, AGREED, "exec", dont_inherit=True)
    return _with_checkpoint(code, turns)


def _add_checkpoint(node: ast.AST) -> None:
    """Add a checkpoint to a loop, a function, a lambda or a comprehension."""
    match node:
        case ast.For() | ast.AsyncFor() | ast.While() | ast.FunctionDef() | ast.AsyncFunctionDef():
            first = node.body[0]
            is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            checkpoint = ast.copy_location(ast.Expr(_checkpoint(node)), node)
            node.body.insert(int(is_docstring), checkpoint)
        case ast.Lambda():
            both = [_checkpoint(node), node.body]
            node.body = ast.copy_location(ast.BoolOp(ast.And(), both), node)
        case ast.comprehension():
            node.ifs.insert(0, _checkpoint(node.target))


def _checkpoint(at: Any) -> Any:
    """Return the tree of ``turns.is_idle or turns.take_turn()``, which is true.

    Args:
        at: The node whose line the checkpoint gets.
    """
    # The text is one line, since the line of a method call is where the call ends.
    parsed = ast.parse("0 .is_idle or 0 .take_turn()", mode="eval").body
    template = ast.increment_lineno(parsed, at.lineno - 1)
    for node in ast.walk(template):
        if isinstance(node, ast.Constant):
            node.value = _PLACEHOLDER
    return template


def _with_checkpoint(code: CodeType, turns: _Turns) -> CodeType:
    """Return compiled code with the checkpoint's object in place of each placeholder."""

    def replaced(constant: Any) -> Any:
        if isinstance(constant, CodeType):
            return _with_checkpoint(constant, turns)
        if isinstance(constant, bytes) and constant == _PLACEHOLDER:
            return turns
        return constant

    constants = tuple(replaced(constant) for constant in code.co_consts)
    return code.replace(co_consts=constants)
