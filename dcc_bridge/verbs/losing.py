"""The verbs in whose place something goes: values, keys, connections, names, items, files.

Undo brings all of it back but files; what a person would miss is asked for. Main thread.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, Literal, NotRequired, TypedDict, cast

from dcc_bridge.elicitation.ask import current_call, elicit_form_sync
from dcc_bridge.elicitation.types import outcome
from dcc_bridge.errors import NotConfirmed
from dcc_bridge.skills.skill import report_done, skill, track
from dcc_bridge.verbs.answers import Json, refuse, result, shown
from dcc_bridge.verbs.consents import Consenting, cover, plural
from dcc_bridge.verbs.items import counted, whole_path
from dcc_bridge.verbs.names import no_such
from dcc_bridge.verbs.operations import SCENE, Junk, SocketLink, Value

_NAMED: Final = 10  # held values that a question names
_MOST_TICKED: Final = 100  # items of one list of boxes to tick; more are agreed to as a whole
_CODE: Final = re.compile(r"\.(blend.*|(edit)?m[ab]|mel|hip.*|hda.*|otl.*|fcstd.*|py.*)", re.I)
ValueChange = TypedDict("ValueChange", {"item": str, "prop": str, "value": Any})  # noqa: UP013
Link = TypedDict("Link", {"from": str, "out": str, "to": str, "in": str})
Cut = TypedDict("Cut", {"to": str, "in": str, "from": NotRequired[str], "out": NotRequired[str]})


class Losing(Consenting):
    """The verbs that replace and lose, over a host's operations."""

    def verbs(self) -> list[Callable[..., Any]]:
        """Give the verbs as they are offered."""
        files = self.import_file, self.export_file, self.save
        return [self.set_values, self.connect, self.set_keys, *files, self.clean, self.delete]

    @skill(risk="edit", idempotent=True)
    def set_values(
        self,
        changes: list[ValueChange] = [],
        items: list[str] = [],
        values: Json = {},
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
        if ask := self._consents.add(len(wanted)) or " at once?" * bool(held):
            what = f"{'Replace' if held else 'Set'} {plural(len(wanted), 'value')}"
            holds = "\n".join([" What holds them goes:", *held[:_NAMED]]) * bool(held)
            self._consents.confirm(what + ask + holds, others or None, what)
            if [it.held for it in self._read(wanted, replace)] != [it.held for it in before]:
                raise ValueError("What holds the values has changed while it was asked.")
        errors = []
        for number, (item, prop, value) in enumerate(track(wanted, message="Setting values")):
            try:
                self._operations.set_value(item, prop, value, replace=replace)
            except (LookupError, ValueError) as error:
                errors.append(f"changes[{number}]: {error}")
        refuse(errors)
        of = counted(self._operations, others) if others else "the scene"
        rows = ({"item": item, "prop": prop, "before": shown(was),
                 "after": shown(self._operations.value(item, prop))}
                for (item, prop, _), was in pairs)  # fmt: skip
        did = f"Set {plural(len(wanted), 'value')} of {of}"
        return result(owners, did, found=len(wanted), values=rows)

    def _read(self, wanted: Sequence[tuple[str, str, Any]], replace: bool) -> list[Value]:
        """Read what is to be changed; ValueError names each entry that cannot be."""
        before, errors = [], []
        for number, (item, prop, _) in enumerate(track(wanted, message="Reading values")):
            try:
                before.append(self._operations.value(item, prop))
                if (held := before[-1].held) and not replace:
                    raise ValueError(f"{prop} of {item} is {held}; replace=True asks.")
            except (LookupError, ValueError) as error:
                errors.append(f"changes[{number}]: {error}")
        refuse(errors)
        return before

    @skill(risk="edit")
    def connect(self, links: list[Link] = [], cut: list[Cut] = []) -> Any:
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
        self._consents.ask("Change", len(made) + len(gone), "connection", targets)
        for link in track(gone):
            self._operations.cut(link)
        for link in track(made):
            self._operations.connect(link)
        now = set[SocketLink]()
        for target in track(targets):
            now.update(self._operations.look_into(target, "inputs") or ())
        lost = [link for link in made if link not in now]
        refuse([f"{it.target}, {it.into}: the connection was not made." for it in lost])
        did = [f"Connected {plural(len(made), 'input')}" if made else "",
               f"cut {plural(len(gone), 'connection')}" if gone else ""]  # fmt: skip
        rows = [{"from": it.source, "out": it.out, "to": it.target, "in": it.into} for it in now]
        return result(targets, ", ".join(filter(None, did)), found=len(rows), links=rows)

    def _wrong(self, links: Sequence[SocketLink], name: str) -> list[str]:
        """Say which sockets are not there, and which are."""
        errors = []
        for number, link in enumerate(track(links)):
            for item, side, socket in ((link.source, 1, link.out), (link.target, 0, link.into)):
                known = self._operations.sockets(item)[side] if item else [socket]
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
        keys: list[list[Any]] = [],
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
        self._operations.value(item, prop)
        for number, key in enumerate(keys):
            if len(key) != 2 or not isinstance(key[0], int | float):
                raise ValueError(f"keys[{number}]: [frame, value], and not {key!r}.")
        pairs = [(float(frame), value) for frame, value in keys]
        if not pairs and not clear:
            raise ValueError("Give keys, [[frame, value], ...], or clear=True.")
        before, at = self._operations.keys(item, prop), {frame for frame, _ in pairs}
        lost = [frame for frame, _ in before if clear and frame not in at]
        if (ask := self._consents.add(len(pairs))) or lost:
            what = f"{'Clear' if lost else 'Set'} {plural(len(lost or pairs), 'key')}"
            more = f" and set {len(pairs)}" * bool(lost and pairs)
            of = f"{prop} of {self._operations.name(item)}"
            self._consents.confirm(f"{what} of {of}{more}{ask or '?'}", [item], what)
            if self._operations.keys(item, prop) != before:
                raise ValueError("The keys have changed while it was asked.")
        cover([item])
        self._operations.set_keys(item, prop, pairs, shape, clear=clear)
        now = self._operations.keys(item, prop)
        did = f"Set {plural(len(pairs), 'key')}" if pairs else "Cleared the keys"
        rows = [[frame, value] for frame, value in now]
        did += f" of {self._operations.name(item)}"
        return result([item], did, found=len(rows), prop=prop, keys=rows)

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
        operations, file = self._operations, whole_path(self._operations, path)
        formats = operations.import_formats()
        if how not in formats.get(file.suffix.lower(), ()):
            can = ", ".join(suffix for suffix, ways in sorted(formats.items()) if how in ways)
            raise ValueError(f"{file.name} cannot be imported as {how}; what can: {can or 'none'}.")
        if not file.is_file():
            names = (it.name for it in file.parent.glob("*"))
            raise ValueError(no_such(f"file in {file.parent}:", file.name, names))
        if under:
            operations.kind(under)
        if _CODE.fullmatch(file.suffix):
            question = f"Import {file}?\nFiles of this kind can carry code that runs."
            self._consents.confirm(question, None, "Import", title="Import file")
        came = operations.import_file(file, how, under or None, scale, up or None)
        kinds = Counter(operations.kind(item) for item in track(came.items))
        did = f"Imported {plural(len(came.items), operations.host.item_noun)} from {file.name}"
        return result(came.items, did, file=str(file), types=dict(kinds), warnings=came.warnings)

    @skill(risk="destructive", confirms=True, undo=False)
    def export_file(self, path: str, items: list[str] = [], frames: list[float] = []) -> Any:
        """Export items or the scene to a file. The person is asked before one is written over.

        Args:
            path: The file, or relative to the scene's folder; its suffix says the format.
            items: None of them stands for all.
            frames: [first, last] of an animation.
        """
        operations, file = self._operations, whole_path(self._operations, path)
        for item in track(items):
            operations.kind(item)
        if file.suffix.lower() not in (formats := operations.export_formats()):
            raise ValueError(f"{file.name} cannot be written; what can: {', '.join(formats)}.")
        if not file.parent.is_dir():
            raise ValueError(f"There is no folder {file.parent}.")
        if frames and not (len(frames) == 2 and frames[0] <= frames[1]):
            raise ValueError("frames is [first, last].")
        beside = [file.with_suffix(".mtl")] if file.suffix.lower() == ".obj" else []
        over = [file, *filter(Path.exists, beside)]
        is_over = any(map(Path.exists, over))
        copies = self._consents.ask_to_write("Export", f"Export to {file}", over) if is_over else {}
        before = _stamp(file)
        with self._consents.writing([file, *beside]):
            left = operations.export_file(file, items, (frames[0], frames[1]) if frames else None)
        if (now := _stamp(file)) == before or not now[0]:
            raise ValueError(f"{file.name} was not written, though the application did not say so.")
        facts = {"file": str(file), "bytes": now[0], "left_out": left, **copies}
        return result(items, f"Exported to {file.name}", **facts)

    @skill(risk="destructive", confirms=True)
    def clean(self, what: list[Junk]) -> Any:
        """Purge unused data, empty groups, duplicate materials, dead links, history.

        The person sees the list, and picks what goes.

        Args:
            what: Which kinds.
        """
        operations, gone, stays = self._operations, list[str](), list[str]()
        junk = {kind: operations.junk(kind) for kind in dict.fromkeys(what)}
        if not any(junk.values()):
            return result([], why="There is nothing of that to clean.")
        for kind, items in self._picked(junk).items():
            still = set(operations.junk(kind))  # meanwhile somebody may use it
            operations.clean(kind, going := [item for item in items if item in still])
            left = set(operations.junk(kind))
            gone += [item for item in going if item not in left]
            stays += [item for item in going if item in left]
        return result(gone, f"Cleaned {plural(len(gone), 'thing')} away", still_there=stays)

    def _picked(self, junk: Mapping[Junk, Sequence[str]]) -> dict[Junk, list[str]]:
        """Have the person tick what goes; many are agreed to as a whole."""
        every = {kind: list(items) for kind, items in junk.items() if items}
        shown = [item for items in every.values() for item in items]
        question = f"Clean {plural(len(shown), 'thing')} away?"
        if len(shown) > _MOST_TICKED:
            self._consents.confirm(question, shown, "Clean")
            return every
        fields = {kind: {"type": "array", "title": kind.replace("_", " ").capitalize(),
                         "items": {"type": "string", "enum": items}, "default": items}
                  for kind, items in every.items()}  # fmt: skip
        form = {"type": "object", "properties": fields, "required": list(fields)}
        return self._consents.once(("clean", *shown), shown, lambda: _ticked(question, form))

    @skill(risk="destructive", confirms=True)
    def delete(
        self, items: list[str] = [], pattern: str = "", type: str = "*", under: str = ""
    ) -> Any:
        """Delete items. The person sees the list, and is asked again if it changes meanwhile.

        If they say no, nothing is deleted; do not try to reach the same another way.

        Args:
            items: Which ones.
            pattern: Or: glob on the name, such as "sh00*".
            type: With a pattern: only items of this type.
            under: With a pattern: only items below this one.
        """
        operations = self._operations
        if not (going := self._matching(items, pattern, type, under)):
            return result([], why=f"There is nothing of type {type} named {pattern!r}.")
        going = self._consents.confirm(
            lambda found: f"Delete {counted(operations, found)}?{self._beside(found)}",
            going,
            lambda found: f"Delete {counted(operations, found)}",
            lambda: self._matching(items, pattern, type, under),
            title="Delete",
        )
        what, hidden = counted(operations, going), dict.fromkeys(map(str, operations.delete(going)))
        left = (it for it in track(going) if it not in hidden)
        stays = [it for it in left if operations.host.kinds([it]) != ["gone"]]
        return result(going, f"Deleted {what}", only_hidden=list(hidden), still_there=stays)

    def _matching(self, items: Sequence[str], pattern: str, type: str, under: str) -> list[str]:
        operations = self._operations
        if not items and not pattern:
            raise ValueError("Give items, or a pattern.")
        if items:
            return list(dict.fromkeys(item for item in track(items) if operations.kind(item)))
        every = (
            it
            for it in operations.items(under or None)
            if type == "*" or operations.kind(it) == type
        )
        return [it for it in track(every) if fnmatchcase(operations.name(it), pattern)]

    def _beside(self, items: Sequence[str]) -> str:
        """Say what goes with items, or loses its parent, without being one of them."""
        noun = self._operations.host.item_noun
        below, orphans = self._operations.below(items), self._operations.orphans(items)
        first = (
            f" It is {self._operations.host.display_names(items)[0]}." if len(items) == 1 else ""
        )
        also = f" {below} more {plural(below, noun).partition(' ')[2]} below them will go too."
        stay = f"\n{plural(orphans, noun)} below them stay, without their parent."
        return first + (also if below else "") + (stay if orphans else "")

    @skill(risk="destructive", confirms=True, undo=False)
    def save(self, path: str = "") -> Any:
        """Save the scene. The person is asked; a copy of what is written over is kept.

        Args:
            path: Another file, or relative to the scene's folder; the scene's own from then on.
        """
        operations, what = self._operations, f"Save {self._operations.host.scene()}"
        target = whole_path(operations, path) if path else None
        files = operations.save_files(target)
        other = f" as {files[0]}" if files[0] != operations.host.file() else ""
        copies = self._consents.ask_to_write("Save", what + other, files)
        report_done(f"Saved {files[0].name}")
        with self._consents.writing(files):
            return Json(file=str(operations.save(target)), **copies)


def _ticked(question: str, form: Json) -> dict[Junk, list[str]]:
    it = elicit_form_sync(f"{question} Untick what is to stay.", form, title="Clean")
    if not it.accepted:
        how, left = outcome(it.message or "", it.answered_by), current_call().remainder
        raise NotConfirmed("Clean?", it.reason or "", how, left)
    picked = it.data or {}
    cover([str(item) for items in picked.values() for item in items])
    return cast("dict[Junk, list[str]]", picked)


def _stamp(file: Path) -> tuple[int, ...]:
    """Give what is another one once a file was written; its size first."""
    if not file.exists():
        return (0,)
    stat = file.stat()
    return stat.st_size, stat.st_mtime_ns, stat.st_ino
