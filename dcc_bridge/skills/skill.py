"""What a skill is: a plain Python function with a little metadata. Any thread."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import CodeType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, cast, get_args, overload

from dcc_bridge.elicitation.call import current, destructive_skill
from dcc_bridge.elicitation.context import Flow, run_async, run_sync
from dcc_bridge.errors import BrokenSkill

Risk = Literal["read", "edit", "destructive"]
Thread = Literal["main", "any"]

if TYPE_CHECKING:
    from pathlib import Path

_ATTRIBUTE: Final = "__dcc_skill__"
_F = TypeVar("_F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Metadata:
    """What the decorator was told.

    Attributes:
        name: The tool's name; None for the function's own.
        title: What a person reads; None for the name in words.
        risk: "read" never changes the scene, "edit" changes what undo brings back and nobody
            misses, "destructive" loses something and needs consent.
        confirms: The body asks by itself. A destructive skill that does not is asked for first.
        undo: The label of its undo step; None for the title.
        undoable: Undo brings back what it does. Where it does not (files are written), the
            question before its body says so, and a copy of the scene is kept after the yes.
        thread: "main" runs on the host's main thread, "any" on a pool thread of the bridge.
        hosts: The hosts it can run in; empty for all.
        timeout: Seconds that a run may take, questions aside; then `check_cancelled` and `track`
            end it. None for any time.
        ask_missing: A required choice (a Literal or an Enum) that the agent left out is asked of
            the person, before the body.
    """

    name: str | None = None
    title: str | None = None
    risk: Risk = "destructive"
    confirms: bool = False
    undo: str | None = None
    undoable: bool = True
    thread: Thread = "main"
    hosts: tuple[str, ...] = ()
    timeout: float | None = None
    ask_missing: bool = False

    def __post_init__(self) -> None:
        """Refuse a value that is not of its kind, so that a slip of the pen is no other risk."""
        for name, allowed in (("risk", get_args(Risk)), ("thread", get_args(Thread))):
            value = getattr(self, name)
            if value not in allowed:
                raise ValueError(f"{name} is {', '.join(allowed)}, and not {value!r}.")
        if self.timeout is not None and not self.timeout > 0:
            raise ValueError(f"timeout is a number of seconds above 0, and not {self.timeout!r}.")


class Skill:
    """A function that an agent may call, and all that is known of it.

    Attributes:
        name: The tool's name.
        fn: The function itself, as its author wrote it; `unimported` until its file was.
        metadata: What the decorator was told.
        file: Where it was written; None for one made in code.
        digest: What its file was when it was read, or what its code is.
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

    @property
    def title(self) -> str:
        """What a person reads."""
        return self.metadata.title or self.name.replace("_", " ").capitalize()

    @property
    def is_imported(self) -> bool:
        """Whether its function is there; that of a file is imported when it is first called."""
        return self.fn is not unimported

    @property
    def is_async(self) -> bool:
        """Whether it runs as a coroutine on the worker's loop."""
        return inspect.iscoroutinefunction(self.fn)

    @property
    def undo_label(self) -> str:
        """What the person reads in the Edit menu."""
        return self.metadata.undo or self.title


def unimported(**arguments: Any) -> Any:
    """Stand in for the function of a skill whose file was not imported yet."""
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
    undo: str | None = None,
    undoable: bool = True,
    thread: Thread = "main",
    hosts: tuple[str, ...] | list[str] = (),
    timeout: float | None = None,
    ask_missing: bool = False,
) -> Callable[[_F], _F]: ...


def skill(fn: Callable[..., Any] | None = None, /, **fields: Any) -> Any:
    """Mark a function as a skill; it can still be called as the plain function it is.

    A destructive one is wrapped, so that it asks for consent also where another skill calls it.

    Args:
        fn: The function, where the decorator is used without brackets.
        **fields: Those of `Metadata`.

    Returns:
        The function, wrapped if it is destructive; or the decorator.

    Raises:
        ValueError: A field is not of its kind.
    """
    metadata = Metadata(**{**fields, "hosts": tuple(fields.get("hosts", ()))})

    def mark(function: _F) -> _F:
        if metadata.risk == "destructive":
            function = _marking_context(function, metadata.name or function.__name__)
        setattr(function, _ATTRIBUTE, metadata)
        return function

    return mark if fn is None else mark(fn)


def _marking_context(fn: _F, name: str) -> _F:
    """Wrap a destructive skill, so that it is one wherever it is called.

    Its context shows that its body runs, and goes along with coroutines, tasks, jobs on the main
    thread and `carry`; the call is one that loses something from then on; and what it does not ask
    by itself is asked. Outside of any call it is the plain function: there it is run by the person
    at the host.

    Args:
        fn: The function of the skill.
        name: The skill's name.
    """

    @contextmanager
    def entered(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterator[Flow[None] | None]:
        """Mark the context, and give what has to be asked first."""
        call = current.get()
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

    marked_fn = cast("_F", async_wrapper if inspect.iscoroutinefunction(fn) else wrapper)
    return marked_fn


def describe(fn: Callable[..., Any], file: Path | None = None, digest: str = "") -> Skill:
    """Make the record of a function, marked or not.

    Args:
        fn: The function. Without the decorator its risk is "destructive": unknown means careful.
        file: Where it was written.
        digest: What the file was when it was read; "" for the digest of the function's code.
    """
    metadata = metadata_of(fn) or Metadata()
    name = metadata.name or fn.__name__
    if not digest:
        from hashlib import sha256  # 3 ms that `import dcc_bridge` need not

        digest = sha256(_text_of(inspect.unwrap(fn).__code__).encode()).hexdigest()
    return Skill(name, fn, metadata, file, digest)


def _text_of(code: CodeType) -> str:
    """Tell all that a code does, with the values and the functions in it."""
    values = [_text_of(it) if isinstance(it, CodeType) else repr(it) for it in code.co_consts]
    return repr((code.co_code, code.co_names, values))


def metadata_of(fn: object) -> Metadata | None:
    """Give what the decorator was told, or None for an unmarked function."""
    return cast("Metadata | None", getattr(fn, _ATTRIBUTE, None))
