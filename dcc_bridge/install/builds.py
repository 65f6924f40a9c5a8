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


def usual(platform: Platform) -> Build:
    """Return the build of the applications on this computer, or the common one of another system.

    Args:
        platform: The system.
    """
    if platform == "linux":
        return BUILDS["linux-x64"]
    is_here = platform == sys.platform
    if platform == "darwin":
        if is_here and machine_facts.machine() == "x86_64":
            return BUILDS["macos-x64"]
        return BUILDS["macos-arm64"]
    # An x64 Python on Windows for ARM says "win-amd64", and so does the x64 application beside it.
    if is_here and sysconfig.get_platform() == "win-arm64":
        return BUILDS["windows-arm64"]
    return BUILDS["windows-x64"]
