"""The bridge in Maya: adapter, operations, plug-in. It can be imported without Maya.

Installed, it lies in ``scripts`` of its module. What was installed with it is put in front of
the path here, before a module of it is imported.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

# In front: the path may lead to older ones of the same names, or to another Python's, as those of
# the virtual environment of the terminal from which Maya was started.
_SYSTEM: Final = {"win32": "win64", "darwin": "mac"}.get(sys.platform, "linux")
_PYTHON: Final = f"py{sys.version_info.major}{sys.version_info.minor}"
_FOLDER: Final = Path(__file__).resolve().parents[2] / "vendor" / f"{_PYTHON}-{_SYSTEM}"
VENDOR: Final = _FOLDER if _FOLDER.is_dir() else None
"""The folder of what was installed with this package; None in a checkout."""

if VENDOR is not None:
    sys.path[:] = [str(VENDOR), *(folder for folder in sys.path if folder != str(VENDOR))]
