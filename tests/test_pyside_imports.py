"""What PySide reads of the modules that are imported in its process."""

from __future__ import annotations

import linecache
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("PySide6.QtCore")

from dcc_bridge.pyside_imports import unsearched_imports

Import = Callable[[str], str]
LIMIT = 60.0

STARTED = """
import linecache, sys
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from dcc_bridge.config import Settings
from dcc_bridge.plugin import PlugIn
from tests.stand_ins import FakeHost

app = QApplication([])
folder = Path(sys.argv[1])
finders = list(sys.meta_path)
plug_in = PlugIn(FakeHost(has_ui=True), [], settings=Settings(runtime=folder, audit=folder / "a"))
plug_in.install()
timer = QTimer()
timer.timeout.connect(lambda: app.quit() if plug_in.bridge and plug_in.bridge.address else None)
timer.start(5)
app.exec()
kept = [it for it in linecache.cache if Path(it).parent.name in ("mcp", "pydantic", "server")]
plug_in.stop()
print(kept, sys.meta_path == finders)
"""


@pytest.fixture
def import_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Import]:
    """Imports a module that nobody has imported, and gives its file."""
    monkeypatch.syspath_prepend(tmp_path)
    names: list[str] = []

    def import_new(name: str) -> str:
        file = tmp_path / f"{name}.py"
        file.write_text("x = 1\n")
        names.append(name)
        exec(f"import {name}", {"__name__": "somebody"})
        return str(file)

    yield import_new
    for name in names:
        del sys.modules[name]


def test_what_a_server_needs_is_not_kept_as_text(import_new: Import) -> None:
    with unsearched_imports():
        file = import_new("of_a_server")

    assert file not in linecache.cache


def test_what_the_host_imports_afterwards_is_searched_as_ever(import_new: Import) -> None:
    with unsearched_imports():
        pass

    assert import_new("of_the_host") in linecache.cache


def test_what_another_thread_imports_meanwhile_is_searched_as_ever(import_new: Import) -> None:
    files: list[str] = []
    thread = threading.Thread(target=lambda: files.append(import_new("of_another_thread")))

    with unsearched_imports():
        thread.start()
        thread.join()

    assert files[0] in linecache.cache


def test_where_there_is_no_pyside_modules_are_imported_as_ever(
    import_new: Import, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "shibokensupport.feature")

    with unsearched_imports():
        import_new("without_pyside")

    assert "without_pyside" in sys.modules


def test_an_import_that_is_under_way_as_a_start_ends_finds_its_module(
    import_new: Import, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow:
        """A finder in which a thread is as long as the start lasts."""

        def find_spec(self, name: str, *_: object) -> None:
            if name == "under_way":
                is_under_way.set()
                may_go_on.wait(LIMIT)

    is_under_way, may_go_on = threading.Event(), threading.Event()
    at = sys.meta_path.index(PathFinder)  # which finds it, as the next one
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path[:at], Slow(), *sys.meta_path[at:]])
    with ThreadPoolExecutor() as pool:
        with unsearched_imports():
            imported = pool.submit(import_new, "under_way")
            is_under_way.wait(LIMIT)
        may_go_on.set()

        assert Path(imported.result(LIMIT)).stem == "under_way"


def test_another_thread_may_import_while_the_modules_that_are_there_are_noted() -> None:
    is_over = threading.Event()
    modules = {f"coming_{number}": ModuleType("coming") for number in range(3000)}

    def come_and_go() -> None:
        while not is_over.is_set():
            for name, module in modules.items():
                sys.modules[name] = module
            for name in modules:
                del sys.modules[name]

    interval = sys.getswitchinterval()
    with ThreadPoolExecutor() as pool:
        pool.submit(come_and_go)
        sys.setswitchinterval(1e-6)
        try:
            for _ in range(100):
                with unsearched_imports():
                    pass
        finally:
            sys.setswitchinterval(interval)
            is_over.set()


def test_a_start_leaves_no_sources_in_the_hosts_memory_and_no_finder(tmp_path: Path) -> None:
    command = [sys.executable, "-c", STARTED, str(tmp_path)]

    out = subprocess.run(command, capture_output=True, text=True, check=True, timeout=50).stdout

    assert out == "[] True\n"
