"""What the bridge depends on is brought for another Python, and in Blender's extension."""

from __future__ import annotations

import tomllib
import zipfile
from base64 import urlsafe_b64encode
from hashlib import sha256
from pathlib import Path

import pytest

from dcc_bridge.install import vendor

OF_OTHERS = "pydantic_core-2.50-cp{0}-cp{0}-manylinux_2_17_x86_64.whl"


@pytest.fixture
def packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> zipfile.ZipFile:
    """It, without pip; `tests.hosts.test_blender_extension` has the real one."""

    def download(into: Path, python: str, platform: str) -> None:
        (into / OF_OTHERS.format(python.replace(".", ""))).write_text(platform)

    monkeypatch.setattr(vendor, "download", download)
    return zipfile.ZipFile(vendor.build_extension(tmp_path / "new", "linux"))


def test_the_manifest_names_each_wheel_and_the_system(packed: zipfile.ZipFile) -> None:
    """One for each Python that a Blender has, and the bridge's own."""
    told = tomllib.loads(packed.read("blender_manifest.toml").decode())
    wheels = sorted(name for name in packed.namelist() if name.startswith("wheels/"))

    assert told["platforms"] == ["linux-x64"]
    assert told["wheels"] == [f"./{name}" for name in wheels]
    assert [name.partition("/")[2].partition("-")[0] for name in wheels] == [
        "dcc_bridge_mcp",
        "pydantic_core",
        "pydantic_core",
    ]
    assert told["permissions"].keys() == {"network", "files"}
    assert packed.filename is not None
    assert packed.filename.endswith("dcc_bridge-0.1.0-linux-x64.zip")


def test_the_plug_in_and_its_skills_are_in_it_and_nothing_that_was_compiled(
    packed: zipfile.ZipFile,
) -> None:
    names = packed.namelist()

    assert {"__init__.py", "plugin.py", "skills/delete_objects.py"} <= {*names}
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]


def test_the_bridges_own_wheel_is_recorded_file_by_file(packed: zipfile.ZipFile) -> None:
    """By the specification: each file with its digest, the record itself without."""
    (name,) = (name for name in packed.namelist() if name.startswith("wheels/dcc_bridge_mcp-"))
    with packed.open(name) as file, zipfile.ZipFile(file) as wheel:
        (record,) = (one for one in wheel.namelist() if one.endswith(".dist-info/RECORD"))
        rows = [line.split(",") for line in wheel.read(record).decode().splitlines()]
        data = {one: wheel.read(one) for one in wheel.namelist()}

    assert {row[0] for row in rows} == data.keys()
    assert "dcc_bridge/py.typed" in data
    for path, digest, size in rows[:-1]:
        wanted = urlsafe_b64encode(sha256(data[path]).digest()).decode().rstrip("=")
        assert (digest, int(size)) == (f"sha256={wanted}", len(data[path]))
    assert rows[-1] == [record, "", ""]


@pytest.mark.parametrize("platform", ["linux", "win32", "darwin"])
@pytest.mark.parametrize("python", ["3.11", "3.13"])
def test_pip_is_told_the_hosts_python_and_system(python: str, platform: str) -> None:
    """Wheels alone, for that Python and that system, and nothing of Qt."""
    words = vendor.command(Path("into"), python, platform)  # type: ignore[arg-type]  # one of three

    assert words[words.index("--python-version") + 1] == python
    assert "--only-binary=:all:" in words
    assert all("PySide" not in word for word in words)
    assert {"linux": "manylinux_2_28_x86_64", "win32": "win_amd64"}.get(
        platform, "macosx_11_0_arm64"
    ) in words
