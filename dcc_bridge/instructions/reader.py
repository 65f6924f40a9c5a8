"""Reads one instruction: a folder with a SKILL.md and the files beside it. Any thread.

A file is read only if it is trusted as a skill file is, see `dcc_bridge.skills.trust`. A client
checks the digest of each file, so the bytes are served as they are. Hidden characters cannot be
made visible then, as in other texts for clients: a file with one is refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final
from urllib.parse import quote

from dcc_bridge.elicitation.text import is_hidden
from dcc_bridge.errors import InstructionError, SkillError
from dcc_bridge.instructions.front_matter import Fields, read_fields
from dcc_bridge.skills.trust import read_trusted

MAIN_FILE: Final = "SKILL.md"
MAX_FILES: Final = 512
"""Files of one instruction, which every client accepts by SEP-2640, as it does `MAX_BYTES`."""
MAX_BYTES: Final = 16_777_216
"""Bytes of all files of one instruction."""
_MAX_DEPTH: Final = 8
_SCHEME: Final = "skill://"
# The rules of Agent Skills (agentskills.io/specification).
_NAME: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_MAX_NAME_CHARS: Final = 64
_MAX_FIELD_CHARS: Final = {"description": 1024, "compatibility": 500}
_NOT_SERVED: Final = ("_", ".")  # the beginnings of names that are passed over


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file of an instruction.

    Attributes:
        uri: The URI by which a client reads it.
        content: The whole file, as it is on the disk.
    """

    uri: str
    content: bytes

    @property
    def digest(self) -> str:
        """The digest of the content, in the notation of the extension."""
        return f"sha256:{sha256(self.content).hexdigest()}"


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction that can be served.

    Attributes:
        name: Its name, which is that of its folder.
        fields: The front matter of its SKILL.md.
        files: All files, the SKILL.md first.
    """

    name: str
    fields: Fields
    files: tuple[TextFile, ...]

    @property
    def uri(self) -> str:
        """The URI of its SKILL.md, by which clients know it."""
        return main_uri(self.name)


def main_uri(name: str) -> str:
    """Return the URI of the SKILL.md of an instruction."""
    return f"{_SCHEME}{name}/{MAIN_FILE}"


def is_instruction_uri(uri: str) -> bool:
    """Return whether a URI can be that of a file of an instruction."""
    return uri.startswith(_SCHEME)


def instruction_folders(folder: Path) -> list[Path]:
    """Return the folders in a folder that have a SKILL.md, by name.

    Raises:
        OSError: The folder cannot be listed.
    """
    folders = []
    with os.scandir(folder) as entries:
        for entry in entries:
            path = folder / entry.name
            if not entry.name.startswith(_NOT_SERVED) and os.path.lexists(path / MAIN_FILE):
                folders.append(path)
    return sorted(folders)


def read_instruction(folder: Path, root: Path) -> Instruction:
    """Read an instruction.

    Args:
        folder: Its folder.
        root: The real path of the folder in which it is, from `trust.check_folder`.

    Raises:
        InstructionError: It cannot be served. The message names the file, the reason and, where
            there is one, the line.
    """
    files: list[TextFile] = []
    fields: Fields = {}
    size = 0
    for path in _files_below(folder):
        content, text = _read_text(path, root)
        size += len(content)
        if len(files) == MAX_FILES or size > MAX_BYTES:
            raise InstructionError(
                f"{folder}: it has more than {MAX_FILES} files, or more than {MAX_BYTES:,} bytes."
            )
        parts = path.relative_to(folder).parts
        uri = _SCHEME + "/".join(quote(part, safe="") for part in (folder.name, *parts))
        if parts == (MAIN_FILE,):
            fields = _read_main_fields(path, text)
            files.insert(0, TextFile(uri, content))
        else:
            files.append(TextFile(uri, content))
    return Instruction(folder.name, fields, tuple(files))


def _files_below(folder: Path, depth: int = 0) -> Iterator[Path]:
    """Yield the files in a folder and in those below it, by name.

    Raises:
        InstructionError: A folder is a link, cannot be listed, or is too deep.
    """
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries)
    except OSError as error:
        raise InstructionError(f"{folder}: it cannot be read: {error}.") from error
    for name in names:
        path = folder / name
        if name.startswith(_NOT_SERVED):
            continue
        if not path.is_dir():
            yield path
        elif path.is_symlink():
            raise InstructionError(f"{path}: it is a link to a folder. Put the folder there.")
        elif depth == _MAX_DEPTH:
            raise InstructionError(f"{path}: it is more than {_MAX_DEPTH} folders deep.")
        else:
            yield from _files_below(path, depth + 1)


def _read_text(path: Path, root: Path) -> tuple[bytes, str]:
    """Return the bytes and the text of a file; InstructionError if it cannot be served."""
    try:
        content = read_trusted(path, root)
        text = content.decode("utf-8")
    except SkillError as error:
        raise InstructionError(str(error)) from error
    except UnicodeDecodeError:
        raise InstructionError(f"{path}: it is not UTF-8. Save it as UTF-8.") from None
    except (OSError, RuntimeError) as error:  # RuntimeError for links in a circle
        raise InstructionError(f"{path}: it cannot be read: {error}.") from error
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        before = " "
        for char in line:
            if is_hidden(char, before):
                raise InstructionError(
                    f"{path}, line {number}: it has the hidden character U+{ord(char):04X}. "
                    "Remove it."
                )
            before = char
    return content, text


def _read_main_fields(path: Path, text: str) -> Fields:
    """Return the fields of a SKILL.md; InstructionError if they break a rule of Agent Skills."""
    try:
        fields = read_fields(text)
    except InstructionError as error:
        raise InstructionError(f"{path}, {error}.") from None
    name = fields.get("name")
    if name != path.parent.name:
        raise InstructionError(f"{path}: its name is {name!r}, and not that of its folder.")
    if not _NAME.fullmatch(name) or len(name) > _MAX_NAME_CHARS:
        raise InstructionError(
            f"{path}: {name!r} cannot be its name: use at most {_MAX_NAME_CHARS} small letters, "
            "digits and single hyphens, such as light-a-shot."
        )
    if not fields.get("description"):
        raise InstructionError(f"{path}: it has no description that says when to read it.")
    for field, most in _MAX_FIELD_CHARS.items():
        value = fields.get(field, "")
        if not isinstance(value, str) or len(value) > most:
            raise InstructionError(f"{path}: its {field} is not a text of at most {most} letters.")
    return fields
