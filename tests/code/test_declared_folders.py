"""A folder that code declares: what is in it, which are refused, and the copies of its files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge import checkpoints
from dcc_bridge.elicitation.consent_view import undo_line
from dcc_bridge.elicitation.question import Question
from tests.code.seat import REMOVES, YES, Seat, Sit
from tests.live import status, text
from tests.stand_ins import after

# `a` is a file in the declared folder `top`, `below` a folder in it with another one, `b`.
CHANGES = {
    "writes over": "open(a, 'w').close()",
    "appends": "open(a, 'a').close()",
    "writes in place": "open(a, 'r+').close()",
    "opens by number": "os.close(os.open(a, os.O_WRONLY | os.O_TRUNC))",
    "cuts off": "os.truncate(a, 0)",
    "removes": "os.remove(a)",
    "renames": "os.rename(a, top + '/c')",
    "renames another over it": "os.replace(b, a)",
    "links another name to it and writes there": "other = top + '/c'\nos.link(a, other)\n"
    "open(other, 'w').close()",
    "moves": "shutil.move(a, below)",
    "removes all": "shutil.rmtree(top)",
    "copies over it": "shutil.copyfile(b, a)",
    "exports over it": "stage.GetRootLayer().Export(a)",
    "removes it by its folder": "os.remove('a.usda', dir_fd=os.open(top, os.O_RDONLY))",
}


@pytest.fixture
def renders(tmp_path: Path) -> Path:
    """A folder with two files, the second one in a folder below."""
    folder = tmp_path / "renders"
    (folder / "below").mkdir(parents=True)
    (folder / "a.usda").write_text("#usda 1.0\n")
    (folder / "below" / "b.txt").write_text("as it was")
    return folder


def code_for(renders: Path, code: str) -> str:
    """Put the names that the code has before it."""
    paths = {"top": renders, "a": renders / "a.usda"}
    paths |= {"below": renders / "below", "b": renders / "below" / "b.txt"}
    names = [f"{name} = {str(path)!r}" for name, path in paths.items()]
    return "\n".join(["import os, shutil", *names, code])


def copies(live: Seat) -> dict[str, str]:
    """Return the texts of the copies in the scene's checkpoints, by the path in their folder."""
    every: dict[str, str] = {}
    for folder in checkpoints.taken(checkpoints.checkpoint_folder(live.session)):
        files = (file for file in folder.rglob("*") if file.is_file())
        every |= {str(file.relative_to(folder)): file.read_text() for file in files}
    return every


def told_of(question: Question) -> str:
    """Return what the question says of the files and of undo."""
    assert question.consent is not None
    return f"{question.message}\n{undo_line(question.consent)}"


@pytest.mark.parametrize("code", CHANGES.values(), ids=CHANGES.keys())
def test_a_copy_of_a_file_in_a_declared_folder_is_kept_before_its_first_change(
    code: str, seat: Sit, renders: Path
) -> None:
    live = seat(YES)

    live.ran(code_for(renders, code), writes=[str(renders)])

    assert copies(live)["renders/a.usda"] == "#usda 1.0\n"


def test_a_folder_that_is_renamed_is_copied_with_all_below_it(seat: Sit, renders: Path) -> None:
    live = seat(YES)

    live.ran(code_for(renders, "os.rename(below, top + '/other')"), writes=[str(renders)])

    assert copies(live) == {"renders/below/b.txt": "as it was"}


@pytest.mark.core
def test_a_file_is_copied_once_as_it_was_before_the_code_ran(seat: Sit, renders: Path) -> None:
    """Also where the code runs again, because what it deletes was agreed to."""
    live = seat(YES, YES)
    appends = "with open(b, 'a') as file: file.write('+')"
    code = "\n".join([appends, appends, "open(top + '/new', 'w').close()", REMOVES])

    told = live.ran(code_for(renders, code), writes=["renders"])

    assert (renders / "below" / "b.txt").read_text() == "as it was++++"
    assert copies(live) == {"renders/below/b.txt": "as it was"}
    assert told["written"] == [str(renders)]
    assert told["copies"] == str(next(iter(live.bridge.recent.records())).effect.copy)


def test_what_only_reads_a_folder_keeps_no_copy(seat: Sit, renders: Path) -> None:
    live = seat(YES)

    told = live.ran(
        code_for(renders, "with open(b) as it: result = it.read()"), writes=[str(renders)]
    )

    assert (told["result"], told["written"]) == ("as it was", [])
    assert not copies(live)


def test_the_question_names_the_size_of_a_folder_and_where_the_copies_are_kept(
    seat: Sit, renders: Path
) -> None:
    live = seat(YES)

    live.ran("1", writes=[str(renders)])

    (question,) = live.person.shown
    said = told_of(question)
    place = checkpoints.checkpoint_folder(live.session)
    line = f"- {renders}, a folder with 2 files (19 bytes): each is copied before it is changed\n"
    assert line in said
    assert f"This can NOT be undone. A copy is kept first, in {place}" in said


def test_of_a_folder_that_is_too_large_the_question_says_that_no_copy_is_kept(
    seat: Sit, renders: Path
) -> None:
    live = seat(YES)
    large = renders / "large"
    with large.open("w") as file:
        file.truncate(checkpoints.MAX_COPIED_BYTES + 1)  # a hole, which takes no room

    live.ran(code_for(renders, "os.remove(b)"), writes=[str(renders)])

    (question,) = live.person.shown
    said = told_of(question)
    why = "a folder with more than 1 GB or 10,000 files: NO copy is kept of them\n"
    assert f"- {renders}, {why}" in said
    assert said.endswith("This can NOT be undone. NO copy is kept of renders")
    assert "copy is kept first" not in said
    assert not copies(live)


def test_the_scenes_own_copies_do_not_make_its_folder_too_large_to_be_copied(
    seat: Sit, tmp_path: Path
) -> None:
    """They are left out, though the scene was opened by a link to its folder."""
    link = tmp_path.with_name("linked")
    link.symlink_to(tmp_path)
    live = seat(YES)
    live.session.open(link / "shot.usda")
    earlier = checkpoints.checkpoint_folder(live.session) / "earlier"
    earlier.mkdir(parents=True)
    with (earlier / "shot.usda").open("w") as file:
        file.truncate(checkpoints.MAX_COPIED_BYTES + 1)  # a hole, which takes no room

    live.ran("stage.GetRootLayer()", writes=[str(tmp_path)])

    assert "NO copy is kept" not in told_of(live.person.shown[0])


def test_of_a_large_folder_beside_a_file_only_the_file_is_said_to_be_copied(
    seat: Sit, renders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "MAX_COPIED_FILES", 1)
    live = seat(YES)
    notes = tmp_path / "notes.txt"
    notes.write_text("as it was")

    live.ran("1", writes=[str(notes), str(renders)])

    (question,) = live.person.shown
    assert "NO copy is kept of renders. A copy of the rest is kept first" in told_of(question)
    assert copies(live) == {"notes.txt": "as it was"}


def test_an_empty_folder_loses_nothing(seat: Sit, tmp_path: Path) -> None:
    live = seat(YES)
    (tmp_path / "empty").mkdir()

    live.ran("1", writes=[str(tmp_path / "empty")])

    (question,) = live.person.shown
    said = told_of(question)
    assert f"- {tmp_path / 'empty'}, an empty folder\n" in said
    assert "Nothing is overwritten." in said


@pytest.mark.core
def test_without_a_copy_a_file_is_not_changed(seat: Sit, renders: Path) -> None:
    live = seat(YES)
    checkpoints.checkpoint_folder(live.session).write_text("no folder")

    said = text(live.vain(code_for(renders, "os.remove(b)"), writes=[str(renders)]))

    assert "Line 6 tried to remove" in said
    assert "b.txt, of which no copy could be kept (File exists); it was refused." in said
    assert (renders / "below" / "b.txt").read_text() == "as it was"


@pytest.mark.parametrize(
    "removes",
    [
        "shutil.rmtree({scene})",
        "shutil.rmtree({copies})",
        "os.rename({copies}, {scene} + '/other')",
        "[os.remove(os.path.join(*it)) for *at, files in os.walk({copies}) for it in"
        " ((at[0], file) for file in files)]",
    ],
)
def test_code_reaches_no_copy_though_it_declares_the_scenes_own_folder(
    removes: str, seat: Sit, renders: Path, tmp_path: Path
) -> None:
    live = seat(YES)
    place = checkpoints.checkpoint_folder(live.session)
    paths = {"scene": repr(str(tmp_path)), "copies": repr(str(place))}
    code = f"os.remove(b)\n{removes.format(**paths)}"

    said = text(live.vain(code_for(renders, code), writes=[str(tmp_path)]))

    assert "where copies of files are kept; it was refused." in said
    assert copies(live) == {f"{tmp_path.name}/renders/below/b.txt": "as it was"}


def test_a_file_that_was_changed_in_a_folder_is_told_where_the_rest_is_taken_back(
    seat: Sit, renders: Path
) -> None:
    live = seat(YES)

    said = text(live.vain(code_for(renders, "open(b, 'w').close()\n1 / 0"), writes=[str(renders)]))

    assert f"except for what undo cannot reverse: write {renders}." in said


def test_a_declared_file_is_copied_where_the_question_is_about_the_whole_scene(
    seat: Sit, renders: Path
) -> None:
    """The copies that are kept at once are those of the scene alone."""
    live = seat(YES)
    file = renders / "below" / "b.txt"
    code = code_for(renders, "open(b, 'w').close()\nif 0: stage.GetRootLayer().Reload()")

    live.ran(code, writes=[str(file)])

    (question,) = live.person.shown
    assert "A copy of the scene is kept first" in told_of(question)
    assert copies(live)["b.txt"] == "as it was"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder."""
    home = tmp_path / "people" / "mine"
    home.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    return home


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/", "/ is a whole drive or share. Name only the subfolder"),
        ("/proc", "/proc is a whole drive or share. Name only the subfolder"),
        ("~", "mine holds the person's home folder. Name only the subfolder"),
        ("people", "people holds the person's home folder. Name only the subfolder"),
        ("to_home", "mine holds the person's home folder. Name only the subfolder"),
        ("to_root", "/ is a whole drive or share. Name only the subfolder"),
        ("people/../renders", "people/../renders contains '..'. Give the path without it."),
        ("odd", "odd leads to a path with characters that are not allowed"),
    ],
)
def test_nobody_is_asked_for_a_folder_that_holds_too_much(
    path: str, why: str, seat: Sit, home: Path, tmp_path: Path
) -> None:
    if path == "/proc" and not os.path.ismount(path):
        pytest.skip("no such file system here")
    live = seat(YES)
    (tmp_path / "to_home").symlink_to(home)
    (tmp_path / "to_root").symlink_to("/")
    (tmp_path / "line\nNothing is lost").mkdir()
    (tmp_path / "odd").symlink_to(tmp_path / "line\nNothing is lost")

    said = text(live.code("1", writes=[path]))

    assert f"writes: {tmp_path if why.startswith('odd') else ''}" in said
    assert why in said
    assert not live.person.shown


def test_a_link_is_named_by_where_it_leads(seat: Sit, renders: Path, tmp_path: Path) -> None:
    live = seat(YES)
    (tmp_path / "link").symlink_to(renders)

    live.ran(code_for(tmp_path / "link", "open(b, 'w').close()"), writes=["link"])

    (question,) = live.person.shown
    assert f"- {renders}, a folder" in question.message
    assert str(tmp_path / "link") not in question.message
    assert copies(live) == {"renders/below/b.txt": "as it was"}


def test_what_has_become_a_link_since_the_question_is_not_written_to(
    seat: Sit, renders: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()

    def swap() -> None:
        renders.rename(tmp_path / "before")
        renders.symlink_to(other)

    live = seat(after(swap, YES))

    result = live.vain(code_for(renders, "open(top + '/new', 'w').close()"), writes=[str(renders)])

    assert status(result) == "failed"
    assert "renders has become a link, so the code was not run." in text(result)
    assert not list(other.iterdir())


def test_a_file_that_may_only_be_read_has_a_copy_too(
    seat: Sit, renders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (renders / "below" / "b.txt").chmod(0o400)
    opened = list[tuple[Path, int]]()
    open_path: Callable[..., Any] = Path.open

    def opening(path: Path, mode: str = "r", *more: Any, **named: Any) -> Any:
        if "+" in mode:  # root may write to any file, so its mode is looked at
            opened.append((path, path.stat().st_mode & 0o200))
        return open_path(path, mode, *more, **named)

    monkeypatch.setattr(Path, "open", opening)
    live = seat(YES)

    live.ran(code_for(renders, "os.remove(b)"), writes=[str(renders)])

    (copy,) = checkpoints.taken(checkpoints.checkpoint_folder(live.session))
    assert (copy / "renders" / "below" / "b.txt").stat().st_mode & 0o777 == 0o400
    assert opened
    assert all(may_write for _, may_write in opened)
