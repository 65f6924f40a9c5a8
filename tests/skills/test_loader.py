"""A plain Python file becomes a tool, imported when it is first used; a bad one harms no other."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest

from dcc_bridge.errors import BrokenSkill, UnknownSkill
from dcc_bridge.skills import importer
from dcc_bridge.skills.importer import MAX_VERSIONS
from dcc_bridge.skills.skill import describe
from tests.hosts.application import until
from tests.skills.shelf import Shelf, save, shelved

GOOD = '''
from dcc_bridge import skill
import imports_note

@skill(risk="read", title="List cameras")
def list_cameras(pattern: str = "*", **kwargs) -> list:
    """List the cameras.

    Args:
        pattern: A glob on the name.
    """
    return ["one"]

def not_offered():
    """No decorator, in a file that has some."""
'''
MODEL = '''
from dcc_bridge import skill
from pydantic import BaseModel

class Shot(BaseModel):
    name: str

@skill(risk="read")
def show(shot: Shot) -> str:
    """Show a shot."""
    return shot.name
'''


@pytest.fixture(autouse=True)
def imports(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[str]]:
    """Note each import of a file that has `import imports_note`."""
    noted: list[str] = []

    class Finder:
        @staticmethod
        def find_spec(name: str, *rest: object) -> None:
            if name == "imports_note":
                noted.append(name)

    note = tmp_path / "aside" / "imports_note.py"
    save(note, "")
    monkeypatch.setattr(sys, "meta_path", [Finder(), *sys.meta_path])
    monkeypatch.syspath_prepend(str(note.parent))
    yield noted
    sys.modules.pop("imports_note", None)


def test_a_file_is_listed_without_being_imported(tmp_path: Path, imports: list[str]) -> None:
    shelf = shelved(tmp_path, cameras=GOOD)
    (entry,) = shelf.registry.entries()

    assert (entry.skill.name, entry.skill.title) == ("list_cameras", "List cameras")
    assert entry.skill.metadata.risk == "read"
    assert entry.signature is not None
    assert list(entry.signature.schema["properties"]) == ["pattern"]
    assert imports == []


def test_many_files_that_are_imported_to_be_listed_are_put_together_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once for each of them would take the square of their number: 27 s for ten thousand."""
    models = {f"show_{n}": MODEL.replace("def show", f"def show_{n}") for n in range(20)}
    shelf = shelved(tmp_path, **models)
    counted = Mock(wraps=importer.file_skills)
    monkeypatch.setattr(importer, "file_skills", counted)

    shelf.complete()
    listed = shelf.registry.entries()

    assert [it.signature is not None for it in listed] == [True] * len(models)
    assert counted.call_count == 1


@pytest.mark.parametrize("text", ["@skill(", GOOD.replace("imports_note", "not_there")])
def test_a_file_that_cannot_be_used_is_logged_once(
    text: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """When it is read, or when it is imported for its first call."""
    shelf = shelved(tmp_path, cameras=text)

    for _ in range(2):
        with pytest.raises((BrokenSkill, UnknownSkill)):
            shelf.call("list_cameras")
        shelf.look()

    assert len([it for it in caplog.messages if "cameras.py" in it]) == 1


def test_what_was_read_is_described_before_anybody_asks(tmp_path: Path) -> None:
    shelf = shelved(tmp_path, cameras=GOOD, shots=MODEL)
    first, second = shelf.registry.entries()

    shelf.library.describe(lambda seconds: False)

    assert first.signature is not None
    assert first.signature.is_described
    assert second.signature is None


def test_it_is_imported_at_its_first_call_and_then_no_more(
    tmp_path: Path, imports: list[str]
) -> None:
    shelf = shelved(tmp_path, cameras=GOOD)
    before = shelf.changes

    assert [shelf.call("list_cameras"), shelf.call("list_cameras")] == [["one"], ["one"]]
    assert imports == ["imports_note"]
    assert shelf.changes == before


def test_a_file_whose_own_types_are_needed_is_imported_to_be_listed_right(tmp_path: Path) -> None:
    shelf = shelved(tmp_path, shots=MODEL)
    (before,) = shelf.registry.entries()

    shelf.complete()
    (after,) = shelf.registry.entries()

    assert before.signature is None
    assert after.signature is not None
    assert "name" in after.signature.schema["properties"]["shot"]["properties"]
    assert shelf.changes == 1
    assert list(shelf.library.complete()) == []


def test_a_file_whose_functions_are_made_is_imported_to_be_listed(tmp_path: Path) -> None:
    text = "for n in (1, 2):\n    def make(): ...\n    make.__name__ = f'make_{n}'\n"
    text += "    globals()[make.__name__] = make\n    del make\n"
    shelf = shelved(tmp_path, made=text)
    assert shelf.names() == []

    shelf.complete()

    assert shelf.names() == ["make_1", "make_2"]


def test_a_skill_that_only_an_import_can_find_is_found_by_a_call(tmp_path: Path) -> None:
    shelf = shelved(tmp_path, made="if True:\n    def made():\n        'Made.'\n        return 1\n")

    assert shelf.call("made") == 1


def test_a_plain_function_with_a_docstring_is_a_destructive_skill(tmp_path: Path) -> None:
    text = 'def wipe():\n    """Wipe it."""\n\ndef _inner():\n    """Not offered."""\n'
    shelf = Shelf(save(tmp_path / "wipe.py", text).parent)
    shelf.look()

    (found,) = shelf.registry.entries()

    assert (found.skill.name, found.skill.metadata.risk) == ("wipe", "destructive")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("def x(:\n", "broken.py could not be loaded: line 1: SyntaxError"),
        ("x = '\0'\n", "broken.py"),
        ("x = 1\n", "no function that is a skill"),
    ],
)
def test_a_broken_file_is_named_and_harms_no_other(tmp_path: Path, text: str, told: str) -> None:
    shelf = shelved(tmp_path, broken=text, cameras=GOOD)

    assert told in str(shelf.registry.broken["broken"])
    assert shelf.names() == ["list_cameras"]
    with pytest.raises(BrokenSkill):
        shelf.registry.find("broken")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "from dcc_bridge import skill\n\n@skill(\n    risk='read',\n)\ndef paint(:\n",
            "line 6: Syn",
        ),
        (
            "import dcc_bridge\n@dcc_bridge.skill(risk='raed')\nasync def paint(): ...\n",
            "line 2: Val",
        ),
    ],
)
def test_a_tool_that_a_broken_file_was_to_bring_says_why_it_is_not_there(
    tmp_path: Path, text: str, why: str
) -> None:
    """It used to be said that there is no such tool."""
    shelf = shelved(tmp_path, e1=text)

    with pytest.raises(BrokenSkill, match=rf"^e1\.py could not be loaded: {why}"):
        shelf.fetch("paint")

    assert list(shelf.registry.broken) == ["paint"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "\n\nimport no_such_module\ndef x(): ...\n",
            "broken.py could not be loaded: line 3: ModuleNotFoundError",
        ),
        ("def x(a, /):\n    '''Doc.'''\n", "'a' cannot be given by its name"),
        ("def x(a: 'Nowhere'):\n    '''Doc.'''\n", "Nowhere"),
    ],
)
def test_a_file_that_fails_when_it_is_imported_says_so_under_its_tool(
    tmp_path: Path, text: str, told: str
) -> None:
    shelf = shelved(tmp_path, broken=text, cameras=GOOD)
    was_listed_whole = not shelf.library.complete()
    before = shelf.changes

    with pytest.raises(BrokenSkill, match=told):
        shelf.fetch("x")

    assert told in str(shelf.registry.broken["x"])
    assert shelf.names() == ["list_cameras"]
    assert shelf.changes == before + was_listed_whole


def test_an_import_that_failed_may_go_better_at_the_next_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "import os\nassert os.environ.get('READY')\ndef x():\n    'Doc.'\n    return 1\n"
    shelf = shelved(tmp_path, late=text)
    with pytest.raises(BrokenSkill, match=r"late.py could not be loaded: line 2: AssertionError"):
        shelf.fetch("x")

    monkeypatch.setenv("READY", "1")

    assert shelf.call("x") == 1
    assert shelf.registry.broken == {}


def test_a_name_that_is_taken_is_refused_with_both_places(tmp_path: Path) -> None:
    first = save(tmp_path / "trusted" / "zebra.py", GOOD)
    second = save(tmp_path / "less" / "ant.py", GOOD)
    shelf = Shelf(first.parent, second.parent)

    shelf.look()

    (refusal,) = map(str, shelf.registry.refused.values())
    assert str(first) in refusal
    assert str(second) in refusal
    assert shelf.registry.find("list_cameras").skill.file == first
    assert shelf.registry.broken == {}


def test_a_more_trusted_file_that_comes_later_wins(tmp_path: Path) -> None:
    second = save(tmp_path / "less" / "ant.py", GOOD)
    shelf = Shelf(tmp_path / "trusted", second.parent)
    shelf.look()
    shelf.call("list_cameras")

    first = save(tmp_path / "trusted" / "zebra.py", GOOD.replace("one", "two"))
    shelf.look()
    assert shelf.call("list_cameras") == ["two"]

    first.unlink()
    shelf.look()
    assert shelf.call("list_cameras") == ["one"]


def test_what_is_made_in_code_comes_before_every_file(tmp_path: Path) -> None:
    def list_cameras() -> int:
        """List none."""
        return 0

    save(tmp_path / "cameras.py", GOOD)
    shelf = Shelf(tmp_path)
    forget = shelf.registry.add(describe(list_cameras))
    shelf.look()

    assert shelf.call("list_cameras") == 0
    assert "in the application and in" in str(shelf.registry.refused)
    forget()
    with pytest.raises(UnknownSkill):
        shelf.registry.find("nothing")


@pytest.mark.parametrize("name", ["löschen", "with space", "x" * 65])
def test_a_name_that_the_protocol_does_not_know_is_refused(name: str, tmp_path: Path) -> None:
    text = GOOD.replace('title="List cameras"', f"name={name!r}")
    shelf = shelved(tmp_path, cameras=text)

    assert shelf.names() == []
    assert "cannot be a tool's name" in str(shelf.registry.refused)


@pytest.mark.parametrize("text", [GOOD, MODEL])
def test_a_skill_for_another_host_is_neither_listed_nor_imported(tmp_path: Path, text: str) -> None:
    text = "import no_such_module\n" + text.replace('risk="read"', 'risk="read", hosts=["maya"]')
    shelf = shelved(tmp_path, cameras=text, host="blender")
    shelf.complete()

    assert shelf.names() == []
    assert shelf.registry.broken == {}


@pytest.mark.parametrize("hosts", ['["Blender"]', '("blender", "maya")', '"BLENDER"'])
@pytest.mark.parametrize("host", ["Blender", "blender"])
def test_a_skill_names_its_hosts_in_any_case(tmp_path: Path, hosts: str, host: str) -> None:
    shelf = shelved(
        tmp_path, cameras=GOOD.replace('risk="read"', f'risk="read", hosts={hosts}'), host=host
    )

    assert shelf.names() == ["list_cameras"]
    assert shelf.fetch("list_cameras").skill.metadata.runs_in("Blender")
    assert not shelf.fetch("list_cameras").skill.metadata.runs_in("dcc_bridge USD")


class TestReload:
    """What is saved counts from the next call on."""

    def test_a_saved_file_is_run_as_it_was_saved(self, tmp_path: Path) -> None:
        """Even if it has the size and, in whole seconds, the time of what it was."""
        shelf, file = shelved(tmp_path, cameras=GOOD), tmp_path / "cameras.py"
        digest = shelf.fetch("list_cameras").skill.digest

        save(file, GOOD.replace("one", "two"))
        shelf.look()

        assert shelf.call("list_cameras") == ["two"]
        assert shelf.fetch("list_cameras").skill.digest != digest

    def test_what_is_listed_has_changed_only_if_it_reads_otherwise(self, tmp_path: Path) -> None:
        shelf, file = shelved(tmp_path, cameras=GOOD), tmp_path / "cameras.py"
        before = shelf.changes

        save(file, GOOD.replace("one", "two"))
        shelf.look()
        assert shelf.changes == before

        save(file, GOOD.replace("A glob", "A pattern"))
        shelf.look()
        assert shelf.changes == before + 1

    def test_files_come_and_go(self, tmp_path: Path) -> None:
        shelf = Shelf(tmp_path / "later")
        shelf.look()
        assert (shelf.names(), shelf.changes) == ([], 0)

        file = save(tmp_path / "later" / "cameras.py", GOOD)
        shelf.look()
        assert (shelf.names(), shelf.changes) == (["list_cameras"], 1)

        file.unlink()
        shelf.look()
        shelf.look()
        assert (shelf.names(), shelf.changes) == ([], 2)

    @pytest.mark.parametrize("text", ["def list_cameras(:\n", "import nowhere\n" + GOOD])
    def test_nothing_of_a_file_that_broke_can_be_called(self, tmp_path: Path, text: str) -> None:
        shelf, file = shelved(tmp_path, cameras=GOOD), tmp_path / "cameras.py"
        shelf.call("list_cameras")

        save(file, text)
        shelf.look()

        with pytest.raises(BrokenSkill, match=r"cameras.py could not be loaded: line 1: \w+Error"):
            shelf.fetch("list_cameras")
        assert list(shelf.registry.broken) == ["list_cameras"]

        save(file, GOOD)
        shelf.look()
        assert shelf.call("list_cameras") == ["one"]

    def test_a_function_that_runs_still_knows_its_own_types(self, tmp_path: Path) -> None:
        text = "from __future__ import annotations\nfrom typing import TypedDict, Literal\n"
        text += "class Size(TypedDict):\n    kind: Literal['a']\n"
        text += "def size():\n    'Give it.'\n    return Size\n"
        shelf, file = shelved(tmp_path, sizes=text), tmp_path / "sizes.py"
        old = shelf.call("size")

        save(file, "def size():\n    'Other.'\n    return 1\n")
        shelf.look()

        assert shelf.call("size") == 1
        assert "kind" in vars(sys.modules[old.__module__])["Size"].__annotations__

    def test_old_versions_are_forgotten_some_time(self, tmp_path: Path) -> None:
        shelf = Shelf(tmp_path)
        for number in range(MAX_VERSIONS + 5):
            save(tmp_path / "counts.py", f"def count():\n    'Count.'\n    return {number}\n")
            shelf.look()
            assert shelf.call("count") == number

        mine = [name for name, module in sys.modules.items()
                if getattr(module, "__file__", None) == str(tmp_path / "counts.py")]  # fmt: skip
        assert len(mine) == MAX_VERSIONS

    def test_a_file_that_is_being_written_is_left_for_the_next_look(self, tmp_path: Path) -> None:
        shelf, file = shelved(tmp_path, cameras=GOOD), tmp_path / "cameras.py"

        save(file, GOOD[:60])
        shelf.library.look(lambda seconds: save(file, GOOD.replace("one", "two")))
        assert shelf.registry.broken == {}

        shelf.look()
        assert shelf.call("list_cameras") == ["two"]


def test_all_looks_are_made_on_one_thread_which_ends_with_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To start one for each is most of what an idle bridge would compute."""
    library, looks = Shelf(tmp_path).library, threading.Semaphore(0)
    threads: set[threading.Thread] = set()

    def look(settle: object) -> None:
        threads.add(threading.current_thread())
        looks.release()

    async def watch() -> None:
        asyncio.run_coroutine_threadsafe(library.watch(every=0.0), asyncio.get_running_loop())
        for _ in range(3):
            assert await asyncio.to_thread(looks.acquire, timeout=20)
            gc.collect()  # nobody holds the task

    monkeypatch.setattr(library, "look", look)
    monkeypatch.setattr("dcc_bridge.skills.loader._REST_FACTOR", 0)

    asyncio.run(watch())

    (thread,) = threads
    thread.join(20)
    assert not thread.is_alive()


def test_a_look_that_fails_is_not_the_last_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    library, looks = Shelf(tmp_path).library, threading.Semaphore(0)

    def look(settle: object) -> None:
        looks.release()
        raise OSError("the drive is gone")

    async def watch() -> None:
        watching = asyncio.ensure_future(library.watch(every=0.0))
        for _ in range(2):
            assert await asyncio.to_thread(looks.acquire, timeout=20)
        watching.cancel()

    monkeypatch.setattr(library, "look", look)
    monkeypatch.setattr("dcc_bridge.skills.loader._REST_FACTOR", 0)

    asyncio.run(watch())

    assert "the drive is gone" in caplog.text


def test_folders_are_not_looked_at_while_nobody_would_be_told_and_are_for_whoever_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = Shelf(tmp_path)
    library, look, looks = shelf.library, shelf.library.look, list[int]()
    first = library._looked

    def count(settle: Callable[[float], object]) -> None:
        looks.append(1)
        look(settle)

    def rests() -> bool:
        return library._looked is not first

    async def watch() -> tuple[int, int]:
        watching = asyncio.ensure_future(library.watch(every=0.0, is_heard=bool))
        await asyncio.to_thread(until, rests)
        before = len(looks)
        save(tmp_path / "cameras.py", GOOD)
        await asyncio.wrap_future(library.read)
        after = len(looks)
        watching.cancel()
        return before, after

    monkeypatch.setattr(library, "look", count)
    monkeypatch.setattr("dcc_bridge.skills.loader._REST_FACTOR", 0)
    monkeypatch.setattr("dcc_bridge.skills.loader.IDLE_AFTER_S", 0.0)

    before, after = asyncio.run(watch())

    assert after > before
    assert "list_cameras" in shelf.registry
