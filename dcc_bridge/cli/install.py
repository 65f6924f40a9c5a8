"""``dcc-bridge install``, ``uninstall``, ``status`` and ``pack``: the plug-ins. Main thread."""

from __future__ import annotations

import argparse
import json
import shlex
import webbrowser
from pathlib import Path

from dcc_bridge.audit.log import log_folder
from dcc_bridge.cli import hosts, interpreter, leaves
from dcc_bridge.cli.exits import SUCCESS, Failure
from dcc_bridge.install import vendor
from dcc_bridge.install.locations import Facts, InstallTarget, System, UnknownLocation
from dcc_bridge.install.plan import (
    InstalledFiles,
    Plan,
    describe,
    find_installations,
    leftovers,
)
from dcc_bridge.skills.loader import user_folder


def fill_install(parser: argparse.ArgumentParser) -> None:
    """Add what ``install`` and ``uninstall`` take to a parser."""
    names = sorted(leaves.targets())
    parser.add_argument("host", choices=names, metavar="HOST", help=", ".join(names))
    parser.add_argument("--version", metavar="V", help="the application's own, such as 2026 or 4.5")
    program = "its batch interpreter, if it is not on PATH"
    parser.add_argument("--interpreter", metavar="PATH", help=program)
    parser.add_argument("--python", metavar="3.X", help="its Python, if it cannot be detected")
    for_all = "install it for every user of this computer"
    parser.add_argument("--for-all-users", action="store_true", help=for_all)
    parser.add_argument("--dry-run", action="store_true", help="only show what would be done")


def fill_status(parser: argparse.ArgumentParser) -> None:
    """Add what ``status`` takes to a parser."""
    only = "only this one"
    names = sorted(leaves.targets())
    parser.add_argument("host", nargs="?", choices=names, metavar="HOST", help=only)
    parser.add_argument("--version", metavar="V", help="only this version of it")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")


def fill_pack(parser: argparse.ArgumentParser) -> None:
    """Add what ``pack`` takes to a parser."""
    kinds = ("blender", "claude-desktop")
    about = "blender (the default) or claude-desktop"
    parser.add_argument("kind", nargs="?", choices=kinds, metavar="FOR", help=about)
    offline = "claude-desktop: put all it depends on into it, for this system; no index is needed"
    parser.add_argument("--offline", action="store_true", help=offline)
    parser.add_argument("--open", action="store_true", help="claude-desktop: open it there")
    into = "where to write it (default: here)"
    parser.add_argument("--into", type=Path, default=Path(), metavar="DIR", help=into)


def _plan(options: argparse.Namespace, *, is_removal: bool = False) -> Plan:
    """Find out which application is meant and where its plug-in goes, or UnknownLocation."""
    application, system = leaves.targets()[options.host], System.here()
    facts = interpreter.probe(application, options.interpreter)
    python = options.python or ("3.11" if is_removal and facts.python is None else None)
    facts = application.complete(facts, options.version, python)
    location = application.location(system, facts, options.for_all_users)
    return Plan(application, facts, location, system)


def run_install(options: argparse.Namespace) -> int:
    """Put the plug-in where the application looks for it."""
    plan = _plan(options)
    if (old := plan.check()) is not None:
        print(f"Version {old.facts.get('bridge')} is installed and will be replaced.")
    print("\n".join(plan.sentences()), flush=True)
    if options.dry_run:
        print("Nothing was written.")
        return SUCCESS
    try:
        installed = plan.install()
    except OSError as error:
        raise Failure(f"It cannot be written: {error}. Nothing was installed.") from None
    size = sum(file.stat().st_size for file in installed.files) / 1e6
    print(f"Done: {len(installed.files):,} files, {size:.0f} MB. {plan.application.afterwards}")
    _print_leftovers(plan.location.folder)
    named = {"--version": options.version, "--interpreter": options.interpreter}
    words = [word for option, value in named.items() if value for word in (option, value)]
    words = [options.host, *words, *["--for-all-users"] * options.for_all_users]
    print("To remove it:", shlex.join(["dcc-bridge", "uninstall", *words]))
    return SUCCESS


def run_uninstall(options: argparse.Namespace) -> int:
    """Remove what ``install`` put there."""
    plan = _plan(options, is_removal=True)
    folder = plan.location.folder
    if (installed := InstalledFiles.read(folder)) is None:
        raise Failure(f"The bridge is not installed in {folder}.")
    print(f"remove {len(installed.files):,} files in {folder}", flush=True)
    for file in installed.files:
        if folder not in file.parents:
            print(file, flush=True)
    if options.dry_run:
        print("Nothing was deleted.")
        return SUCCESS
    try:
        kept = installed.remove(plan.application.title)
    except OSError as error:
        raise Failure(f"It cannot be removed: {error}. Nothing was deleted.") from None
    for file, why in kept.items():
        print(f"kept {file}: {why}")
    is_all_gone = not _print_leftovers(folder) and not kept
    print("Done. Every file that it installed is gone." if is_all_gone else "Done.")
    _print_rest(plan.application)
    return SUCCESS


def _print_leftovers(folder: Path) -> bool:
    """Name what was put aside and could not be deleted; tell whether there is any."""
    left = leftovers(folder)
    for path in left:
        print(f"left {path}: it could not be deleted; delete it by hand")
    return bool(left)


def _print_rest(application: InstallTarget) -> None:
    """Say what an uninstall leaves: other installations, and what is the user's own."""
    for installation in find_installations(application, application.known_versions):
        print(f"still installed: {describe(installation)}")
    state, settings = log_folder().parent, hosts.settings()
    record = log_folder(settings.audit)
    own = {user_folder(settings): "your own skills", record: "who agreed to what"}
    own[state] = "logs, and copies of scenes that have no file"
    own[state / "batch" / "key"] = "the key that signs your consent to batches"
    for place in filter(Path.exists, own):
        print(f"kept {place}: {own[place]}")


def run_status(options: argparse.Namespace) -> int:
    """Print where the plug-in is installed."""
    targets = leaves.targets()
    kinds = [targets[options.host]] if options.host else list(targets.values())
    installations = [
        it for kind in kinds for it in find_installations(kind, _versions(kind, options.version))
    ]
    if options.json:
        print(json.dumps(installations, indent=2))
    else:
        print("\n".join(map(describe, installations)) or "The bridge is not installed anywhere.")
    return SUCCESS


def _versions(application: InstallTarget, version: str | None) -> list[Facts]:
    if version:
        return [Facts(version)]
    try:
        return [interpreter.probe(application), *application.known_versions]
    except UnknownLocation:
        return application.known_versions


def run_pack(options: argparse.Namespace) -> int:
    """Make Blender's extension, or the bundle for Claude Desktop."""
    is_bundle = options.kind == "claude-desktop"
    if not is_bundle and (options.offline or options.open):
        raise Failure("--offline and --open are for: dcc-bridge pack claude-desktop")
    before, system = set(options.into.glob("*")), System.here().platform
    try:
        # What a wheel needs on another system cannot be told here: pip looks at this one.
        file = (
            vendor.build_bundle(options.into, system, offline=options.offline)
            if is_bundle
            else vendor.build_extension(options.into, system)
        )
    except OSError as error:
        raise Failure(f"It cannot be written: {error}.") from None
    over = " (the one that was there is written over)" * (file in before)
    target = "Claude Desktop" if is_bundle else "Blender 4.2 and newer"
    print(f"Done: {file}{over}, {file.stat().st_size / 1e6:.1f} MB, for {target}.")
    if not is_bundle:
        print(f"To install it: blender --command extension install-file -r user_default -e {file}")
        print("Or in Blender: Edit > Preferences > Get Extensions > Install from Disk.")
        return SUCCESS
    print("To install it, open it, or in Claude Desktop: Settings > Extensions.")
    if options.open and not webbrowser.open(file.absolute().as_uri()):
        raise Failure(f"Nothing on this computer opens {file}. Is Claude Desktop installed?")
    return SUCCESS
