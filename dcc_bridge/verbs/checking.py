"""The verb that checks the scene by rules: check. Main thread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path, PureWindowsPath
from typing import Any, Final

from dcc_bridge import skill, track
from dcc_bridge.errors import SkillError
from dcc_bridge.skills import importer
from dcc_bridge.skills.source import Source
from dcc_bridge.skills.trust import check_folder, read_trusted
from dcc_bridge.verbs import outputs
from dcc_bridge.verbs.items import concerns
from dcc_bridge.verbs.operations import HostOperations, Rule
from dcc_bridge.verbs.ports import AppliedTransforms, Checking, Cleaning, Keyframes
from dcc_bridge.verbs.unreadable import read_each, tried

_MAX_FAILED: Final = 20  # items of a rule that the answer names
_MAX_FRAMES: Final = 5  # of a property that a reason names
_MARK: Final = "__check_rule__"
_APPLY: Final = 'transform(apply=["scale"])'
_UNMIRROR: Final = "transform(scale=[1, 1, 1])"
_RENAME: Final = 'rename(names={item: "new name"})'
_SET_KEYS: Final = "set_keys(item, prop, keys=[[frame, value]], clear=true)"
_SET_PATH: Final = 'set_values(changes=[{"item": item, "prop": prop, "value": "path"}])'
_CLEAN_GROUPS: Final = 'clean(what=["empty_groups"])'
_CLEAN_UNUSED: Final = 'clean(what=["unused"])'
_UNUSED_MATERIALS: Final = "unused_materials"  # a rule of the scene, not of given items
_TOLERANCE: Final = 1e-4  # by which a scale may differ from 1, and a key from its frame
_PATTERN_SIGNS: Final = "$%#`"  # in a path that only the application can resolve
# An item, why it fails a rule ("" if it passes), and maybe the batch step that mends it.
Finding = tuple[Any, ...]
Check = Callable[[HostOperations, Sequence[str]], Iterable[Finding]]
RuleRun = Callable[[Sequence[str]], Iterable[Finding]]


def verbs(operations: HostOperations, checks: Path | None = None) -> list[Callable[..., Any]]:
    """Return the verb that checks.

    Args:
        operations: What the host can do.
        checks: The folder of the studio's own rules; None where there is none.
    """

    @skill(title="Check the scene", risk="read")
    def check(rules: list[str] = [], items: list[str] = []) -> outputs.Checked:
        """Check items by rules: scale, names, files, the studio's own; tells why and what mends it.

        Args:
            rules: Their names; empty for all.
            items: Empty for all.
        """
        return _checked(operations, checks, rules, items)

    return [check]


def check_rule(fn: Check | None = None, /, *, mend: str = "") -> Any:
    """Mark a function of a studio as a rule of `check`; its docstring says what fails.

    The function takes the operations and the items. It yields each item that fails and why, and
    optionally the step of a batch that mends the item.

    Args:
        fn: The function, where the decorator is used without arguments.
        mend: The verb that mends all, as it is called: 'transform(apply=["scale"])'.
    """
    if fn is None:
        return partial(check_rule, mend=mend)
    setattr(fn, _MARK, mend)
    return fn


def _checked(
    operations: HostOperations, folder: Path | None, names: list[str], items: list[str]
) -> dict[str, Any]:
    """Run rules over items and return what failed, what passed and which rules are broken."""
    broken: list[str] = []
    rules = _wanted_rules(operations, folder, names, broken)
    checked = list(dict.fromkeys(track(_with_children(operations, items))))
    among = None
    if items:
        among = set(checked)
    failed: dict[str, Any] = {}
    passed = []
    not_run = []
    for rule, run in rules:
        if items and rule.name == _UNUSED_MATERIALS:
            not_run.append(rule.name)
            continue
        findings, why = _judged(operations, run, checked, among)
        if why:
            broken.append(f"{rule.name}: {why}")
        elif findings:
            failed[rule.name] = _failure(rule, findings)
        else:
            passed.append(rule.name)
    answer = {"looked_at": len(checked), "failed": failed, "passed": passed}
    if broken:
        answer["broken"] = broken
    if not_run:
        answer["not_looked_at_with_items"] = not_run
    return answer


def _wanted_rules(
    operations: HostOperations, folder: Path | None, names: Sequence[str], broken: list[str]
) -> list[tuple[Rule, RuleRun]]:
    """Return the rules of these names, or all rules; add to `broken` why files of rules are.

    Raises:
        ValueError: There is no rule of one of the names.
    """
    known: dict[str, tuple[Rule, RuleRun]] = {}
    for rule, run in _checks(operations, folder, broken):
        known[rule.name] = rule, run
    for name in names:
        if name not in known:
            there = ", ".join([*known, *broken])
            raise ValueError(f"There is no rule {name!r}; there are: {there}")
    return [known[name] for name in names or known]


def _with_children(operations: HostOperations, items: Sequence[str]) -> Iterator[str]:
    """Yield items with all that is below them; all items of the scene where none are given."""
    if not items:
        yield from operations.items()
    for item in items:
        yield item
        yield from operations.items(item)


def _judged(
    operations: HostOperations, run: RuleRun, items: Sequence[str], among: Container[str] | None
) -> tuple[Sequence[Finding] | None, str]:
    """Return what a rule finds and "", or None and why the rule itself cannot be run."""
    try:
        return tried(_findings, operations, run, items, among)
    except SkillError as error:  # of a studio's rule
        return None, str(error)


def _findings(
    operations: HostOperations, run: RuleRun, items: Sequence[str], among: Container[str] | None
) -> list[Finding]:
    """Return why items fail a rule.

    Some rules judge other things than items, such as files and materials. Those of them are
    returned that concern one of the items `among`; None for all.
    """
    findings = [finding for finding in track(run(items)) if finding[1]]
    if among is None:
        return findings
    return [finding for finding in findings if concerns(operations, finding[0], among)]


def _failure(rule: Rule, findings: Sequence[Finding]) -> dict[str, Any]:
    """Return the part of an answer on a rule that items fail."""
    reasons = {}
    steps = {}
    for item, why, *mend in findings[:_MAX_FAILED]:
        reasons[item] = why
        if any(mend):
            steps[item] = mend[0]
    facts = {"what": rule.text, "mend": rule.mend, "count": len(findings), "items": reasons}
    if steps:
        facts["mends"] = steps
    return facts


def _checks(
    operations: HostOperations, folder: Path | None, broken: list[str]
) -> Iterator[tuple[Rule, RuleRun]]:
    """Yield the common rules, the host's and the studio's; of one name the last counts."""
    yield from _common(operations)
    if isinstance(operations, Checking):
        for rule in operations.rules():
            yield rule, partial(operations.failures, rule.name)
    for rule, fn in _studio(folder, broken):
        yield rule, partial(fn, operations)


def _common(operations: HostOperations) -> Iterator[tuple[Rule, RuleRun]]:
    """Yield the rules that are the same in all hosts, each with the function that runs it."""
    mend_mirrored = _UNMIRROR
    if isinstance(operations, AppliedTransforms):
        mend_mirrored = _APPLY
        scaled = Rule(
            "scale_applied",
            f"The scale of these items is not 1; {_APPLY} puts it into their geometry.",
            _APPLY,
        )
        yield scaled, partial(_unapplied_scales, operations)
    mirrored = Rule(
        "negative_scale",
        f"These items are mirrored by a negative scale; {mend_mirrored} ends that.",
        mend_mirrored,
    )
    yield mirrored, partial(_negative_scales, operations)
    twice = Rule(
        "duplicate_names",
        f"These items share their name with others; {_RENAME} gives each a name of its own.",
        _RENAME,
    )
    yield twice, partial(_duplicate_names, operations)
    if isinstance(operations, Keyframes):
        between = Rule(
            "keys_off_frames",
            f"Keys of these properties are between whole frames; {_SET_KEYS} sets whole ones.",
            _SET_KEYS,
        )
        yield between, partial(_keys_off_frames, operations)
    if isinstance(operations, Checking):
        missing = Rule(
            "missing_files",
            f"The files that these properties name are not there; {_SET_PATH} names others.",
            _SET_PATH,
        )
        yield missing, partial(_missing_files, operations)
        absolute = Rule(
            "absolute_paths",
            "The absolute paths in these properties lead nowhere on another computer; "
            f"{_SET_PATH} names the same files relative to the scene.",
            _SET_PATH,
        )
        yield absolute, partial(_absolute_paths, operations)
    if isinstance(operations, Cleaning):
        empty = Rule(
            "empty_groups",
            f"There is nothing in these groups; {_CLEAN_GROUPS} deletes them.",
            _CLEAN_GROUPS,
        )
        yield empty, partial(_empty_groups, operations)
        unused = Rule(
            _UNUSED_MATERIALS,
            f"No item has these materials; {_CLEAN_UNUSED} deletes them, and other unused data.",
            _CLEAN_UNUSED,
        )
        yield unused, partial(_unused_materials, operations)


def _studio(folder: Path | None, broken: list[str]) -> Iterator[tuple[Rule, Check]]:
    """Import the rules of a studio's files, which must be trusted as skills are."""
    if folder is None:
        return
    for file in sorted(folder.glob("[!_.]*.py")):
        try:
            source = Source.of(file, read_trusted(file, check_folder(file.parent)))
            names = vars(importer.import_source(source))
        except (SkillError, OSError) as error:
            broken.append(str(error))
            continue
        for name, fn in names.items():
            mend = getattr(fn, _MARK, None)
            if mend is not None:
                what = (fn.__doc__ or name).strip().partition("\n")[0]
                yield Rule(name, what, mend), partial(_guarded, fn, file)


def _guarded(
    fn: Check, file: Path, operations: HostOperations, items: Sequence[str]
) -> Iterator[Finding]:
    """Yield what a rule of a studio finds; its errors name the file that is broken."""
    with importer.broken_by(file):
        for finding in fn(operations, items):
            if isinstance(finding, str) or not 2 <= len(finding) <= 3:
                raise TypeError(f"it gave {finding!r}; it must yield item, text[, mend]")
            yield str(finding[0]), str(finding[1]), *finding[2:]


def _unapplied_scales(operations: HostOperations, items: Sequence[str]) -> Iterator[Finding]:
    def judge(item: str) -> str:
        scale = _scale(operations, item)
        fails = any(abs(factor - 1) > _TOLERANCE for factor in scale)
        return _scale_failure(operations, item, scale, fails=fails)

    return read_each(items, judge)


def _negative_scales(operations: HostOperations, items: Sequence[str]) -> Iterator[Finding]:
    def judge(item: str) -> str:
        scale = _scale(operations, item)
        fails = any(factor < 0 for factor in scale)
        return _scale_failure(operations, item, scale, fails=fails)

    return read_each(items, judge)


def _scale(operations: HostOperations, item: str) -> Sequence[float]:
    """Return an item's own scale; nothing for an item that cannot be placed."""
    with suppress(ValueError):
        return operations.placement(item, "local").scale
    return ()


def _scale_failure(
    operations: HostOperations, item: str, scale: Sequence[float], *, fails: bool
) -> str:
    """Return why an item fails by its scale; "" where it passes."""
    if not fails:
        return ""
    has_geometry = False
    with suppress(ValueError):
        has_geometry = bool(operations.look_into(item, "counts"))
    if not has_geometry:  # a light may have any scale
        return ""
    return f"scale {', '.join(f'{factor:.4g}' for factor in scale)}"


def _keys_off_frames(operations: HostOperations, items: Sequence[str]) -> Iterator[Finding]:
    def judge(item: str) -> str:
        keys_by_property = operations.look_into(item, "keys") or {}
        faults = []
        for prop, keys in keys_by_property.items():
            frames = [frame for frame, _ in keys if abs(frame - round(frame)) > _TOLERANCE]
            if frames:
                named = ", ".join(f"{frame:g}" for frame in frames[:_MAX_FRAMES])
                faults.append(f"{prop}: {named}")
        return "; ".join(faults)

    return read_each(items, judge)


def _duplicate_names(operations: HostOperations, items: Sequence[str]) -> Iterator[Finding]:
    names = {}
    for item, name in read_each(track(items), operations.name):
        if not item.endswith(f"/{name}"):  # a path of slashes has a place of its own
            names[item] = name
    counts = Counter(names.values())
    for item, name in names.items():
        why = ""
        if counts[name] > 1:
            why = f"{counts[name]} are called {name}"
        yield item, why


def _missing_files(operations: Checking, items: Sequence[str]) -> Iterator[Finding]:
    scene_file = operations.host.file() or Path("scene")
    for item, prop, written in operations.files():
        yield item, _file_failure(prop, written, fails=_is_missing(written, scene_file.parent))


def _absolute_paths(operations: Checking, items: Sequence[str]) -> Iterator[Finding]:
    for item, prop, written in operations.files():
        yield item, _file_failure(prop, written, fails=_is_absolute(written))


def _file_failure(prop: str, written: str, *, fails: bool) -> str:
    if not fails:
        return ""
    return f"{prop}: {written}"


def _is_absolute(written: str) -> bool:
    if written.startswith("//"):  # Blender writes a path relative to the scene like this
        return False
    return written.startswith("/") or PureWindowsPath(written).is_absolute()


def _is_missing(written: str, folder: Path) -> bool:
    """Return whether a file that the scene refers to is not there, as far as we can know."""
    if not written or "://" in written:
        return False
    if any(sign in written for sign in _PATTERN_SIGNS):
        return False
    path = folder / written.removeprefix("//")
    if written.endswith("]") and not path.exists():  # in a package: package.usdz[inner.png]
        path = folder / written.partition("[")[0]
    if "<" in path.name:  # a pattern, such as <UDIM>
        first_part = path.name.partition("<")[0]
        return not any(path.parent.glob(first_part + "*"))
    return not path.exists()


def _empty_groups(operations: Cleaning, items: Sequence[str]) -> Iterator[Finding]:
    with suppress(ValueError):  # the host has no such junk
        for item in operations.junk("empty_groups"):
            yield item, "nothing is in it"


def _unused_materials(operations: Cleaning, items: Sequence[str]) -> Iterator[Finding]:
    materials = set(operations.materials())
    with suppress(ValueError):  # the host has no such junk
        for item in operations.junk("unused"):
            if item in materials:
                yield item, "no item has it"
