"""``dcc-bridge skill`` and ``guide``: write a skill file, check others, print the guide."""

from __future__ import annotations

import argparse
import json
import keyword
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, get_args

from dcc_bridge.cli import exits, hosts
from dcc_bridge.config import data_folder
from dcc_bridge.elicitation.caller import Risk
from dcc_bridge.elicitation.text import plural
from dcc_bridge.errors import InstructionError, SkillError
from dcc_bridge.instructions.reader import MAIN_FILE, instruction_folders, read_instruction
from dcc_bridge.skills import lint, loader
from dcc_bridge.skills.trust import check_folder
from dcc_bridge.verbs import NAMES as VERBS

PAGES: Final = (
    "skills",
    "verbs",
    "code",
    "hosts",
    "security",
    "troubleshooting",
    "windows",
    "macos",
    "running",
    "farm",
    "batch",
    "architecture",
    "contributing",
    "changelog",
)
_MAX_NAME_CHARS: Final = 60
_DIGITS: Final = range(10)
# Names of devices on Windows, with any suffix.
_DEVICES: Final = {
    *("con", "prn", "aux", "nul"),
    *(f"com{digit}" for digit in _DIGITS),
    *(f"lpt{digit}" for digit in _DIGITS),
}
_TEMPLATE_NAME: Final = "new_skill"
_TEMPLATE_TITLE: Final = "New skill"
_REPLACES: Final = "{} takes the place of the verb of that name in {}."
_NOTHING_TO_CHECK: Final = (
    "There was nothing to check: skills are files that end in .py, and an instruction is a folder "
    f"with a {MAIN_FILE}. Folders below are not searched for skills."
)
# The beginnings of the template's lines that the author of a skill has to replace.
_PLACEHOLDERS: Final = ('"""Say in a sentence ', 'SCENE = ["camera_1"')


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to a parser."""
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    new = commands.add_parser("new", help="write a skill file to start from")
    new.add_argument("name", metavar="NAME", help="the tool's name, such as list_cameras")
    new.add_argument("--folder", type=Path, metavar="DIR", help="default: your own skills")
    risk = "what it may do; a destructive skill asks the person before it deletes anything"
    new.add_argument("--risk", choices=get_args(Risk), default="read", help=risk)
    new.set_defaults(run=_new)
    checked = commands.add_parser("check", help="check skills, and instructions beside them")
    path = f"a skill file, the {MAIN_FILE} of an instruction, or a folder"
    checked.add_argument("path", type=Path, nargs="+", metavar="PATH", help=path)
    checked.add_argument("--json", action="store_true", help="print only a JSON list of problems")
    checked.set_defaults(run=_check)


def fill_guide(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``guide`` to a parser."""
    parser.add_argument(
        "page", nargs="?", type=str.lower, choices=PAGES, metavar="PAGE", help=", ".join(PAGES)
    )


def run_guide(options: argparse.Namespace) -> int:
    """Print a page of the guide, or without a page the titles of all pages."""
    try:
        folder = data_folder("resources") / "guide"
    except FileNotFoundError as error:
        raise exits.Failure(str(error)) from None
    if options.page:
        print(_page_text(folder, options.page).rstrip())
        return exits.SUCCESS
    for page in PAGES:
        title = _page_text(folder, page).splitlines()[0].lstrip("# ")
        print(f"{page:16}{title}")
    return exits.SUCCESS


def _page_text(folder: Path, page: str) -> str:
    return (folder / f"{page}.md").read_text(encoding="utf-8")


def _check_name(name: str) -> None:
    """Raise a Failure unless a skill can have a name."""
    why = ""
    if not name.isascii() or not name.isidentifier() or name.startswith("_"):
        why = "use letters, digits and underscores, with a letter first, such as list_cameras"
    elif keyword.iskeyword(name):
        why = "it is a word of Python"
    elif name.lower() in _DEVICES:
        why = "no file can have it in Windows"
    elif len(name) > _MAX_NAME_CHARS:
        why = f"it has more than {_MAX_NAME_CHARS} characters"
    if why:
        raise exits.Failure(f"{name!r} cannot be the name of a skill: {why}.")


def _new(options: argparse.Namespace) -> int:
    """Write a skill file into a folder, which is created if need be."""
    name = options.name
    folder = options.folder or loader.user_folder(hosts.settings())
    _check_name(name)
    file = folder / f"{name}.py"
    if file.exists():
        raise exits.Failure(f"{file} already exists and was not overwritten.")
    try:
        template = data_folder("resources") / "templates" / f"{options.risk}.py"
        title = name.replace("_", " ").capitalize()
        text = template.read_text(encoding="utf-8").replace(_TEMPLATE_NAME, name)
        folder.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as stream:
            stream.write(text.replace(_TEMPLATE_TITLE, title))
    except OSError as error:
        why = f"{file} cannot be written: {error.strerror}."
        raise exits.Failure(why, exits.FAILED) from None
    print(f"Wrote {file}. It runs as it is. Replace the marked lines with your application's API.")
    if name in VERBS:
        print(_REPLACES.format(name, "every host"))
    return exits.SUCCESS


def _check(options: argparse.Namespace) -> int:
    files = _skill_files(options.path)
    folders = _instruction_folders(options.path)
    problems = [finding for file in files for finding in lint.check(file)]
    problems += _instruction_problems(folders)
    code = exits.SUCCESS
    if problems:
        code = exits.FAILED
    if options.json:
        print(json.dumps([_told(finding) for finding in problems], indent=2))
        return code
    for finding in problems:
        print(finding)
    count = _checked(len(files), len(folders))
    if problems:
        print(f"{plural(len(problems), 'problem')} in {count}.", file=sys.stderr)
        return code
    for file in files:
        _print_notes(file)
    print(f"No problems in {count}.")
    if not files and not folders:
        exits.tell(_NOTHING_TO_CHECK)
    return exits.SUCCESS


def _skill_files(paths: Sequence[Path]) -> list[Path]:
    """Return the skill files at paths, each once.

    Raises:
        Failure: A file is neither a skill file nor the main file of an instruction.
        SkillError: There is nothing at a path.
    """
    files: dict[Path, Path] = {}  # by their real paths
    for path in paths:
        if _is_main_file(path):
            continue
        for file in lint.files(path):
            if file.suffix != ".py":
                raise exits.Failure(
                    f"{file} is no skill file, as its name does not end in .py, and no "
                    f"{MAIN_FILE}, which is the main file of an instruction."
                )
            files[file.resolve()] = file
    return list(files.values())


def _is_main_file(path: Path) -> bool:
    return path.name == MAIN_FILE and path.is_file()


def _instruction_folders(paths: Sequence[Path]) -> list[Path]:
    """Return the paths that are instructions, and the instructions in paths that are folders."""
    folders = []
    for path in paths:
        if _is_main_file(path):
            folders.append(Path(os.path.abspath(path.parent)))
        if os.path.lexists(path / MAIN_FILE):
            folders.append(Path(os.path.abspath(path)))  # "." has no name
        if path.is_dir():
            folders += instruction_folders(path)
    return list(dict.fromkeys(folders))


def _instruction_problems(folders: Sequence[Path]) -> list[lint.Finding]:
    """Return why instructions cannot be served."""
    problems = []
    for folder in folders:
        try:
            read_instruction(folder, check_folder(folder.parent))
        except (InstructionError, SkillError) as error:
            problems.append(lint.Finding(folder / MAIN_FILE, 1, str(error)))
    return problems


def _told(finding: lint.Finding) -> dict[str, object]:
    return {"file": str(finding.file), "line": finding.line, "problem": finding.message}


def _checked(file_count: int, instruction_count: int) -> str:
    """Return what was checked, in words."""
    files = plural(file_count, "file")
    if not instruction_count:
        return files
    return f"{files} and {plural(instruction_count, 'instruction')}"


def _print_notes(file: Path) -> None:
    """Print the verbs that a skill file replaces, and the template's lines that are still in it."""
    for name, number, metadata in lint.read_text(file).names():
        where = ", ".join(metadata.hosts) or "every host"
        if name in VERBS:
            print(f"{file}:{number}: {_REPLACES.format(name, where)}")
    text = file.read_text(encoding="utf-8", errors="replace")  # another encoding may be declared
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip().startswith(_PLACEHOLDERS):
            print(f"{file}:{number}: Still to be filled in: {line.strip()}")
