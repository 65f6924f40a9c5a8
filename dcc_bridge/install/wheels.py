"""Fetches the packages that the bridge needs in an application, as wheels. Main thread.

Only what a host imports is kept. `trim` leaves out tests, types, sources of native code, lists of
parts, descriptions, and of Linux's libraries what only a debugger reads. Some packages are never
fetched: the SDK of the protocol imports them on demand, for what the bridge does not do.
`cryptography` is one of them; for it, an import in the SDK is changed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Final

from dcc_bridge.errors import BridgeError
from dcc_bridge.install.archive import write_archive, write_wheel
from dcc_bridge.install.builds import Build
from dcc_bridge.install.elf import loaded_part

_PIP: Final = Path(__file__).with_name("pip_elsewhere.py")
_PIP_TIMEOUT_S: Final = 600  # pip may have to download all packages
_QT: Final = re.compile(r"(pyside|shiboken|pyqt|qtpy)", re.IGNORECASE)
_NOT_FOUND: Final = re.compile(r"No matching distribution found for (.+)")
# By the name on the index, what one imports. jsonschema is for a client of the SDK that checks
# what tools return, and brings four others; cryptography is for a client that signs in elsewhere,
# and for a codec in whose place `server.state_seal` is; pycparser is for cffi, which compiles
# nothing here.
_ON_DEMAND: Final = {
    "cryptography": "cryptography",
    "jsonschema": "jsonschema",
    "pycparser": "pycparser",
}
# The one module that imports `cryptography` as it is imported itself, and the lines that do.
_GUARDED: Final = "mcp/server/request_state.py"
_IMPORTS: Final = re.compile(r"^(?:from cryptography[\w.]* import \w+(?:, \w+)*\n)+", re.MULTILINE)
_STAND_IN_VERSION: Final = "9999"  # newer than each real one
_UNUSED_SUFFIXES: Final = (".pyi", ".c", ".h", ".cpp", ".hpp", ".pyx", ".pxd", ".lib", "py.typed")
_UNUSED_FOLDERS: Final = frozenset({"tests", "test", "sboms"})
# What `mcp` imports of pywin32, as modules beside each other. In pywin32's own folders they are
# found by a .pth file only, which Python reads in its own site-packages and not in a plug-in's.
_OF_PYWIN32: Final = re.compile(
    r"(?:pywin32_system32|win32|win32/lib)/"
    r"(pywintypes\d+\.dll|_win32sysloader\.pyd|win32(?:api|job)\.pyd|(?:pywintypes|win32con)\.py)"
)
_OF_CFFI: Final = re.compile(r"(_cffi_backend[^/]*)")  # all that `cryptography` imports
_ONLY: Final = {"pywin32": _OF_PYWIN32, "cffi": _OF_CFFI}


class NotVendored(BridgeError):
    """A dependency of the bridge cannot be fetched. The message says why."""


def download(into: Path, requirements: list[str], python: str, build: Build) -> None:
    """Download wheels into a folder, which may have other files. What no host needs is left out.

    Args:
        into: The folder.
        requirements: What is needed.
        python: The minor version of Python that the wheels are for: "3.11".
        build: The system that the wheels are for.

    Raises:
        NotVendored: pip could not fetch the wheels, or Qt is among them.
    """
    left_out = set(_ON_DEMAND)
    while True:
        with tempfile.TemporaryDirectory(prefix="dcc_bridge-") as temporary:
            folder = Path(temporary, "wheels")
            _fetch(folder, requirements, left_out, python, build)
            imported = _imported_at_start(folder, left_out)
            if not imported:
                _move_trimmed(folder, into)
                return
        left_out -= imported


def _fetch(
    folder: Path, requirements: list[str], left_out: set[str], python: str, build: Build
) -> None:
    """Run pip, with an empty package instead of each that is left out."""
    folder.mkdir()
    stand_ins = folder.with_name("stand_ins")
    stand_ins.mkdir()
    for name in left_out:
        _write_stand_in(stand_ins, name)
    words = ["-P", str(_PIP), json.dumps(build.markers(python)), "download"]
    words += ["--quiet", "--disable-pip-version-check", "--no-cache-dir"]  # writes only the folder
    words += ["--only-binary=:all:", "--implementation", "cp", "--python-version", python]
    for tag in build.tags:
        words += ["--platform", tag]
    words += ["--find-links", str(stand_ins), "--dest", str(folder), *requirements]
    # For its statistics pip asks rustc for its version, and rustup then writes settings.
    env = {**os.environ, "RUSTUP_HOME": str(folder.with_name(".rustup"))}
    try:
        with _python_with_pip(env) as program:
            process = subprocess.run(
                [program, *words],
                env=env,
                capture_output=True,
                text=True,
                timeout=_PIP_TIMEOUT_S,
                check=False,
            )
    except subprocess.TimeoutExpired:
        minutes = _PIP_TIMEOUT_S // 60
        raise NotVendored(f"pip did not end in {minutes} minutes. Try again.") from None
    if process.returncode != 0:
        raise NotVendored(_reason(process.stderr, python, build))
    names = [path.name for path in folder.iterdir() if _QT.match(path.name)]
    if names:
        raise NotVendored(f"Qt ({', '.join(names)}) must not come along: nothing was installed.")
    for file in folder.glob(f"*-{_STAND_IN_VERSION}-*.whl"):
        file.unlink()


@contextmanager
def _python_with_pip(env: Mapping[str, str]) -> Iterator[str]:
    """Yield a Python that has pip: this one, or one in a temporary environment.

    The environments that `uvx` makes have no pip.

    Args:
        env: The variables with which programs are started.

    Raises:
        NotVendored: This Python cannot make an environment with pip.
    """
    if find_spec("pip") is not None:
        yield sys.executable
        return
    with tempfile.TemporaryDirectory(prefix="dcc_bridge-") as folder:
        words = [sys.executable, "-m", "venv", folder]
        process = subprocess.run(
            words, env=env, capture_output=True, timeout=_PIP_TIMEOUT_S, check=False
        )
        if process.returncode != 0:
            raise NotVendored(
                f"{sys.executable} has no pip, and cannot make an environment with pip. Use "
                "another Python, or install the package venv of this one."
            )
        if sys.platform == "win32":
            yield str(Path(folder, "Scripts", "python.exe"))
        else:
            yield str(Path(folder, "bin", "python"))


def _write_stand_in(folder: Path, name: str) -> None:
    info = f"{name}-{_STAND_IN_VERSION}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {_STAND_IN_VERSION}\n"
    tags = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    content = {f"{info}/METADATA": metadata.encode(), f"{info}/WHEEL": tags.encode()}
    write_wheel(folder / f"{name}-{_STAND_IN_VERSION}-py3-none-any.whl", content, info)


def _reason(output: str, python: str, build: Build) -> str:
    missing = _NOT_FOUND.search(output)
    if missing is not None:
        return (
            f"No wheel of {missing[1]} was found for {build.name} and Python {python}. Check that "
            "this computer reaches a package index."
        )
    lines = output.strip().splitlines() or ["no reason"]
    return (
        f"pip could not fetch what the bridge depends on: {lines[-1]}. Check that this computer "
        "reaches a package index."
    )


def _imported_at_start(folder: Path, left_out: set[str]) -> set[str]:
    """Return those of the packages that a module of another package imports as it is imported."""
    found = set()
    for wheel in sorted(folder.glob("*.whl")):
        if package_of(wheel) in _ONLY:
            continue
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if name.endswith(".py")]
            sources = [_changed(name, archive.read(name)) for name in names]
        text = b"\n".join(sources).decode(errors="replace")
        for name in left_out:
            if re.search(rf"^(?:import|from) {_ON_DEMAND[name]}\b", text, re.MULTILINE):
                found.add(name)
    return found


def _move_trimmed(folder: Path, into: Path) -> None:
    into.mkdir(parents=True, exist_ok=True)
    for wheel in sorted(folder.glob("*.whl")):
        trim(wheel)
        shutil.move(wheel, into / wheel.name)


def package_of(wheel: Path) -> str:
    """Return the name of the package that a wheel contains."""
    return wheel.name.partition("-")[0].lower()


def absent_packages(folder: Path) -> list[str]:
    """Return the packages that `download` left out of the wheels in a folder."""
    present = {package_of(wheel) for wheel in folder.glob("*.whl")}
    return sorted(set(_ON_DEMAND) - present)


def trim(wheel: Path) -> None:
    """Rewrite a wheel without the files that no host imports.

    Args:
        wheel: The file.
    """
    content: dict[str, bytes] = {}
    info = ""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.endswith("/"):
                continue
            if name.endswith(".dist-info/RECORD"):
                info = name.removesuffix("/RECORD")
                continue
            kept = _kept_as(package_of(wheel), name)
            if kept is not None:
                content[kept] = _changed(name, archive.read(name))
    if not info:  # pretended, or older than the specification
        write_archive(wheel, content)
        return
    write_wheel(wheel, content, info)


def _changed(name: str, data: bytes) -> bytes:
    """Return what a pack has of a file that is kept."""
    if name == _GUARDED:
        return _IMPORTS.sub(_guarded, data.decode()).encode()
    if name.endswith(".so"):
        return loaded_part(data)
    if name.endswith(".dist-info/METADATA"):
        fields, _, _ = data.partition(b"\n\n")  # the description is behind them
        return fields.rstrip() + b"\n"
    return data


def _guarded(imports: re.Match[str]) -> str:
    """Return lines that import, so that they may fail: what they import is None then."""
    lines = imports[0].splitlines()
    names: list[str] = []
    for line in lines:
        names += line.partition(" import ")[2].split(", ")
    indented = "".join(f"    {line}\n" for line in lines)
    return f"try:\n{indented}except ImportError:\n    {' = '.join(names)} = None\n"


def _kept_as(package: str, name: str) -> str | None:
    """Return the path that a file of a package gets, or None if no host imports it."""
    path = PurePosixPath(name)
    first, *others = path.parts
    if first.endswith(".data"):  # headers and commands; or modules, in a wheel of mixed kinds
        if others[0] in ("purelib", "platlib"):
            return "/".join(others[1:])
        return None
    if first.endswith(".dist-info"):
        if "sboms" in others:
            return None
        return name
    only = _ONLY.get(package)
    if only is not None:
        match = only.fullmatch(name)
        return match and match[1]
    if name.endswith(_UNUSED_SUFFIXES) or _UNUSED_FOLDERS & set(others[:-1]):
        return None
    return name
