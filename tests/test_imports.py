"""Importing the package costs little and pulls in no toolkit."""

from __future__ import annotations

import subprocess
import sys

import pytest

import dcc_bridge

BLOCKED = ("PySide6", "PySide2", "mcp", "uvicorn", "starlette", "pxr", "pydantic", "qasync")


def run(code: str) -> str:
    """Run code in a fresh interpreter and give what it printed."""
    command = [sys.executable, "-W", "error", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def test_it_imports_where_no_toolkit_can_be_imported() -> None:
    blocked = "; ".join(f"sys.modules[{name!r}] = None" for name in BLOCKED)

    assert run(f"import sys; {blocked}; import dcc_bridge; print('works')").strip() == "works"


def test_it_pulls_in_none_of_them() -> None:
    code = f"import sys, dcc_bridge; print([n for n in {BLOCKED} if n in sys.modules])"

    assert run(code).strip() == "[]"


def test_it_imports_nothing_else_of_its_own() -> None:
    """Each name brings its module when it is first used."""
    code = "import sys, dcc_bridge; print([n for n in sys.modules if n.startswith('dcc_bridge.')])"

    assert run(code).strip() == "[]"


def test_a_plug_in_that_is_loaded_has_not_imported_the_bridge() -> None:
    code = "import sys, dcc_bridge.plugin; print('dcc_bridge.bridge' in sys.modules)"

    assert run(code) == "False\n"


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


def test_a_plug_in_pulls_in_nothing_that_the_worker_can() -> None:
    """A host's main thread imports it, and stands still meanwhile."""
    late = (*BLOCKED, "docstring_parser", "importlib.metadata", "dcc_bridge.verbs")
    code = f"import sys, dcc_bridge.plugin; print([n for n in {late} if n in sys.modules])"

    assert run(code).strip() == "[]"
