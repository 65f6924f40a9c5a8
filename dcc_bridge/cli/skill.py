"""``dcc-bridge skill``: write a skill file to begin with, and check those that are there."""

from __future__ import annotations

import argparse
import keyword
import sys
from pathlib import Path
from typing import Final

from dcc_bridge.cli import exits, hosts
from dcc_bridge.errors import SkillError
from dcc_bridge.skills import lint, loader

RISKS: Final = ("read", "edit", "destructive")
_MOST: Final = 60
# Names that are no files on Windows, whatever comes after their dot.
_PORTS: Final = {f"{name}{number}" for name in ("com", "lpt") for number in range(10)}
_DEVICES: Final = {"con", "prn", "aux", "nul", *_PORTS}
_HEAD: Final = '''\
"""{title}."""

from __future__ import annotations

from fnmatch import fnmatch

from dcc_bridge import {imports}

# Your application's API goes here, `from maya import cmds`: the file is imported on its main
# thread, when the skill is first called. Until then this list stands for the scene.
SCENE = ["camera_1", "camera_2", "light_1"]

'''
_FIND: Final = '''

def find(pattern: str) -> list[str]:
    """Give the names that match."""
    return [name for name in SCENE if fnmatch(name, pattern)]
'''
_BODIES: Final = {
    "read": '''
@skill(risk="read")
def {name}(pattern: str = "*") -> list[str]:
    """Say in a sentence what an agent gets, and when to call it.

    Args:
        pattern: A glob on the name.
    """
    return find(pattern)
''',
    "edit": '''
@skill(risk="edit", undo="{title}")
def {name}(pattern: str, prefix: str) -> dict[str, str]:
    """Say in a sentence what is changed. The person can undo it as one step.

    Args:
        pattern: A glob on the name.
        prefix: What is put before each name.

    Returns:
        The old names and the new ones.
    """
    renamed = {{name: prefix + name for name in find(pattern)}}
    SCENE[:] = [renamed.get(name, name) for name in SCENE]
    return renamed
''',
    "destructive": '''
@skill(risk="destructive", confirms=True, undo="{title}")
def {name}(pattern: str) -> dict[str, list[str]]:
    """Say in a sentence what is lost. The person is asked first.

    Args:
        pattern: A glob on the name.
    """
    # Nothing is changed before this line. It asks, and waits; a no ends the skill here. The
    # function is called again after the answer: if the scene has changed, it is asked again.
    agreed = confirm_sync("Delete these?", items=lambda: find(pattern), verb="Delete")
    for name in agreed:
        SCENE.remove(name)
    return {{"deleted": list(agreed)}}
''',
}


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to a parser."""
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    new = commands.add_parser("new", help="write a skill file that runs, to begin with")
    new.add_argument("name", metavar="NAME", help="what an agent calls it: list_cameras")
    new.add_argument(
        "--folder", type=Path, metavar="DIR", help="where to; without it, your own skills"
    )
    new.add_argument(
        "--risk",
        choices=RISKS,
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
    folder = options.folder or loader.user_folder(hosts.settings())
    file = write_starter(options.name, folder, options.risk)
    print(f"{file} is a skill that runs: put your application's API where it says so.")
    return exits.SUCCESS


def _check(options: argparse.Namespace) -> int:
    given = [file for path in options.path for file in lint.files(path)]
    findings = lint.check(list(dict.fromkeys(given)), _others(given))
    for finding in findings:
        print(finding)
    many = f"{len(given)} file" + "s" * (len(given) != 1)
    if findings:
        print(f"{len(findings)} to put right in {many}.", file=sys.stderr)
        return exits.TOOL_ERROR
    print(f"{many}: nothing to put right.")
    return exits.SUCCESS


def _others(given: list[Path]) -> list[Path]:
    """Give the files of the folders that a bridge looks in besides: their names are taken."""
    real = {file.resolve() for file in given}
    every: list[Path] = []
    for folder in loader.folders((), hosts.settings()):
        try:
            every += lint.files(folder)
        except SkillError:  # it is not there
            continue
    return [file for file in every if file.resolve() not in real]


def write_starter(name: str, folder: Path, risk: str) -> Path:
    """Write the file, in a folder that is made if need be.

    Args:
        name: What an agent calls the skill: a name of Python's in plain letters.
        folder: Where to.
        risk: One of `RISKS`.

    Raises:
        Failure: The name is none, the file is there already, or it cannot be written.
    """
    fits = name.isascii() and name.isidentifier() and not keyword.iskeyword(name)
    if not fits or name.lower() in _DEVICES or name.startswith("_") or len(name) > _MOST:
        raise exits.Failure(
            f"{name!r} is no name for a skill: letters, digits and underscores, with a letter "
            "first, such as list_cameras."
        )
    file = folder / f"{name}.py"
    title = name.replace("_", " ").capitalize()
    imports = "confirm_sync, skill" if risk == "destructive" else "skill"
    text = (_HEAD + _BODIES[risk]).format(name=name, title=title, imports=imports) + _FIND
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        raise exits.Failure(f"{file} is there already, and is not written over.") from None
    except OSError as error:
        raise exits.Failure(f"{file} cannot be written: {error}.") from None
    return file
