"""What is packed: Blender's extension, and Claude Desktop's bundle, which its own tool accepts."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tomllib
import zipfile
from base64 import urlsafe_b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import uv
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from dcc_bridge.install import packs, vendor
from dcc_bridge.install.builds import BUILDS, Build
from tests.cli.commands import Done, _run_here, environment
from tests.client.proxy import stage
from tests.packages import from_npm

HERE = Path(__file__).parent
NPM, NODE = shutil.which("npm"), shutil.which("node")
MEANT = """\
import { readFileSync } from "node:fs";
const { getMcpConfigForManifest } = await import(process.argv[1]);
const [folder, fields] = process.argv.slice(2);
const options = {
  manifest: JSON.parse(readFileSync(`${folder}/manifest.json`)),
  extensionPath: folder, systemDirs: {}, userConfig: JSON.parse(fields), pathSeparator: "/",
};
console.log(JSON.stringify(await getMcpConfigForManifest(options)));
"""
"""Prints what the tool's own code makes of the manifest and a person's settings."""

real = [
    pytest.mark.real,
    pytest.mark.timeout(400),
    pytest.mark.skipif(NPM is None or NODE is None, reason="needs npm and node"),
]


@pytest.fixture
def wheels(monkeypatch: pytest.MonkeyPatch) -> None:
    """What others made comes without pip; the tests that start the bundle have the real ones."""

    def download(into: Path, python: str, build: Build) -> None:
        tag = f"cp{python.replace('.', '')}"
        (into / f"greenlet-3.5-{tag}-{build.name}.whl").write_text("")

    monkeypatch.setattr(vendor, "download", download)


def opened(file: Path, into: Path) -> Path:
    with zipfile.ZipFile(file) as archive:
        archive.extractall(into / "bundle")
    return into / "bundle"


@pytest.mark.usefixtures("wheels")
def test_the_bundle_brings_the_bridge_as_a_wheel_that_names_what_it_depends_on(
    tmp_path: Path,
) -> None:
    folder = opened(packs.build_bundle(tmp_path), tmp_path)

    (wheel,) = (folder / "wheels").iterdir()
    project = tomllib.loads((folder / "pyproject.toml").read_text())
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        facts = archive.read(name).decode().splitlines()
    assert project["tool"]["uv"]["sources"] == {"dcc-bridge-mcp": {"path": f"wheels/{wheel.name}"}}
    assert project["project"]["dependencies"] == ["dcc-bridge-mcp"]
    assert "no-index" not in project["tool"]["uv"]
    assert {f"Requires-Dist: {requirement}" for requirement in vendor.requirements()} <= {*facts}


@pytest.mark.usefixtures("wheels")
def test_a_bundle_for_a_studio_has_wheels_for_each_python_and_says_for_which_system(
    tmp_path: Path,
) -> None:
    file = packs.build_bundle(tmp_path, BUILDS["windows-x64"])
    folder = opened(file, tmp_path)

    uv = tomllib.loads((folder / "pyproject.toml").read_text())["tool"]["uv"]
    manifest = json.loads((folder / "manifest.json").read_text())
    assert file.name == "dcc-bridge-mcp-0.1.0-windows-x64.mcpb"
    assert manifest["compatibility"]["platforms"] == ["win32"]
    assert (uv["no-index"], uv["find-links"]) == (True, ["wheels"])
    assert sorted(path.name.split("-")[2] for path in (folder / "wheels").glob("greenlet*")) == [
        "cp311",
        "cp312",
        "cp313",
        "cp314",
    ]


def pack(*words: str | Path) -> Done:
    return _run_here(environment(Path("runtime"), PATH=""), ["pack", *map(str, words)])


def test_the_command_needs_no_node_and_says_how_the_bundle_is_installed(tmp_path: Path) -> None:
    done = pack("claude-desktop", "--into", tmp_path / "new")
    again = pack("claude-desktop", "--into", tmp_path / "new")

    assert (done.code, done.err) == (0, "")
    assert ["was overwritten" in it.out for it in (done, again)] == [False, True]
    assert str(tmp_path / "new" / "dcc-bridge-mcp-0.1.0.mcpb") in done.out
    assert "Claude Desktop: Settings > Extensions" in done.out
    assert "uvx" not in done.out


@pytest.mark.parametrize("opens", [True, False])
def test_the_bundle_is_opened_if_it_is_wanted_and_what_opens_nothing_is_told(
    opens: bool, tmp_path: Path
) -> None:
    with patch("webbrowser.open", return_value=opens) as opened:
        done = pack("claude-desktop", "--open", "--into", tmp_path)

    (file,) = tmp_path.glob("*.mcpb")
    opened.assert_called_once_with(file.as_uri())
    nothing = f"dcc-bridge: Nothing on this computer opens {file}. Is Claude Desktop installed?\n"
    assert (done.code, done.err) == ((0, "") if opens else (1, nothing))


@pytest.mark.usefixtures("wheels")
def test_an_extension_of_blender_that_is_written_over_is_told(tmp_path: Path) -> None:
    first, again = pack("--into", tmp_path), pack("blender", "--into", tmp_path)

    assert (first.code, again.code) == (0, 0), again.err
    assert ["was overwritten" in it.out for it in (first, again)] == [False, True]


def test_what_is_for_the_bundle_alone_is_refused_for_blender(tmp_path: Path) -> None:
    done = pack("--offline", "--into", tmp_path)

    assert done.code == 2
    assert "dcc-bridge pack claude-desktop" in done.err


def meant(folder: Path, **fields: str) -> dict[str, Any]:
    """Give the command with which Claude Desktop would start a bundle."""
    tool = from_npm(str(NPM), HERE, "mcpb") / "node_modules/@anthropic-ai/mcpb/dist/index.js"
    done = subprocess.run(
        [str(NODE), "--input-type=module", "-e", MEANT, str(tool), str(folder), json.dumps(fields)],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    meant: dict[str, Any] = json.loads(done.stdout)
    return meant


class TestInClaudeDesktop:
    pytestmark = real

    def test_its_own_tool_finds_nothing_wrong_and_packs_the_same_files(
        self, tmp_path: Path
    ) -> None:
        file = packs.build_bundle(tmp_path)
        folder = opened(file, tmp_path)
        tool = from_npm(str(NPM), HERE, "mcpb") / "node_modules" / ".bin" / "mcpb"
        words = ("validate", folder), ("pack", folder, tmp_path / "theirs.mcpb")

        done = [
            subprocess.run(
                [str(tool), *map(str, command)], capture_output=True, text=True, timeout=60
            )
            for command in words
        ]

        assert [one.returncode for one in done] == [0, 0], done
        assert "Manifest schema validation passes!" in done[0].stdout
        listed = [
            sorted(name for name in zipfile.ZipFile(packed).namelist())
            for packed in (file, tmp_path / "theirs.mcpb")
        ]
        assert listed[0] == listed[1]

    @pytest.mark.parametrize(
        ("offline", "fields"),
        [
            (False, {}),
            (False, {"host": "", "scene": ""}),
            (False, {"scene": "shot*"}),
            (True, {"host": "", "scene": ""}),
        ],
        ids=["never set", "empty", "one scene", "offline"],
    )
    def test_uv_starts_it_and_a_client_calls_a_tool_of_the_host_that_runs(
        self, offline: bool, fields: dict[str, str], tmp_path: Path
    ) -> None:
        """An empty field means any host; offline uv has nothing but what is in the bundle."""
        build = BUILDS["linux-x64"] if offline else None
        file = packs.build_bundle(tmp_path, build)
        folder = opened(file, tmp_path)
        command = meant(folder, **fields)
        alone = {"UV_OFFLINE": "1", "UV_CACHE_DIR": str(tmp_path / "cache")} if offline else {}
        environment = {**stage.alone(tmp_path / "runtime"), **command.get("env", {}), **alone}
        environment.pop("VIRTUAL_ENV", None)
        start = StdioServerParameters(
            command=uv.find_uv_bin(), args=command["args"], env=environment, cwd=tmp_path
        )
        assert command["command"] == "uv"

        async def agent() -> tuple[str, Any]:
            with open(os.devnull, "w") as nowhere:
                async with Client(stdio_client(start, errlog=nowhere), mode="legacy") as session:
                    await stage.until(lambda: _lists(session, "where"), 60)
                    label = json.loads(await stage.said(session, "who"))["label"]
                    return await stage.said(session, "where"), label

        with stage.small(tmp_path / "runtime"):
            seen = stage.run(agent, limit=300)

        assert seen == ("shot.ma", "claude-desktop")


async def _lists(session: Client, tool: str) -> bool:
    return tool in await stage.names(session)


@pytest.fixture
def packed(tmp_path: Path, wheels: None) -> zipfile.ZipFile:
    """Blender's, without pip; `tests.blender.test_extension` has the real one."""
    return zipfile.ZipFile(packs.build_extension(tmp_path / "new", BUILDS["linux-x64"]))


def test_the_manifest_names_each_wheel_and_nothing_in_it_was_compiled(
    packed: zipfile.ZipFile,
) -> None:
    """One for each Python that a Blender has, and the bridge's own."""
    told = tomllib.loads(packed.read("blender_manifest.toml").decode())
    wheels = sorted(name for name in packed.namelist() if name.startswith("wheels/"))

    assert told["platforms"] == ["linux-x64"]
    assert told["wheels"] == [f"./{name}" for name in wheels]
    assert [name.partition("/")[2].partition("-")[0] for name in wheels] == [
        "dcc_bridge_mcp",
        "greenlet",
        "greenlet",
    ]
    assert told["permissions"].keys() == {"network", "files"}
    assert packed.filename is not None
    assert packed.filename.endswith("dcc_bridge-0.1.0-linux-x64.zip")
    names = packed.namelist()
    assert {"__init__.py", "plugin.py", "operations/items.py"} <= {*names}
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
    assert "dcc_bridge_batch/warm_host.py" in data  # runs in every application
    for path, digest, size in rows[:-1]:
        wanted = urlsafe_b64encode(sha256(data[path]).digest()).decode().rstrip("=")
        assert (digest, int(size)) == (f"sha256={wanted}", len(data[path]))
    assert rows[-1] == [record, "", ""]
