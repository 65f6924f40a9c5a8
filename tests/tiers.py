"""Which tests belong to which tier and which leaf, and what the quick tiers try of many cases."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

from tests.live import ERAS

ROOT = Path(__file__).parent.parent
LEAVES = {
    "blender": ("tests/blender/*",),
    "freecad": ("tests/freecad/*",),
    "maya": ("tests/maya/*",),
    "houdini": ("tests/houdini/*",),
    "usd": (
        "tests/usd/*",
        "tests/code/test_code_history.py",
        "tests/code/test_declared_folders.py",
        "tests/code/test_run_python.py",
        "tests/tasks/*",
        "tests/verbs/test_tasks.py",
    ),
    "batch": ("tests/batch/*",),
    "qt": ("tests/qt/*", "tests/hosts/test_qt_host.py", "tests/test_pyside_imports.py"),
    "cli": ("tests/cli/*", "tests/install/*"),
    "clients": (
        "tests/clients/*",
        "tests/conformance/*",
        "tests/client/proxy/test_hosts_come_and_go.py",
        "tests/client/proxy/test_instructions.py",
        "tests/client/proxy/test_passing.py",
        "tests/client/proxy/test_real_hosts.py",
        "tests/client/proxy/test_tasks.py",
        "tests/server/test_chat_page_browser.py",
        "tests/server/test_visits_browser.py",
    ),
}
"""The files of each leaf. What stands in none of them is the core's."""
_BEYOND_CORE = ("lint", "real", "long", "frameworks")


def mark(item: pytest.Item) -> None:
    """Mark a test with its leaf, or as part of the core.

    A leaf's test that is marked ``core`` where it stands is one of the few that README's command
    runs of that leaf. The long tests of a leaf do not have its marker.
    """
    tiers = [name for name in _BEYOND_CORE if item.get_closest_marker(name)]
    if tiers:  # some of the parameters of a test of the core may be for another tier
        item.own_markers = [marker for marker in item.own_markers if marker.name != "core"]
    leaf = _leaf(item.nodeid.partition("::")[0])
    if leaf and not {"long", "frameworks"} & set(tiers):
        item.add_marker(leaf)
    elif not leaf and not tiers:
        item.add_marker("core")


def is_beyond_core(file: Path, markers: str) -> bool:
    """Return whether a run of the core alone finds nothing in a file, and need not read it.

    Args:
        file: The file of tests.
        markers: Which tests are wanted, as in ``pytest -m``.
    """
    if markers != "core" or not file.name.startswith("test_"):
        return False
    leaf = _leaf(file.relative_to(ROOT).as_posix())
    return bool(leaf) and "mark.core" not in file.read_text("utf-8")


def sampled(quick: Collection[Any], *values: Iterable[Any]) -> list[Any]:
    """Return every combination of values as parameters; those not in ``quick`` are marked long.

    Of one parameter alone ``quick`` holds values, of several tuples of them.
    """
    cases = itertools.product(*values)
    return [
        pytest.param(*case, marks=() if quick_case in quick else pytest.mark.long)
        for case in cases
        for quick_case in [case if len(values) > 1 else case[0]]
    ]


def repeated(quick: int, whole: int) -> list[Any]:
    """Return how often the quick run tries something, and how often the long one does."""
    return [quick, pytest.param(whole, marks=pytest.mark.long)]


every_era = pytest.mark.parametrize("era", sampled(ERAS[1:], ERAS))
"""The oldest is in the long run alone: there a question travels as it does in 2025-11-25."""


def _leaf(file: str) -> str:
    """Return the leaf that a test file belongs to, "" for the core."""
    for leaf, patterns in LEAVES.items():
        if any(fnmatch(file, pattern) for pattern in patterns):
            return leaf
    return ""
