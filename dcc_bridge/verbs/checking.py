"""The verb that checks the scene by rules: check. Main thread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path, PureWindowsPath
from typing import Any, Final

from dcc_bridge import skill, track
from dcc_bridge.errors import SkillError
from dcc_bridge.skills import importer
from dcc_bridge.skills.source import Source
from dcc_bridge.skills.trust import check_folder, read_trusted
from dcc_bridge.verbs.items import concerns
from dcc_bridge.verbs.operations import HostOperations, Junk, Rule
from dcc_bridge.verbs.ports import AppliedTransforms, Checking, Cleaning

_MOST_FAILED: Final = 20  # items of a rule that are named
_MARK: Final = "__check_rule__"
_APPLY: Final = 'transform(apply=["scale"])'
_WHOLE: Final = "unused_materials"  # what nothing uses is no matter of some items
Finding = tuple[Any, ...]  # an item, why it fails a rule or "", maybe the batch step that mends it
Check = Callable[[HostOperations, Sequence[str]], Iterable[Finding]]


def verbs(operations: HostOperations, checks: Path | None = None) -> list[Callable[..., Any]]:
    """Make the verb that checks. `checks` is the folder of the studio's own rules."""

    @skill(title="Check the scene", risk="read")
    def check(rules: list[str] = [], items: list[str] = []) -> dict[str, Any]:
        """Check items by rules: scale, names, files, the studio's own; tells why and what mends it.

        Args:
            rules: Their names; empty for all.
            items: Empty for all.
        """
        return _checked(operations, checks, rules, items)

    return [check]


def check_rule(fn: Check | None = None, /, *, mend: str = "") -> Any:
    """Mark a function of a studio as a rule of `check`; its docstring says what fails.

    It takes the operations and the items, and gives the items that fail, each with why, and if it
    knows that with the step of a batch that mends it. `mend` is the verb that mends all, as it is
    called.
    """
    if fn is None:
        return partial(check_rule, mend=mend)
    setattr(fn, _MARK, mend)
    return fn


def _checked(
    operations: HostOperations, folder: Path | None, names: list[str], items: list[str]
) -> dict[str, Any]:
    broken: list[str] = []
    known = {rule.name: (rule, run) for rule, run in _checks(operations, folder, broken)}
    if unknown := next((name for name in names if name not in known), None):
        raise ValueError(f"There is no rule {unknown!r}; there are: {', '.join([*known, *broken])}")
    every = (
        (it for item in items for it in (item, *operations.items(item)))
        if items
        else operations.items()
    )
    looked_at = list(dict.fromkeys(track(every)))
    among, failed, passed, whole = set(looked_at), dict[str, Any](), [], []
    for rule, run in (known[name] for name in names or known):
        if items and rule.name == _WHOLE:
            whole.append(rule.name)
            continue
        try:
            found = [it for it in track(run(looked_at)) if it[1]]
            found = [it for it in found if not items or concerns(operations, it[0], among)]
        except (SkillError, LookupError, ValueError) as error:
            broken.append(f"{rule.name}: {error}")
            continue
        named = found[:_MOST_FAILED]
        facts = {"what": rule.text, "mend": rule.mend, "count": len(found)}
        facts["items"] = {item: why for item, why, *_ in named}
        if mends := {item: mend[0] for item, _, *mend in named if any(mend)}:
            facts["mends"] = mends
        failed |= {rule.name: facts} if found else {}
        passed += [] if found else [rule.name]
    result = {"looked_at": len(looked_at), "failed": failed, "passed": passed}
    notes = {"broken": broken, "not_looked_at_with_items": whole}
    return result | {name: note for name, note in notes.items() if note}


def _checks(
    operations: HostOperations, folder: Path | None, broken: list[str]
) -> Iterator[tuple[Rule, Any]]:
    """Give all rules: ours, the host's, the studio's; of one name the last counts."""
    yield from _common(operations)
    if isinstance(operations, Checking):
        for rule in operations.rules():
            yield rule, partial(operations.failures, rule.name)
    yield from ((rule, partial(fn, operations)) for rule, fn in _studio(folder, broken))


def _common(operations: HostOperations) -> Iterator[tuple[Rule, Any]]:
    """Yield the rules that are the same for all, each with what judges items by it."""
    if isinstance(operations, AppliedTransforms):
        scaled = Rule("scale_applied", "the scale is not 1", _APPLY)
        yield scaled, partial(_scale, False, operations)
    mirrored = Rule("negative_scale", "the scale is negative", _APPLY)
    yield mirrored, partial(_scale, True, operations)
    twice = Rule("duplicate_names", "the name is there twice", "rename")
    yield twice, partial(_duplicate_names, operations)
    if isinstance(operations, Checking):
        missing = Rule("missing_files", "not there", "set_values")
        yield missing, partial(_file, False, operations)
        yield Rule("absolute_paths", "absolute", "set_values"), partial(_file, True, operations)
    if isinstance(operations, Cleaning):
        empty = Rule("empty_groups", "empty", "clean")
        yield empty, partial(_junk, "empty_groups", operations)
        yield Rule(_WHOLE, "unused", "clean"), partial(_junk, "unused", operations)


def _studio(folder: Path | None, broken: list[str]) -> Iterator[tuple[Rule, Check]]:
    """Import the rules of a studio's files, which must be trusted as skills are."""
    for file in sorted(folder.glob("[!_.]*.py")) if folder is not None else ():
        try:
            source = Source.of(file, read_trusted(file, check_folder(file.parent)))
            rules = vars(importer.import_source(source))
        except (SkillError, OSError) as error:
            broken.append(str(error))
        else:
            for name, fn in rules.items():
                if (mend := getattr(fn, _MARK, None)) is not None:
                    what = (fn.__doc__ or name).strip().partition("\n")[0]
                    yield Rule(name, what, mend), partial(_guarded, fn, file)


def _guarded(
    fn: Check, file: Path, operations: HostOperations, items: Sequence[str]
) -> Iterator[Finding]:
    with importer.broken_by(file):
        for finding in fn(operations, items):
            if isinstance(finding, str) or not 2 <= len(finding) <= 3:
                raise TypeError(f"it gave {finding!r}; it must yield item, text[, mend]")
            yield str(finding[0]), str(finding[1]), *finding[2:]


def _scale(negative: bool, operations: HostOperations, items: Sequence[str]) -> Iterator[Finding]:
    for item in items:
        why = ""
        with suppress(ValueError):  # for what cannot be placed
            scale = operations.placement(item, "local").scale
            fails = min(scale) < 0 if negative else max(abs(it - 1) for it in scale) > 1e-4
            if fails and operations.look_into(item, "counts"):  # a light may have any
                why = f"scale {', '.join(f'{it:.4g}' for it in scale)}"
        yield item, why


def _duplicate_names(operations: HostOperations, items: Sequence[str]) -> Iterator[Finding]:
    names = {
        it: name for it in track(items) if not it.endswith(f"/{(name := operations.name(it))}")
    }
    counts = Counter(names.values())  # a path of slashes has its own place
    for item, name in names.items():
        yield item, f"{counts[name]} are called {name}" if counts[name] > 1 else ""


def _file(absolute: bool, operations: Checking, items: Sequence[str]) -> Iterator[Finding]:
    folder = (operations.host.file() or Path("scene")).parent
    for item, prop, written in operations.files():
        rooted = written.startswith("/") or PureWindowsPath(written).is_absolute()
        is_absolute = rooted and not written.startswith("//")  # so Blender says it is relative
        fails = is_absolute if absolute else _is_missing(written, folder)
        yield item, f"{prop}: {written}" if fails else ""


def _is_missing(written: str, folder: Path) -> bool:
    if not written or "://" in written or any(it in written for it in "$%#`"):
        return False  # whether it is there only the application knows
    path = folder / written.removeprefix("//")
    if "<" in path.name:  # a pattern, such as <UDIM>
        return not any(path.parent.glob(path.name.partition("<")[0] + "*"))
    return not path.exists()


def _junk(what: Junk, operations: Cleaning, items: Sequence[str]) -> Iterator[Finding]:
    among = set(operations.materials()) if what == "unused" else None
    with suppress(ValueError):  # the host has no such
        yield from ((it, what) for it in operations.junk(what) if among is None or it in among)
