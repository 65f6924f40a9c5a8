"""Importing the package costs little and pulls in no toolkit."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import dcc_bridge
from dcc_bridge import spi

BLOCKED = ("PySide6", "PySide2", "mcp", "uvicorn", "starlette", "pxr", "pydantic", "qasync")


def run(code: str) -> str:
    command = [sys.executable, "-W", "error", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


@pytest.mark.parametrize(
    ("code", "printed"),
    [
        ("; ".join(f"sys.modules[{name!r}] = None" for name in BLOCKED), ""),
        (f"print([n for n in {BLOCKED} if n in sys.modules])", "[]\n"),
        # Each name brings its module when it is first used.
        ("print([n for n in sys.modules if n.startswith('dcc_bridge.')])", "[]\n"),
        ("print('confirm_sync' in dir(dcc_bridge))", "True\n"),
    ],
    ids=["without toolkits", "brings no toolkit", "brings nothing of ours", "completes"],
)
def test_the_package_is_imported_alone(code: str, printed: str) -> None:
    order = "import sys; {}; import dcc_bridge" if not printed else "import sys, dcc_bridge; {}"

    assert run(order.format(code)) == printed


def test_a_plug_in_pulls_in_neither_the_bridge_nor_what_the_worker_can() -> None:
    """A host's main thread imports it, and stands still meanwhile."""
    late = (
        *BLOCKED,
        "docstring_parser",
        "importlib.metadata",
        "dcc_bridge.verbs",
        "dcc_bridge.bridge",
    )
    code = f"import sys, dcc_bridge.plugin; print([n for n in {late} if n in sys.modules])"

    assert run(code) == "[]\n"


def test_what_a_plug_in_imports_brings_each_name_from_its_place_when_it_is_used() -> None:
    tree = ast.parse(Path(spi.__file__).read_text("utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    places = {
        alias.name: node.module or ""
        for node in imports
        for alias in node.names
        if (node.module or "").startswith("dcc_bridge")
    }
    brought = "print([n for n in sys.modules if n.startswith('dcc_bridge.')])"

    assert run(f"import sys, dcc_bridge.spi; {brought}") == "['dcc_bridge.spi']\n"
    assert places.keys() == set(spi.__all__)
    for name, place in places.items():
        assert getattr(spi, name) == getattr(importlib.import_module(place), name)


@pytest.mark.parametrize("module", ["program", "batch"])
def test_what_the_commands_import_brings_no_bridge(module: str) -> None:
    """A command starts at once, and each task of a farm is a process of its own."""
    late = (*BLOCKED, "dcc_bridge.bridge", "dcc_bridge.server", "dcc_bridge.client")
    code = f"import sys, dcc_bridge.spi.{module}; print([n for n in {late} if n in sys.modules])"

    assert run(code) == "[]\n"


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

    assert run(code) == "True {'ok': False} fallback_values_used fallback\n"


def test_what_is_public_is_listed() -> None:
    assert sorted(dcc_bridge.__all__) == dcc_bridge.__all__
    assert all(hasattr(dcc_bridge, name) for name in dcc_bridge.__all__)
    with pytest.raises(AttributeError, match="wrong"):
        dcc_bridge.wrong  # type: ignore[attr-defined]  # noqa: B018 - it is not there
