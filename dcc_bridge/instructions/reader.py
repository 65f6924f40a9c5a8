"""Reads one instruction: a folder with a SKILL.md and the files beside it. Any thread.

A file is read only if it is trusted as a skill file is, see `dcc_bridge.skills.trust`. A client
checks the digest of each file, so the bytes are served as they are. Hidden characters cannot be
made visible then, as in other texts for clients: a file with one is refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final
from urllib.parse import quote

from dcc_bridge.elicitation.text import find_hidden
from dcc_bridge.errors import InstructionError, SkillError
from dcc_bridge.instructions.front_matter import Fields, read_fields
from dcc_bridge.skills.trust import MAX_FILE_BYTES, open_trusted

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
Stamp = tuple[str, int, int, int, int]


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file of an instruction.

    Attributes:
        uri: The URI by which a client reads it.
        content: The whole file, as it is on the disk.
        digest: The digest of the content, in the notation of the extension.
        stamp: The path of the file, its times in ns, its size and its number on the drive: the
            content is the same while these are.
    """

    uri: str
    content: bytes
    digest: str
    stamp: Stamp


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


def name_of(uri: str) -> str:
    """Return the name of the instruction of which a URI can be a file."""
    return uri.removeprefix(_SCHEME).split("/")[0]


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


def read_instruction(folder: Path, root: Path, known: Instruction | None = None) -> Instruction:
    """Read an instruction.

    Args:
        folder: Its folder.
        root: The real path of the folder in which it is, from `trust.check_folder`.
        known: The instruction of that name that was read before. A file that has not changed since
            is not read again; whether it is trusted is checked all the same.

    Raises:
        InstructionError: It cannot be served. The message names the file, the reason and, where
            there is one, the line.
    """
    files: list[TextFile] = []
    fields: Fields = {}
    known_files: dict[str, TextFile] = {}
    if known is not None:
        known_files = {file.uri: file for file in known.files}
    size = 0
    for path in _files_below(folder):
        parts = path.relative_to(folder).parts
        uri = _SCHEME + "/".join(quote(part, safe="") for part in (folder.name, *parts))
        file = _read_file(path, root, uri, known_files)
        size += len(file.content)
        if len(files) == MAX_FILES or size > MAX_BYTES:
            raise InstructionError(
                f"{folder}: it has more than {MAX_FILES} files, or more than {MAX_BYTES:,} bytes."
            )
        if parts != (MAIN_FILE,):
            files.append(file)
            continue
        files.insert(0, file)
        if known is not None and file is known_files.get(uri):
            fields = known.fields
        else:
            fields = _read_main_fields(path, file.content.decode("utf-8"))
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


def _read_file(path: Path, root: Path, uri: str, known: Mapping[str, TextFile]) -> TextFile:
    """Return a file, the known one if it has not changed.

    Raises:
        InstructionError: The file cannot be served.
    """
    try:
        with open_trusted(path, root) as stream:
            about = os.fstat(stream.fileno())
            times = (about.st_mtime_ns, about.st_ctime_ns)
            stamp = (str(path), *times, about.st_size, about.st_ino)
            file = known.get(uri)
            if file is not None and file.stamp == stamp:
                return file
            content = stream.read(MAX_FILE_BYTES)
        text = content.decode("utf-8")
    except SkillError as error:
        raise InstructionError(str(error)) from error
    except UnicodeDecodeError:
        raise InstructionError(f"{path}: it is not UTF-8. Save it as UTF-8.") from None
    except (OSError, RuntimeError) as error:  # RuntimeError for links in a circle
        raise InstructionError(f"{path}: it cannot be read: {error}.") from error
    text = text.replace("\r\n", "\n")
    hidden = find_hidden(text)
    if hidden is not None:
        number = 1 + text.count("\n", 0, hidden)
        raise InstructionError(
            f"{path}, line {number}: it has the hidden character U+{ord(text[hidden]):04X}. "
            "Remove it."
        )
    return TextFile(uri, content, f"sha256:{sha256(content).hexdigest()}", stamp)


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
