"""The plug-in is an extension: Blender's own tool accepts it, and Blender installs and uses it."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from dcc_bridge.install import packs
from dcc_bridge.install.builds import BUILDS
from tests.blender import bpy_module
from tests.hosts.application import started
from tests.live import accept, status, text

PLUG_IN = bpy_module.ROOT / "plugins" / "blender"
LIFE = Path(__file__).parent / "bpy_extension.py"
OF_BLENDER = ("bpy", "numpy", "numpy.libs", "requests", "urllib3", "idna", "certifi", "zstandard")
"""What Blender itself needs; ours has to come with the extension."""


@pytest.mark.real
@pytest.mark.timeout(600)
@pytest.mark.parametrize("version", bpy_module.VERSIONS)
def test_blenders_own_tool_packs_it(version: str, tmp_path: Path) -> None:
    """It checks the manifest first."""
    python = bpy_module.installed(version)
    (tool,) = python.parents[1].glob("lib/**/cli/blender_ext.py")
    source = tmp_path / "source"
    made = tmp_path / "made"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PLUG_IN / "dcc_bridge_blender", source, ignore=ignored)
    made.mkdir()

    words = (python, tool, "build", "--source-dir", source, "--output-dir", made)
    command = [str(word) for word in words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    assert [file.name for file in made.iterdir()] == ["dcc_bridge-0.1.0.zip"]


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The extension, as `dcc-bridge pack` makes it."""
    return packs.build_extension(tmp_path_factory.mktemp("packed"), BUILDS["linux-x64"])


@pytest.mark.real
@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("version", bpy_module.VERSIONS)
def test_blender_installs_uses_and_uninstalls_it(
    version: str, packed: Path, tmp_path: Path
) -> None:
    """By what its wheels brought alone; a real client works in it, and nothing is left of it."""
    python = bpy_module.installed(version)
    (packages,) = python.parents[1].glob("lib/python*/site-packages")
    (tool,) = packages.glob("bpy/**/cli/blender_ext.py")
    of_blender = tmp_path / "of_blender"
    resources = tmp_path / "resources"
    of_blender.mkdir()
    for name in (*OF_BLENDER, "charset_normalizer"):
        (of_blender / name).symlink_to(packages / name)
    checked = subprocess.run([python, tool, "validate", packed], timeout=60, check=False)

    words = (python, "-S", "-P", "-B", LIFE, packed, of_blender)
    places = {"BLENDER_USER_RESOURCES": str(resources), "PYTHONPATH": ""}
    with started(words, tmp_path, **places) as blender:
        assert blender.instance
        installed = [str(one) for one in resources.rglob("*") if "dcc_bridge" in one.name]
        deleted = blender.call(
            "delete",
            {"pattern": "Cube"},
            asked=accept(confirm=True),
        )
        left = text(blender.call("list_items", {}))
        blender.order("close")
        assert blender.end() == 0, blender.output

    found = json.loads((tmp_path / "found.json").read_text())
    assert checked.returncode == 0
    assert status(deleted) == "done"
    assert "Cube" not in left
    assert "Light" in left
    assert all(Path(one).is_relative_to(resources / "extensions/.local") for one in found.values())
    assert len(installed) > 1
    after = [one for one in resources.rglob("*") if one.is_file()]
    assert [one.name for one in after] == ["compat.dat"], "which is Blender's own"
    assert not [one for one in resources.rglob("*") if "dcc_bridge" in one.name]
    assert b"dcc_bridge" not in after[0].read_bytes()
