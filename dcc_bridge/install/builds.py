"""The builds of an application that packages with native code are made for. Any thread."""

from __future__ import annotations

import platform as machine_facts
import sys
import sysconfig
from dataclasses import dataclass
from typing import Final

from dcc_bridge.install.places import Platform

_OS_NAMES: Final[dict[Platform, str]] = {"linux": "posix", "win32": "nt", "darwin": "posix"}
_SYSTEM_NAMES: Final[dict[Platform, str]] = {
    "linux": "Linux",
    "win32": "Windows",
    "darwin": "Darwin",
}


@dataclass(frozen=True, slots=True)
class Build:
    """A system and its processor.

    Attributes:
        name: The name that Blender's manifest has for it: "windows-x64".
        platform: The system.
        machine: The processor, as ``platform.machine()`` returns it there.
        tags: The tags of the wheels that run there.
    """

    name: str
    platform: Platform
    machine: str
    tags: tuple[str, ...]

    def markers(self, python: str) -> dict[str, str]:
        """Return the values of environment markers there. They decide which packages are needed.

        Args:
            python: The minor version of Python there: "3.11".
        """
        return {
            "implementation_name": "cpython",
            "implementation_version": f"{python}.0",
            "os_name": _OS_NAMES[self.platform],
            "platform_machine": self.machine,
            "platform_python_implementation": "CPython",
            "platform_release": "",
            "platform_system": _SYSTEM_NAMES[self.platform],
            "platform_version": "",
            "python_full_version": f"{python}.0",
            "python_version": python,
            "sys_platform": self.platform,
        }


# pip tries older tags by itself for macOS only. Wheels with newer tags than manylinux 2.28 do not
# load on the systems of the VFX Reference Platform CY2024 to CY2026, and with newer ones than
# macOS 11 not where Blender 4.2 runs.
_MANYLINUX: Final = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")
_ALL: Final = (
    Build("linux-x64", "linux", "x86_64", _MANYLINUX),
    Build("macos-arm64", "darwin", "arm64", ("macosx_11_0_arm64",)),
    Build("macos-x64", "darwin", "x86_64", ("macosx_11_0_x86_64",)),
    Build("windows-arm64", "win32", "ARM64", ("win_arm64",)),
    Build("windows-x64", "win32", "AMD64", ("win_amd64",)),
)
BUILDS: Final = {build.name: build for build in _ALL}
"""The builds by their names."""


_NAMES: Final = {
    ("linux", "x86_64"): "linux-x64",
    ("darwin", "arm64"): "macos-arm64",
    ("darwin", "x86_64"): "macos-x64",
    ("win32", "arm64"): "windows-arm64",
    ("win32", "amd64"): "windows-x64",
}


def own_machine() -> str:
    """Return the processor that this Python runs on, as an application's Python reports its own."""
    if sys.platform == "win32":
        return sysconfig.get_platform().rpartition("-")[2]
    return machine_facts.machine()


def build_for(platform: Platform, machine: str | None) -> Build | None:
    """Return the build of an application.

    Args:
        platform: The application's system.
        machine: The processor that its Python reported; None if it was not asked.

    Returns:
        The build; None if there is none for this processor.
    """
    if machine is None:
        return usual(platform)
    name = _NAMES.get((platform, machine.lower()))
    if name is None:
        return None
    return BUILDS[name]


def usual(platform: Platform) -> Build:
    """Return the build of most applications on this computer, or the common one of another system.

    The applications need not run as this Python does: on Apple silicon it may be one for Intel.

    Args:
        platform: The system.
    """
    if platform == "linux":
        return BUILDS["linux-x64"]
    is_here = platform == sys.platform
    if platform == "darwin":
        # The name of the kernel's build has the processor of the computer, also under Rosetta.
        if is_here and "ARM64" not in machine_facts.version():
            return BUILDS["macos-x64"]
        return BUILDS["macos-arm64"]
    # An x64 Python on Windows for ARM says "win-amd64", and so does the x64 application beside it.
    if is_here and sysconfig.get_platform() == "win-arm64":
        return BUILDS["windows-arm64"]
    return BUILDS["windows-x64"]
