"""What the verbs read of items: how many, what is above them, where. Main thread."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final

from dcc_bridge.elicitation.text import plural
from dcc_bridge.skills.skill import track
from dcc_bridge.verbs.operations import SCENE, HostOperations, Vector, triple

_OF_A_KIND: Final = 500  # items whose types are compared, to name more than "prims"


def counted(operations: HostOperations, items: Sequence[str]) -> str:
    """Say how many items there are, and what: "1 sphere light", "12 prims"."""
    nouns = {operations.noun(item) for item in items[:_OF_A_KIND] if item != SCENE}
    is_of_a_kind = len(nouns) == 1 and len(items) <= _OF_A_KIND
    noun = nouns.pop() if is_of_a_kind else operations.host.item_noun
    return plural(len(items), noun)


def by_depth(
    operations: HostOperations, items: Iterable[str], *, deepest: bool = False
) -> list[str]:
    """Sort items by how many are above them, the highest or the deepest first."""
    depths = {item: len(list(lineage(operations, item))) for item in track(items)}
    return sorted(depths, key=depths.__getitem__, reverse=deepest)


def lineage(operations: HostOperations, item: str | None) -> Iterator[str]:
    """Give an item, and those above it."""
    while item:
        yield item
        item = operations.parent(item)


def concerns(operations: HostOperations, item: str, among: Container[str]) -> bool:
    """Whether an item is one of some, or what uses it is, by what stands between."""
    seen = dict.fromkeys([item])
    for number in range(_OF_A_KIND):
        if (each := next(islice(seen, number, None), None)) is None or each in among:
            return each is not None
        for above in (operations.users, lambda it: filter(None, [operations.parent(it)])):
            with suppress(LookupError, ValueError):
                seen |= dict.fromkeys(above(each))
    return False


def point(numbers: Sequence[float], name: str) -> Vector | None:
    """Read three numbers; None where there are none."""
    if not numbers:
        return None
    if len(numbers) != 3 or not all(map(math.isfinite, numbers)):
        raise ValueError(f"{name} is [x, y, z], three finite numbers, and not {list(numbers)}.")
    return triple(numbers)


def whole_path(operations: HostOperations, path: str) -> Path:
    """Give the whole path of a file; a relative one is of the scene's own folder."""
    file, own = Path(path).expanduser(), operations.host.file()
    if own is None and not file.is_absolute():
        raise ValueError(f"The scene was never saved, so give the whole path and not {path!r}.")
    return (own.parent / file if own else file).absolute()


def followed(item: str, moved: Mapping[str, str]) -> str:
    """Give an item as it is called now, where items above it got another path since."""
    at = len(item)
    while (at := max(item.rfind("/", 0, at), item.rfind("|", 0, at))) > 0:
        if (new := moved.get(item[:at])) is not None:
            item, at = new + item[at:], len(new)
    return item
