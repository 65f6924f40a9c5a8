"""The verbs in whose place something goes: values, keys, connections, names, items, files.

Undo brings all of it back but files; what a person would miss is asked for. Main thread.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, Literal

from dcc_bridge.elicitation.ask import current_call, elicit_form_sync
from dcc_bridge.elicitation.consent import confirm_sync
from dcc_bridge.elicitation.types import outcome
from dcc_bridge.errors import NotConfirmed
from dcc_bridge.skills.skill import report_done, skill, track
from dcc_bridge.verbs import (
    Count,
    Cut,
    Json,
    Link,
    ValueChange,
    ask_to_write,
    counted,
    cover,
    is_there,
    key_frame,
    plural,
    refuse,
    result,
    whole_path,
    with_above,
    writing,
)
from dcc_bridge.verbs.acts import SCENE, Acts, Junk, SocketLink, Value
from dcc_bridge.verbs.reading import no_such, shown

_NAMED: Final = 10  # held values that a question names
_MOST_TICKED: Final = 100  # items of one list of boxes to tick; more are agreed to as a whole
_CODE: Final = re.compile(r"\.(blend.*|(edit)?m[ab]|mel|hip.*|hda.*|otl.*|fcstd.*|py.*)", re.I)


class Losing:
    """The verbs that replace and lose, over a host's acts."""

    def __init__(self, acts: Acts, count: Count) -> None:
        self._acts = acts
        self._count = count
        # What a batch has asked for already: its call and the items, and how they were then.
        self._agreed: dict[tuple[str, ...], str] = {}

    def verbs(self) -> list[Callable[..., Any]]:
        """Give the verbs as they are offered."""
        files = self.import_file, self.export_file, self.save
        return [self.set_values, self.connect, self.set_keys, *files, self.clean, self.delete]

    @skill(risk="edit")
    def set_values(
        self,
        changes: list[ValueChange] = [],  # noqa: B006 - never changed, and a short schema
        items: list[str] = [],  # noqa: B006 - the same
        values: Json = {},  # noqa: B006 - the same
        replace: bool = False,
    ) -> Any:
        """Set properties of items, or of the scene (item "@scene": frame, start, end, fps, camera).

        Args:
            changes: One value each.
            items: Or: all of these get `values`.
            values: {prop: value}.
            replace: What is keyed, driven or locked loses that; the person is asked.
        """
        wanted = [(it["item"], it["prop"], it["value"]) for it in changes]
        wanted += [(it, prop, value) for it in track(items) for prop, value in values.items()]
        if not wanted:
            raise ValueError("Give changes, or items and values.")
        before = self._read(wanted, replace)
        owners = list(dict.fromkeys(item for item, _, _ in wanted))
        cover(owners)
        others = [item for item in owners if item != SCENE]
        pairs = list(zip(wanted, before, strict=True))
        held = [f"{item}, {prop}: {was.held}" for (item, prop, _), was in track(pairs) if was.held]
        if ask := self._count.add(len(wanted)) or " at once?" * bool(held):
            what = f"{'Replace' if held else 'Set'} {plural(len(wanted), 'value')}"
            holds = "\n".join([" What holds them goes:", *held[:_NAMED]]) * bool(held)
            confirm_sync(what + ask + holds, items=others or None, verb=what)
            if [it.held for it in self._read(wanted, replace)] != [it.held for it in before]:
                raise ValueError("What holds the values has changed while it was asked.")
        errors = []
        for number, (item, prop, value) in enumerate(track(wanted, message="Setting values")):
            try:
                self._acts.set_value(item, prop, value, replace=replace)
            except (LookupError, ValueError) as error:
                errors.append(f"changes[{number}]: {error}")
        refuse(errors)
        of = counted(self._acts, others) if others else "the scene"
        report_done(f"Set {plural(len(wanted), 'value')} of {of}")
        rows = ({"item": item, "prop": prop, "before": shown(was),
                 "after": shown(self._acts.value(item, prop))}
                for (item, prop, _), was in pairs)  # fmt: skip
        return result(owners, values=rows)

    def _read(self, wanted: Sequence[tuple[str, str, Any]], replace: bool) -> list[Value]:
        """Read what is to be changed; ValueError names each entry that cannot be."""
        before, errors = [], []
        for number, (item, prop, _) in enumerate(track(wanted, message="Reading values")):
            try:
                before.append(self._acts.value(item, prop))
            except (LookupError, ValueError) as error:
                errors.append(f"changes[{number}]: {error}")
                continue
            if (held := before[-1].held) and not replace:
                errors.append(f"changes[{number}]: {prop} of {item} is {held}; replace=True asks.")
        refuse(errors)
        return before

    @skill(risk="edit")
    def connect(self, links: list[Link] = [], cut: list[Cut] = []) -> Any:  # noqa: B006
        """Connect outputs to inputs: node networks, shaders, drivers; or cut them.

        Args:
            links: From an item's output to another one's input.
            cut: Inputs that lose what leads into them.
        """
        made = [SocketLink(it["from"], it["out"], it["to"], it["in"]) for it in links]
        gone = [SocketLink(it.get("from", ""), it.get("out", ""), it["to"], it["in"]) for it in cut]
        refuse([*self._wrong(made, "links"), *self._wrong(gone, "cut")])
        targets = list(dict.fromkeys(link.target for link in (*made, *gone)))
        cover(targets)
        self._count.ask("Change", len(made) + len(gone), "connection", targets)
        for link in track(gone):
            self._acts.cut(link)
        for link in track(made):
            self._acts.connect(link)
        now = dict.fromkeys(it for target in track(targets)
                            for it in self._acts.look_into(target, "inputs") or ())  # fmt: skip
        lost = [link for link in made if link not in now]
        refuse([f"{it.target}, {it.into}: the connection was not made." for it in lost])
        did = [f"Connected {plural(len(made), 'input')}" if made else "",
               f"cut {plural(len(gone), 'connection')}" if gone else ""]  # fmt: skip
        report_done(", ".join(filter(None, did)))
        rows = ({"from": it.source, "out": it.out, "to": it.target, "in": it.into} for it in now)
        return result(targets, links=rows)

    def _wrong(self, links: Sequence[SocketLink], name: str) -> list[str]:
        """Say which sockets are not there, and which are."""
        errors = []
        for number, link in enumerate(track(links)):
            for item, side, socket in ((link.source, 1, link.out), (link.target, 0, link.into)):
                known = self._acts.sockets(item)[side] if item else [socket]
                if socket not in known:
                    kind, has = ("input", "output")[side], ", ".join(known[:30]) or "none"
                    what = f"{name}[{number}]: {item} has no {kind} {socket!r}"
                    errors.append(f"{what}; it has {has}.")
        return errors

    @skill(risk="edit")
    def set_keys(
        self,
        item: str,
        prop: str,
        keys: list[list[Any]] = [],  # noqa: B006 - never changed, and a short schema
        shape: Literal["linear", "smooth", "step"] = "smooth",
        clear: bool = False,
    ) -> Any:
        """Animate: set keys of a property, or clear them.

        Args:
            item: Which one.
            prop: One of its properties.
            keys: [frame, value] each.
            shape: Of the curve between them.
            clear: All other keys go; the person is asked.
        """
        self._acts.value(item, prop)
        pairs = [(key_frame(number, key), key[1]) for number, key in enumerate(keys)]
        if not pairs and not clear:
            raise ValueError("Give keys, [[frame, value], ...], or clear=True.")
        before, at = self._acts.keys(item, prop), {frame for frame, _ in pairs}
        lost = [frame for frame, _ in before if clear and frame not in at]
        if (ask := self._count.add(len(pairs))) or lost:
            what = f"{'Clear' if lost else 'Set'} {plural(len(lost or pairs), 'key')}"
            more = f" and set {len(pairs)}" * bool(lost and pairs)
            of = f"{prop} of {self._acts.name(item)}"
            confirm_sync(f"{what} of {of}{more}{ask or '?'}", items=[item], verb=what)
            if self._acts.keys(item, prop) != before:
                raise ValueError("The keys have changed while it was asked.")
        cover([item])
        self._acts.set_keys(item, prop, pairs, shape, clear=clear)
        now = self._acts.keys(item, prop)
        did = f"Set {plural(len(pairs), 'key')}" if pairs else "Cleared the keys"
        report_done(f"{did} of {self._acts.name(item)}")
        return result([item], prop=prop, keys=[[frame, value] for frame, value in now])

    @skill(risk="edit")
    def import_file(
        self,
        path: str,
        how: Literal["copy", "reference", "link"] = "copy",
        under: str = "",
        scale: float = 1.0,
        up: Literal["", "Y", "Z"] = "",
    ) -> Any:
        """Import a file of models, scenes or images. Formats that can carry code ask the person.

        Args:
            path: The file; a relative one is of the scene's folder.
            how: Its content is copied, or stays there.
            under: The item below which it comes.
            scale: By which all lengths are multiplied.
            up: The axis that is up in it, where it does not say.
        """
        acts, file = self._acts, whole_path(self._acts, path)
        formats = acts.import_formats()
        if how not in formats.get(file.suffix.lower(), ()):
            can = ", ".join(suffix for suffix, ways in sorted(formats.items()) if how in ways)
            raise ValueError(f"{file.name} cannot be imported as {how}; what can: {can or 'none'}.")
        if not file.is_file():
            names = (it.name for it in file.parent.glob("*"))
            raise ValueError(no_such(f"file in {file.parent}:", file.name, names))
        if under:
            acts.kind(under)
        if _CODE.fullmatch(file.suffix):
            confirm_sync(f"Import {file}?\nFiles of this kind can carry code that runs.",
                         verb="Import", title="Import file")  # fmt: skip
        came = acts.import_file(file, how, under or None, scale, up or None)
        kinds = Counter(acts.kind(item) for item in track(came.items))
        report_done(f"Imported {plural(len(came.items), acts.host.item_noun)} from {file.name}")
        return result(came.items, file=str(file), types=dict(kinds), warnings=came.warnings)

    @skill(risk="destructive", confirms=True, undoable=False)
    def export_file(
        self,
        path: str,
        items: list[str] = [],  # noqa: B006 - never changed, and a short schema
        frames: list[float] = [],  # noqa: B006 - the same
    ) -> Any:
        """Export items or the scene to a file. The person is asked before one is written over.

        Args:
            path: The file, or relative to the scene's folder; its suffix says the format.
            items: None of them stands for all.
            frames: [first, last] of an animation.
        """
        acts, file = self._acts, whole_path(self._acts, path)
        for item in track(items):
            acts.kind(item)
        if file.suffix.lower() not in (formats := acts.export_formats()):
            raise ValueError(f"{file.name} cannot be written; what can: {', '.join(formats)}.")
        if not file.parent.is_dir():
            raise ValueError(f"There is no folder {file.parent}.")
        if frames and not (len(frames) == 2 and frames[0] <= frames[1]):
            raise ValueError("frames is [first, last].")
        beside = [file.with_suffix(".mtl")] if file.suffix.lower() == ".obj" else []
        over = [file, *filter(Path.exists, beside)]
        is_over = any(map(Path.exists, over))
        copies = ask_to_write("Export", f"Export to {file}", over) if is_over else {}
        with writing([file, *beside]):
            left = acts.export_file(file, items, (frames[0], frames[1]) if frames else None)
        report_done(f"Exported to {file.name}")
        return result(items, file=str(file), bytes=file.stat().st_size, left_out=left, **copies)

    @skill(risk="destructive", confirms=True)
    def clean(self, what: list[Junk]) -> Any:
        """Purge unused data, empty groups, duplicate materials, dead links, history.

        The person sees the list, and picks what goes.

        Args:
            what: Which kinds.
        """
        acts, gone, stays = self._acts, list[str](), list[str]()
        junk = {kind: acts.junk(kind) for kind in dict.fromkeys(what)}
        if not any(junk.values()):
            return result([], why="There is nothing of that to clean.")
        for kind, items in _picked(junk).items():
            still = set(acts.junk(kind))  # meanwhile somebody may use it
            acts.clean(kind, going := [item for item in items if item in still])
            left = set(acts.junk(kind))
            gone += [item for item in going if item not in left]
            stays += [item for item in going if item in left]
        report_done(f"Cleaned {plural(len(gone), 'thing')} away")
        return result(gone, still_there=stays)

    @skill(risk="destructive", confirms=True)
    def delete(
        self,
        items: list[str] = [],  # noqa: B006 - never changed, and a short schema
        pattern: str = "",
        type: str = "*",
        under: str = "",
    ) -> Any:
        """Delete items. The person sees the list, and is asked again if it changes meanwhile.

        If they say no, nothing is deleted; do not try to reach the same another way.

        Args:
            items: Which ones.
            pattern: Or: glob on the name, such as "sh00*".
            type: With a pattern: only items of this type.
            under: With a pattern: only items below this one.
        """
        acts = self._acts
        going = self._matching(items, pattern, type, under)
        if not going:
            return result([], why=f"There is nothing of type {type} named {pattern!r}.")
        if not self._is_agreed(going):
            going = self._ask(items, pattern, type, under)
        what = counted(acts, going)
        hidden = {str(item): True for item in acts.delete(going)}
        report_done(f"Deleted {what}")
        stays = [it for it in track(going) if it not in hidden and is_there(acts, it)]
        return result(going, only_hidden=list(hidden), still_there=stays)

    @skill(name="delete", risk="destructive", confirms=True)
    def agree_to_delete(self, **wanted: Any) -> None:
        """Ask for a deletion that a batch comes to later."""
        call = current_call().id  # in no other one does the yes count
        self._agreed = {it: self._agreed[it] for it in self._agreed if it[0] == call}
        if agreed := self._ask(**wanted):
            self._agreed[call, *agreed] = self._acts.host.fingerprint(agreed)

    def forget(self, moved: set[str]) -> None:
        """Forget the yes to items that may be others now, since these came to such paths."""
        above = {each for item in moved for each in with_above(item)}
        for key in list(self._agreed):
            if any(it in above or not moved.isdisjoint(with_above(it)) for it in key):
                del self._agreed[key]

    def _is_agreed(self, items: Sequence[str]) -> bool:
        """Whether a deletion was asked for in this call, and all is as it was then."""
        seen = self._agreed.pop(((call := current_call()).id, *items), None)
        covered = call.agreement.covered
        is_covered = covered is not None and set(items) <= set(covered)
        return is_covered and seen == self._acts.host.fingerprint(items)

    def _ask(self, items: Sequence[str], pattern: str, type: str, under: str) -> list[str]:
        return confirm_sync(
            lambda found: f"Delete {counted(self._acts, found)}?{self._beside(found)}",
            items=lambda: self._matching(items, pattern, type, under),
            verb=lambda found: f"Delete {counted(self._acts, found)}",
            title="Delete",
        )

    def _matching(self, items: Sequence[str], pattern: str, type: str, under: str) -> list[str]:
        acts = self._acts
        if not items and not pattern:
            raise ValueError("Give items, or a pattern.")
        if items:
            return list(dict.fromkeys(item for item in track(items) if acts.kind(item)))
        every = (it for it in acts.items(under or None) if type in ("*", acts.kind(it)))
        return [it for it in track(every) if fnmatchcase(acts.name(it), pattern)]

    def _beside(self, items: Sequence[str]) -> str:
        """Say what goes with items, or loses its parent, without being one of them."""
        noun = self._acts.host.item_noun
        below, orphans = self._acts.below(items), self._acts.orphans(items)
        first = f" It is {items[0]}." if len(items) == 1 else ""
        also = f" {below} more {plural(below, noun).partition(' ')[2]} below them will go too."
        stay = f"\n{plural(orphans, noun)} below them stay, without their parent."
        return first + (also if below else "") + (stay if orphans else "")

    @skill(risk="destructive", confirms=True, undoable=False)
    def save(self, path: str = "") -> Any:
        """Save the scene. The person is asked; a copy of what is written over is kept.

        Args:
            path: Another file, or relative to the scene's folder; the scene's own from then on.
        """
        acts, scene = self._acts, self._acts.host.scene()
        target = whole_path(acts, path) if path else None
        files = acts.save_files(target)
        other = files[0] != acts.host.file()
        copies = ask_to_write("Save", f"Save {scene}{f' as {files[0]}' if other else ''}", files)
        report_done(f"Saved {files[0].name}")
        with writing(files):
            return Json(file=str(acts.save(target)), **copies)


def _picked(junk: Mapping[Junk, Sequence[str]]) -> dict[Junk, list[str]]:
    """Have the person tick what goes; many are agreed to as a whole."""
    count = sum(map(len, junk.values()))
    question = f"Clean {plural(count, 'thing')} away?"
    every = {kind: list(items) for kind, items in junk.items() if items}
    if count > _MOST_TICKED:
        shown = [item for items in every.values() for item in items]
        confirm_sync(question, items=shown, verb="Clean")
        return every
    fields = {kind: {"type": "array", "title": kind.replace("_", " ").capitalize(),
                     "items": {"type": "string", "enum": items}, "default": items}
              for kind, items in every.items()}  # fmt: skip
    form = {"type": "object", "properties": fields, "required": list(fields)}
    it = elicit_form_sync(f"{question} Untick what is to stay.", form, title="Clean")
    if not it.accepted:
        how, left = outcome(it.message or "", it.answered_by), current_call().agreement.remainder
        raise NotConfirmed("Clean?", it.reason or "", how, left)
    return {kind: [str(item) for item in (it.data or {})[kind]] for kind in every}
