"""``dcc-bridge install``, ``uninstall``, ``status`` and ``pack``: the plug-in of an application.

Main thread.
"""

from __future__ import annotations

import argparse
import json
import webbrowser
from pathlib import Path

from dcc_bridge.cli import interpreter
from dcc_bridge.cli.exits import SUCCESS, Failure
from dcc_bridge.install import vendor
from dcc_bridge.install.locations import APPLICATIONS, Facts, InstallTarget, System, UnknownLocation
from dcc_bridge.install.plan import InstalledFiles, Plan, describe, find_installations

# ---- the arguments


def fill_install(parser: argparse.ArgumentParser) -> None:
    """Add what ``install`` and ``uninstall`` take to a parser."""
    hosts = sorted(APPLICATIONS)
    parser.add_argument("host", choices=hosts, metavar="HOST", help=", ".join(APPLICATIONS))
    parser.add_argument("--version", metavar="V", help="the application's own, such as 2026 or 4.5")
    program = "its batch interpreter, if it is not on PATH"
    parser.add_argument("--interpreter", metavar="PATH", help=program)
    parser.add_argument("--python", metavar="3.X", help="its Python, if it cannot be detected")
    for_all = "install it for every user of this computer"
    parser.add_argument("--for-all-users", action="store_true", help=for_all)
    parser.add_argument("--dry-run", action="store_true", help="only show what would be done")


def fill_status(parser: argparse.ArgumentParser) -> None:
    """Add what ``status`` takes to a parser."""
    hosts = sorted(APPLICATIONS)
    parser.add_argument("host", nargs="?", choices=hosts, metavar="HOST", help="only this one")
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
    """Find out which application is meant, and where its plug-in goes.

    UnknownLocation: that cannot be told, or which Python it has, unless it is a removal.
    """
    application, system = APPLICATIONS[options.host], System.here()
    facts = interpreter.probe(application, options.interpreter)
    python = options.python or ("3.11" if is_removal and facts.python is None else None)
    facts = application.complete(facts, options.version, python)
    location = application.location(system, facts, options.for_all_users)
    return Plan(application, facts, location, system)


# ---- install and uninstall


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
    print(f"To remove it: dcc-bridge uninstall {plan.application.name}")
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
    foreign = installed.foreign(folder)
    try:
        installed.delete(folder)
    except OSError as error:
        advice = f"Close {plan.application.title}, and try again."
        raise Failure(f"It cannot be removed: {error}. {advice}") from None
    for file in foreign:
        print(f"kept {file}: dcc-bridge did not install it")
    print("Done." if foreign else "Done. Every file that it installed is gone.")
    return SUCCESS


# ---- status


def run_status(options: argparse.Namespace) -> int:
    """Print where the plug-in is installed."""
    applications = [APPLICATIONS[options.host]] if options.host else list(APPLICATIONS.values())
    installations = [
        installation
        for application in applications
        for installation in find_installations(application, _versions(application, options.version))
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


# ---- pack


def run_pack(options: argparse.Namespace) -> int:
    """Make Blender's extension, or the bundle for Claude Desktop."""
    is_bundle = options.kind == "claude-desktop"
    if not is_bundle and (options.offline or options.open):
        raise Failure("--offline and --open are for: dcc-bridge pack claude-desktop")
    try:
        if is_bundle:
            return _pack_bundle(options)
        # What a wheel needs on another system cannot be told here: pip looks at this one.
        file = vendor.build_extension(options.into, System.here().platform)
    except OSError as error:
        raise Failure(f"It cannot be written: {error}.") from None
    print(f"Done: {file}, {file.stat().st_size / 1e6:.0f} MB, for Blender 4.2 and newer.")
    print(f"To install it: blender --command extension install-file -r user_default -e {file}")
    print("Or in Blender: Edit > Preferences > Get Extensions > Install from Disk.")
    return SUCCESS


def _pack_bundle(options: argparse.Namespace) -> int:
    before = set(options.into.glob("*"))
    file = vendor.build_bundle(options.into, System.here().platform, offline=options.offline)
    over = " (the one that was there is written over)" * (file in before)
    print(f"Done: {file}{over}, {file.stat().st_size / 1e6:.1f} MB, for Claude Desktop.")
    print("To install it, open it, or in Claude Desktop: Settings > Extensions.")
    if options.open and not webbrowser.open(file.absolute().as_uri()):
        raise Failure(f"Nothing on this computer opens {file}. Is Claude Desktop installed?")
    return SUCCESS
