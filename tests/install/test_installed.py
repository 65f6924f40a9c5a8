"""Installed into a real application, used there, and taken away: nothing is left of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.blender import window as blender_window
from tests.hosts import freecad, screen
from tests.hosts.application import started
from tests.install import tree
from tests.live import status, text

pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]


def command(home: Path, *words: str, code: int = 0) -> str:
    """Run a command in a home of its own; give what it said."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    done = subprocess.run(
        [sys.executable, "-m", "dcc_bridge", *words],
        env={**kept, "HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def installed(home: Path, host: str, addon: str) -> Path:
    """Install a plug-in, as it was shown first; give the folder of what it depends on."""
    before = tree(home)
    dry = command(home, "install", host, "--dry-run")
    assert tree(home) == before
    told = command(home, "install", host)
    assert dry.splitlines()[:4] == told.splitlines()[:4]
    vendored = home / addon / "vendor"
    assert not [one for one in vendored.rglob("*") if "PySide" in one.name]
    assert not (vendored / "cryptography").exists()  # the questions below do without
    return vendored


def uninstalled(home: Path, host: str, before: dict[str, bytes | None]) -> dict[str, bytes | None]:
    """Uninstall it; give what is there then. Of ours that is the user's own alone."""
    assert "missing" not in command(home, "status", host)
    command(home, "uninstall", host)
    after = tree(home)
    new = [name for name in after if name not in before and "person/__pycache__" not in name]
    ours = [name for name in new if "dcc_bridge" in name]
    assert all(name.startswith(".local/state/dcc_bridge") for name in ours)
    assert "not installed anywhere" in command(home, "status", host)
    command(home, "uninstall", host, code=2)
    return after


@pytest.mark.skipif(freecad.PROGRAM is None, reason="FreeCAD is not installed")
def test_freecad_is_installed_into_used_and_left_as_it_was(tmp_path: Path) -> None:
    """By FreeCAD's own loader; an agent deletes with consent, by what was installed alone."""
    freecad.settle(tmp_path, installed=True)
    before = tree(tmp_path)

    vendored = installed(tmp_path, "freecad", ".local/share/FreeCAD/Mod/dcc_bridge")

    assert freecad.PROGRAM is not None
    with started([freecad.PROGRAM], tmp_path, **freecad.WITHOUT_A_SCREEN) as application:
        assert application.instance
        application.order("where", "new", "accept")
        result = application.call("delete", {"pattern": "Box*"})
        left = text(application.call("list_items", {}))
        application.order("close")
        assert application.end() == 0, application.output
    assert (status(result), json.loads(left)["found"]) == ("done", 1)
    assert Path((tmp_path / "where").read_text()).is_relative_to(vendored)

    after = uninstalled(tmp_path, "freecad", before)
    # FreeCAD keeps its settings and its cache, and who may call belongs to the user, not to this.
    theirs = (".cfg", ".conf")
    assert {one: after.get(one) for one in before if not one.endswith(theirs)} == {
        one: before[one] for one in before if not one.endswith(theirs)
    }
    assert [it for it in after.keys() - before.keys() if "Mod/" in it and "person/" not in it] == []


@pytest.mark.skipif(
    blender_window.PROGRAM is None or bool(screen.missing()),
    reason=f"not installed: Blender, or {screen.missing()}",
)
def test_blender_is_installed_into_used_and_left_as_it_was(tmp_path: Path) -> None:
    """Enabled with that, it serves in the window at the next start, by what was installed alone."""
    (tmp_path / ".config").mkdir()
    (tmp_path / ".config/mine.txt").write_text("mine")
    before = tree(tmp_path)

    addon = ".config/blender/3.4/scripts/addons/dcc_bridge_blender"
    vendored = installed(tmp_path, "blender", addon)

    with (
        screen.screen(*blender_window.SIZE) as shown,
        blender_window.opened(tmp_path, shown, PYTHONPATH="") as application,
    ):
        assert application.instance
        renamed = application.call("rename", {"names": {"Cube": "Crane"}})
        left = text(application.call("list_items", {}))
        application.order("write", "disable", "close")
        assert application.end() == 0, application.output
    seen = json.loads((tmp_path / "seen.json").read_text())
    assert (status(renamed), "Crane" in left) == ("done", True)
    assert Path(seen["bridge"]).is_relative_to(vendored)

    after = uninstalled(tmp_path, "blender", before)
    assert {one: after.get(one) for one in before} == before
    # Blender keeps its settings, which name the add-on no more.
    settings = {one for one in after if one.startswith(".config/blender/3.4/config/")}
    assert not [one for one in settings if b"dcc_bridge" in (after[one] or b"")]
    new = after.keys() - before.keys() - settings
    folders = {".config/blender", ".config/blender/3.4", ".config/blender/3.4/config"}
    assert {one for one in new if one.startswith(".config/blender")} == folders
