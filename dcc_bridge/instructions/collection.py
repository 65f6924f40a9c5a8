"""The instructions of some folders, looked for whenever somebody asks. Any thread.

The folders are those of skill files, in the same order, and then the application's own. Of two
instructions with one name the first one is used. So an instruction of a studio takes the place of
an own one, also while it cannot be served.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dcc_bridge.errors import InstructionError, SkillError
from dcc_bridge.instructions.reader import (
    Instruction,
    instruction_folders,
    main_uri,
    read_instruction,
)
from dcc_bridge.skills.trust import check_folder

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Reading:
    """The instructions at one moment.

    Attributes:
        served: The instructions, by the URIs of their SKILL.md.
        refused: Why others cannot be served, by the URI that they would have, or by their place.
    """

    served: dict[str, Instruction] = field(default_factory=dict)
    refused: dict[str, InstructionError] = field(default_factory=dict)


class Instructions:
    """The instructions of a bridge.

    Attributes:
        own: The folder of the application's own instructions, once its verbs are known; else None.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        """Prepare; nothing is read.

        Args:
            folders: The folders of skill files, the most trusted first. A folder that does not
                exist may come later.
        """
        self._folders = tuple(folders)
        self.own: Path | None = None
        self._logged: set[str] = set()
        self._known: dict[str, Instruction] = {}  # those that were read last, by their URIs

    def read(self, name: str | None = None) -> Reading:
        """Return what there is now, and log each new sentence about what cannot be served.

        It blocks while the files are read. A file that has not changed is not read again.

        Args:
            name: The only instruction that is read; None for all.
        """
        reading = read_folders(self._folders, self.own, name, self._known)
        sentences = {str(error) for error in reading.refused.values()}
        for sentence in sorted(sentences - self._logged):
            log.warning("%s", sentence)
        if name is None:
            self._logged = sentences
            self._known = reading.served
        else:
            self._logged = self._logged | sentences
            self._known = {**self._known, **reading.served}
        return reading


def read_folders(
    folders: Sequence[Path],
    own: Path | None = None,
    name: str | None = None,
    known: Mapping[str, Instruction] | None = None,
) -> Reading:
    """Return the instructions of some folders.

    Args:
        folders: The folders, the most trusted first.
        own: The folder of the application's own instructions, in whose place others stand.
        name: The only instruction that is read; None for all.
        known: Instructions that were read before, by their URIs.
    """
    reading = Reading()
    for folder in folders:
        _add_folder(reading, folder, name, known or {}, is_replaced=False)
    if own is not None:
        _add_folder(reading, own, name, known or {}, is_replaced=True)
    return reading


def _add_folder(
    reading: Reading,
    folder: Path,
    name: str | None,
    known: Mapping[str, Instruction],
    *,
    is_replaced: bool,
) -> None:
    """Add the instructions of a folder.

    Args:
        reading: Takes them.
        folder: The folder, which need not exist.
        name: The only instruction that is added; None for all.
        known: Instructions that were read before, by their URIs.
        is_replaced: Whether an instruction whose name is taken is left out without a word.
    """
    try:
        root = check_folder(folder)
        found = instruction_folders(folder)
    except SkillError as error:
        reading.refused[str(folder)] = InstructionError(str(error))
        return
    except OSError:  # the folder is not there
        return
    for path in found:
        if name is not None and path.name != name:
            continue
        uri = main_uri(path.name)
        is_taken = uri in reading.served or uri in reading.refused
        if is_taken and not is_replaced:
            why = f"There are two instructions named {path.name!r}. That in {path} is not used."
            reading.refused[str(path)] = InstructionError(f"{why} Rename it and its folder.")
        if is_taken:
            continue
        try:
            reading.served[uri] = read_instruction(path, root, known.get(uri))
        except InstructionError as error:
            reading.refused[uri] = error
