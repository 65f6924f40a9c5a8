"""``dcc-bridge install``, ``uninstall``, ``status`` and ``pack``: the plug-ins. Main thread."""

from __future__ import annotations

import argparse
import json
import webbrowser
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from dcc_bridge import shell
from dcc_bridge.audit.log import log_folder
from dcc_bridge.cli import client_states, enabling, hosts, interpreter, leaves
from dcc_bridge.cli.exits import FAILED, SUCCESS, Failure
from dcc_bridge.elicitation.text import safe_line
from dcc_bridge.errors import own_version
from dcc_bridge.install import packs
from dcc_bridge.install.builds import BUILDS, Build, usual
from dcc_bridge.install.folders import leftovers
from dcc_bridge.install.installed import InstalledFiles, describe, find_installations
from dcc_bridge.install.locations import Facts, InstallTarget, System, UnknownLocation
from dcc_bridge.install.plan import Plan
from dcc_bridge.install.wheels import NotVendored
from dcc_bridge.server import discovery
from dcc_bridge.skills.loader import user_folder

_MAX_CHARS: Final = 2000


def fill_install(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``install`` and ``uninstall`` to a parser."""
    names = sorted(leaves.targets())
    parser.add_argument("host", choices=names, metavar="HOST", help=", ".join(names))
    parser.add_argument("--version", metavar="V", help="the application's own, such as 2026 or 4.5")
    program = "its batch interpreter, if it is not found, or found several times"
    parser.add_argument("--interpreter", metavar="PATH", help=program)
    parser.add_argument("--python", metavar="3.X", help="its Python, if it cannot be detected")
    for_all = "install it for every user of this computer"
    parser.add_argument("--for-all-users", action="store_true", help=for_all)
    parser.add_argument("--dry-run", action="store_true", help="only show the steps")


def fill_status(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``status`` to a parser."""
    only = "only this one"
    names = sorted(leaves.targets())
    parser.add_argument("host", nargs="?", choices=names, metavar="HOST", help=only)
    parser.add_argument("--version", metavar="V", help="only this version of it")
    parser.add_argument("--json", action="store_true", help="print only JSON")


def fill_pack(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``pack`` to a parser."""
    kinds = ("blender", "claude-desktop")
    about = "blender (the default) or claude-desktop"
    parser.add_argument("kind", nargs="?", choices=kinds, metavar="FOR", help=about)
    systems = f"the system that it is for: {', '.join(BUILDS)}; or all (default: this one)"
    parser.add_argument("--platform", choices=[*BUILDS, "all"], metavar="SYSTEM", help=systems)
    offline = "claude-desktop: include all dependencies, so that no package index is needed"
    offline += "; --platform does this too"
    parser.add_argument("--offline", action="store_true", help=offline)
    parser.add_argument("--open", action="store_true", help="claude-desktop: open the file there")
    into = "where to write the file (default: this folder)"
    parser.add_argument("--into", type=Path, default=Path(), metavar="DIR", help=into)


def _plan(options: argparse.Namespace, *, is_removal: bool = False) -> Plan:
    """Return the installation that the options describe.

    Raises:
        UnknownLocation: Too little is known of the application.
    """
    application = leaves.targets()[options.host]
    system = System.here()
    facts = interpreter.probe(application, options.interpreter, options.version)
    python = options.python or None
    if python is None and is_removal and facts.python is None:
        python = "3.11"  # any value: the list of installed files decides what is removed
    facts = application.complete(facts, options.version, python)
    location = application.location(system, facts, options.for_all_users)
    return Plan(application, facts, location, system)


def run_install(options: argparse.Namespace) -> int:
    """Install the plug-in."""
    plan = _plan(options)
    old = plan.check()
    if old is not None:
        print(f"Version {old.facts.get('bridge')} is installed and will be replaced.")
    print("\n".join(plan.sentences()), flush=True)
    if not options.for_all_users:
        _print_enabling(plan)
    if options.dry_run:
        print("Nothing was written.")
        return SUCCESS
    try:
        result = put(plan, enables=not options.for_all_users)
    except OSError as error:
        sentence = f"It cannot be written: {error}. Nothing was installed."
        raise Failure(sentence, FAILED) from None
    print(f"Done: {result}")
    _print_leftovers(plan.location.folder)
    print("To remove it:", shell.line(_uninstall_command(options)))
    return SUCCESS


def _uninstall_command(options: argparse.Namespace) -> list[str]:
    words = ["dcc-bridge", "uninstall", options.host]
    if options.version:
        words += ["--version", options.version]
    if options.interpreter:
        words += ["--interpreter", options.interpreter]
    if options.for_all_users:
        words.append("--for-all-users")
    return words


def _print_enabling(plan: Plan) -> None:
    preferences = enabling.to_enable(plan.application, plan.facts)
    if preferences is None:
        return
    print(f"  enable it {enabling.change(plan.application, preferences)}", flush=True)
    warning = enabling.warning(plan.application, plan.facts)
    if warning:
        print(f"{warning}.", flush=True)


def put(plan: Plan, *, enables: bool = True) -> str:
    """Install a plug-in, and return its size and the person's next step, as sentences.

    Args:
        plan: The installation.
        enables: Whether to enable it for this user, where the application needs that.

    Raises:
        BridgeError: It cannot be installed. Nothing has changed.
        OSError: A file cannot be written. Nothing has changed.
    """
    installed = plan.install()
    size = sum(file.stat().st_size for file in installed.files) / 1e6
    next_step = plan.application.afterwards
    if enables:
        try:
            next_step = enabling.enable(plan.application, plan.facts)
        except OSError as error:
            next_step = f"It is installed, but not enabled: {error}. {next_step}"
    return f"{len(installed.files):,} files, {size:.0f} MB. {next_step}"


def take(application: InstallTarget, facts: Facts, installed: InstalledFiles) -> str:
    """Remove and disable a plug-in of this user, and return what was removed and what was kept.

    Args:
        application: The application.
        facts: The facts of its version.
        installed: The installation.

    Raises:
        BridgeError: It cannot be removed. Nothing has changed.
        OSError: A folder cannot be written. Nothing has changed.
    """
    undeleted = installed.remove(application.title)
    disabled = _disable(application, facts, installed)
    kept = [*undeleted, *leftovers(installed.folder)]
    if not kept:
        return f"removed, {len(installed.files):,} files. {disabled}".rstrip()
    names = ", ".join(str(path) for path in kept)
    return (
        f"removed, but for what was changed or could not be deleted: {names}. {disabled}".rstrip()
    )


def _disable(application: InstallTarget, facts: Facts, installed: InstalledFiles) -> str:
    """Disable a plug-in that was removed, and return what was done, as a sentence; "" for nothing.

    The preferences may have been the last file in a folder that was made for the plug-in.
    """
    disabled = enabling.disable(application, facts)
    installed.remove_new_folders()
    return disabled


def run_uninstall(options: argparse.Namespace) -> int:
    """Remove the files that ``install`` wrote."""
    plan = _plan(options, is_removal=True)
    folder = plan.location.folder
    installed = InstalledFiles.read(folder)
    if installed is None:
        raise Failure(f"The bridge is not installed in {folder}.")
    _print_removal(plan, installed, disables=not options.for_all_users)
    if options.dry_run:
        print("Nothing was deleted.")
        return SUCCESS
    try:
        remaining = installed.remove(plan.application.title)
    except OSError as error:
        sentence = f"It cannot be removed: {error}. Nothing was deleted."
        raise Failure(sentence, FAILED) from None
    disabled = ""
    if not options.for_all_users:
        disabled = _disable(plan.application, plan.facts, installed)
    if disabled:
        print(disabled, flush=True)
    _print_kept(remaining, folder)
    _print_rest(plan.application)
    return SUCCESS


def _print_removal(plan: Plan, installed: InstalledFiles, *, disables: bool) -> None:
    """Print what will be removed, and where the plug-in will be disabled."""
    folder = installed.folder
    print(f"remove {len(installed.files):,} files in {folder}", flush=True)
    for file in installed.files:
        if folder not in file.parents:
            print(file, flush=True)
    change = ""
    if disables:
        change = enabling.change_back(plan.application, plan.facts)
    if not change:
        return
    print(f"then {change}", flush=True)
    warning = enabling.warning(plan.application, plan.facts)
    if warning:
        print(f"{warning}.", flush=True)


def _print_kept(remaining: Mapping[Path, str], folder: Path) -> None:
    """Print what was not deleted, with the reasons, and that the rest is done."""
    for file, why in remaining.items():
        print(f"kept {file}: {why}")
    has_leftovers = _print_leftovers(folder)
    if remaining or has_leftovers:
        print("Done.")
    else:
        print("Done. All installed files were removed.")


def _print_leftovers(folder: Path) -> bool:
    """Print the folders that could not be deleted, and return whether there are any."""
    paths = leftovers(folder)
    for path in paths:
        print(f"not deleted: {path}. Delete it by hand")
    return bool(paths)


def _print_rest(application: InstallTarget) -> None:
    """Print the files that an uninstall leaves: other installations, and the user's own files."""
    for installation in find_installations(application, application.known_versions):
        print(f"still installed: {describe(installation)}")
    settings = hosts.settings()
    state = log_folder().parent
    own_files = {
        user_folder(settings): "your own skills",
        log_folder(settings.audit): "who agreed to what",
        state: "logs, and copies of scenes that have no file",
        state / "batch" / "key": "the key that signs your consent to batches",
    }
    for path, content in own_files.items():
        if path.exists():
            print(f"kept {path}: {content}")


def run_status(options: argparse.Namespace) -> int:
    """Print where the plug-in is installed, and which clients are set up."""
    targets = leaves.targets()
    applications = list(targets.values())
    if options.host:
        applications = [targets[options.host]]
    installations: list[dict[str, Any]] = []
    for application in applications:
        versions = _versions(application, options.version)
        installations += find_installations(application, versions)
    if options.json:
        print(json.dumps(installations, indent=2))
        return SUCCESS
    for installation in installations:
        application = targets[installation["host"]]
        print(describe(installation) + _advice(application, installation))
    if not installations:
        print("The bridge is not installed anywhere.")
    if not options.host:
        _print_hosts_of_other_versions()
        print(client_states.line())
    return SUCCESS


def _print_hosts_of_other_versions() -> None:
    for host in discovery.running(hosts.settings().runtime):
        problem = host.version_problem()
        if problem is not None:
            print(safe_line(str(problem), _MAX_CHARS))


def _advice(application: InstallTarget, installation: dict[str, Any]) -> str:
    """Return how an installation is updated or enabled; "" if it need not be."""
    if "wrong" in installation:
        return ""
    if installation["bridge"] != own_version():
        return " (dcc-bridge update)"
    if installation["for_all_users"]:
        return ""
    facts = Facts(installation["host_version"])
    if enabling.not_enabled_in(application, facts) is None:
        return ""
    return " (not enabled: dcc-bridge setup)"


def _versions(application: InstallTarget, version: str | None) -> list[Facts]:
    """Return the versions whose folders are checked."""
    if version:
        return [Facts(version)]
    try:
        return [interpreter.probe(application), *application.known_versions]
    except UnknownLocation:
        return application.known_versions


def run_pack(options: argparse.Namespace) -> int:
    """Make Blender's extension, or the bundle for Claude Desktop, for each system that is meant."""
    if options.kind == "claude-desktop":
        return _pack_bundles(options)
    if options.offline or options.open:
        raise Failure("--offline and --open are for: dcc-bridge pack claude-desktop")
    file = _pack_each(options, packs.build_extension, "Blender 4.2 and newer")
    quoted = shell.argument(str(file))
    print(f"To install it: blender --command extension install-file -r user_default -e {quoted}")
    print("Or in Blender: Edit > Preferences > Get Extensions > Install from Disk.")
    return SUCCESS


def _pack_bundles(options: argparse.Namespace) -> int:
    if options.open and options.platform == "all":
        raise Failure("--open opens one bundle: name its system, or leave out --platform.")
    file = _pack_each(options, packs.build_bundle, "Claude Desktop")
    print("To install it, open it, or in Claude Desktop: Settings > Extensions.")
    if options.open and not webbrowser.open(file.absolute().as_uri()):
        sentence = f"Nothing on this computer opens {file}. Is Claude Desktop installed?"
        raise Failure(sentence, FAILED)
    return SUCCESS


def _pack_each(
    options: argparse.Namespace, make: Callable[[Path, Any], Path], application: str
) -> Path:
    """Make a file for each system, and return the last.

    Raises:
        Failure: One of them cannot be made. The others are made all the same.
    """
    before = set(options.into.glob("*"))
    problems: list[str] = []
    made = Path()
    for build in _builds(options):
        try:
            made = make(options.into, build)
        except OSError as error:
            raise Failure(f"It cannot be written: {error}.", FAILED) from None
        except NotVendored as error:
            problems.append(str(error))
            continue
        _print_packed(made, application, is_replaced=made in before)
    if problems:
        raise Failure("\n".join(problems), FAILED)
    return made


def _builds(options: argparse.Namespace) -> list[Build | None]:
    """Return the systems that are meant. None is a bundle for every system."""
    if options.platform == "all":
        return list(BUILDS.values())
    if options.platform is not None:
        return [BUILDS[options.platform]]
    if options.kind == "claude-desktop" and not options.offline:
        return [None]
    return [usual(System.here().platform)]


def _print_packed(file: Path, application: str, *, is_replaced: bool) -> None:
    over = ""
    if is_replaced:
        over = " (the previous file was overwritten)"
    print(f"Done: {file}{over}, {file.stat().st_size / 1e6:.1f} MB, for {application}.")
