"""``dcc-bridge skill`` and ``guide``: write a skill file, check skill files, print the guide."""

from __future__ import annotations

import argparse
import keyword
import sys
from pathlib import Path
from typing import Final, get_args

from dcc_bridge.cli import exits, hosts
from dcc_bridge.config import data_folder
from dcc_bridge.elicitation.caller import Risk
from dcc_bridge.skills import lint, loader
from dcc_bridge.verbs import NAMES as VERBS

PAGES: Final = (
    "skills",
    "verbs",
    "code",
    "hosts",
    "security",
    "troubleshooting",
    "farm",
    "batch",
    "architecture",
    "contributing",
    "changelog",
)
_MOST: Final = 60
# Names that are no files on Windows, whatever comes after their dot.
_PORTS: Final = {f"{name}{number}" for name in ("com", "lpt") for number in range(10)}
_DEVICES: Final = {"con", "prn", "aux", "nul", *_PORTS}
_TEMPLATE: Final = ("new_skill", "New skill")  # the name and the title in each template
_REPLACES: Final = "{} takes the place of the verb of that name in {}."
_TO_FILL: Final = ('"""Say in a sentence ', 'SCENE = ["camera_1"')  # how what stands in begins


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to a parser."""
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    new = commands.add_parser("new", help="write a skill file to start from")
    new.add_argument("name", metavar="NAME", help="the tool's name, such as list_cameras")
    new.add_argument("--folder", type=Path, metavar="DIR", help="default: your own skills")
    risk = "what it may do; a destructive skill asks the person before it deletes anything"
    new.add_argument("--risk", choices=get_args(Risk), default="read", help=risk)
    new.set_defaults(run=_new)
    checked = commands.add_parser("check", help="check that skills have docstring, types and risk")
    checked.add_argument("path", type=Path, nargs="+", metavar="PATH", help="a file or a folder")
    checked.set_defaults(run=_check)


def fill_guide(parser: argparse.ArgumentParser) -> None:
    """Add what ``guide`` takes to a parser."""
    parser.add_argument("page", nargs="?", choices=PAGES, metavar="PAGE", help=", ".join(PAGES))


def run_guide(options: argparse.Namespace) -> int:
    """Print a page; without one, what pages there are."""
    try:
        folder = data_folder("resources") / "guide"
    except FileNotFoundError as error:
        raise exits.Failure(str(error)) from None
    texts = {page: (folder / f"{page}.md").read_text(encoding="utf-8") for page in PAGES}
    titles = [f"{page:16}{text.splitlines()[0].lstrip('# ')}" for page, text in texts.items()]
    print(texts[options.page].rstrip() if options.page else "\n".join(titles))
    return exits.SUCCESS


def _new(options: argparse.Namespace) -> int:
    """Write a file, in a folder that is made if need be."""
    name = options.name
    folder = options.folder or loader.user_folder(hosts.settings())
    fits = name.isascii() and name.isidentifier() and not keyword.iskeyword(name)
    if not fits or name.lower() in _DEVICES or name.startswith("_") or len(name) > _MOST:
        raise exits.Failure(
            f"{name!r} cannot be the name of a skill: use letters, digits and underscores, with a "
            "letter first, such as list_cameras."
        )
    file = folder / f"{name}.py"
    try:
        template = data_folder("resources") / "templates" / f"{options.risk}.py"
        text = template.read_text(encoding="utf-8").replace(_TEMPLATE[0], name)
        folder.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as stream:
            stream.write(text.replace(_TEMPLATE[1], name.replace("_", " ").capitalize()))
    except FileExistsError:
        raise exits.Failure(f"{file} already exists and was not overwritten.") from None
    except OSError as error:
        raise exits.Failure(f"{file} cannot be written: {error}.") from None
    print(f"Wrote {file}. It runs as it is; put your application's API where it says so.")
    if name in VERBS:
        print(_REPLACES.format(name, "every host"))
    return exits.SUCCESS


def _check(options: argparse.Namespace) -> int:
    given = {file.resolve(): file for path in options.path for file in lint.files(path)}
    findings = [finding for file in given.values() for finding in lint.check(file)]
    for finding in findings:
        print(finding)
    many = f"{len(given)} file" + "s" * (len(given) != 1)
    if findings:
        print(f"{len(findings)} problem{'s' * (len(findings) != 1)} in {many}.", file=sys.stderr)
        return exits.TOOL_ERROR
    for file in given.values():
        for name, number, metadata in lint.read_text(file).names():
            where = ", ".join(metadata.hosts) or "every host"
            if name in VERBS:
                print(f"{file}:{number}: {_REPLACES.format(name, where)}")
        text = file.read_text(encoding="utf-8", errors="replace")  # it may declare another one
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip().startswith(_TO_FILL):
                print(f"{file}:{number}: Still to be filled in: {line.strip()}")
    print(f"No problems in {many}.")
    return exits.SUCCESS
