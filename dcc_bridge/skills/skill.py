"""The tools of authors of skills: the decorator, progress, cancellation. Any thread.

A skill is a plain Python function with a little metadata. It reports its progress, and checks
whether it was cancelled; it cannot be stopped in any other way. Outside of a skill all of this does
nothing, so that a function can be run by itself.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import CodeType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, cast, get_args, overload

from dcc_bridge.consent.call import destructive_skill, running_call
from dcc_bridge.elicitation.caller import Risk
from dcc_bridge.elicitation.context import current_context
from dcc_bridge.errors import BrokenSkill, Stopped
from dcc_bridge.threads.flows import Flow, run_async, run_sync

Thread = Literal["main", "any"]
Task = Literal["", "ask"]
# By the word on the wire, the value that the function wants.
Options = Mapping[str, Any]

if TYPE_CHECKING:
    from pathlib import Path

HOSTS: Final = ("blender", "freecad", "houdini", "maya", "usd")  # the hosts that come with us
_ATTRIBUTE: Final = "__dcc_skill__"
_F = TypeVar("_F", bound=Callable[..., Any])
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Metadata:
    """The fields of a skill's decorator; `skill` says what each of them means."""

    name: str | None = None
    title: str | None = None
    risk: Risk = "destructive"
    confirms: bool = False
    undo: str | bool | None = None
    tried: bool = True
    idempotent: bool = False
    thread: Thread = "main"
    hosts: tuple[str, ...] = ()
    timeout: float | None = None
    ask_missing: bool = False
    task: Task = ""

    def __post_init__(self) -> None:
        """Check the fields, so that a misspelt risk is not taken for another one.

        Raises:
            ValueError: A field is not of its kind.
        """
        for name, allowed in {"risk": Risk, "thread": Thread, "task": Task}.items():
            value = getattr(self, name)
            if value not in get_args(allowed):
                choices = ", ".join(choice or '""' for choice in get_args(allowed))
                raise ValueError(f"{name} is {choices}, and not {value!r}.")
        if self.timeout is not None and not self.timeout > 0:
            raise ValueError(f"timeout is a number of seconds above 0, and not {self.timeout!r}.")
        hosts = tuple(self.hosts)
        if isinstance(self.hosts, str):
            hosts = (self.hosts,)
        object.__setattr__(self, "hosts", hosts)

    def runs_in(self, host: str) -> bool:
        """Return whether a host is one of `hosts`, in any case; a word of its name is enough."""
        if not self.hosts:
            return True
        names = {host.lower(), *host.lower().split()}
        return any(name.lower() in names for name in self.hosts)


class Skill:
    """A function that an agent may call, and all that is known of it.

    Attributes:
        name: The tool's name.
        fn: The function, as its author wrote it; `unimported` until its file is imported.
        metadata: The fields of its decorator.
        file: The file of its code; None for a skill made in code.
        digest: A digest of its file as it was read, or of its code.
        is_experimental: Nobody has run it in the application itself.
    """

    def __init__(
        self,
        name: str,
        fn: Callable[..., Any],
        metadata: Metadata,
        file: Path | None = None,
        digest: str = "",
    ) -> None:
        self.name = name
        self.fn = fn
        self.metadata = metadata
        self.file = file
        self.digest = digest
        self.is_experimental = False

    @property
    def title(self) -> str:
        """The name that a person reads."""
        return self.metadata.title or self.name.replace("_", " ").capitalize()

    @property
    def is_imported(self) -> bool:
        """True once the skill has its function: a file is imported when it is first needed."""
        return self.fn is not unimported

    @property
    def is_async(self) -> bool:
        """True for a skill that runs as a coroutine on the worker's loop."""
        return inspect.iscoroutinefunction(self.fn)

    @property
    def undo_label(self) -> str:
        """The label that the person reads in the Edit menu."""
        undo = self.metadata.undo
        if isinstance(undo, str) and undo:
            return undo
        return self.title


def unimported(**arguments: Any) -> Any:
    """Raise BrokenSkill; stands in for the function of a skill whose file is not imported yet."""
    raise BrokenSkill("The file of this skill was not imported yet; this is a bug of the bridge.")


@overload
def skill(fn: _F, /) -> _F: ...


@overload
def skill(
    *,
    name: str | None = None,
    title: str | None = None,
    risk: Risk = "destructive",
    confirms: bool = False,
    undo: str | Literal[False] | None = None,
    tried: bool = True,
    idempotent: bool = False,
    thread: Thread = "main",
    hosts: tuple[str, ...] | list[str] = (),
    timeout: float | None = None,
    ask_missing: bool = False,
    task: Task = "",
) -> Callable[[_F], _F]: ...


def skill(fn: Callable[..., Any] | None = None, /, **fields: Any) -> Any:
    """Mark a function as a skill; it can still be called as the plain function it is.

    A skill that may edit is tried: its body runs in an undo step, and what it lost is read from
    the application. If it lost nothing, the edit stays and nobody is asked. If it lost something,
    the step is reverted, the person is asked with the list, and after a yes the body runs again and
    may lose what was listed, no more. So a body may run twice, and its effect happens once.

    A destructive skill that cannot be tried is asked about before its body: where the application
    cannot revert an open step (`UndoStack.trial`), in a coroutine or on a pool thread, after a try
    that took over 10 s, and with ``undo=False`` or ``tried=False``. So is any body that was stopped
    in its try because it would write or remove a file, or start a thread or a program.

    An example::

        @skill(risk="edit", undo="Rename camera", hosts=["maya"])
        def rename_camera(old: str, new: str) -> str:
            '''Rename a camera, and return its new path. This text is what an agent reads.'''
            return cmds.rename(old, new)

    Args:
        fn: The function, if the decorator is used without brackets.
        **fields: The fields below, by name; without a risk it counts as "destructive":

        name: The tool's name; None for the function's own.
        title: The name that people read; None for the tool's name in words.
        risk: "read" never changes the scene, "edit" changes what undo brings back and loses
            nothing, "destructive" loses something and needs consent. Where a skill can be tried,
            the last two differ only in what agents are told.
        confirms: The body asks for consent itself, and is not tried.
        undo: The label of its undo step; None for the title. False: undo does not bring back what
            it does (files are written), so the question before its body says so, and a copy of the
            scene is kept after the yes.
        tried: False for a body that must not run twice: it counts, draws random names, takes long.
        idempotent: Run again with the same arguments, it changes nothing more; agents are told.
        thread: "main" runs on the host's main thread, "any" on a pool thread of the bridge.
        hosts: The hosts it can run in, in any case, such as ["maya", "blender"]; empty for all.
        timeout: Seconds that a run may take, questions aside; then `check_cancelled` and `track`
            end it. None for any time.
        ask_missing: A required choice (a Literal or an Enum) that the agent left out is asked of
            the person, before the body.
        task: "ask" puts its questions in a task from the first one on, where the client can do
            that: they outlive a client that crashes, and are answered by another process of it.

    Returns:
        The function, wrapped if it is destructive; or the decorator.

    Raises:
        ValueError: A field is not of its kind.
        TypeError: There is no such field.
    """
    if not fields.pop("undoable", True):  # the earlier word
        fields["undo"] = False
    for name in fields.keys() - Metadata.__slots__:
        near = difflib.get_close_matches(name, Metadata.__slots__, 1, 0.0)[0]
        raise TypeError(f"@skill has no field {name!r}. Did you mean {near!r}?")
    metadata = Metadata(**fields)

    def mark(function: _F) -> _F:
        if metadata.risk == "destructive":
            function = _marking_context(function, metadata.name or function.__name__)
        setattr(function, _ATTRIBUTE, metadata)
        return function

    if fn is None:
        return mark
    return mark(fn)


def _marking_context(fn: _F, name: str) -> _F:
    """Wrap a destructive skill, so that it is destructive wherever it is called.

    While its body runs, the context shows that; it goes along with coroutines, tasks, jobs on the
    main thread and `carry`. The call is one that loses something from then on. A skill that does
    not ask by itself is asked about. Outside of any call it is the plain function: there the person
    runs it at the host.
    """

    @contextmanager
    def entered(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterator[Flow[None] | None]:
        """Mark the context; yield the question that comes before the body, if there is one."""
        call = running_call()
        if call is None:
            yield None
            return
        token = destructive_skill.set(name)
        try:
            flow = call.control.enter(call, marked_fn, args, kwargs)
            with call.control.inside(call):
                yield flow
        finally:
            with suppress(ValueError):  # a coroutine that is only closed, in another context
                destructive_skill.reset(token)

    @functools.wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with entered(args, kwargs) as flow:
            if flow is not None:
                run_sync(flow, "confirm")
            return fn(*args, **kwargs)

    @functools.wraps(fn)
    async def async_wrapper(*args: Any, **kwargs: Any) -> Any:
        with entered(args, kwargs) as flow:
            if flow is not None:
                await run_async(flow, "confirm")
            return await fn(*args, **kwargs)

    marked_fn = cast("_F", wrapper)
    if inspect.iscoroutinefunction(fn):
        marked_fn = cast("_F", async_wrapper)
    return marked_fn


def describe(fn: Callable[..., Any], file: Path | None = None, digest: str = "") -> Skill:
    """Return the skill of a function; the risk of an unmarked function is "destructive".

    Args:
        fn: The function.
        file: The file of its code; None for a skill made in code.
        digest: The digest of that file; without it, the function's code is digested.
    """
    metadata = metadata_of(fn) or Metadata()
    if not digest:
        from hashlib import sha256  # 3 ms that `import dcc_bridge` need not

        code = inspect.unwrap(fn).__code__
        digest = sha256(_text_of(code).encode()).hexdigest()
    return Skill(metadata.name or fn.__name__, fn, metadata, file, digest)


def _text_of(code: CodeType) -> str:
    """Return a text of all that a code does, with the values and the functions in it."""
    values = []
    for value in code.co_consts:
        if isinstance(value, CodeType):
            values.append(_text_of(value))
        else:
            values.append(repr(value))
    return repr((code.co_code, code.co_names, values))


def metadata_of(fn: object) -> Metadata | None:
    """Return the fields of a function's decorator; None for an unmarked function."""
    return cast("Metadata | None", getattr(fn, _ATTRIBUTE, None))


# ---- while a skill runs, in coroutines too

FRAME_S: Final = 0.016  # between two turns of a host that paints at once
TURN_S: Final = 0.05  # and of a slower host: half of the 0.1 s that a person sees
STOPPABLE_AFTER_S: Final = 0.5  # Esc is served: a key before that was not meant for the skill


def report_progress(done: float, total: float | None = None, message: str = "") -> None:
    """Report how far the skill is. Call it as often as you like: few reports are sent.

    Args:
        done: How much is done, in any unit.
        total: How much there is in all, in the same unit; None if that is not known.
        message: A few words about it; plain text.

    Raises:
        ValueError: A number is not finite.
    """
    if not (math.isfinite(done) and (total is None or math.isfinite(total))):
        raise ValueError(f"report_progress takes finite numbers, not {done!r} of {total!r}.")
    call = running_call()
    if call is not None:
        call.control.report((done, total, message))


def report_done(text: str) -> None:
    """Say in a person's words what the skill did, "Moved 12 lights": its title once it is done."""
    call = running_call()
    if call is not None:
        call.deeds.append(text)


def check_cancelled() -> None:
    """End the skill here if it was cancelled, or has run for longer than it may.

    Raises:
        Stopped: It has to end; what it changed is undone once this has left the skill.
    """
    call = running_call()
    if call is not None and (call.ending.is_overdue or call.ending.reason is not None):
        call.ending.is_known = True
        raise Stopped(call.title, overdue=call.ending.reason is None)


def keeping_alive() -> Callable[[], None]:
    """Return a function for code whose loops are not ours, to be called every `FRAME_S` or so.

    As `track` does, it lets the host paint, and raises Stopped where the call has to end.
    """
    stoppable = time.perf_counter() + STOPPABLE_AFTER_S

    def pause() -> None:
        _repaint(time.perf_counter() > stoppable)
        check_cancelled()

    return pause


def track(items: Iterable[T], *, message: str = "", total: float | None = None) -> Iterator[T]:
    """Iterate over items, report the progress, and stop if the call is cancelled.

    On the host's main thread the host paints its windows meanwhile, every 16 ms, or about every
    50 ms where that takes a while. After half a second Esc and the panel's *Cancel* and *Pause*
    work; all other input waits until the skill has ended, and no other skill begins. Blender
    paints after half a second, and only in Object Mode while every mesh is whole; other input is
    dropped there.

    Args:
        items: Anything that can be iterated over once.
        message: A few words about what is done with them.
        total: How many there are, if the items have no length.

    Returns:
        An iterator over the same items.

    Raises:
        Stopped: As `check_cancelled` does.
    """
    if total is None and isinstance(items, Sized):
        total = float(len(items))
    done = 0
    begin = time.perf_counter()
    stoppable = begin + STOPPABLE_AFTER_S
    earliest = 0.0  # no turn before this time
    next_turn = 0.0  # the time at which the next turn is due
    for item in items:
        before = begin
        begin = time.perf_counter()
        expected = 0.9 * (begin - before)  # the next item takes about as long as this one
        if begin >= earliest and begin + expected >= next_turn:
            report_progress(done, total, message)
            _repaint(begin > stoppable)
            end = time.perf_counter()
            took = end - begin
            # A window gets a quarter of the time, a slow one half at most.
            earliest = end + max(min(3 * took, TURN_S), took)
            next_turn = max(end + FRAME_S, earliest)
            begin = end
        check_cancelled()
        yield item
        done += 1
    report_progress(done, total, message)
    end = time.perf_counter()
    # What comes after the loop may take long.
    if done and end > next_turn - FRAME_S / 2:
        _repaint(end > stoppable)
        check_cancelled()


def _repaint(serves_stop: bool) -> None:
    """Let the host paint, and end the call where the person presses Esc."""
    context = current_context()
    call = running_call()
    if context is None:
        return
    is_stopped = context.main.repaint(serves_stop)
    if is_stopped and call is not None:
        context.broker.end(call)
