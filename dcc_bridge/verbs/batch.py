"""The verb `batch`: verbs one after the other, as one. Main thread."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, NotRequired, TypedDict, cast

from dcc_bridge.consent.call import current_call
from dcc_bridge.errors import BadArguments, BridgeError
from dcc_bridge.skills.skill import metadata_of, skill
from dcc_bridge.verbs.answers import Json, first_rows
from dcc_bridge.verbs.consents import Consents
from dcc_bridge.verbs.names import no_such

MOST_STEPS: Final = 50
_ROWS: Final = 20  # rows of a list in a step's result
_REFERENCE: Final = re.compile(r"\$(\w+)((?:\.\w+)*)")
Step = TypedDict("Step", {"do": str, "with": NotRequired[Json], "id": NotRequired[str]})


class Batch:
    """Runs verbs one after the other, as one."""

    def __init__(
        self,
        verbs: Mapping[str, Callable[..., Any]],
        consents: Consents,
        is_replaced: Callable[[str], bool],
        checks: Path | None,
    ) -> None:
        self._verbs, self._consents = verbs, consents
        self._is_replaced, self._checks = is_replaced, checks
        self._signatures: dict[str, Any] = {}

    @skill(risk="edit")
    def batch(self, steps: list[Step], look: Json | None = None, check: Json | None = None) -> Any:
        """Run several tools as one call: one undo step, all or nothing. The way to change a scene.

        A step says what to do, with its arguments; 50 at most. "$id" stands for the items of an
        earlier step, "$id.changed.0.after.at" for a part of its result. What deletes asks, then
        all begins anew, in one step; save goes last. look and check: arguments of those tools.
        """
        last = ("check", check), ("look", look)
        ends: list[Step] = [{"do": do, "with": given} for do, given in last if given is not None]
        ids = self._ids([*steps, *ends])
        risks = {step["do"]: metadata_of(self._verbs[step["do"]]) for step in steps}
        loses = any(it is not None and it.risk == "destructive" for it in risks.values())
        known = sum(_size(step) for step in steps if "$" not in repr(step))
        self._consents.begin_batch(known, loses=loses)
        return self._done([*steps, *ends], ids)

    def _done(self, steps: Sequence[Step], ids: set[str]) -> Any:
        results, rows, pictures = dict[str, Any](), list[Json](), list[Any]()
        deeds, places = current_call().dialogue.deeds, None  # those that copies have taken
        for number, step in enumerate(steps, 1):
            with ExitStack() as naming:
                naming.push(_naming(number, step, ids))
                # Only for a studio's rules: our own do not edit, and it ends the undo step.
                if step["do"] == "check" and self._has_rules:
                    naming.enter_context(current_call().control.reading(_where(number, step)))
                bound = self._bound(step["do"], _resolved(step.get("with", {}), results, ids))
                value = self._verbs[step["do"]](**bound)
            if step["do"] == "delete" and places and places == bound.get("items"):
                what, by = deeds[-1].removeprefix("Deleted"), deeds[-2].removeprefix("Made")
                deeds[-2:] = [f"Replaced{what} by{by}"]
            places = bound.get("to") if step["do"] == "duplicate" else None
            if "id" in step:
                results[step["id"]] = value
            if isinstance(value, Mapping):
                listed = first_rows(value, _ROWS)
                rows.append({"step": step.get("id", number), "do": step["do"], **listed})
            else:
                pictures += value if isinstance(value, list) else [value]
        return [{"steps": rows}, *pictures] if pictures else {"steps": rows}

    @property
    def _has_rules(self) -> bool:
        return self._checks is not None and self._checks.is_dir()

    def _ids(self, steps: Sequence[Step]) -> set[str]:
        """Check that there is each step's verb, and give their ids."""
        if not steps or len(steps) > MOST_STEPS:
            raise ValueError(f"steps: give 1 to {MOST_STEPS}, not {len(steps)}.")
        for number, step in enumerate(steps, 1):
            is_end = {it["do"] for it in steps[number:]} <= {"check", "look"}
            if why := self._why_not(step["do"], is_end=is_end):
                raise ValueError(f"{_where(number, step)}: {why}")
        named = [step["id"] for step in steps if "id" in step]
        if len(set(named)) < len(named):
            raise ValueError("steps: two steps have the same id.")
        return set(named)

    def _why_not(self, verb: str, *, is_end: bool) -> str:
        """Say why a verb cannot be a step; "" for one that can."""
        if verb == "run_python":
            return "code cannot be in a batch: call run_python alone."
        if verb not in self._verbs:
            return no_such("tool", verb, self._verbs)
        if self._is_replaced(verb):
            return f"the studio has its own {verb}: call it alone."
        if is_end or verb not in ("check", "save"):
            return ""
        if verb == "save":
            return "undo cannot restore a saved file, so save must be the last step."
        why = "the project has its own rules, so check must come last: pass it as check=."
        return why if self._has_rules else ""

    def _bound(self, name: str, given: Json) -> Json:
        from dcc_bridge.skills.signature import Signature  # pydantic: the worker has it by then

        if name not in self._signatures:
            self._signatures[name] = Signature.of(self._verbs[name], name)
        if isinstance(given.get("items"), str):  # a reference to one
            given = {**given, "items": [given["items"]]}
        return cast("Json", self._signatures[name].bind(given))


def _size(step: Step) -> int:
    """Count what a step changes, as far as its arguments tell."""
    known = {name: it if isinstance(it, int) else len(it) for name, it in
             step.get("with", {}).items() if isinstance(it, int | list | dict)}  # fmt: skip
    size, copies = Counter(known), known.get("to") or known.get("count") or 1
    each = {"transform": 1, "group": 1, "assign_material": 1, "duplicate": copies}
    each["set_values"] = size["values"]
    named = sum(size[name] for name in ("things", "names", "links", "cut", "changes", "keys"))
    return 0 if size["preview"] else named + size["items"] * each.get(step["do"], 0)


def _where(number: int, step: Step) -> str:
    return f"failed_at {step.get('id', number)!r} (step {number}, {step['do']})"


def _naming(number: int, step: Step, ids: set[str]) -> Callable[..., None]:
    """Make what names the step in whatever a verb raises, but for what a person said."""

    def name(kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        is_passed = isinstance(error, BridgeError) and not isinstance(error, BadArguments)
        if isinstance(error, Exception) and not is_passed:
            is_plain = isinstance(error, ValueError | LookupError | BadArguments)
            text = str(error) if is_plain else f"{type(error).__name__}: {error}"
            text = text.removesuffix(" Nothing was changed.")  # which is said of the whole
            unknown = re.search(rf"['\"]{_REFERENCE.pattern}['\"]", text)
            if unknown and unknown[1] not in ids:
                there = ", ".join(sorted(ids)) or "none"
                text = f"no step has the id {unknown[1]}; there is: {there}."
            raise ValueError(f"{_where(number, step)}: {text}") from error

    return name


def _resolved(value: Any, results: Mapping[str, Any], ids: set[str]) -> Any:
    """Put what earlier steps gave in the place of what refers to it; lists into lists."""
    if isinstance(value, Mapping):
        return {_resolved(name, results, ids): _resolved(it, results, ids)
                for name, it in value.items()}  # fmt: skip
    if isinstance(value, list):
        parts = [(it, _resolved(it, results, ids)) for it in value]
        spread = [new if isinstance(it, str) and isinstance(new, list) else [new]
                  for it, new in parts]  # fmt: skip
        return [each for part in spread for each in part]
    match = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
    if match is None or match[1] not in ids:
        return value
    if match[1] not in results:
        raise ValueError(f"{value!r} refers to a step that comes later.")
    return _followed(value, results[match[1]], match[2].split(".")[1:])


def _followed(reference: str, value: Any, path: Sequence[str]) -> Any:
    every = getattr(value, "every", None)
    if every is not None and path[:1] in ([], ["items"]):
        value, path = list(every), path[1:]
        if not path and len(value) == 1 and not reference.endswith(".items"):
            return value[0]
    for part in path:
        try:
            value = value[int(part)] if isinstance(value, list) else value[part]
        except (LookupError, ValueError, TypeError):
            has = ", ".join(map(str, value)) if isinstance(value, Mapping) else f"{value!r}"[:200]
            raise ValueError(f"{reference!r}: there is no {part!r}; there is: {has}.") from None
    return value
