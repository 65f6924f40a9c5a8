"""The guard behind which each item is read: what cannot be read is told beside the rest.

An application, or an add-on in it, may raise anything where a name, a property or a box is read.
One such item must not end an answer about all. So whatever reads one of many calls `readable`, or
goes through `read_each`. The verb's answer then has what was read, and "unreadable" with the names
of what was not, each with a reason. Main thread.

There is no time limit for what is read. A property that is computed for ever stands in the
application's own code on the main thread. Only an exception out of another thread could end that:
Python delivers it at the next line of Python and never inside of C++, and by then it may hit other
code of the application. So a skill's timeout is noticed between two items, not within one.
"""

from __future__ import annotations

import functools
import logging
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, TypeVar

from dcc_bridge.errors import BridgeError, InvalidRequest
from dcc_bridge.skills.skill import track
from dcc_bridge.verbs.operations import Bounds, HostOperations, triple

T = TypeVar("T")
Thing = TypeVar("Thing")
Found = dict[str, str]
"""Why something cannot be read, by its name."""
KEY: Final = "unreadable"
_MAX_TOLD: Final = 20  # names in one answer
_MAX_REASON: Final = 200  # characters
_MOST: Final = 1e18  # a length whose square an application's single precision still holds
_FAILED: Final = "code of the application or of an add-on failed on it"
# Python's errors of these types mean a mistake in code; their texts say nothing to an agent.
_MISTAKES: Final = (
    *(AttributeError, TypeError, KeyError, IndexError, NameError, AssertionError, SystemError),
    *(ZeroDivisionError, StopIteration, ImportError, EOFError),
)
_SENTENCES: Final = (LookupError, ValueError)  # as operations raise them
_RAW: Final = re.compile(
    r"Traceback|<class|NoneType|codec can't|cannot convert float|math domain|null (byte|character)"
    r"|object has no attribute|invalid literal|could not convert|to unpack"
)
_IN_QUOTES: Final = re.compile(r": '(.*?)'\s*$", re.MULTILINE)  # USD's own words in its errors

log = logging.getLogger(__name__)
_found: ContextVar[Found | None] = ContextVar("dcc_bridge_unreadable", default=None)


@contextmanager
def noting() -> Iterator[Found]:
    """Note what cannot be read in the block, for a part of an answer of its own.

    Yields:
        The reasons by name, which grow meanwhile.
    """
    found: Found = {}
    token = _found.set(found)
    try:
        yield found
    finally:
        _found.reset(token)


def note(name: str, why: str) -> None:
    """Note that something cannot be read, for the answer of the verb that runs here.

    Args:
        name: What a person calls it.
        why: The end of the sentence "It cannot be read: ...", without a full stop.
    """
    found = _found.get()
    if found is not None:
        found.setdefault(name, why)


def tried(read: Callable[..., T], *arguments: Any) -> tuple[T | None, str]:
    """Read something behind the guard. It raises errors of the bridge alone.

    Args:
        read: Reads it.
        arguments: What `read` is called with.

    Returns:
        What was read and ""; or None, and why it cannot be read.
    """
    try:
        return read(*arguments), ""
    except BridgeError:  # the call is over
        raise
    except Exception as error:
        log.debug("something cannot be read", exc_info=True)
        return None, said(error)


def readable(name: str, read: Callable[..., T], *arguments: Any) -> T | None:
    """Read one thing of many, or note why it cannot be read.

    Args:
        name: What a person calls it: an item, or a property of one.
        read: Reads it.
        arguments: What `read` is called with.

    Returns:
        What was read; None for what cannot be read.

    Raises:
        BridgeError: The call is over.
    """
    value, why = tried(read, *arguments)
    if why:
        note(name, why)
    return value


def read_each(
    things: Iterable[Thing], read: Callable[[Thing], T], name: Callable[[Thing], str] = str
) -> Iterator[tuple[Thing, T]]:
    """Read each of many things, and note why one cannot be read.

    Args:
        things: All of them.
        read: Reads one; what it returns is never None.
        name: Returns what a person calls one.

    Yields:
        Each thing that can be read, with what was read.

    Raises:
        BridgeError: The call is over.
    """
    for thing in things:
        value = readable(name(thing), read, thing)
        if value is not None:
            yield thing, value


def box_of_item(operations: HostOperations, item: str) -> Bounds | None:
    """Return the box of an item in the world, whose numbers can be computed with.

    Where an item below it spoils the box, that one is noted, and the box is that of the others. If
    none below it does, the item itself is noted.

    Raises:
        LookupError: There is no such item.
        ValueError: The box has no end, or one of its numbers is none.
    """
    box, why = tried(_sound_box, operations, item)
    if not why:
        return box
    boxes, spoiled = _boxes_below(operations, item)
    if boxes:
        spoiled[item] = why
    for name, reason_of_it in spoiled.items():
        if spoiled.keys().isdisjoint(operations.items(name)):
            note(name, reason_of_it)
    if not boxes:
        raise ValueError(why)
    lowest = [min(box[0][axis] for box in boxes) for axis in range(3)]
    highest = [max(box[1][axis] for box in boxes) for axis in range(3)]
    return triple(lowest), triple(highest)


def _boxes_below(operations: HostOperations, item: str) -> tuple[list[Bounds], Found]:
    """Return the boxes of the items below one, and why others have none, by the item.

    Raises:
        LookupError: There is no such item.
    """
    boxes = []
    spoiled: Found = {}
    for below in track(operations.items(item)):
        box, why = tried(_sound_box, operations, below)
        if box is not None:
            boxes.append(box)
        elif why:
            spoiled[below] = why
    return boxes, spoiled


def _sound_box(operations: HostOperations, item: str) -> Bounds | None:
    """Return the box of an item; ValueError says why it cannot be computed with."""
    box = operations.bounds(item)
    if box is None:
        return None
    numbers = (*box[0], *box[1])
    if not all(map(math.isfinite, numbers)):
        raise ValueError("its box has numbers that are none (nan or inf)")
    if max(map(abs, numbers)) > _MOST:
        raise ValueError("its box is endless")
    return box


def reason(error: BaseException) -> str:
    """Return why something failed as the end of a sentence, without an exception's own words.

    Args:
        error: Whatever was raised.
    """
    if isinstance(error, UnicodeError):
        return "it is not UTF-8"
    if isinstance(error, RecursionError):
        return "it leads back to itself"
    if isinstance(error, ReferenceError):
        return "it is gone"
    if isinstance(error, OverflowError):
        return "a number of it is too large"
    text = _words(error)
    is_sentence = " " in text and not _RAW.search(text)
    if isinstance(error, _MISTAKES) or not is_sentence:
        return _FAILED
    return text[:_MAX_REASON]


def _words(error: BaseException) -> str:
    """Return the message in an error, without its full stop; "" where it has none."""
    message: Any = error.args[0] if error.args else ""
    if isinstance(error, OSError) and error.strerror:
        message = error.strerror  # the first argument is a number
        if error.filename is not None:
            message = f"{message}: {error.filename}"
    if isinstance(message, Mapping):  # as FreeCAD has it
        message = message.get("sErrMsg", "")
    text = str(message)
    quoted = _IN_QUOTES.findall(text)
    if quoted:
        text = quoted[0]
    return " ".join(text.split()).rstrip(".")


def telling(verb: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a verb, so that its answer tells what could not be read, and its errors are sentences.

    Args:
        verb: The verb.

    Returns:
        The verb with the same name, arguments and marks. It raises InvalidRequest for a mistake of
        its caller.
    """

    @functools.wraps(verb)
    def told(*args: Any, **kwargs: Any) -> Any:
        with noting() as found:
            try:
                answer = verb(*args, **kwargs)
            except Exception as error:  # an application raises anything
                if isinstance(error, BridgeError):
                    raise
                if not is_sentence(error):
                    raise ValueError(_failure(error)) from error
                if not _is_of_request(error):
                    raise
                raise InvalidRequest(str(error)) from error
        return beside(answer, found)

    return told


def is_sentence(error: BaseException) -> bool:
    """Return whether an error says in a sentence what went wrong, as operations raise them."""
    if isinstance(error, BridgeError):
        return True
    if isinstance(error, UnicodeError | KeyError | IndexError):
        return False
    return isinstance(error, _SENTENCES) and not _RAW.search(str(error))


def _is_of_request(error: BaseException) -> bool:
    """Return whether all errors that led to an error are sentences, so that no code is at fault."""
    cause: BaseException | None = error
    while cause is not None:
        if not is_sentence(cause):
            return False
        cause = cause.__cause__
    return True


def said(error: BaseException) -> str:
    """Return what an error says, if it says it in a sentence; else the reason for it."""
    if is_sentence(error) and str(error):
        return str(error)
    return reason(error)


def _failure(error: BaseException) -> str:
    why = reason(error)
    if why == _FAILED:
        return "Code of the application or of an add-on failed on it; its log says where."
    return f"The application cannot do this: {why}."


def beside(answer: Any, found: Mapping[str, str]) -> Any:
    """Return an answer with what could not be read beside the rest of it.

    Args:
        answer: A dict; or a list, whose first part is a text or a dict.
        found: The reasons by name.
    """
    if not found:
        return answer
    if isinstance(answer, dict):
        answer[KEY] = first(found)
    elif isinstance(answer, list) and answer and isinstance(answer[0], str):
        lines = [f"  cannot be read: {name}: {why}" for name, why in first(found).items()]
        answer[0] = "\n".join([answer[0], *lines])
    elif isinstance(answer, list) and answer:
        answer[0] = beside(answer[0], found)
    return answer


def first(found: Mapping[str, str]) -> Found:
    """Return the first of the reasons, and how many more there are."""
    names = list(found)[:_MAX_TOLD]
    told = {name: found[name] for name in names}
    left_out = len(found) - len(names)
    if left_out > 0:
        told["..."] = f"{left_out} more"
    return told
