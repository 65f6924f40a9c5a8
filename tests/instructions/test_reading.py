"""A folder with a SKILL.md is trusted as a skill file is, and breaks no rule of its format."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dcc_bridge.elicitation.text import find_hidden, is_hidden
from dcc_bridge.instructions.collection import Instructions, read_folders
from dcc_bridge.instructions.reader import MAX_FILES
from dcc_bridge.skills.trust import MAX_FILE_BYTES
from tests.hosts.application import ROOT
from tests.instructions.shelf import put

Make = Callable[[Path, Path], object]


def link_out(folder: Path, outside: Path) -> None:
    (folder / "notes.md").symlink_to(outside / "notes.md")


def link_of_main(folder: Path, outside: Path) -> None:
    (folder / "SKILL.md").unlink()
    (folder / "SKILL.md").symlink_to(outside / "rig" / "SKILL.md")


def link_of_folder(folder: Path, outside: Path) -> None:
    (folder / "more").symlink_to(outside, target_is_directory=True)


def link_in_a_circle(folder: Path, outside: Path) -> None:
    (folder / "a.md").symlink_to(folder / "b.md")
    (folder / "b.md").symlink_to(folder / "a.md")


def linked_whole(folder: Path, outside: Path) -> None:
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    folder.symlink_to(outside / "rig", target_is_directory=True)


def pipe(folder: Path, outside: Path) -> None:
    if sys.platform != "win32":
        os.mkfifo(folder / "notes.md")


def writable(folder: Path, outside: Path) -> None:
    (folder / "SKILL.md").chmod(0o666)


def deep(folder: Path, outside: Path) -> None:
    (folder / "/".join("abcdefghij")).mkdir(parents=True)


def many(folder: Path, outside: Path) -> None:
    for number in range(MAX_FILES):
        (folder / f"{number}.md").touch()


def in_total(folder: Path, outside: Path) -> None:
    for number in range(9):
        (folder / f"{number}.md").write_bytes(b"-" * MAX_FILE_BYTES)


BAD: dict[str, tuple[Make, str]] = {
    "link out": (link_out, "notes.md: it is a link that points outside its folder"),
    "link of SKILL.md": (link_of_main, "SKILL.md: it is a link that points outside its folder"),
    "link of a folder": (link_of_folder, "more: it is a link to a folder"),
    "link in a circle": (link_in_a_circle, "a.md: it cannot be read"),
    "whole folder linked": (linked_whole, "SKILL.md: it is a link that points outside its folder"),
    "pipe": (pipe, "notes.md: it is not a plain file"),
    "writable": (writable, "SKILL.md: everybody may write to it"),
    "deep": (deep, "it is more than 8 folders deep"),
    "many": (many, "it has more than 512 files, or more than 16,777,216 bytes"),
    "in total": (in_total, "it has more than 512 files, or more than 16,777,216 bytes"),
    "long": (
        lambda folder, outside: (folder / "a.md").write_bytes(b"-" * (MAX_FILE_BYTES + 1)),
        "a.md: it is longer than 2,000,000 bytes",
    ),
    "Latin-1": (
        lambda folder, outside: (folder / "a.md").write_bytes("é".encode("latin-1")),
        "a.md: it is not UTF-8. Save it as UTF-8.",
    ),
    "picture": (
        lambda folder, outside: (folder / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n\0"),
        "a.png: it is not UTF-8",
    ),
    "byte order mark": (
        lambda folder, outside: (folder / "a.md").write_text("a", "utf-8-sig"),
        "a.md, line 1: it has the hidden character U+FEFF",
    ),
    "bidi": (
        lambda folder, outside: (folder / "a.md").write_text("a\nb\u202ec", "utf-8"),
        "a.md, line 2: it has the hidden character U+202E",
    ),
    "no front matter": (
        lambda folder, outside: (folder / "SKILL.md").write_text("# Rig"),
        "SKILL.md, line 1: it does not begin with ---",
    ),
}  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="rights and links are POSIX's")
@pytest.mark.parametrize("vector", BAD)
def test_what_must_not_be_served_is_a_sentence_and_the_other_is_served(
    vector: str, tmp_path: Path
) -> None:
    make, told = BAD[vector]
    root = tmp_path / "skills"
    put(root)
    folder = put(root, "rig")
    put(tmp_path / "outside", "rig")
    (tmp_path / "outside" / "notes.md").touch()
    make(folder, tmp_path / "outside")

    reading = read_folders([root])

    assert [it.name for it in reading.served.values()] == ["light-a-shot"]
    ((uri, error),) = reading.refused.items()
    assert uri == "skill://rig/SKILL.md"
    assert told in str(error)
    assert str(root / "rig") in str(error)


@pytest.mark.parametrize(
    ("name", "head", "told"),
    [
        ("Rig", {}, "'Rig' cannot be its name"),
        ("rig--it", {}, "'rig--it' cannot be its name"),
        ("r" * 65, {}, "cannot be its name"),
        ("rig", {"description": '""'}, "no description that says when to read it"),
        ("rig", {"description": "a" * 1025}, "description is not a text of at most 1024"),
        ("rig", {"description": "\n  a: b"}, "description is not a text of at most 1024"),
        ("rig", {"compatibility": "a" * 501}, "compatibility is not a text of at most 500"),
        ("rig", {"version": "1.0"}, "line 4: write its text in double quotes"),
    ],
)
def test_a_rule_of_the_format_that_is_broken_is_named(
    name: str, head: dict[str, str], told: str, tmp_path: Path
) -> None:
    put(tmp_path, name, **head)

    reading = read_folders([tmp_path])

    assert not reading.served
    assert told in str(next(iter(reading.refused.values())))


def test_a_name_is_that_of_its_folder(tmp_path: Path) -> None:
    put(tmp_path, "other").rename(tmp_path / "rig")

    reading = read_folders([tmp_path])

    told = str(reading.refused["skill://rig/SKILL.md"])
    assert told.endswith("SKILL.md: its name is 'other', and not that of its folder.")


def test_the_one_of_the_guide_can_be_served(tmp_path: Path) -> None:
    guide = (ROOT / "resources" / "guide" / "skills.md").read_text("utf-8")
    (text,) = re.findall(r"^```text\n(---\n.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    file = tmp_path / "light-our-way" / "SKILL.md"
    file.parent.mkdir()
    file.write_text(text, "utf-8")

    reading = read_folders([tmp_path])

    assert list(reading.served) == ["skill://light-our-way/SKILL.md"]


def test_the_first_folder_wins_and_the_other_is_named(tmp_path: Path) -> None:
    put(tmp_path / "one", text="first")
    second = put(tmp_path / "two", text="second")

    reading = read_folders([tmp_path / "one", tmp_path / "two"])

    (served,) = reading.served.values()
    assert b"first" in served.files[0].content
    assert "There are two instructions named 'light-a-shot'" in str(reading.refused[str(second)])


def test_a_folder_that_others_may_write_to_is_left_aside(tmp_path: Path) -> None:
    if sys.platform == "win32":
        pytest.skip("rights are POSIX's")
    put(tmp_path / "open").parent.chmod(0o777)
    put(tmp_path / "own", "rig")

    reading = read_folders([tmp_path / "open", tmp_path / "gone", tmp_path / "own"])

    assert [it.name for it in reading.served.values()] == ["rig"]
    assert "everybody may write to it" in str(reading.refused[str(tmp_path / "open")])


@pytest.mark.parametrize("name", ["_draft", ".git", "notes"])
def test_only_folders_with_a_main_file_and_a_plain_name_are_instructions(
    name: str, tmp_path: Path
) -> None:
    own = put(tmp_path, name)
    if name == "notes":
        (own / "SKILL.md").rename(own / "README.md")
    (tmp_path / "skill.py").write_text("def skill(): ...")

    reading = read_folders([tmp_path])

    assert (reading.served, reading.refused) == ({}, {})


def test_a_file_that_has_not_changed_is_not_read_again(tmp_path: Path) -> None:
    folder = put(tmp_path)
    (folder / "notes.md").write_text("one")
    instructions = Instructions([tmp_path])

    (before,) = instructions.read().served.values()
    (again,) = instructions.read("light-a-shot").served.values()
    (folder / "notes.md").write_text("two")
    os.utime(folder / "notes.md", (1, 1))
    (after,) = instructions.read().served.values()

    assert again.fields is before.fields
    assert list(map(id, again.files)) == list(map(id, before.files))
    assert after.files[0] is before.files[0]
    assert after.files[1].content == b"two"
    assert after.files[1].digest != before.files[1].digest


@pytest.mark.skipif(sys.platform == "win32", reason="rights are POSIX's")
@pytest.mark.parametrize("writable", [".", "more", "more/notes.md"])
def test_a_file_that_was_read_is_refused_once_others_may_write_to_it(
    writable: str, tmp_path: Path
) -> None:
    folder = put(tmp_path)
    (folder / "more").mkdir()
    (folder / "more" / "notes.md").touch()
    instructions = Instructions([tmp_path])

    before = instructions.read()
    (folder / writable).chmod(0o777)
    after = instructions.read("light-a-shot")

    assert list(before.served) == list(after.refused)
    assert "everybody may write to it" in str(after.refused["skill://light-a-shot/SKILL.md"])


@pytest.mark.parametrize("before", ["", "\N{WARNING SIGN}"])
def test_every_hidden_character_is_found(before: str) -> None:
    every = [chr(code) for code in range(sys.maxunicode + 1)]
    expected = [char for char in every if is_hidden(char, before or " ")]

    assert [char for char in every if find_hidden(before + char) is not None] == expected
