"""``dcc-bridge install``, ``uninstall``, ``status`` and ``pack``: the plug-in of an application.

Main thread.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dcc_bridge.cli.exits import SUCCESS, Failure
from dcc_bridge.install import probe, vendor
from dcc_bridge.install.locations import APPLICATIONS, Facts, InstallTarget, System, UnknownLocation
from dcc_bridge.install.plan import InstalledFiles, NotOurs, Plan

# ---- the arguments


def fill_install(parser: argparse.ArgumentParser) -> None:
    """Add what ``install`` and ``uninstall`` take to a parser."""
    parser.add_argument(
        "host", choices=sorted(APPLICATIONS), metavar="HOST", help=", ".join(APPLICATIONS)
    )
    parser.add_argument("--version", metavar="V", help="the application's own, such as 2026 or 4.5")
    parser.add_argument(
        "--interpreter", metavar="PATH", help="its batch interpreter, if it is not on PATH"
    )
    parser.add_argument("--python", metavar="3.X", help="its Python, if it cannot be detected")
    parser.add_argument(
        "--for-all-users", action="store_true", help="install it for every user of this computer"
    )
    parser.add_argument("--dry-run", action="store_true", help="only show what would be done")


def fill_status(parser: argparse.ArgumentParser) -> None:
    """Add what ``status`` takes to a parser."""
    parser.add_argument(
        "host", nargs="?", choices=sorted(APPLICATIONS), metavar="HOST", help="only this one"
    )
    parser.add_argument("--version", metavar="V", help="only this version of it")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")


def fill_pack(parser: argparse.ArgumentParser) -> None:
    """Add what ``pack`` takes to a parser."""
    parser.add_argument(
        "--into", type=Path, default=Path(), metavar="DIR", help="where to write it (default: here)"
    )


def _plan(options: argparse.Namespace, *, is_removal: bool = False) -> Plan:
    """Find out which application is meant, and where its plug-in goes.

    Raises:
        UnknownLocation: That cannot be told, or which Python it has, unless it is a removal.
    """
    application, system = APPLICATIONS[options.host], System.here()
    facts = probe.probe(application, options.interpreter)
    python = options.python or ("3.11" if is_removal and facts.python is None else None)
    facts = probe.complete(application, facts, options.version, python)
    location = application.location(system, facts, options.for_all_users)
    return Plan(application, facts, location, system)


# ---- install and uninstall


def run_install(options: argparse.Namespace) -> int:
    """Put the plug-in where the application looks for it."""
    plan = _plan(options)
    old = plan.check()
    if old is not None:
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
    installed = InstalledFiles.read(folder)
    if installed is None:
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
        raise Failure(
            f"It cannot be removed: {error}. Close {plan.application.title}, and try again."
        ) from None
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


def known_versions(application: InstallTarget) -> list[Facts]:
    """List the versions of an application whose folders are known, without asking it."""
    return [Facts(), *map(Facts, application.known)]


def find_installations(
    application: InstallTarget, versions: Sequence[Facts]
) -> Iterator[dict[str, Any]]:
    """Look where some versions of an application look for plug-ins; give what is there of ours."""
    for location, for_all in application.locations(System.here(), versions):
        yield from _installation(application, location.folder, for_all)


def describe(installation: dict[str, Any]) -> str:
    """Say in a line what is installed."""
    if "wrong" in installation:
        return f"{installation['host']}: {installation['wrong']}"
    shared = " for all users" if installation["for_all_users"] else ""
    missing = f" ({installation['missing']} files missing)" if installation["missing"] else ""
    return (
        f"{installation['host']} {installation['host_version']}{shared}: version "
        f"{installation['bridge']}, Python {installation['python']}, in "
        f"{installation['folder']}{missing}"
    )


def _versions(application: InstallTarget, version: str | None) -> list[Facts]:
    if version:
        return [Facts(version)]
    try:
        return [probe.probe(application), *known_versions(application)]
    except UnknownLocation:
        return known_versions(application)


def _installation(
    application: InstallTarget, folder: Path, for_all: bool
) -> Iterator[dict[str, Any]]:
    about = {"host": application.name, "folder": str(folder), "for_all_users": for_all}
    try:
        installed = InstalledFiles.read(folder)
    except NotOurs as error:
        yield {**about, "wrong": str(error)}
        return
    if installed is not None:
        yield {**about, **installed.facts, "missing": len(installed.missing())}


# ---- pack


def run_pack(options: argparse.Namespace) -> int:
    """Make Blender's extension."""
    try:
        # What a wheel needs on another system cannot be told here: pip looks at this one.
        file = vendor.build_extension(options.into, System.here().platform)
    except OSError as error:
        raise Failure(f"It cannot be written: {error}.") from None
    print(f"Done: {file}, {file.stat().st_size / 1e6:.0f} MB, for Blender 4.2 and newer.")
    print(f"To install it: blender --command extension install-file -r user_default -e {file}")
    print("Or in Blender: Edit > Preferences > Get Extensions > Install from Disk.")
    return SUCCESS
