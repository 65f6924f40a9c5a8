"""``dcc-bridge install`` without ``--interpreter`` takes what is installed, and says which."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cli.commands import Done, _run_here
from tests.cli.pretended import application, variables

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a script is no program there")


def install(home: Path, *words: str) -> Done:
    """Show what would be installed for Blender."""
    return _run_here(variables(home), ["install", "blender", "--dry-run", *words])


@pytest.mark.core
def test_the_only_one_is_taken_and_of_several_the_one_that_is_named(tmp_path: Path) -> None:
    home = tmp_path / "home"
    old = application(home / "Applications/blender-4.5/blender", "4.5.3")
    alone = install(home)
    new = application(home / "Applications/blender-5.2/blender", "5.2.0", "3.13")
    several = install(home)
    named = install(home, "--version", "5.2")
    pointed_at = install(home, "--interpreter", str(old))

    assert f"Blender 4.5.3 ({old}), with Python 3.11:" in alone.out
    assert several.code == 2
    assert all(str(program) in several.err for program in (old, new))
    assert "Say which: --interpreter PATH" in several.err
    assert f"Blender 5.2.0 ({new}), with Python 3.13:" in named.out
    assert f"Blender 4.5.3 ({old}), with Python 3.11:" in pointed_at.out


def test_the_one_on_path_comes_first(tmp_path: Path) -> None:
    home = tmp_path / "home"
    on_path = application(tmp_path / "bin/blender", "4.5.3")
    other = application(home / "Applications/blender-5.2/blender", "5.2.0", "3.13")

    assert f"({on_path})" in install(home).out
    assert f"({other})" in install(home, "--version", "5.2").out


def test_a_version_that_is_not_found_may_still_be_named(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for version in ("4.4", "4.5"):
        application(home / f"Applications/blender-{version}/blender", version)

    done = install(home, "--version", "5.2")

    assert (done.code, done.out.splitlines()[0]) == (0, "Blender 5.2, with Python 3.13:")


def test_a_temporary_copy_of_macos_is_told_apart(tmp_path: Path) -> None:
    copy = tmp_path / "AppTranslocation/8F/d/Blender.app/Contents/MacOS/Blender"

    done = install(tmp_path / "home", "--interpreter", str(application(copy, "4.5.3")))

    assert done.code == 2
    assert "move it with the Finder into the folder Applications" in done.err
