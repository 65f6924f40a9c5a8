"""Names that somebody else took before us, as links to places of theirs (row 5)."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from dcc_bridge import private_files
from dcc_bridge.audit.log import AuditLog
from dcc_bridge.errors import BridgeError, NotRecorded, StartError
from dcc_bridge.server import discovery
from dcc_bridge.server.discovery import Instance, LockFile, Registration

if sys.platform == "win32":
    pytest.skip("links as anybody can make them", allow_module_level=True)
RACES = 30_000
CALL = {"call": "c1", "skill": "delete", "client": "claude"}


PLANTS: dict[str, Callable[[Path, Path], object]] = {
    "link": lambda place, trap: place.symlink_to(trap),
    "dangling link": lambda place, trap: place.symlink_to(trap.with_name("new")),
    "hard link": lambda place, trap: place.hardlink_to(trap),
    "file": lambda place, trap: place.write_bytes(b"mine"),
    "pipe": lambda place, trap: os.mkfifo(place),
    "folder": lambda place, trap: place.mkdir(),
}


def register(folder: Path) -> None:
    Registration(Instance("u", "h", "v", "s", secret="s"), folder).withdraw()


def record(folder: Path) -> None:
    AuditLog(folder)(("begin", CALL))


USES: dict[Callable[[Path], object], str] = {
    register: "DCC_BRIDGE_RUNTIME",
    record: "cannot be used|not yours",
    lambda folder: LockFile(folder / "x.lock"): ".",
}
"""What makes files in a folder, and what its refusal says."""


@pytest.fixture
def theirs(tmp_path: Path) -> Iterator[Path]:
    """A folder of somebody else's, with one file, into which nothing may come."""
    (folder := tmp_path / "theirs").mkdir()
    (folder / "victim").write_text("theirs")
    before = (folder / "victim").stat().st_mtime_ns
    yield folder
    assert [file.name for file in folder.iterdir()] == ["victim"]
    assert (folder / "victim").read_text() == "theirs"
    assert (folder / "victim").stat().st_mtime_ns == before


@pytest.mark.parametrize("plant", PLANTS)
@pytest.mark.parametrize("name", ["AUDIT.ab.jsonl", "h-ab.lock", "h-ab.json.ab.new", "h-ab.json"])
def test_a_name_that_was_taken_before_is_not_written_to(
    name: str, plant: str, theirs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever guessed a file's name gets nothing of what is written; what may be, is replaced."""
    monkeypatch.setattr("secrets.token_hex", lambda count: "ab")
    (ours := tmp_path / "ours").mkdir(mode=0o700)
    use = record if name.startswith("AUDIT") else register
    if use is record:
        log = AuditLog(ours)
        name, use = name.replace("AUDIT", log._name), lambda folder: log(("begin", CALL))
    PLANTS[plant](ours / name, theirs / "victim")

    refuses = pytest.raises((FileExistsError, NotRecorded), match="exists")
    with suppress(OSError) if name == "h-ab.json" else refuses:
        use(ours)


@pytest.mark.parametrize("use", USES)
def test_a_folder_that_leads_elsewhere_is_not_used(
    use: Callable[[Path], object], theirs: Path, tmp_path: Path
) -> None:
    (tmp_path / "ours").symlink_to(theirs)

    with pytest.raises((OSError, BridgeError), match=USES[use]):
        use(tmp_path / "ours")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user")
@pytest.mark.parametrize("use", USES)
def test_a_folder_of_somebody_else_is_not_used(
    use: Callable[[Path], object], tmp_path: Path
) -> None:
    (ours := tmp_path / "ours").mkdir(mode=0o777)
    os.chown(ours, 65534, 65534)

    with pytest.raises((OSError, BridgeError), match=USES[use]):
        use(ours)

    assert list(ours.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user")
def test_a_fallback_folder_of_somebody_else_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever may write to the system's folder for temporary files can make it before us."""
    (theirs := tmp_path / f"runtime-{os.getuid()}").mkdir(mode=0o700)
    os.chown(theirs, 65534, 65534)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # newer platformdirs look where that comes from
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)

    with pytest.raises(StartError, match=f"{theirs}.* Set DCC_BRIDGE_RUNTIME to a folder of yours"):
        discovery.running()


FORGERIES: dict[str, Callable[[Path, Path], None]] = {
    "link": lambda place, record: place.symlink_to(record),
    "pipe": lambda place, record: os.mkfifo(place, 0o600),
    "open to others": lambda place, record: record.rename(place).chmod(0o644),
    "of another user": lambda place, record: os.chown(record.rename(place), 65534, 65534),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_record_that_is_not_a_plain_file_of_ours_alone_is_not_read(
    forgery: str, tmp_path: Path
) -> None:
    """Its lock is held, and what stands in it is a host's own."""
    if forgery == "of another user" and os.geteuid() != 0:
        pytest.skip("needs a second user")
    registration = Registration(Instance("u", "h", "v", "s"), tmp_path)
    (before,) = discovery.running(tmp_path)
    file = tmp_path / f"{before.id}.json"
    record = file.rename(file.with_suffix(".kept"))
    FORGERIES[forgery](file, record)

    assert discovery.running(tmp_path) == []
    registration.withdraw()


def test_a_folder_that_becomes_a_link_and_back(theirs: Path, tmp_path: Path) -> None:
    """Somebody swaps it as fast as they can while files are made: none is made in theirs."""
    ours, link, aside = tmp_path / "ours", tmp_path / "link", tmp_path / "aside"
    ours.mkdir(mode=0o700)
    link.symlink_to(theirs)
    over, swaps = threading.Event(), 0

    def swap() -> None:
        nonlocal swaps
        while not over.is_set():
            for source, target in ((ours, aside), (link, ours), (ours, link), (aside, ours)):
                os.rename(source, target)
            swaps += 1

    thread = threading.Thread(target=swap)
    thread.start()
    created = 0
    try:
        for number in range(RACES):
            with suppress(OSError):
                os.close(private_files.create(ours / f"{number}.json"))
                created += 1
    finally:
        over.set()
        thread.join()

    assert swaps > 10
    assert 0 < created == len(list(ours.iterdir()))
