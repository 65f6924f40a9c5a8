"""The verb `batch`: verbs one after the other, as one. Main thread."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any, Final, NotRequired, TypedDict, cast

from dcc_bridge.consent.call import current_call
from dcc_bridge.elicitation.caller_view import told_arguments
from dcc_bridge.errors import BadArguments, BridgeError
from dcc_bridge.skills.described import Described
from dcc_bridge.skills.skill import metadata_of, skill
from dcc_bridge.verbs import outputs
from dcc_bridge.verbs.answers import Json, first_rows
from dcc_bridge.verbs.consents import Consents
from dcc_bridge.verbs.names import no_such

MAX_STEPS: Final = 50
_MAX_ROWS: Final = 20  # of each list in a step's result
_AFTER_EDITS: Final = ("save", "export_file", "check", "look")  # they change nothing in the scene
_MAX_FAULTS: Final = 2000  # characters of an error about rules that fail
_REFERENCE: Final = re.compile(r"\$(\w+)((?:\.\w+)*)")
_Arguments = Annotated[Json, Described({"type": "object", "description": "Arguments of do."})]
Step = TypedDict("Step", {"do": str, "with": NotRequired[_Arguments], "id": NotRequired[str]})


class Batch:
    """Runs verbs one after the other, as one.

    Args:
        verbs: Every verb that may be a step, by name.
        consents: Asks for the consent that the steps need.
        is_replaced: Returns whether a skill of the studio stands in a verb's place.
        checks: The folder of the studio's own rules for `check`; None where there is none.
    """

    def __init__(
        self,
        verbs: Mapping[str, Callable[..., Any]],
        consents: Consents,
        is_replaced: Callable[[str], bool],
        checks: Path | None,
    ) -> None:
        self._verbs = verbs
        self._consents = consents
        self._is_replaced = is_replaced
        self._checks = checks
        self._signatures: dict[str, Any] = {}

    @skill(risk="edit")
    def batch(
        self,
        steps: list[Step],
        look: Json | None = None,
        check: Json | None = None,
        require: Json | None = None,
        why: str = "",
    ) -> outputs.Batched:
        """Run several tools: one undo step, all or nothing. The way to change a scene.

        50 steps at most. "$id" stands for the items of an earlier step, "$id.changed.0.after.at"
        for a part of its result. Deletions ask, then all begins anew; save goes last. look,
        check: their arguments; require: of check; failures undo all. why: for the undo menu.
        """
        call = current_call()
        call.asked_for = call.asked_for or _asked_for(steps, why)
        every: list[Step] = list(steps)
        if check is not None:
            every.append({"do": "check", "with": check})
        if look is not None:
            every.append({"do": "look", "with": look})
        ids = self._ids(every)
        required: Step | None = None
        if require is not None:
            required = {"do": "check", "with": require, "id": "require"}
            every.insert(_edits_end(steps), required)
        loses = any(self._is_destructive(step["do"]) for step in steps)
        # How much a step with a reference changes is not known before the earlier step has run.
        known_changes = sum(_size(step) for step in steps if "$" not in repr(step))
        self._consents.begin_batch(known_changes, loses=loses)
        return self._run_steps(every, ids, required)

    def _is_destructive(self, verb: str) -> bool:
        metadata = metadata_of(self._verbs[verb])
        return metadata is not None and metadata.risk == "destructive"

    def _run_steps(self, steps: Sequence[Step], ids: set[str], required: Step | None) -> Any:
        """Run the steps and return their answers, with the pictures beside them.

        Args:
            steps: The steps, with those that check and look.
            ids: The ids of the steps.
            required: The step whose rules must all pass, if there is one.
        """
        results: dict[str, Any] = {}
        rows: list[Json] = []
        pictures: list[Any] = []
        copied_places: Any = None  # the items whose places the copies of the last step have taken
        for number, step in enumerate(steps, 1):
            arguments, value = self._run_step(number, step, results, ids)
            if step is required:
                _require(value)
            if copied_places and step["do"] == "delete" and copied_places == arguments.get("items"):
                _join_to_replaced(current_call().deeds)
            copied_places = None
            if step["do"] == "duplicate":
                copied_places = arguments.get("to") or None
            if "id" in step:
                results[step["id"]] = value
            if isinstance(value, Mapping):
                listed = first_rows(value, _MAX_ROWS)
                rows.append({"step": step.get("id", number), "do": step["do"], **listed})
            else:
                pictures += _as_list(value)
        answer = {"steps": rows}
        if pictures:
            return [answer, *pictures]
        return answer

    def _run_step(
        self, number: int, step: Step, results: Mapping[str, Any], ids: set[str]
    ) -> tuple[Json, Any]:
        """Run one step and return its arguments and its answer; its errors name the step."""
        verb = step["do"]
        with ExitStack() as naming:
            naming.push(_naming(number, step, ids))
            # Only rules of a studio are kept from editing, since that ends the undo step.
            if verb == "check" and self._has_rules:
                naming.enter_context(current_call().control.reading(_where(number, step)))
            arguments = self._bound(verb, _resolved(step.get("with", {}), results, ids))
            value = self._verbs[verb](**arguments)
        return arguments, value

    @property
    def _has_rules(self) -> bool:
        return self._checks is not None and self._checks.is_dir()

    def _ids(self, steps: Sequence[Step]) -> set[str]:
        """Return the ids of the steps, once it is sure that each step can run where it is.

        Raises:
            ValueError: A step cannot, or an id stands twice.
        """
        if not steps or len(steps) > MAX_STEPS:
            raise ValueError(f"steps: give 1 to {MAX_STEPS}, not {len(steps)}.")
        for number, step in enumerate(steps, 1):
            is_end = all(later["do"] in ("check", "look") for later in steps[number:])
            refusal = self._why_not(step["do"], is_end=is_end)
            if refusal:
                raise ValueError(f"{_where(number, step)}: {refusal}")
        ids: set[str] = set()
        for step in steps:
            if "id" not in step:
                continue
            if step["id"] in ids:
                raise ValueError("steps: two steps have the same id.")
            ids.add(step["id"])
        return ids

    def _why_not(self, verb: str, *, is_end: bool) -> str:
        """Return why a verb cannot be a step; "" for a verb that can.

        Args:
            verb: The verb of the step.
            is_end: Only steps that read come after it.
        """
        if verb == "run_python":
            return "code cannot be in a batch: call run_python alone."
        if verb == "render":
            return "a render takes long, and the edits before it wait: call render after the batch."
        if verb not in self._verbs:
            return no_such("tool", verb, self._verbs)
        if self._is_replaced(verb):
            return f"the studio has its own {verb}: call it alone."
        if is_end:
            return ""
        if verb == "save":
            return "undo cannot restore a saved file, so save must be the last step."
        if verb == "check" and self._has_rules:
            return "the project has its own rules, so check must come last: pass it as check=."
        return ""

    def _bound(self, name: str, arguments: Json) -> Json:
        """Return the arguments of a verb as its signature has them."""
        from dcc_bridge.skills.signature import Signature  # pydantic: the worker has it by then

        if name not in self._signatures:
            self._signatures[name] = Signature.of(self._verbs[name], name)
        if isinstance(arguments.get("items"), str):  # a reference to a step of one item
            arguments = {**arguments, "items": [arguments["items"]]}
        return cast("Json", self._signatures[name].bind(arguments))


def _as_list(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    return [value]


def _asked_for(steps: Sequence[Step], why: str) -> tuple[tuple[str, str], ...]:
    """Return what a batch is for, and its steps, as the person reads them."""
    rows = []
    if why:
        rows.append(("Why", why))
    for number, step in enumerate(steps, 1):
        told = told_arguments(step.get("with", {}))
        text = ", ".join(f"{name}: {value}" for name, value in told)
        rows.append((f"{number}. {step['do'].replace('_', ' ')}", text))
    return tuple(rows)


def _edits_end(steps: Sequence[Step]) -> int:
    """Return how many steps come before the scene is judged: those that write it come after."""
    count = len(steps)
    while count and steps[count - 1]["do"] in _AFTER_EDITS:
        count -= 1
    return count


def _require(told: Json) -> None:
    """Raise a ValueError where an answer of `check` tells of a fault, or of what was not judged."""
    faults = []
    for rule, facts in told["failed"].items():
        items = ", ".join(f"{item} ({why})" for item, why in facts["items"].items())
        faults.append(f"{rule}, of {facts['count']}: {items}. What mends it: {facts['mend']}.")
    faults += told.get("broken", ())
    for item, why in told.get("unreadable", {}).items():
        faults.append(f"{item} cannot be judged: {why}.")
    for rule in told.get("not_looked_at_with_items", ()):
        faults.append(f"{rule} judges the whole scene: leave items out.")
    if faults:
        raise ValueError(f"What is required fails. {' '.join(faults)}"[:_MAX_FAULTS])


def _join_to_replaced(deeds: list[str]) -> None:
    """Join the last two sentences: items were copied to places, then what was there was deleted.

    The person reads "Replaced 3 nulls by 3 copies of tree".
    """
    what = deeds[-1].removeprefix("Deleted")
    copies = deeds[-2].removeprefix("Made")
    deeds[-2:] = [f"Replaced{what} by{copies}"]


def _size(step: Step) -> int:
    """Return how much a step changes, as far as its arguments say."""
    sizes: Counter[str] = Counter()
    for name, argument in step.get("with", {}).items():
        if isinstance(argument, int):
            sizes[name] = argument
        elif isinstance(argument, list | dict):
            sizes[name] = len(argument)
    if sizes["preview"]:
        return 0
    changes_an_item = {
        "transform": 1,
        "group": 1,
        "assign_material": 1,
        "duplicate": sizes["to"] or sizes["count"] or 1,
        "set_values": sizes["values"],
    }
    changes = sizes["items"] * changes_an_item.get(step["do"], 0)
    for name in ("things", "names", "links", "cut", "changes", "keys"):
        changes += sizes[name]
    return changes


def _where(number: int, step: Step) -> str:
    """Return the step as errors name it."""
    return f"failed_at {step.get('id', number)!r} (step {number}, {step['do']})"


def _naming(number: int, step: Step, ids: set[str]) -> Callable[..., None]:
    """Return an exit of a block that names the step in an error of the verb.

    An answer of the person, such as a refusal, goes on as it is.
    """

    def name(kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, Exception):
            return
        if isinstance(error, BridgeError) and not isinstance(error, BadArguments):
            return
        raise ValueError(f"{_where(number, step)}: {_reason(error, ids)}") from error

    return name


def _reason(error: Exception, ids: set[str]) -> str:
    """Return what went wrong in a step, in a sentence for the agent."""
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, ValueError | LookupError | BadArguments):
        text = str(error)
    text = text.removesuffix(" Nothing was changed.")  # which is said of the whole batch
    reference = re.search(rf"['\"]{_REFERENCE.pattern}['\"]", text)
    if reference and reference[1] not in ids:
        there = ", ".join(sorted(ids)) or "none"
        text = f"no step has the id {reference[1]}; there is: {there}."
    return text


def _resolved(value: Any, results: Mapping[str, Any], ids: set[str]) -> Any:
    """Return a value with the results of earlier steps in the place of references to them."""
    if isinstance(value, Mapping):
        resolved = {}
        for name, part in value.items():
            resolved[_resolved(name, results, ids)] = _resolved(part, results, ids)
        return resolved
    if isinstance(value, list):
        return _resolved_list(value, results, ids)
    if not isinstance(value, str):
        return value
    reference = _REFERENCE.fullmatch(value)
    if reference is None or reference[1] not in ids:
        return value
    if reference[1] not in results:
        raise ValueError(f"{value!r} refers to a step that comes later.")
    path = reference[2].split(".")[1:]
    return _part_of(results[reference[1]], path, value)


def _resolved_list(values: Sequence[Any], results: Mapping[str, Any], ids: set[str]) -> list[Any]:
    """Return a list with its references resolved; one that stands for several items is spread."""
    elements: list[Any] = []
    for value in values:
        element = _resolved(value, results, ids)
        if isinstance(value, str) and isinstance(element, list):
            elements += element
        else:
            elements.append(element)
    return elements


def _part_of(value: Any, path: Sequence[str], reference: str) -> Any:
    """Return the part of a step's result to which a reference leads.

    Args:
        value: The result of the step.
        path: The keys and indices after the step's id; none stand for all items of the step, or
            for the item where there is one.
        reference: The whole reference, for the error.
    """
    every = getattr(value, "every", None)
    if every is not None and not path and len(every) == 1:
        return every[0]
    if every is not None and path[:1] in ([], ["items"]):
        value = list(every)
        path = path[1:]
    for part in path:
        try:
            value = _element(value, part)
        except (LookupError, ValueError, TypeError):
            there = f"{value!r}"[:200]
            if isinstance(value, Mapping):
                there = ", ".join(map(str, value))
            raise ValueError(f"{reference!r}: there is no {part!r}; there is: {there}.") from None
    return value


def _element(value: Any, part: str) -> Any:
    if isinstance(value, list):
        return value[int(part)]
    return value[part]
