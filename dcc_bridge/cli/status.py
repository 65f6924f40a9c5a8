"""``dcc-bridge status``: where the bridge is installed. Main thread."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dcc_bridge.cli.exits import SUCCESS
from dcc_bridge.install import asking, written
from dcc_bridge.install.places import KINDS, Kind, NoPlace, Told
from dcc_bridge.install.system import System
from dcc_bridge.install.written import NotOurs


def fill(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument(
        "host", nargs="?", choices=sorted(KINDS), metavar="HOST", help="only this one"
    )
    parser.add_argument("--version", metavar="V", help="only this version of it")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")


def run(options: argparse.Namespace) -> int:
    """Look at every place, and say what is there."""
    kinds = [KINDS[options.host]] if options.host else list(KINDS.values())
    found = [told for kind in kinds for told in there(kind, _tolds(kind, options.version))]
    if options.json:
        print(json.dumps(found, indent=2))
    else:
        print("\n".join(map(line, found)) or "The bridge is installed nowhere.")
    return SUCCESS


def known(kind: Kind) -> list[Told]:
    """List the versions of an application whose folders are known, without asking it."""
    return [Told(), *map(Told, kind.known)]


def there(kind: Kind, tolds: Sequence[Told]) -> Iterator[dict[str, Any]]:
    """Look where some versions of an application look for plug-ins; give what is there of ours."""
    seen: set[Path] = set()
    for told, for_all in ((told, for_all) for told in tolds for for_all in (False, True)):
        try:
            folder = kind.place(System.here(), told, for_all).folder
        except NoPlace:  # without a version some have no place
            continue
        if folder not in seen:
            seen.add(folder)
            yield from _at(kind, folder, for_all)


def _tolds(kind: Kind, version: str | None) -> list[Told]:
    if version:
        return [Told(version)]
    try:
        return [asking.ask(kind), *known(kind)]
    except NoPlace:
        return known(kind)


def _at(kind: Kind, folder: Path, for_all: bool) -> Iterator[dict[str, Any]]:
    about = {"host": kind.name, "folder": str(folder), "for_all_users": for_all}
    try:
        old = written.read(folder)
    except NotOurs as error:
        yield {**about, "wrong": str(error)}
        return
    if old is not None:
        yield {**about, **old.facts, "missing": len(old.missing())}


def line(told: dict[str, Any]) -> str:
    """Say in a line what is there."""
    if "wrong" in told:
        return f"{told['host']}: {told['wrong']}"
    who = " for all users" if told["for_all_users"] else ""
    missing = f" ({told['missing']} files missing)" if told["missing"] else ""
    return (
        f"{told['host']} {told['host_version']}{who}: version {told['bridge']}, Python "
        f"{told['python']}, in {told['folder']}{missing}"
    )
