"""What a skill is: a plain Python function with a little metadata. Any thread."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, cast, overload

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
        thread: "main" runs on the host's main thread, "any" on a pool thread of the bridge.
        hosts: The hosts it can run in; empty for all.
    """

    name: str | None = None
    title: str | None = None
    risk: Risk = "destructive"
    confirms: bool = False
    undo: str | None = None
    thread: Thread = "main"
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Skill:
    """A function that an agent may call, and all that is known of it.

    Attributes:
        name: The tool's name.
        title: What a person reads.
        fn: The function itself, as its author wrote it.
        metadata: What the decorator was told.
        file: Where it was written; None for one made in code.
        digest: What its file was when it was loaded, or what its code is.
    """

    name: str
    title: str
    fn: Callable[..., Any]
    metadata: Metadata
    file: Path | None = None
    digest: str = ""

    @property
    def is_async(self) -> bool:
        """Whether it runs as a coroutine on the worker's loop."""
        return inspect.iscoroutinefunction(self.fn)

    @property
    def undo_label(self) -> str:
        """What the person reads in the Edit menu."""
        return self.metadata.undo or self.title


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
    thread: Thread = "main",
    hosts: tuple[str, ...] | list[str] = (),
) -> Callable[[_F], _F]: ...


def skill(fn: Callable[..., Any] | None = None, /, **told: Any) -> Any:
    """Mark a function as a skill. The function itself is given back unchanged.

    Args:
        fn: The function, where the decorator is used without brackets.
        **told: The fields of `Metadata`.

    Returns:
        The function, or the decorator.
    """
    metadata = Metadata(**{**told, "hosts": tuple(told.get("hosts", ()))})

    def mark(function: _F) -> _F:
        setattr(function, _ATTRIBUTE, metadata)
        return function

    return mark if fn is None else mark(fn)


def describe(fn: Callable[..., Any], file: Path | None = None) -> Skill:
    """Make the record of a function, marked or not.

    Args:
        fn: The function. Without the decorator its risk is "destructive": unknown means careful.
        file: Where it was written.
    """
    metadata = metadata_of(fn) or Metadata()
    name = metadata.name or fn.__name__
    title = metadata.title or name.replace("_", " ").capitalize()
    from hashlib import sha256  # 3 ms that `import dcc_bridge` need not

    content = file.read_bytes() if file is not None else fn.__code__.co_code
    return Skill(name, title, fn, metadata, file, sha256(content).hexdigest())


def metadata_of(fn: object) -> Metadata | None:
    """Give what the decorator was told, or None for an unmarked function."""
    return cast("Metadata | None", getattr(fn, _ATTRIBUTE, None))
