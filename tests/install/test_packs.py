"""Packs for each system, out of pretended wheels that the real pip chooses among, without network.

`test_bundle` has what a pack contains; the real wheels are at the end, and in
`tests.blender.test_extension`.
"""

from __future__ import annotations

import json
import os
import platform
import struct
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import greenlet._greenlet as greenlet_module
import pytest

from dcc_bridge.install import packs, vendor, wheels
from dcc_bridge.install.archive import write_wheel
from dcc_bridge.install.builds import BUILDS, Build, build_for, usual
from dcc_bridge.install.elf import loaded_part
from dcc_bridge.install.folders import files_below
from dcc_bridge.install.places import Platform
from tests.blender import bpy_module
from tests.cli.commands import Done, _run_here, environment
from tests.install import binaries

NEEDED = ["sdk>=1", "native>=1", "speed>=1; platform_machine != 'ARM64'"]
OF_SDK = ["jsonschema>=4", "cffi", "pywin32>=300; sys_platform == 'win32'"]
PYWIN32 = {
    "pywin32.pth": b"win32",
    "pywin32_system32/pywintypes311.dll": b"dll",
    "win32/_win32sysloader.pyd": b"loader",
    "win32/win32api.pyd": b"api",
    "win32/win32gui.pyd": b"gui",
    "win32/win32job.pyd": b"job",
    "win32/lib/pywintypes.py": b"types",
    "win32/lib/win32con.py": b"constants",
}


def put(folder: Path, name: str, tag: str, content: dict[str, bytes], needs: list[str]) -> None:
    """Pretend a wheel, version 1000, for a tag."""
    info = f"{name}-1000.dist-info"
    lines = ["Metadata-Version: 2.1", f"Name: {name}", "Version: 1000"]
    lines += [f"Requires-Dist: {need}" for need in needs]
    said = f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tag}\n"
    told = {f"{info}/METADATA": "\n".join(lines).encode(), f"{info}/WHEEL": said.encode()}
    write_wheel(folder / f"{name}-1000-{tag}.whl", {**content, **told}, info)


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """All wheels that there are, for every system and both Pythons of Blender."""
    folder = tmp_path / "index"
    folder.mkdir()
    sdk = {
        "sdk/__init__.py": b"def check():\n    import jsonschema\n",
        "sdk/__init__.pyi": b"def check(): ...\n",
        "sdk/tests/test_it.py": b"",
        "sdk-1000.dist-info/sboms/parts.json": b"{}",
    }
    put(folder, "sdk", "py3-none-any", sdk, OF_SDK)
    put(folder, "jsonschema", "py3-none-any", {"jsonschema.py": b""}, ["attrs"])
    put(folder, "attrs", "py3-none-any", {"attr.py": b""}, [])
    for build in BUILDS.values():
        for python in ("cp311", "cp313"):
            tag = f"{python}-{python}-{build.tags[-1]}"
            code = binaries.pretended(build.platform, build.machine)
            native = {"native/core.so": code, "native/core.cpp": b"source"}
            put(folder, "native", tag, native, [])
            put(folder, "speed", tag, {"speed.so": b""}, [])
            put(folder, "cffi", tag, {"_cffi_backend.so": b"", "cffi/api.py": b""}, [])
            if build.platform == "win32":
                put(folder, "pywin32", tag, PYWIN32, [])
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setattr(vendor, "requirements", lambda: NEEDED)
    return folder


def opened(pack: Path) -> dict[str, dict[str, bytes]]:
    """Give the files of each wheel in a pack, by the wheel's name."""
    inside = {}
    with zipfile.ZipFile(pack) as archive:
        for name in archive.namelist():
            if not name.endswith(".whl"):
                continue
            with zipfile.ZipFile(BytesIO(archive.read(name))) as wheel:
                assert wheel.testzip() is None
                inside[Path(name).name] = {one: wheel.read(one) for one in wheel.namelist()}
    return inside


def pack(*words: str | Path) -> Done:
    return _run_here(environment(Path("runtime")), ["pack", *map(str, words)])


@pytest.mark.usefixtures("index")
@pytest.mark.parametrize("build", BUILDS.values(), ids=BUILDS)
def test_an_extension_has_the_wheels_of_its_system_for_each_python(
    build: Build, tmp_path: Path
) -> None:
    file = packs.build_extension(tmp_path, build)

    inside = opened(file)
    with zipfile.ZipFile(file) as archive:
        told = tomllib.loads(archive.read("blender_manifest.toml").decode())
    tags = {f"cp{python}-cp{python}-{build.tags[-1]}" for python in (311, 313)}
    wanted = {f"native-1000-{tag}.whl" for tag in tags} | {f"cffi-1000-{tag}.whl" for tag in tags}
    if build.machine != "ARM64":
        wanted |= {f"speed-1000-{tag}.whl" for tag in tags}
    if build.platform == "win32":
        wanted |= {f"pywin32-1000-{tag}.whl" for tag in tags}
    others = {"sdk-1000-py3-none-any.whl", "dcc_bridge_mcp-0.1.0-py3-none-any.whl"}
    assert file.name == f"dcc_bridge-0.1.0-{build.name}.zip"
    assert told["platforms"] == [build.name]
    assert inside.keys() == wanted | others
    (native,) = (files for name, files in inside.items() if name.startswith("native-1000-cp313"))
    assert binaries.processors(native["native/core.so"]) == {build.machine}


SDK_STATE = b"""\
import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.ciphers import AESGCM, HKDF

OUT = [InvalidTag, AESGCM, HKDF]
"""


def test_the_sdk_is_imported_without_cryptography_and_with_it(tmp_path: Path) -> None:
    """It is not among the wheels, and an application may have one of its own."""
    put(tmp_path, "mcp", "py3-none-any", {"mcp/server/request_state.py": SDK_STATE}, [])
    (wheel,) = tmp_path.iterdir()

    wheels.trim(wheel)

    with zipfile.ZipFile(wheel) as archive:
        module = archive.read("mcp/server/request_state.py")
    without: dict[str, object] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "cryptography", None)
        exec(module, without)
    own = {"InvalidTag": 1, "AESGCM": 2, "HKDF": 3}
    names = ("cryptography", "cryptography.exceptions", "cryptography.hazmat")
    with_own: dict[str, object] = {}
    with pytest.MonkeyPatch.context() as patch:
        for name in (*names, "cryptography.hazmat.ciphers"):
            patch.setitem(sys.modules, name, SimpleNamespace(**own))
        exec(module, with_own)
    assert without["OUT"] == [None, None, None]
    assert with_own["OUT"] == [1, 2, 3]


@pytest.mark.skipif(sys.platform != "linux", reason="its libraries are of another kind")
def test_a_library_without_its_debug_sections_loads_and_works(tmp_path: Path) -> None:
    """That of greenlet: nine tenths of it are read by debuggers alone."""
    original = Path(str(greenlet_module.__file__))
    data = original.read_bytes()
    kept = loaded_part(data)
    (tmp_path / original.name).write_bytes(kept)
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import _greenlet as made\n"
        "print(made.greenlet(lambda: made.__file__).switch())"
    )

    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60
    )

    assert done.stdout.strip() == str(tmp_path / original.name), done.stderr
    assert len(kept) < len(data) / 2
    assert loaded_part(kept) == kept
    assert loaded_part(b"\xcf\xfa\xed\xfe of macOS") == b"\xcf\xfa\xed\xfe of macOS"
    assert loaded_part(data[:40]) == data[:40]


@pytest.mark.usefixtures("index")
def test_a_pack_has_nothing_that_no_host_imports_and_its_records_are_right(tmp_path: Path) -> None:
    """Of pywin32 the modules that the SDK imports, where Python finds them without a .pth file."""
    inside = opened(packs.build_extension(tmp_path, BUILDS["windows-x64"]))

    theirs = {name: files for name, files in inside.items() if "-1000-" in name}
    kept = {}
    for name, files in theirs.items():
        (record,) = (one for one in files if one.endswith(".dist-info/RECORD"))
        listed = [line.partition(",")[0] for line in files[record].decode().splitlines()]
        assert sorted(listed) == sorted(files)
        kept[name.partition("-")[0]] = {one for one in files if ".dist-info/" not in one}
        assert not [one for one in files if "sboms" in one]
    assert kept["sdk"] == {"sdk/__init__.py"}
    assert kept["native"] == {"native/core.so"}
    assert kept["cffi"] == {"_cffi_backend.so"}
    assert kept["pywin32"] == {
        "_win32sysloader.pyd",
        "pywintypes.py",
        "pywintypes311.dll",
        "win32api.pyd",
        "win32con.py",
        "win32job.pyd",
    }


def test_a_package_that_is_imported_at_the_start_after_all_comes_along(
    index: Path, tmp_path: Path
) -> None:
    """A newer SDK may import what this one imports on demand; then its own needs come too."""
    (index / "sdk-1000-py3-none-any.whl").unlink()
    sdk = {"sdk/__init__.py": b"import os\nfrom jsonschema import validate\n"}
    put(index, "sdk", "py3-none-any", sdk, OF_SDK)
    into = tmp_path / "wheels"

    wheels.download(into, NEEDED, "3.11", BUILDS["linux-x64"])

    found = {wheels.package_of(wheel) for wheel in into.iterdir()}
    assert found == {"sdk", "native", "speed", "cffi", "jsonschema", "attrs"}


@pytest.mark.usefixtures("index")
def test_the_same_wheels_give_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At another time, by another user, whose files others may not read."""
    build = BUILDS["macos-arm64"]
    first = packs.build_extension(tmp_path / "first", build)
    bundle = packs.build_bundle(tmp_path / "first")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    mask = os.umask(0o077)
    try:
        again = packs.build_extension(tmp_path / "again", build)
        bundle_again = packs.build_bundle(tmp_path / "again")
    finally:
        os.umask(mask)

    assert first.read_bytes() == again.read_bytes()
    assert bundle.read_bytes() == bundle_again.read_bytes()
    with zipfile.ZipFile(first) as archive:
        assert {member.date_time[0] for member in archive.infolist()} == {1980}


def test_a_system_without_a_wheel_is_named_and_the_others_are_packed(
    index: Path, tmp_path: Path
) -> None:
    (index / "native-1000-cp313-cp313-win_arm64.whl").unlink()

    done = pack("--platform", "all", "--into", tmp_path / "made")

    made = {file.name for file in (tmp_path / "made").iterdir()}
    others = BUILDS.keys() - {"windows-arm64"}
    assert made == {f"dcc_bridge-0.1.0-{name}.zip" for name in others}
    assert done.code == 1
    assert "No wheel of native>=1 was found for windows-arm64 and Python 3.13." in done.err
    assert all(name in done.out for name in made)


def test_one_bundle_is_opened_not_all(tmp_path: Path) -> None:
    done = pack("claude-desktop", "--open", "--platform", "all", "--into", tmp_path)

    assert done.code == 2
    assert "name its system" in done.err
    assert not [*tmp_path.iterdir()]


@pytest.mark.usefixtures("index")
def test_a_bundle_for_a_system_needs_no_index_and_tells_what_it_leaves_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packs, "_BUNDLE_PYTHONS", ("3.11", "3.13"))
    done = pack("claude-desktop", "--platform", "windows-arm64", "--into", tmp_path)

    assert (done.code, done.err) == (0, "")
    with zipfile.ZipFile(tmp_path / "dcc-bridge-mcp-0.1.0-windows-arm64.mcpb") as archive:
        uv = tomllib.loads(archive.read("pyproject.toml").decode())["tool"]["uv"]
        manifest = json.loads(archive.read("manifest.json"))
        icon = archive.read(manifest["icon"])
    assert uv["environments"] == ["sys_platform == 'win32' and platform_machine == 'ARM64'"]
    assert uv["override-dependencies"] == [
        "cryptography; sys_platform == 'none'",
        "jsonschema; sys_platform == 'none'",
        "pycparser; sys_platform == 'none'",
    ]
    assert manifest["compatibility"]["platforms"] == ["win32"]
    assert icon.startswith(b"\x89PNG")
    assert {"homepage", "documentation", "support", "keywords"} <= manifest.keys()
    assert "Privacy" in manifest["long_description"]


@pytest.mark.parametrize(("kernel", "name"), [("X86_64", "macos-x64"), ("ARM64", "macos-arm64")])
def test_an_intel_mac_gets_its_own_wheels(
    kernel: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    monkeypatch.setattr("platform.version", lambda: f"root:xnu-11417/RELEASE_{kernel}_T6000")

    assert usual("darwin") is BUILDS[name]
    assert usual("win32") is BUILDS["windows-x64"]


@pytest.mark.usefixtures("index")
@pytest.mark.parametrize(
    ("system", "machine"),
    [("darwin", "x86_64"), ("darwin", "arm64"), ("win32", "ARM64"), ("win32", "AMD64")],
)
def test_what_is_installed_has_code_for_the_processor_of_the_application(
    system: Platform, machine: str, tmp_path: Path
) -> None:
    build = build_for(system, machine)
    assert build is not None

    vendor.fill(tmp_path / "vendor", "3.11", build)

    code = (tmp_path / "vendor" / "native" / "core.so").read_bytes()
    assert binaries.processors(code) == {machine}


def test_native_code_says_for_which_processors_it_is() -> None:
    """Of this computer, of a file with two of them, and of what is no native code."""
    here = metadata.files("greenlet") or []
    code = [file.read_binary() for file in here if binaries.is_native(file.name)]
    both = struct.pack(">2I", 0xCAFEBABE, 2)
    both += struct.pack(">5I", 0x01000007, 3, 0, 0, 0) + struct.pack(">5I", 0x0100000C, 0, 0, 0, 0)

    assert code
    assert all(binaries.processors(one) == {platform.machine()} for one in code)
    assert binaries.processors(both) == {"x86_64", "arm64"}
    with pytest.raises(ValueError, match="it begins with b'import s'"):
        binaries.processors(b"import sys")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All extensions, as the command makes them out of what the index has today."""
    folder = tmp_path_factory.mktemp("packs")
    done = pack("--platform", "all", "--into", folder)
    assert done.code == 0, done.err
    return folder


@pytest.mark.real
@pytest.mark.long
@pytest.mark.timeout(900)
class TestRealWheels:
    @pytest.mark.parametrize("name", BUILDS)
    def test_blenders_own_tool_accepts_each_extension(self, name: str, made: Path) -> None:
        """And it is light: 10.8 to 15.6 MB, where the one for Windows had 27 MB with pywin32."""
        (file,) = made.glob(f"*-{name}.zip")
        python = bpy_module.installed("5.3.0")
        (tool,) = python.parents[1].glob("lib/python*/site-packages/bpy/**/cli/blender_ext.py")

        done = subprocess.run([python, tool, "validate", file], timeout=60, check=False)

        assert done.returncode == 0
        assert file.stat().st_size < 12_000_000

    @pytest.mark.parametrize("name", BUILDS)
    def test_all_native_code_is_for_the_processor_of_its_system(
        self, name: str, made: Path
    ) -> None:
        """Each package has some, but for httptools on ARM, where the server does without."""
        (file,) = made.glob(f"*-{name}.zip")
        found = {}
        for wheel, files in opened(file).items():
            for one, content in files.items():
                if binaries.is_native(one):
                    found[wheel, one] = binaries.processors(content)

        machine = BUILDS[name].machine
        packages = {wheel.partition("-")[0] for wheel, _ in found}
        assert {one: machines for one, machines in found.items() if machine not in machines} == {}
        needed = {"cffi", "cryptography", "pydantic_core", "greenlet", "httptools", "pywin32"}
        if BUILDS[name].platform != "win32":
            needed.remove("pywin32")
        if machine == "ARM64":
            needed.remove("httptools")
        assert packages == needed

    def test_the_server_is_imported_from_a_plug_ins_folder_alone(self, tmp_path: Path) -> None:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        vendor.fill(tmp_path / "vendor", version, usual("linux"))
        size = sum(file.stat().st_size for file in files_below(tmp_path / "vendor"))
        code = (
            f"import sys; sys.path.insert(0, {str(tmp_path / 'vendor')!r})\n"
            "import dcc_bridge.server.service, dcc_bridge.plugin, dcc_bridge.client.proxy.stdio\n"
            "import dcc_bridge.client.connection, dcc_bridge.client.agent\n"
            "assert not {'cryptography', 'jsonschema'} & sys.modules.keys()\n"
        )

        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", code], capture_output=True, timeout=60, check=False
        )

        assert done.returncode == 0, done.stderr
        names = {path.name for path in (tmp_path / "vendor").iterdir()}
        assert not {"cryptography", "cffi", "jsonschema"} & names
        assert size < 20_000_000
