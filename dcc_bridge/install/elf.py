"""Takes out of Linux's libraries what no program loads: tables of symbols, and debug sections.

A library is loaded by its program headers alone. Compilers put the sections that only debuggers and
linkers read behind the last of what is loaded, with the table of all sections. By the System V ABI,
"Object Files", a file need not have that table. Any thread.
"""

from __future__ import annotations

import struct
from typing import Final

_MAGIC: Final = b"\x7fELF\x02\x01"  # of 64 bits, the lowest byte first
_HEADER: Final = struct.Struct("<16sHHIQQQIHHHHHH")
_PROGRAM_HEADER: Final = struct.Struct("<IIQQQQQQ")


def loaded_part(library: bytes) -> bytes:
    """Return a library without what no program loads; other files as they are.

    Args:
        library: The content of the file.
    """
    if not library.startswith(_MAGIC) or len(library) < _HEADER.size:
        return library
    header = list(_HEADER.unpack_from(library))
    table = header[5]
    size, count = header[9:11]
    if size != _PROGRAM_HEADER.size:
        return library
    end = table + size * count
    if end > len(library):
        return library
    for number in range(count):
        segment = _PROGRAM_HEADER.unpack_from(library, table + size * number)
        end = max(end, segment[2] + segment[5])  # its offset, and its size in the file
    header[6] = 0  # where the table of sections is
    header[12:] = [0, 0]  # how many there are, and which has their names
    return _HEADER.pack(*header) + library[_HEADER.size : end]
