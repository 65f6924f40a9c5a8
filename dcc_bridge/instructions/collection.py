"""The instructions of some folders, read anew whenever somebody asks. Any thread.

The folders are those of skill files, in the same order, and then the application's own. Of two
instructions with one name the first one is used. So an instruction of a studio takes the place of
an own one, also while it cannot be served.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
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

    def read(self) -> Reading:
        """Return what there is now, and log each new sentence about what cannot be served.

        It blocks while the files are read.
        """
        reading = read_folders(self._folders, self.own)
        sentences = {str(error) for error in reading.refused.values()}
        for sentence in sorted(sentences - self._logged):
            log.warning("%s", sentence)
        self._logged = sentences
        return reading


def read_folders(folders: Sequence[Path], own: Path | None = None) -> Reading:
    """Return the instructions of some folders.

    Args:
        folders: The folders, the most trusted first.
        own: The folder of the application's own instructions, in whose place others stand.
    """
    reading = Reading()
    for folder in folders:
        _add_folder(reading, folder, is_replaced=False)
    if own is not None:
        _add_folder(reading, own, is_replaced=True)
    return reading


def _add_folder(reading: Reading, folder: Path, *, is_replaced: bool) -> None:
    """Add the instructions of a folder.

    Args:
        reading: Takes them.
        folder: The folder, which need not exist.
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
        uri = main_uri(path.name)
        is_taken = uri in reading.served or uri in reading.refused
        if is_taken and not is_replaced:
            why = f"There are two instructions named {path.name!r}. That in {path} is not used."
            reading.refused[str(path)] = InstructionError(f"{why} Rename it and its folder.")
        if is_taken:
            continue
        try:
            reading.served[uri] = read_instruction(path, root)
        except InstructionError as error:
            reading.refused[uri] = error
