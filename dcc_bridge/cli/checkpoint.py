"""``dcc-bridge checkpoint``: lists and restores copies of files that undo does not restore."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from datetime import UTC, datetime
from glob import glob
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Final, NamedTuple

from dcc_bridge import checkpoints, held_files
from dcc_bridge.audit.log import AuditLog, log_folder
from dcc_bridge.cli import audit, exits, hosts
from dcc_bridge.client import terminal_io
from dcc_bridge.elicitation.text import safe_line, safe_whole
from dcc_bridge.errors import NoCheckpoint
from dcc_bridge.known_clients import CLI_LABEL
from dcc_bridge.server import discovery

_NEAR_PATTERNS: Final = [f"{'*/' * depth}*{checkpoints.SUFFIX}" for depth in range(4)]
"""Patterns of the folders of copies, in the current folder or up to three below it."""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to a parser."""
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    listing = commands.add_parser("list", help="list the copies and the call of each")
    which = "its file; default: all scenes on record, open in a host, or up to three folders down"
    listing.add_argument("scene", nargs="?", type=Path, metavar="SCENE", help=which)
    listing.add_argument("--json", action="store_true", help="print only a JSON list")
    listing.set_defaults(run=_list)
    restore = commands.add_parser("restore", help="write a copy over its scene or another file")
    restore.add_argument("file", type=Path, metavar="FILE", help="the copy, as printed by `list`")
    restore.add_argument("--to", type=Path, metavar="PATH", help="the other file")
    restore.add_argument("--yes", action="store_true", help="overwrite a file without asking")
    restore.set_defaults(run=_restore)


def _list(options: argparse.Namespace) -> int:
    calls, scenes = _recorded()
    if options.scene is not None:
        folders = {checkpoints.folder_beside(Path(os.path.abspath(options.scene)))}
    else:
        folders = _all_folders(calls, scenes)
    listed = []
    for folder in sorted(folders):
        for copy in checkpoints.taken(folder):
            listed.append(_read_copy(folder, copy, calls.get(copy, "no call on record")))
    if options.json:
        print(json.dumps([copy._asdict() for copy in listed], indent=2))
    elif listed:
        _print_copies(listed)
    elif options.scene is not None:
        print(f"There are no copies of {safe_line(str(options.scene), 1000)}.")
    else:
        print("There are no copies.")
    return exits.SUCCESS


def _all_folders(calls: Mapping[Path, str], scenes: Iterable[Path]) -> set[Path]:
    """Return the folders that may have copies: of recorded, open, nearby and untitled scenes."""
    folders = {copy.parent for copy in calls}
    folders |= {checkpoints.folder_beside(scene) for scene in scenes}
    for host in discovery.running(hosts.settings().runtime):
        if host.file:
            folders.add(checkpoints.folder_beside(Path(host.file)))
    for pattern in _NEAR_PATTERNS:
        # `Path.glob` would fail for a folder that cannot be read.
        for path in glob(pattern, include_hidden=True):
            folders.add(Path(os.path.abspath(path)))
    folders.update(checkpoints.untitled_folder().glob("*"))
    return folders


class _Copy(NamedTuple):
    """A copy that was kept.

    Attributes:
        scene: The file of the scene; or a phrase for scenes without a file.
        when: The local time of the copy.
        call: The call before which it was made, in words.
        files: The size of each of its files in bytes, by its path.
    """

    scene: str
    when: str
    call: str
    files: dict[str, int]


def _read_copy(folder: Path, copy: Path, call: str) -> _Copy:
    files = {}
    for file in sorted(copy.rglob("*")):
        if file.is_symlink() or file.is_file():
            files[str(file)] = file.lstat().st_size
    return _Copy(_scene(folder), _when(copy), call, files)


def _print_copies(listed: Sequence[_Copy]) -> None:
    for scene, copies in groupby(listed, key=attrgetter("scene")):
        print(safe_line(scene, 1000))
        for copy in copies:
            print(f"  {copy.when}  {copy.call}")
            for file, size in copy.files.items():
                print(f"    {size / 1e6:,.1f} MB  {safe_line(file, 1000)}")


def _scene(folder: Path) -> str:
    """Return the name of the scene whose copies are in a folder."""
    if folder.name.endswith(checkpoints.SUFFIX):
        return str(folder).removesuffix(checkpoints.SUFFIX)
    return f"scenes of {folder.name} that have no file"


def _recorded() -> tuple[dict[Path, str], set[Path]]:
    """Return from the audit record the call of each copy, by the copy, and all scenes."""
    calls: dict[Path, str] = {}
    scenes: set[Path] = set()
    with suppress(exits.Failure):  # there is no record yet
        for book in audit.books():
            for line in book.lines():
                fields = line.fields
                if fields.get("checkpoint"):
                    client = fields["client"] or "the host itself"
                    call = f"{fields['skill']} for {client}, call {fields['call']}"
                    calls[Path(fields["checkpoint"])] = safe_line(call)
                if fields.get("file"):
                    scenes.add(Path(fields["file"]))
    return calls, scenes


def _when(copy: Path) -> str:
    """Return the local time of a copy, from the UTC time in its name."""
    stamp = copy.name.partition("-")[2]
    when = datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    return f"{when.astimezone():%Y-%m-%d %H:%M:%S}"


def _restore(options: argparse.Namespace) -> int:
    file = Path(os.path.abspath(options.file))
    copy = _copy_of(file)
    target = _target(file, copy, options.to)
    if target.exists() and not _may_write_over(target, options.yes):
        exits.tell("Nothing was written.")
        return exits.REFUSED
    try:
        backup = checkpoints.take(copy.parent, [target], spared=[copy])
        with tempfile.TemporaryDirectory(prefix=".dcc_bridge-", dir=target.parent) as part:
            held_files.replace(Path(shutil.copy2(file, part)), target)
    except (OSError, NoCheckpoint) as error:
        raise exits.Failure(f"{target} was not written: {error}", exits.FAILED) from None
    before = ""
    if backup:
        before = f"; the previous version is in {backup}"
    print(safe_whole(f"{target} is the copy of {_when(copy)}{before}"))
    _record_restored(target, copy, backup)
    return exits.SUCCESS


def _copy_of(file: Path) -> Path:
    """Return the copy that a file is in; Failure if it is in none."""
    if file.is_dir():
        raise exits.Failure(
            f"{file} is a folder. Name the file in it, as `dcc-bridge checkpoint list` prints it."
        )
    copy = checkpoints.checkpoint_of(file)
    if copy is None or not file.is_file():
        raise exits.Failure(f"{file} is not a copy; see: dcc-bridge checkpoint list")
    return copy


def _target(file: Path, copy: Path, to: Path | None) -> Path:
    """Return the file that is written.

    Args:
        file: The file in the copy.
        copy: The copy.
        to: The value of ``--to``.

    Raises:
        Failure: It is not known, or cannot be written.
    """
    scene = Path(_scene(copy.parent))
    if to is None and file != copy / scene.name:
        raise exits.Failure(f"The original place of {file.name} is unknown. Use --to PATH.")
    target = Path(os.path.realpath(to or scene))
    if checkpoints.checkpoint_of(target) is not None:
        raise exits.Failure(f"{target} is itself a copy. Use another --to PATH.")
    if target.is_dir():
        raise exits.Failure(f"{target} is a folder. Name a file with --to.")
    if not target.parent.is_dir():
        raise exits.Failure(f"There is no folder {target.parent}: make it first.")
    return target


def _record_restored(target: Path, copy: Path, backup: Path | None) -> None:
    fields = {
        "call": os.urandom(8).hex(),
        "skill": "checkpoint restore",
        "client": CLI_LABEL,
        "status": "done",
        "lost": [f"write {target.name} as of {copy.name}"],
        "file": target,
        "checkpoint": backup,
    }
    with closing(AuditLog(log_folder(hosts.settings().audit))) as record:
        record(("end", fields), durable=True)


def _may_write_over(target: Path, yes: bool) -> bool:
    """Return whether the person agrees to overwrite a file.

    Args:
        target: The file. Each host that has the file open is named before the question.
        yes: Whether the person has agreed already, by ``--yes``.
    """
    for host in discovery.running(hosts.settings().runtime):
        if host.file == str(target):
            exits.tell(
                f"{host.host} ({host.id}) has {target.name} open. No copy has its unsaved "
                "work, and its next save overwrites the restored file. Reopen the file there. "
                "Without a window, stop the host and run: dcc-bridge serve --scene FILE"
            )
    if yes:
        return True
    if not terminal_io.is_terminal(sys.stdin):
        sentence = f"{target} exists. Use --yes to overwrite it, or --to PATH."
        raise exits.Failure(sentence, exits.REFUSED)
    question = f"Overwrite {safe_whole(str(target))}? A copy of it is kept. [y/N] "
    with suppress(EOFError):
        return input(question).strip().lower() in ("y", "yes")
    return False
