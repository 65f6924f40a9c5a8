"""``dcc-bridge checkpoint``: the copies of what undo does not bring back, listed and restored."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from contextlib import closing, suppress
from datetime import UTC, datetime
from glob import glob
from pathlib import Path
from typing import Final

from dcc_bridge import checkpoints
from dcc_bridge.audit.log import AuditLog, log_folder
from dcc_bridge.cli import audit, exits, hosts
from dcc_bridge.client import terminal_io
from dcc_bridge.elicitation.text import safe_line, safe_whole
from dcc_bridge.errors import NoCheckpoint
from dcc_bridge.known_clients import CLI_LABEL
from dcc_bridge.server import discovery

_NEAR: Final = [f"{'*/' * depth}*{checkpoints.SUFFIX}" for depth in range(4)]


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to a parser."""
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    listing = commands.add_parser("list", help="list the copies, and for which call each was kept")
    which = "its file; default: all scenes on record, open in a host, or up to three folders down"
    listing.add_argument("scene", nargs="?", type=Path, metavar="SCENE", help=which)
    listing.set_defaults(run=_list)
    restore = commands.add_parser("restore", help="write a copy over its scene or another file")
    restore.add_argument("file", type=Path, metavar="FILE", help="the copy, as `list` prints it")
    restore.add_argument("--to", type=Path, metavar="PATH", help="the other file")
    restore.add_argument("--yes", action="store_true", help="overwrite a file without asking")
    restore.set_defaults(run=_restore)


def _list(options: argparse.Namespace) -> int:
    calls, scenes = _recorded()
    if options.scene is not None:
        folders = {checkpoints.folder_beside(Path(os.path.abspath(options.scene)))}
    else:
        running = discovery.running(hosts.settings().runtime)
        scenes |= {Path(host.file) for host in running if host.file}
        folders = {copy.parent for copy in calls} | set(map(checkpoints.folder_beside, scenes))
        near = [it for pattern in _NEAR for it in glob(pattern, include_hidden=True)]
        folders |= set(map(Path, map(os.path.abspath, near)))  # Path.glob fails at one unreadable
        folders |= set(checkpoints.untitled_folder().glob("*"))
    copies = {folder: checkpoints.taken(folder) for folder in sorted(folders)}
    for folder in filter(copies.get, copies):
        print(safe_line(_scene(folder), 1000))
        for copy in copies[folder]:
            print(f"  {_when(copy)}  {calls.get(copy, 'no call on record')}")
            for file in sorted(copy.rglob("*")):
                if file.is_symlink() or file.is_file():
                    size = file.lstat().st_size
                    print(f"    {size / 1e6:,.1f} MB  {safe_line(str(file), 1000)}")
    if not any(copies.values()):
        print("There are no copies.")
    return exits.SUCCESS


def _scene(folder: Path) -> str:
    """Name the scene of a folder of copies."""
    if folder.name.endswith(checkpoints.SUFFIX):
        return str(folder).removesuffix(checkpoints.SUFFIX)
    return f"scenes of {folder.name} that have no file"


def _recorded() -> tuple[dict[Path, str], set[Path]]:
    """Read from the record for which call each copy was kept, and which scenes were changed."""
    calls, scenes = dict[Path, str](), set[Path]()
    with suppress(exits.Failure):  # nothing is on record yet
        for it in (line.fields for book in audit.books() for line in book.lines()):
            if it.get("checkpoint"):
                call = f"{it['skill']} for {it['client'] or 'the host itself'}, call {it['call']}"
                calls[Path(it["checkpoint"])] = safe_line(call)
            if it.get("file"):
                scenes.add(Path(it["file"]))
    return calls, scenes


def _when(copy: Path) -> str:
    kept = datetime.strptime(copy.name.partition("-")[2], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    return f"{kept.astimezone():%Y-%m-%d %H:%M:%S}"


def _restore(options: argparse.Namespace) -> int:
    file = Path(os.path.abspath(options.file))
    copy = checkpoints.checkpoint_of(file)
    if copy is None or not file.is_file():
        raise exits.Failure(f"{file} is not a copy; see: dcc-bridge checkpoint list")
    scene = Path(_scene(copy.parent))
    if options.to is None and file != copy / scene.name:
        raise exits.Failure(f"It is not known where {file.name} was: give --to PATH.")
    target = Path(os.path.realpath(options.to or scene))
    if checkpoints.checkpoint_of(target) is not None:
        raise exits.Failure(f"{target} is a copy itself: give another --to PATH.")
    if target.exists() and not _may_write_over(target, options.yes):
        exits.tell("Nothing was written.")
        return exits.REFUSED
    try:
        kept = checkpoints.take(copy.parent, [target], spared=[copy])
        with tempfile.TemporaryDirectory(prefix=".dcc_bridge-", dir=target.parent) as part:
            os.replace(shutil.copy2(file, part), target)  # whole or not at all
    except (OSError, NoCheckpoint) as error:
        raise exits.Failure(f"{target} was not written: {error}", exits.TOOL_ERROR) from None
    before = f"; what was there is in {kept}" if kept else ""
    print(safe_whole(f"{target} is the copy of {_when(copy)}{before}"))
    call = {"call": os.urandom(8).hex(), "skill": "checkpoint restore", "client": CLI_LABEL}
    lost = [f"write {target.name} as of {copy.name}"]
    facts = {"status": "done", "lost": lost, "file": target, "checkpoint": kept}
    with closing(AuditLog(log_folder(hosts.settings().audit))) as record:
        record(("end", call | facts), durable=True)
    return exits.SUCCESS


def _may_write_over(target: Path, yes: bool) -> bool:
    """Ask; a host that has the file open is named first."""
    for host in discovery.running(hosts.settings().runtime):
        if host.file == str(target):
            exits.tell(
                f"{host.host} ({host.id}) has {target.name} open: unsaved work there is in no "
                "copy, and its next save overwrites what is restored. Reopen the file there; "
                "without a window, end it, and: dcc-bridge serve --scene FILE"
            )
    if not yes and not terminal_io.is_terminal(sys.stdin):
        raise exits.Failure(f"{target} exists: give --yes to overwrite it, or --to PATH.")
    question = f"Overwrite {safe_whole(str(target))}? A copy of it is kept. [y/N] "
    with suppress(EOFError):
        return yes or input(question).strip().lower() in ("y", "yes")
    return False
