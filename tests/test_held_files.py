"""Files that another process has open: changed once it lets go of them, or left as they are.

On Linux nobody has to let go of anything. In Windows the processes here are refused as users are.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from dcc_bridge import held_files

LIMIT = 60.0  # seconds for what takes none
WINDOWS = sys.platform == "win32"
HOLDER = """
import sys
with open(sys.argv[1], "rb"):
    print("open", flush=True)
    sys.stdin.readline()
"""


class Holder:
    """A process that has a file open."""

    def __init__(self, file: Path) -> None:
        """Return once the file is open."""
        command = [sys.executable, "-c", HOLDER, str(file)]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "open\n"
        self.is_holding = True

    def let_go(self, seconds: float = 0.0) -> None:
        """Return once the process has ended; harmless the second time."""
        if self.is_holding:
            self._process.communicate("\n", LIMIT)
            self.is_holding = False


def tree(folder: Path) -> dict[str, str]:
    """Return the content of each file below a folder."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {file.relative_to(folder).as_posix(): file.read_text() for file in files}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a folder with a file that is held, and one that is not."""
    folder = tmp_path / "place"
    folder.mkdir()
    for name in ("held", "free"):
        (folder / name).write_text(name)
    return folder


@pytest.fixture
def holder(place: Path) -> Iterator[Holder]:
    """Return a process that has the file open."""
    holder = Holder(place / "held")
    yield holder
    holder.let_go()


def replace(place: Path) -> None:
    held_files.replace(place / "free", place / "held")


def move_the_folder(place: Path) -> None:
    held_files.replace(place, place.with_name("moved"))


def delete(place: Path) -> None:
    held_files.delete(place / "held")


def write(place: Path) -> None:
    with held_files.replacing(place / "held") as new:
        new.write_text("new")


ACTS: dict[Callable[[Path], None], dict[str, str]] = {
    replace: {"place/held": "free"},
    move_the_folder: {"moved/held": "held", "moved/free": "free"},
    delete: {"place/free": "free"},
    write: {"place/held": "new", "place/free": "free"},
}


@pytest.mark.parametrize("act", ACTS)
def test_a_file_is_changed_once_another_process_lets_go_of_it(
    act: Callable[[Path], None], place: Path, holder: Holder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held_files, "time", SimpleNamespace(sleep=holder.let_go))

    act(place)

    assert tree(place.parent) == ACTS[act]
    assert holder.is_holding is not WINDOWS


@pytest.mark.skipif(not WINDOWS, reason="nobody can hold a file")
@pytest.mark.parametrize("act", ACTS)
def test_nothing_is_changed_and_nothing_left_while_another_process_holds_a_file(
    act: Callable[[Path], None], place: Path, holder: Holder
) -> None:
    with pytest.raises(PermissionError):
        act(place)

    assert tree(place.parent) == {"place/held": "held", "place/free": "free"}


def test_a_folder_is_deleted_as_far_as_nobody_holds_it(place: Path, holder: Holder) -> None:
    held_files.delete_folder(place)

    left = {"place/held": "held"} if WINDOWS else {}
    assert tree(place.parent) == left


def test_a_new_file_that_cannot_be_made_whole_leaves_the_old_one_alone(place: Path) -> None:
    def write_half() -> None:
        with held_files.replacing(place / "held") as new:
            new.write_text("ha")
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        write_half()

    assert tree(place) == {"held": "held", "free": "free"}


@pytest.mark.skipif(WINDOWS, reason="there the file may be held")
def test_what_is_refused_for_another_reason_is_not_tried_again() -> None:
    tries = []

    def refuse() -> None:
        tries.append(1)
        raise PermissionError(13, "Permission denied")

    with pytest.raises(PermissionError):
        held_files.retry_while_held(refuse)

    assert len(tries) == 1
