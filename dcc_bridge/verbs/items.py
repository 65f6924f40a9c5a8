"""Facts of items that several verbs need: number, ancestors, points, paths. Main thread."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import Any, Final

from dcc_bridge.elicitation.text import plural
from dcc_bridge.skills.skill import track
from dcc_bridge.verbs.answers import VerbResult
from dcc_bridge.verbs.listing import is_named
from dcc_bridge.verbs.operations import SCENE, HostOperations, Vector, triple
from dcc_bridge.verbs.unreadable import tried

_OF_A_KIND: Final = 500  # items whose types are compared, to say more than "prims"
_MATCHED: Final = 10_000  # items of a scene that are compared with the pattern of an answer


def counted(operations: HostOperations, items: Sequence[str]) -> str:
    """Return how many items there are, with their noun: "1 sphere light", "12 prims"."""
    noun = operations.host.item_noun
    nouns = {operations.noun(item) for item in items[:_OF_A_KIND] if item != SCENE}
    if len(nouns) == 1 and len(items) <= _OF_A_KIND:
        noun = nouns.pop()
    return plural(len(items), noun)


def matching(operations: HostOperations, items: Sequence[str]) -> list[str]:
    """Return items, with those that a glob means in its place.

    Args:
        operations: What the host can do.
        items: Items, and globs such as "Cube_*", on the name; with a slash on the whole item, and
            "Rig/bone:*" for parts. An item that exists is none.

    Raises:
        LookupError: One of the items does not exist, or nothing matches a glob.
    """
    every: list[str] = []
    for item in track(items):
        if "*" not in item or operations.host.kinds([item]) != ["gone"]:
            operations.kind(item)
            every.append(item)
            continue
        found = []
        for other in track(operations.items()):
            if is_named(operations, other, "", item):
                found.append(other)
        if not found:
            found = _parts_matching(operations, item)
        if not found:
            raise LookupError(f"No item matches {item!r}.")
        every += found
    return list(dict.fromkeys(every))


def _parts_matching(operations: HostOperations, glob: str) -> list[str]:
    """Return the items that a glob with a colon means, such as the bones of "Rig/bone:*"."""
    above, colon, _ = glob.partition("*")[0].rpartition(":")
    if not colon:
        return []
    prefix = above + colon
    found = []
    with suppress(LookupError, ValueError):
        for item in track(operations.items(prefix)):
            if fnmatchcase(item.removeprefix(prefix), glob.removeprefix(prefix)):
                found.append(item)
    return found


def exact(operations: HostOperations, verb: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a verb, so that the pattern in its answer matches the items of the answer alone.

    A pattern that others match too, or that is not known to be exact since the scene is large,
    gives way to the first and the last item, which no verb takes for a glob.

    Args:
        operations: What the host can do.
        verb: The verb.

    Returns:
        The verb with the same name, arguments and marks.
    """

    @functools.wraps(verb)
    def told(*args: Any, **kwargs: Any) -> Any:
        answer = verb(*args, **kwargs)
        if isinstance(answer, VerbResult) and "pattern" in answer:
            globs = answer["pattern"].split(", ")
            is_exact, _ = tried(_matches_only, operations, globs, answer.every)
            if not is_exact:
                del answer["pattern"]
                answer["names"] = f"{answer.every[0]} ... {answer.every[-1]}"
        return answer

    return told


def _matches_only(operations: HostOperations, globs: Sequence[str], items: Sequence[str]) -> bool:
    """Return whether globs match some items and no others, of a scene that is not too large."""
    missing = set(items)
    scene = iter(operations.items())
    for other in islice(scene, _MATCHED):
        is_matched = any(is_named(operations, other, "", glob) for glob in globs)
        if is_matched and other not in missing:
            return False
        if is_matched:
            missing.remove(other)
    return not missing and next(scene, None) is None


def by_depth(
    operations: HostOperations, items: Iterable[str], *, deepest: bool = False
) -> list[str]:
    """Sort items by how many items are above them, the highest or the deepest first."""
    depths: dict[str, int] = {}
    for item in track(items):
        depths[item] = len(list(lineage(operations, item)))
    return sorted(depths, key=depths.__getitem__, reverse=deepest)


def lineage(operations: HostOperations, item: str | None) -> Iterator[str]:
    """Yield an item, then its parent, and so on up to the top of the scene."""
    seen: set[str] = set()  # a damaged scene may lead back
    while item and item not in seen:
        yield item
        seen.add(item)
        item = operations.parent(item)


def concerns(operations: HostOperations, item: str, among: Container[str]) -> bool:
    """Return whether an item is among some items, or is used by one of them or below one.

    Users of users and parents of users count too. The nearest are looked at first, up to
    `_OF_A_KIND` of them.
    """
    # A dict keeps the order of a queue and holds each item once.
    queue = {item: None}
    for number in range(_OF_A_KIND):
        current = next(islice(queue, number, None), None)
        if current is None:
            return False
        if current in among:
            return True
        with suppress(LookupError, ValueError):
            queue.update(dict.fromkeys(operations.users(current)))
        with suppress(LookupError, ValueError):
            parent = operations.parent(current)
            if parent:
                queue.setdefault(parent, None)
    return False


def point(numbers: Sequence[float], name: str) -> Vector | None:
    """Return three numbers as a point; None where there are no numbers.

    Args:
        numbers: The argument of a verb: none or three.
        name: The name of that argument, for the error.

    Raises:
        ValueError: There are more or fewer numbers, or one is not finite.
    """
    if not numbers:
        return None
    return checked_point(numbers, name)


def checked_point(numbers: Sequence[float], name: str) -> Vector:
    """Return three numbers as a point.

    Args:
        numbers: The argument of a verb.
        name: The name of that argument, for the error.

    Raises:
        ValueError: There are not three, or one is not finite.
    """
    if len(numbers) != 3 or not all(math.isfinite(number) for number in numbers):
        raise ValueError(f"{name} is [x, y, z], three finite numbers, and not {list(numbers)}.")
    return triple(numbers)


def whole_path(operations: HostOperations, path: str) -> Path:
    """Return the absolute path of a file; a relative path starts in the scene's folder.

    Raises:
        ValueError: The path is relative, and the scene was never saved.
    """
    file = Path(path).expanduser()
    scene_file = operations.host.file()
    if scene_file is not None:
        file = scene_file.parent / file
    elif not file.is_absolute():
        raise ValueError(f"The scene was never saved, so give the whole path and not {path!r}.")
    return file.absolute()


def followed(item: str, moved: Mapping[str, str]) -> str:
    """Return an item as it is called now, where items above it have got another path since.

    Args:
        item: The item, as it was called right after it was moved itself.
        moved: The new item of each moved item.
    """
    end = _last_slash(item, len(item))
    while end > 0:
        new_parent = moved.get(item[:end])
        if new_parent is not None:
            item = new_parent + item[end:]
            end = len(new_parent)
        end = _last_slash(item, end)
    return item


def _last_slash(path: str, end: int) -> int:
    """Return where the last separator before `end` is; -1 where there is none."""
    return max(path.rfind("/", 0, end), path.rfind("|", 0, end))
