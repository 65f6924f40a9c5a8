"""Importing the package costs little and pulls in no toolkit; a start holds no main thread up."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import dcc_bridge

BLOCKED = ("PySide6", "PySide2", "mcp", "uvicorn", "starlette", "pxr", "pydantic", "qasync")

HEAVY = ("pydantic", "asyncio", "mcp", "uvicorn", "dcc_bridge.bridge", "dcc_bridge.server.service")
START = """
import pathlib, sys, tempfile, threading
from PySide6.QtWidgets import QApplication

sought = set()
class Finder:
    def find_spec(self, name, *_):
        if threading.current_thread() is threading.main_thread():
            sought.add(name)
sys.meta_path.insert(0, Finder())

from dcc_bridge.config import Settings
from dcc_bridge.plugin import PlugIn
from dcc_bridge.testing import FakeHost

app = QApplication([])
with tempfile.TemporaryDirectory() as folder:
    settings = Settings(runtime=pathlib.Path(folder), audit=pathlib.Path(folder, "audit"))
    plug_in = PlugIn(FakeHost(has_ui=True), [], settings=settings)
    plug_in.install()
    while plug_in.bridge is None or plug_in.bridge.address is None:
        app.processEvents()
    plug_in.uninstall()
print([name for name in HEAVY if name in sought], [name for name in HEAVY if name in sys.modules])
"""
COLLECTED = """
import gc
from dcc_bridge.plugin import preload
full = []
gc.collect()
gc.callbacks.append(lambda phase, about: full.append(phase) if about["generation"] == 2 else None)
preload().join()
print(len(full), gc.isenabled(), gc.get_freeze_count() > 0)
"""


def run(code: str, **environment: str) -> str:
    """Run code in a fresh interpreter and give what it printed."""
    command = [sys.executable, "-W", "error", "-c", code]
    return subprocess.run(
        command,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout


def test_it_imports_where_no_toolkit_can_be_imported() -> None:
    blocked = "; ".join(f"sys.modules[{name!r}] = None" for name in BLOCKED)

    assert run(f"import sys; {blocked}; import dcc_bridge; print('works')").strip() == "works"


def test_it_pulls_in_none_of_them() -> None:
    code = f"import sys, dcc_bridge; print([n for n in {BLOCKED} if n in sys.modules])"

    assert run(code).strip() == "[]"


def test_it_imports_nothing_else_of_its_own() -> None:
    """What a plug-in imports on the host's main thread comes through this package too."""
    code = "import sys, dcc_bridge; print([n for n in sys.modules if n.startswith('dcc_bridge.')])"

    assert run(code).strip() == "[]"


def test_a_plug_in_is_loaded_without_its_bridge() -> None:
    code = f"import sys, dcc_bridge.plugin; print([n for n in {HEAVY} if n in sys.modules])"

    assert run(code).strip() == "[]"


def test_an_installed_plug_in_has_its_bridge_imported_off_the_main_thread() -> None:
    """Nothing of it is even looked for there, while the host is kept waiting for none of it."""
    assert run(f"HEAVY = {HEAVY}\n{START}").strip() == f"[] {list(HEAVY)}"


def test_no_full_collection_comes_while_the_server_is_imported() -> None:
    """One would hold the host's main thread for 30 ms and more."""
    assert run(COLLECTED, DCC_BRIDGE_FREEZE="1").split() == ["0", "True", "True"]


def test_a_host_that_keeps_its_collector_has_nothing_frozen_at_the_start() -> None:
    *_, is_on, is_frozen = run(COLLECTED, DCC_BRIDGE_FREEZE="0").split()

    assert (is_on, is_frozen) == ("True", "False")


def test_what_is_public_is_found_by_completion_before_it_was_used() -> None:
    assert run("import dcc_bridge; print('confirm_sync' in dir(dcc_bridge))") == "True\n"


def test_what_is_public_is_listed() -> None:
    assert sorted(dcc_bridge.__all__) == dcc_bridge.__all__
    assert all(hasattr(dcc_bridge, name) for name in dcc_bridge.__all__)
    with pytest.raises(AttributeError, match="wrong"):
        dcc_bridge.wrong  # type: ignore[attr-defined]  # noqa: B018 - it is not there


def test_a_skill_works_without_any_bridge() -> None:
    code = (
        "from dcc_bridge import skill, elicit_form_sync\n"
        "@skill(risk='destructive', confirms=True)\n"
        "def wipe():\n"
        "    form = {'type': 'object', 'properties': {'ok': {'type': 'boolean'}}}\n"
        "    return elicit_form_sync('Wipe?', form, fallback_values={'ok': False})\n"
        "answer = wipe()\n"
        "print(answer.accepted, answer.data, answer.message, answer.answered_by)\n"
    )

    assert run(code).strip() == "True {'ok': False} fallback_values_used fallback"
