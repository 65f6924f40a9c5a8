"""Agreed code writes, removes, connects and starts only what it has declared."""

from __future__ import annotations

import _thread
import ast
import importlib.util
import inspect
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pytest

import dcc_bridge as package
from dcc_bridge import private_files
from dcc_bridge.checkpoints import FolderCopies
from dcc_bridge.code.execution import execute
from dcc_bridge.code.trip_wire import ReachedOut, trip_wire
from dcc_bridge.consent import audit_hook
from dcc_bridge.consent import own_code as agreed_code
from dcc_bridge.consent.audit_hook import Writer

OURS = str(Path(package.__file__).parent / "host.py")
# `new` is a file that is not there, `kept` one that is, `folder` where both belong.
WRITES = {
    "open": "open(new, 'w')",
    "appending": "open(kept, 'a')",
    "__import__": "__import__('i' + 'o').open(new, 'w')",
    "FileIO": "import io; io.FileIO(new, 'w')",
    "pathlib": "from pathlib import Path; Path(new).write_text('x')",
    "os.open": "import os; os.open(new, os.O_CREAT | os.O_WRONLY)",
    "opener": "import os; open(new, 'w', opener=lambda path, flags: os.open(path, flags))",
    "dots": "open(folder + '/declared/../new', 'w')",
    "relative": "import os; os.chdir(folder); open('new', 'w')",
    "fspath": "import os\nclass P:\n def __fspath__(self): return new\nopen(P(), 'w')",
    "exec": "exec('open(new, \"w\")')",
    "eval": "eval(compile('open(new, \"w\")', 'x', 'eval'))",
    "repr": "class A:\n def __repr__(self): return str(open(new, 'w'))\nA()",
    "a finalizer": "class A:\n def __del__(self): open(new, 'w')\nA(); None",
    "descriptor": "import os; open(os.open(kept, os.O_RDONLY), 'w')",
    "tempfile": "import tempfile; tempfile.NamedTemporaryFile(dir=folder)",
    "temporary": "import tempfile; tempfile.TemporaryFile(dir=folder)",
    "shelve": "import shelve; shelve.open(new)['a'] = 1",
    "zipfile": "import zipfile; zipfile.ZipFile(new, 'w')",
    "tarfile": "import tarfile; tarfile.open(new, 'w:gz')",
    "gzip": "import gzip; gzip.open(new, 'wb')",
    "logging": "import logging; logging.FileHandler(new)",
    "sqlite3": "import sqlite3; sqlite3.connect(new)",
    "copy": "import shutil; shutil.copy(kept, new)",
    "archive": "import shutil; shutil.make_archive(new, 'zip', folder)",
    "mkdir": "import os; os.mkdir(new)",
    "makedirs": "import os; os.makedirs(new + '/a')",
    "mkfifo": "import os; os.mkfifo(new)",
    "mknod": "import os; os.mknod(new)",
    "link": "import os; os.link(kept, folder + '/declared/link')",
    "symlink": "import os; os.symlink(kept, new)",
    "link out": "import os; at = folder + '/declared/l'; os.symlink(kept, at); open(at, 'w')",
    "rename": "import os; os.rename(kept, new)",
    "replace": "import os; os.replace(kept, folder + '/declared/x')",
    "move": "import shutil; shutil.move(kept, new)",
    "remove": "import os; os.remove(kept)",
    "unlink": "from pathlib import Path; Path(kept).unlink()",
    "dir_fd": "import os; os.remove('kept', dir_fd=os.open(folder, os.O_RDONLY))",
    "rmtree": "import shutil; shutil.rmtree(folder)",
    "ignored": "import shutil; shutil.rmtree(folder, ignore_errors=True)",
    "rmdir": "import os; os.rmdir(folder + '/empty')",
    "truncate": "import os; os.truncate(kept, 0)",
    "chmod": "import os; os.chmod(kept, 0)",
    "chown": "import os; os.chown(kept, -1, -1)",
    "utime": "import os; os.utime(kept, (1, 1))",
    "a generator that is left": "def g():\n try: yield\n finally: open(new, 'w')\nx = g(); next(x)",
}
OTHERWISE = {
    "system": "import os; os.system('true')",
    "Popen": "import subprocess; subprocess.run(['true'])",
    "exec": "import os; os.execv('/bin/true', ['true'])",
    "posix_spawn": "import os; os.posix_spawn('/bin/true', ['true'], {})",
    "popen": "import os; os.popen('true')",
    "fork": "import os; os.fork()",
    "_exit": "import os; os._exit(3)",
    "kill": "import os; os.kill(os.getpid(), 0)",
    "a browser": "import webbrowser; webbrowser.GenericBrowser('true').open('http://localhost')",
    "socket": "import socket; socket.socket()",
    "urllib": "import urllib.request; urllib.request.urlopen('http://localhost:1')",
    "ctypes": "import ctypes; ctypes.CDLL(None)",
    "memory": "import ctypes; ctypes.string_at(0)",
    "an alarm": "import signal; signal.alarm(1)",
    "a timer of the process": "import signal as s; s.setitimer(s.ITIMER_PROF, 1)",
    "a thread": "import threading; threading.Thread(target=print).start()",
    "a low thread": "import _thread; _thread.start_new_thread(print, ())",
    "a pool": "from concurrent.futures import ThreadPoolExecutor as T; T().submit(print)",
    "a timer": "import threading; threading.Timer(0, print).start()",
    "a hook": "import sys; sys.addaudithook(print)",
    "a trace": "import sys; sys.settrace(print)",
    "the bridge": "import dcc_bridge.host",
    "a part of the bridge": "from dcc_bridge import errors",
    "a layer of the bridge": "import dcc_bridge_batch.files",
    "another application's adapter": "from dcc_bridge_blender import program",
    "input": "input()",
    "a debugger": "breakpoint()",
}
# What no event and no wrapper shows.
THROUGH = {
    "an export in C++": "from pxr import Usd; Usd.Stage.CreateInMemory().Export(new + '.usda')",
    "a descriptor that is open": "import os; os.write(descriptor, b'x')",
    "SQL": "import sqlite3; memory = sqlite3.connect(':memory:'); "
    "memory.execute(f\"ATTACH '{new}' AS a\"); memory.execute('CREATE TABLE a.t (x)'); "
    "memory.close()",
    "fork_exec": "import _posixsubprocess",
    "the bridge by sys.modules": "import sys; sys.modules['dcc_bridge.errors']",
    "a frame": "import sys; sys._getframe()",
    "a reading": "open(kept).read(); import os; dict(os.environ)",
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "declared").mkdir()
    (tmp_path / "empty").mkdir()
    (tmp_path / "kept").write_text("kept")
    return tmp_path


def run(code: str, place: Path, *writes: str, **names: Any) -> Any:
    paths = {"new": str(place / "new"), "kept": str(place / "kept"), "folder": str(place)}
    files = [place / name for name in writes]
    return execute(ast.parse(code), code, paths | names, timeout=20, writes=files)


def state(place: Path) -> list[object]:
    files = sorted(file for file in place.rglob("*") if not file.is_symlink())
    stats = [(file, file.stat()) for file in files]
    return [(file, it.st_mode, it.st_size, it.st_mtime_ns) for file, it in stats if file.is_file()]


@pytest.mark.parametrize("code", WRITES.values(), ids=WRITES.keys())
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_code_changes_no_file_that_it_did_not_declare(code: str, place: Path) -> None:
    before = state(place)

    with pytest.raises(ReachedOut, match=r"is not declared|code may not do"):
        run(code, place, "declared")

    assert state(place) == before


@pytest.mark.parametrize("code", OTHERWISE.values(), ids=OTHERWISE.keys())
def test_code_reaches_nothing_beyond_the_scene(code: str, place: Path) -> None:
    threads = set(threading.enumerate())

    with pytest.raises(
        ReachedOut, match=r"Line \d tried to .*which code may not do; it was refused"
    ):
        run(code, place)

    assert set(threading.enumerate()) <= threads


def functions_in(code: CodeType, *, is_body: bool = True) -> Iterator[str]:
    """Name the functions of a module's code; not what only its own body ran."""
    for it in code.co_consts:
        if isinstance(it, CodeType):
            is_class = not it.co_flags & inspect.CO_OPTIMIZED
            if is_class or not (is_body and it.co_name.startswith("<")):
                yield from functions_in(it, is_body=is_body and is_class)
                yield from () if is_class else [it.co_qualname]


def test_every_function_of_ours_is_known_as_ours(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agreed_code, "_noted", {})  # another test's code may have imported some
    for name in ("batch_job", "server.clients", "elicitation.urls", "skills.source"):
        importlib.import_module(f"dcc_bridge.{name}")

    run("1", place)

    known = {(module, code.co_qualname) for module, _, code in agreed_code._codes.values()}
    for name, it in [*sys.modules.items()]:
        # PySide2's functions, and those of Windows' registry, are not there on every system.
        is_elsewhere = name in ("dcc_bridge.qt.binding", "dcc_bridge.install.registry")
        is_other = name.startswith("dcc_bridge.code") or is_elsewhere
        if name.startswith("dcc_bridge.") and not is_other:
            code = inspect.getattr_static(it, "__spec__").loader.get_code(name)
            assert {(name, each) for each in functions_in(code)} <= known
    assert len(known) > 500


@pytest.mark.parametrize(
    "listener",
    [
        "act = lambda path: write(path)",
        "operations = {'': [(0, lambda path: write(path))]}",
        "act = contextlib.contextmanager(lambda path: (yield write(path)))",
        "act = functools.cache(lambda path: write(path))",
        "act = functools.partial(lambda path: write(path))",
        "def outer():\n def act(path): [write(it) for it in [path]]\n return act\nact = outer()",
        "def act(path): return [*map(write, (it for it in [path]))]",
        "class A:\n @staticmethod\n def act(path): write(path)\nact = A.act",
        "class A:\n @classmethod\n def act(cls, path): write(path)\nact = A.act",
        "class A:\n @functools.cached_property\n def act(self): return lambda it: write(it)\n"
        "act = A().act",
        "class A:\n @property\n def act(self): return self.write\n"
        " def write(self, path): write(path)\nact = A().act",
        "def act(path):\n later = types.ModuleType('dcc_bridge.later')\n"
        " sys.modules[later.__name__] = later\n"
        " exec('def write(path): open(path, \\'w\\').close()', vars(later))\n"
        " later.write(path)",
    ],
)
def test_a_listener_of_ours_does_as_always_however_it_is_made(
    listener: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = ModuleType("dcc_bridge.of_a_test")
    monkeypatch.setitem(sys.modules, ours.__name__, ours)
    monkeypatch.setitem(sys.modules, "dcc_bridge.later", ours)
    vars(ours)["write"] = lambda path: Path(path).touch()  # it is not ours
    exec(f"import contextlib, functools, sys, types\n{listener}", vars(ours))
    act = vars(ours).get("act") or vars(ours)["operations"][""][0][1]

    run("getattr(act(new), '__enter__', str)()", place, act=act)

    assert (place / "new").exists()


@pytest.mark.parametrize("code", THROUGH.values(), ids=THROUGH.keys())
def test_what_raises_no_event_gets_through(code: str, place: Path) -> None:
    with (place / "open").open("w") as file:
        run(code, place, descriptor=file.fileno())


@pytest.mark.parametrize(
    "code",
    [
        "open(kept, 'w').close()",
        "import os; os.remove(kept)",
        "import os; os.makedirs(folder + '/declared/a/b', exist_ok=True)",
        "import shutil; shutil.copy(kept, folder + '/declared')",
        "import shutil; shutil.copytree(folder + '/empty', folder + '/declared/e')",
        "import shutil; shutil.rmtree(folder + '/declared')",
        "import os; os.chdir(folder); open('declared/../kept', 'a').close()",
        "import tempfile; tempfile.TemporaryFile(dir=folder + '/declared').close()",
        "import sqlite3; sqlite3.connect(folder + '/declared/base').close()",
        "import os; open(os.open(kept, os.O_RDWR), 'w').close()",
        "open(__import__('os').devnull, 'w').close()",
        "open(__import__('os', fromlist=['path']).devnull, 'w').close()",
        "open(kept).close(); import os, socket; os.listdir(folder), socket.gethostname()",
    ],
)
def test_declared_files_and_folders_are_open_to_it(code: str, place: Path) -> None:
    run(code, place, "kept", "declared")


def fixed_writer(code: str, place: Path, *writes: str) -> FolderCopies:
    """Run code whose host writes a file by a method in C, `popitem`; return the copies kept."""
    files = [place / name for name in writes]
    copies = FolderCopies(place / "checkpoints", files)
    writer: Writer = (dict, "popitem", lambda *_: [])
    names = {"it": {1: 2}}
    execute(ast.parse(code), code, names, timeout=20, writes=files, writers=[writer], copies=copies)
    return copies


@pytest.mark.parametrize(
    "code", ["it.popitem()", "do = it.popitem\ndo()", "getattr(it, 'pop' + 'item')()"]
)
def test_a_writer_that_cannot_be_replaced_is_refused_where_nothing_is_declared(
    code: str, place: Path
) -> None:
    with pytest.raises(ReachedOut, match=r"Line \d tried to write a file, which is not"):
        fixed_writer(code, place)

    assert sys.getprofile() is None


def test_before_such_a_writer_a_copy_is_kept_of_all_that_is_declared(place: Path) -> None:
    (place / "declared" / "a").write_text("as it was")

    checkpoint = fixed_writer("it.popitem()", place, "declared").checkpoint

    assert checkpoint is not None
    assert (checkpoint / "declared" / "a").read_text() == "as it was"


def test_a_try_that_the_code_caught_counts_all_the_same(place: Path) -> None:
    code = "for name in 'ab':\n try: open(new + name, 'w')\n except Exception: pass"

    with pytest.raises(ReachedOut, match=r"write .*newa, .*write .*newb,"):
        run(code, place)


def test_other_threads_and_our_own_listeners_do_as_always(place: Path) -> None:
    written = place / "written"
    go = threading.Event()
    other = threading.Thread(target=lambda: go.wait(10) and written.write_text("x"))
    other.start()

    with trip_wire([], []):
        go.set()
        other.join()
    code, done = "while not done(): pass", (place / "painted").exists

    def paint() -> None:
        if not done():
            os.close(private_files.create(place / "painted"))

    execute(ast.parse(code), code, {"done": done}, timeout=10, pause=paint)

    assert written.exists()


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Callable[[str], None]]:
    """Gives what stands in for an operator whose text is run in a module of that name."""

    def stand(operator: str, name: str) -> Callable[[str], None]:
        monkeypatch.setattr(agreed_code, "_packages", {*agreed_code._packages})
        agreed_code.add_package("dcc_bridge_of_a_test.host")
        module, ours = ModuleType(name), ModuleType("dcc_bridge_of_a_test.undo")
        for it in (module, ours):
            monkeypatch.setitem(sys.modules, it.__name__, it)
        exec(compile(operator, "/scripts/operator.py", "exec"), vars(module))
        vars(ours)["operator"] = vars(module)["operator"]
        exec("def stand_in(path):\n operator(path)", vars(ours))
        act: Callable[[str], None] = vars(ours)["stand_in"]
        return act

    return stand


def test_what_a_host_stands_in_for_is_the_codes_own_act(
    place: Path, stand_in: Callable[..., Any]
) -> None:
    """An operator in Python, which Blender lets run, opens files and starts programs by itself."""
    act = stand_in("def operator(path):\n open(path, 'w').close()", "operator_that_opens")

    with pytest.raises(ReachedOut, match=r"Line 1 tried to write .*is not declared"):
        run("act(new)", place, act=act)
    run("act(kept)", place, "kept", act=act)

    assert not (place / "new").exists()


@pytest.mark.parametrize(
    "code",
    ["import studio_of_a_test.host", "from studio_of_a_test import host"],
)
def test_code_reaches_no_adapter_of_a_host(
    place: Path, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    """It is a part of the bridge, wherever the application has it."""
    for name in ("studio_of_a_test", "studio_of_a_test.host"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    vars(sys.modules["studio_of_a_test"])["host"] = sys.modules["studio_of_a_test.host"]
    run(code, place)
    monkeypatch.setattr(agreed_code, "_packages", {*agreed_code._packages})

    agreed_code.add_package("studio_of_a_test.host")

    with pytest.raises(ReachedOut, match="reach into dcc_bridge itself"):
        run(code, place)


def test_what_a_studio_has_beside_its_adapter_may_write_what_was_declared_alone(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the adapter's own module is a part of the bridge there."""
    publish = ModuleType("studio_of_a_test.publish")
    exec("def send(path):\n open(path, 'w').close()", vars(publish))
    monkeypatch.setitem(sys.modules, publish.__name__, publish)
    monkeypatch.setattr(agreed_code, "_packages", {*agreed_code._packages})
    agreed_code.add_package("studio_of_a_test.nuke_host")

    with pytest.raises(ReachedOut, match=r"Line 1 tried to write .*is not declared"):
        run("send(new)", place, send=vars(publish)["send"])

    assert agreed_code.is_ours("studio_of_a_test.nuke_host")
    assert not (place / "new").exists()


_PACKS = "import threading\ndef operator(path):\n it = threading.Thread(target=print); it.start()\n"


def test_an_operator_may_pack_in_threads_and_writes_only_what_was_declared(
    place: Path, stand_in: Callable[..., Any]
) -> None:
    """As the export of FBX in Blender 4.5 does."""
    act = stand_in(f"{_PACKS} it.join(); open(path, 'w').close()", "operator_that_packs")

    run("act(kept)", place, "kept", act=act)
    with pytest.raises(ReachedOut, match=r"write .*is not declared"):
        run("act(new)", place, act=act)

    assert not (place / "new").exists()


def test_a_script_that_an_operator_runs_starts_no_thread(
    place: Path, stand_in: Callable[..., Any]
) -> None:
    """Nobody has read it, and a thread of its own would have no wire."""
    act = stand_in(_PACKS, "__main__")  # which Blender calls any script

    with pytest.raises(ReachedOut, match=r"Line 1 tried to start a thread"):
        run("act(new)", place, act=act)


def test_an_idle_wire_leaves_nothing_in_force(place: Path) -> None:
    originals = _thread.start_new_thread, os._exit, sys.dont_write_bytecode

    run("1", place)
    (place / "new").write_text("x")

    assert (_thread.start_new_thread, os._exit, sys.dont_write_bytecode) == originals
    assert not audit_hook.watches


def test_a_path_that_is_none_leaves_nothing_in_force() -> None:
    originals = _thread.start_new_thread, sys.dont_write_bytecode

    with pytest.raises(ValueError, match="null"), trip_wire([Path("a\0")], []):
        pass

    assert (_thread.start_new_thread, sys.dont_write_bytecode) == originals


@pytest.mark.parametrize(
    "name", ["numpy", "pxr.Usd", "PySide6.QtWidgets", "ctypes.util", "asyncio", "multiprocessing"]
)
def test_modules_of_the_host_come_in_lazily(name: str, place: Path) -> None:
    if importlib.util.find_spec(name.partition(".")[0]) is None:
        pytest.skip(f"{name} is not here")
    code = f"import {name}"
    run_it = f"execute(ast.parse({code!r}), {code!r}, {{}}, timeout=60)"
    program = f"import ast; from dcc_bridge.code.execution import execute; {run_it}"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert done.returncode == 0, done.stderr


def test_numpy_saves_only_what_was_declared(place: Path) -> None:
    pytest.importorskip("numpy")
    code = "import numpy; numpy.save(new, numpy.zeros(3)); numpy.zeros(3).tofile(new)"

    with pytest.raises(ReachedOut):
        run(code, place)

    assert not [*place.glob("new*")]


USD = {
    "a stage's export": "stage.Export(file)",
    "a layer's export": "stage.GetRootLayer().Export(filename=file)",
    "a new stage": "from pxr import Usd; Usd.Stage.CreateNew(file).Save()",
    "a new stage in its own layer": "from pxr import Usd; Usd.Stage.CreateNew(identifier=file)",
    "a new layer": "from pxr import Sdf; Sdf.Layer.CreateNew(file)",
    "the scene": "stage.DefinePrim('/New'); stage.Save()",
    "a layer": "stage.GetRootLayer().Save(force=True)",
    "a layer under another name": "layer = stage.GetRootLayer()\n"
    "layer.identifier = file + '.usda'; layer.Save(True)",
    "a package": "from pxr import Sdf, UsdUtils\n"
    "UsdUtils.CreateNewUsdzPackage(Sdf.AssetPath(file), file[:-1] + 'z')",
    "an archive": "from pxr import Sdf; Sdf.ZipFileWriter.CreateNew(file)",
    "a trace": "from pxr import Trace; Trace.Reporter.globalReporter.Report(file + 'x')",
    "a trace for a browser": "from pxr import Trace\n"
    "Trace.Reporter.globalReporter.ReportChromeTracingToFile(file + 'x')",
    "a graph of modules": "from pxr import Tf; Tf.ScriptModuleLoader().WriteDotFile(file + 'x')",
    "a report over the scene": "from pxr import Trace; Trace.Reporter.globalReporter.Report(file)",
    "a touched file": "from pxr import Tf; Tf.TouchFile(file + 'x', True)",
    "clips": "from pxr import UsdUtils\nUsdUtils.StitchClipsTopology(stage.GetRootLayer(), [file])",
    "a caught one": "try: stage.Export(file)\nexcept Exception: pass",
}


@pytest.fixture
def usd(place: Path) -> Callable[..., Any]:
    """Runs code with the operations of USD, whose scene is the file `kept.usda`."""
    pytest.importorskip("pxr")
    from pxr import Usd

    from dcc_bridge.spi import CodeContext
    from dcc_bridge_usd.host import UsdSession
    from dcc_bridge_usd.operations import operations

    scene = place / "kept.usda"
    Usd.Stage.CreateNew(str(scene)).Save()
    session = UsdSession(scene)
    made = operations(session)
    assert isinstance(made, CodeContext)

    def run_usd(code: str, *writes: Path) -> Any:
        names = {"stage": session.stage, "file": str(scene)}
        writers = made.writers()
        return execute(ast.parse(code), code, names, timeout=20, writes=writes, writers=writers)

    return run_usd


@pytest.mark.parametrize("code", USD.values(), ids=USD.keys())
def test_usd_writes_only_what_was_declared(code: str, usd: Callable[..., Any], place: Path) -> None:
    before = state(place)

    with pytest.raises(ReachedOut, match=r"Line \d tried to write .*which is not declared"):
        usd(code, place / "declared")

    assert state(place) == before


def test_usd_writes_what_was_declared_and_is_itself_again(
    usd: Callable[..., Any], place: Path
) -> None:
    from pxr import Sdf, Usd

    raw = vars(Usd.Stage)["Export"], vars(Sdf.Layer)["CreateNew"]
    new = place / "declared" / "new.usda"

    usd(f"from pxr import Usd; Usd.Stage.CreateNew('{new}').Save()", place / "declared")
    usd("stage.DefinePrim('/New'); stage.Save()", place / "kept.usda")

    assert new.is_file()
    assert "New" in (place / "kept.usda").read_text()
    assert (vars(Usd.Stage)["Export"], vars(Sdf.Layer)["CreateNew"]) == raw
