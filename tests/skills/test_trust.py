"""A file that somebody else could change is no skill, and neither is one that leads elsewhere."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dcc_bridge.skills.trust import MAX_FILE_BYTES
from tests.skills.shelf import Shelf, save

SKILL = "def wipe():\n    'Wipe it.'\n"
if sys.platform == "win32":
    pytest.skip("rights are POSIX's", allow_module_level=True)

Make = Callable[[Path, Path], object]


def link(to: Callable[[Path, Path], str | Path]) -> Make:
    return lambda root, outside: (root / "wipe.py").symlink_to(to(root, outside))


def chain(root: Path, outside: Path) -> None:
    (root / "_one").symlink_to(outside)
    (root / "_two").symlink_to(root / "_one")
    (root / "wipe.py").symlink_to(root / "_two" / "wipe.py")


def through_a_folder(root: Path, outside: Path) -> None:
    (root / "_inner").symlink_to(outside, target_is_directory=True)
    (root / "wipe.py").symlink_to("_inner/wipe.py")


def loop(root: Path, outside: Path) -> None:
    (root / "wipe.py").symlink_to(root / "_again.py")
    (root / "_again.py").symlink_to(root / "wipe.py")


def back_and_forth(root: Path, outside: Path) -> None:
    (outside / "back").symlink_to(root)
    (root / "wipe.py").symlink_to(outside / "back" / ".." / "outside" / "wipe.py")


def beside(root: Path, outside: Path) -> None:
    """A sibling whose path begins as the root's does."""
    sibling = save(root.with_name(root.name + "_evil") / "wipe.py", SKILL)
    (root / "wipe.py").symlink_to(sibling)


ESCAPES: dict[str, Make] = {
    "absolute": link(lambda root, outside: outside / "wipe.py"),
    "relative": link(lambda root, outside: "../outside/wipe.py"),
    "dots": link(lambda root, outside: "./././../outside/./wipe.py"),
    "up and down": link(lambda root, outside: f"../{root.name}/../outside/wipe.py"),
    "double slash": link(lambda root, outside: f"//{outside}/wipe.py"),
    "passwd": link(lambda root, outside: "/etc/passwd"),
    "proc": link(lambda root, outside: "/proc/self/environ"),
    "device": link(lambda root, outside: "/dev/zero"),
    "folder": link(lambda root, outside: outside),
    "root": link(lambda root, outside: "/"),
    "nothing": link(lambda root, outside: outside / "gone.py"),
    "parent": link(lambda root, outside: ".."),
    "chain": chain,
    "through a folder": through_a_folder,
    "loop": loop,
    "back and forth": back_and_forth,
    "beside": beside,
}


def rights(what: str, mode: int) -> Make:
    def make(root: Path, outside: Path) -> None:
        file = save(root / "wipe.py", SKILL)
        (file if what == "file" else root).chmod(mode)

    return make


RIGHTS: dict[str, Make] = {
    f"{what} {mode:o}": rights(what, mode)
    for what, modes in {
        "file": (0o646, 0o666, 0o777, 0o602, 0o606, 0o647, 0o676, 0o702),
        "folder": (0o777, 0o707, 0o1777, 0o757, 0o773, 0o703, 0o3777, 0o2777),
    }.items()
    for mode in modes
}


def owned_by(user: int, what: str) -> Make:
    def make(root: Path, outside: Path) -> None:
        file = save(root / "wipe.py", SKILL)
        os.chown(file if what == "file" else root, user, -1)

    return make


OWNERS: dict[str, Make] = {
    f"{what} of {user}": owned_by(user, what)
    for what in ("file", "folder")
    for user in (1, 2, 1000, 65534)
}


def fifo(root: Path, outside: Path) -> None:
    os.mkfifo(root / "wipe.py")


def huge(root: Path, outside: Path) -> None:
    save(root / "wipe.py", SKILL + "#" * MAX_FILE_BYTES)


def below_an_open_folder(root: Path, outside: Path) -> None:
    save(root / "_deep" / "wipe.py", SKILL).parent.chmod(0o777)
    (root / "wipe.py").symlink_to(root / "_deep" / "wipe.py")


def below_an_open_parent(root: Path, outside: Path) -> None:
    save(root / "wipe.py", SKILL)
    root.parent.chmod(0o777)


ODD: dict[str, Make] = {
    "pipe": fifo,
    "folder": lambda root, outside: (root / "wipe.py").mkdir(),
    "huge": huge,
    "below an open folder": below_an_open_folder,
    "above": below_an_open_parent,
}
VECTORS = {**ESCAPES, **RIGHTS, **ODD}
if os.geteuid() == 0:
    VECTORS |= OWNERS


@pytest.mark.parametrize("vector", VECTORS)
def test_what_is_not_trusted_is_refused_with_a_sentence(vector: str, tmp_path: Path) -> None:
    root = tmp_path / "skills"
    root.mkdir()
    outside = save(tmp_path / "outside" / "wipe.py", SKILL).parent
    shelf = Shelf(root)
    VECTORS[vector](root, outside)

    shelf.look()
    shelf.complete()

    assert shelf.names() == []
    if vector not in ("nothing", "loop"):
        assert str(root) in " ".join(map(str, shelf.registry.refused.values())) or vector == "above"
        assert shelf.registry.refused


def test_a_link_inside_its_folder_is_a_file_like_any_other(tmp_path: Path) -> None:
    file = save(tmp_path / "_versions" / "wipe_2.py", SKILL)
    (tmp_path / "wipe.py").symlink_to(file)
    shelf = Shelf(tmp_path)

    shelf.look()

    assert shelf.names() == ["wipe"]


def test_a_folder_that_is_a_link_itself_is_where_it_leads(tmp_path: Path) -> None:
    real = save(tmp_path / "real" / "wipe.py", SKILL).parent
    (tmp_path / "skills").symlink_to(real)
    shelf = Shelf(tmp_path / "skills")

    shelf.look()

    assert shelf.names() == ["wipe"]


def test_trust_that_comes_back_is_seen_at_the_next_look(tmp_path: Path) -> None:
    file = save(tmp_path / "wipe.py", SKILL)
    file.chmod(0o666)
    shelf = Shelf(tmp_path)
    shelf.look()
    assert "chmod o-w" in str(shelf.registry.broken["wipe"])

    file.chmod(0o644)
    shelf.look()

    assert (shelf.names(), shelf.registry.broken) == (["wipe"], {})


@pytest.mark.parametrize("name", ["note.yaml", "skill.yml", "_private.py", ".hidden.py", "x.pyc"])
def test_nothing_but_plain_files_of_python_is_even_opened(name: str, tmp_path: Path) -> None:
    (tmp_path / name).symlink_to("/dev/zero")
    shelf = Shelf(tmp_path)

    shelf.look()

    assert (shelf.names(), shelf.registry.broken, shelf.registry.refused) == ([], {}, {})
