"""``dcc-bridge skill``: write a skill file to begin with, and check those that are there."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from dcc_bridge.cli import starter, target
from dcc_bridge.cli.exits import SUCCESS, TOOL_ERROR
from dcc_bridge.errors import SkillError
from dcc_bridge.skills import lint
from dcc_bridge.skills.loader import folders, user_folder


def fill(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    new = commands.add_parser("new", help="write a skill file that runs, to begin with")
    new.add_argument("name", metavar="NAME", help="what an agent calls it: list_cameras")
    new.add_argument(
        "--folder", type=Path, metavar="DIR", help="where to; without it, your own skills"
    )
    new.add_argument(
        "--risk",
        choices=starter.RISKS,
        default="read",
        help="what it may do; a destructive one asks the person before it loses something",
    )
    new.set_defaults(act=_new)
    checked = commands.add_parser("check", help="find what is wrong with skill files, unimported")
    checked.add_argument("path", type=Path, nargs="+", metavar="PATH", help="a file or a folder")
    checked.set_defaults(act=_check)


def run(options: argparse.Namespace) -> int:
    """Do it."""
    return int(options.act(options))


def _new(options: argparse.Namespace) -> int:
    folder = options.folder or user_folder(target.settings())
    file = starter.write(options.name, folder, options.risk)
    print(f"{file} is a skill that runs: put your application's API where it says so.")
    return SUCCESS


def _check(options: argparse.Namespace) -> int:
    given = [file for path in options.path for file in lint.files(path)]
    found = lint.check(list(dict.fromkeys(given)), _others(given))
    for one in found:
        print(one)
    many = f"{len(given)} file" + "s" * (len(given) != 1)
    if found:
        print(f"{len(found)} to put right in {many}.", file=sys.stderr)
        return TOOL_ERROR
    print(f"{many}: nothing to put right.")
    return SUCCESS


def _others(given: list[Path]) -> list[Path]:
    """Give the files of the folders that a bridge looks in besides: their names are taken."""
    real = {file.resolve() for file in given}
    every: list[Path] = []
    for folder in folders((), target.settings()):
        try:
            every += lint.files(folder)
        except SkillError:  # it is not there
            continue
    return [file for file in every if file.resolve() not in real]
