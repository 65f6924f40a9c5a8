"""A host that ends without a word to its plug-in still ends well."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("PySide6.QtWidgets")

from tests.hosts.fakes.exits import SAYS

OFFSCREEN = re.compile(r"This plugin does not support \w+\(\)\n")  # what Qt says without a screen
ROOT = Path(__file__).parents[2]


@pytest.mark.usefixtures("new_interpreter")
@pytest.mark.long
@pytest.mark.parametrize("host", ["maya", "houdini"])
def test_the_exit_code_is_zero_with_the_panel_and_a_question_open(
    host: str, tmp_path: Path
) -> None:
    """No unload, no kMayaExiting: the interpreter's end is all; it neither hangs nor crashes."""
    command = [sys.executable, "-m", "tests.hosts.fakes.exits", host, str(tmp_path)]

    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=50, check=False
    )

    said = OFFSCREEN.sub("", done.stderr)
    assert SAYS in done.stdout
    assert (done.returncode, said) == (0, "")
    assert not list((tmp_path / "runtime").glob("*.json"))
