"""Reads for which processors native code is made: from its first bytes, for every system.

By the ELF specification (``e_machine``), Apple's ``mach-o/loader.h`` and ``fat.h``, and Microsoft's
"PE Format".
"""

from __future__ import annotations

import struct
from typing import Final

_ELF: Final = {62: "x86_64", 183: "aarch64"}
_MACH_O: Final = {0x01000007: "x86_64", 0x0100000C: "arm64"}
_PE: Final = {0x8664: "AMD64", 0xAA64: "ARM64", 0x014C: "x86"}
_SUFFIXES: Final = (".so", ".pyd", ".dll", ".dylib", ".exe")


def is_native(name: str) -> bool:
    """Return whether a file is native code, by its name."""
    return name.endswith(_SUFFIXES) or ".so." in name


def processors(content: bytes) -> set[str]:
    """Return the processors of native code, as ``platform.machine()`` calls them there.

    Args:
        content: The file, from its beginning.

    Raises:
        ValueError: It is no native code of a kind that is known.
    """
    if content[:4] == b"\x7fELF":
        (number,) = struct.unpack_from("<H", content, 18)
        return {_ELF[number]}
    if content[:4] == b"\xcf\xfa\xed\xfe":
        (number,) = struct.unpack_from("<I", content, 4)
        return {_MACH_O[number]}
    if content[:4] == b"\xca\xfe\xba\xbe":  # several in one file
        (count,) = struct.unpack_from(">I", content, 4)
        return {_MACH_O[struct.unpack_from(">I", content, 8 + 20 * n)[0]] for n in range(count)}
    if content[:2] == b"MZ":
        (start,) = struct.unpack_from("<I", content, 60)
        if content[start : start + 4] == b"PE\0\0":
            (number,) = struct.unpack_from("<H", content, start + 4)
            return {_PE[number]}
    raise ValueError(f"it begins with {content[:8]!r}")


def pretended(platform: str, machine: str) -> bytes:
    """Return the beginning of native code of a system and its processor."""
    if platform == "linux":
        number = next(number for number, name in _ELF.items() if name == machine)
        return b"\x7fELF".ljust(18, b"\0") + struct.pack("<H", number)
    if platform == "darwin":
        number = next(number for number, name in _MACH_O.items() if name == machine)
        return b"\xcf\xfa\xed\xfe" + struct.pack("<I", number)
    number = next(number for number, name in _PE.items() if name == machine)
    return b"MZ".ljust(60, b"\0") + struct.pack("<I4sH", 64, b"PE\0\0", number)
