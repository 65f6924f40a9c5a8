"""What it costs to know what an edit loses, beside the host's own API.

``python -m tests.bench.losses [usd|bpy|freecad...] [--items N] [--rounds N]``. One item is
edited, and one is deleted: by the host's own API, in a step of undo, in a step that is asked what
was lost, and, where the host has a trial, in one that is tried and kept, and tried and reverted. A
figure is the median of ratios to the host's own, each of two turns that follow one another, in
time of the processor. After each turn the scene is put back, which is not in it. The step has its
guard, as a skill's has.

A checkout that has no trial prints the lines before it: copied there, it measures that one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from statistics import median
from time import process_time
from typing import Any, Final

from tests.bench import in_hosts
from tests.bench.figures import options, show

ITEMS: Final = {"usd": (1_000, 100_000), "bpy": (1_000, 10_000), "freecad": (1_000, 2_000)}
ROUNDS: Final = 5
_COLUMNS: Final = ("", "ms", "ratio")
Way = Callable[[Any, Callable[[], object]], object]


@dataclass(frozen=True)
class Job:
    """What is done to one item.

    Attributes:
        name: What it is.
        edit: Does it in the host's scene, given a number that is another one each time.
        own: Does the same as a macro does, given that and the host's own scene.
    """

    name: str
    edit: Callable[[int], object]
    own: Callable[[int, Any], object]


def _usd(scene: Any) -> list[Job]:
    from pxr import UsdGeom

    box = "/World/Set_00/box_000000"

    def set_size(number: int, stage: Any = None) -> None:
        prim = (stage or scene.host.stage).GetPrimAtPath(box)
        UsdGeom.Cube(prim).GetSizeAttr().Set(3.0 + number)

    def delete(number: int, stage: Any = None) -> None:
        (stage or scene.host.stage).RemovePrim(box)

    return [Job("set", set_size, set_size), Job("delete", delete, delete)]


def _blender(scene: Any) -> list[Job]:
    import bpy

    def box() -> Any:
        return bpy.data.objects["box_00000"]  # looked up anew: an undo reads all of it again

    def set_index(number: int) -> None:
        box().pass_index = 3 + number

    def delete(number: int) -> None:
        bpy.data.batch_remove([box()])

    return [
        Job(edit.__name__.partition("_")[0], edit, partial(_pushed, edit))
        for edit in (set_index, delete)
    ]


def _pushed(edit: Callable[[int], object], number: int, own: Any) -> None:
    """Edit as an add-on does, with an entry of undo."""
    edit(number)
    own.ops.ed.undo_push(message="own")


def _freecad(scene: Any) -> list[Job]:
    import FreeCAD

    def set_length(number: int, document: Any) -> None:
        document.Box_00005.Length = 13 + number

    def delete(number: int, document: Any) -> None:
        document.removeObject("Box_00005")

    def computed(own: Callable[[int, Any], object], number: int) -> None:
        """Have it computed too, as `Large.own` does."""
        own(number, FreeCAD.ActiveDocument)
        FreeCAD.ActiveDocument.recompute()

    return [
        Job("set", partial(computed, set_length), set_length),
        Job("delete", partial(computed, delete), delete),
    ]


_JOBS: Final[dict[str, Callable[[Any], list[Job]]]] = {
    "usd": _usd,
    "bpy": _blender,
    "freecad": _freecad,
}


# ---- the ways to do it


@contextmanager
def _step(host: Any) -> Iterator[None]:
    with host.guard([], read=False), host.undo_step("Measured"):
        yield


def _plain(host: Any, edit: Callable[[], object]) -> None:
    with _step(host):
        edit()


def _asked(host: Any, edit: Callable[[], object]) -> None:
    with _step(host):
        edit()
    host.lost([])


def _kept(host: Any, edit: Callable[[], object]) -> None:
    """As the bridge does: what was lost is seen while the step is open."""
    with _step(host):
        assert host.trial() is not None
        edit()
        host.lost([])


def _reverted(host: Any, edit: Callable[[], object]) -> None:
    with _step(host):
        trial = host.trial()
        edit()
        host.lost([])
        trial.revert()


def _told(host: Any, edit: Callable[[], object]) -> None:
    """As one whose person is asked: what leads to nothing now is named, too."""
    with _step(host):
        trial = host.trial()
        edit()
        host.lost([])
        trial.broken()


def _ways(host: Any) -> dict[str, Way]:
    ways: dict[str, Way] = {"in a step": _plain, "and lost([])": _asked}
    if _has_trial(host):
        ways |= {"tried, lost([]), kept": _kept, "tried, lost([]), reverted": _reverted}
        ways["tried, lost([]), broken(), kept"] = _told
    return ways


def _has_trial(host: Any) -> bool:
    """Return whether this checkout has trials, and this host one now."""
    if not hasattr(host, "trial"):
        return False
    with host.undo_step("Looked"):
        return host.trial() is not None


def rows(scene: Any, jobs: Sequence[Job], rounds: int) -> Iterator[list[object]]:
    """Measure each job in each way."""
    host, number = scene.host, 0
    for job in jobs:
        ways = _ways(host)
        taken: dict[str, list[float]] = {name: [] for name in ("", *ways)}
        for at in range(rounds + 1):
            for name, way in {"": None, **ways}.items():
                number += 1
                if way is None:
                    took = scene.own(partial(job.own, number))
                else:
                    took = _timed(host, way, partial(job.edit, number))
                taken[name] += [took] if at else []  # the first one imports, and fills caches
        yield [f"{job.name} 1, the host's own", median(taken[""]), ""]
        for name in ways:
            pairs = zip(taken[name], taken[""], strict=True)
            ratio = median(ours / max(own, 0.001) for ours, own in pairs)
            yield [f"{job.name} 1, {name}", median(taken[name]), f"{ratio:.2f} x"]


def _timed(host: Any, way: Way, edit: Callable[[], object]) -> float:
    """Give the milliseconds of a turn; the scene is as before then."""
    before = host.undo_mark().depth
    began = process_time()
    way(host, edit)
    took = 1000 * (process_time() - began)
    while host.undo_mark().depth > before:
        host.undo()
    return took


def measure(host: str, *, items: int, rounds: int) -> None:
    """Measure here: this is an interpreter of that host."""
    for count in [items] if items else ITEMS[host]:
        with in_hosts.opened(host, count) as (scene, _):
            found = list(rows(scene, _JOBS[host](scene), rounds))
            show(f"{in_hosts.version_of(scene)}, {count:,} items", _COLUMNS, found)
    in_hosts.leave(host)


def main() -> None:
    """Measure in each host, and print a table for each size."""
    hosts = ("hosts", {"nargs": "*", "choices": [*ITEMS, []], "metavar": "HOST"})
    chosen = options(__doc__, hosts, items=0, rounds=ROUNDS)
    for host in chosen.hosts or ITEMS:
        in_hosts.run("tests.bench.losses", host, items=chosen.items, rounds=chosen.rounds)


if __name__ == "__main__":
    main()
