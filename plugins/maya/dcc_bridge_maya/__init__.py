"""The bridge in Maya: adapter, operations, plug-in. Maya is not needed for this import.

Once installed, the package lies in ``scripts`` of its Maya module. The packages that were installed
with it are put in front of the path here, before a module of theirs is imported.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

# In front, since the path may lead to older packages of the same names, or to those of another
# Python: of the virtual environment in whose terminal Maya was started.
_SYSTEM: Final = {"win32": "win64", "darwin": "mac"}.get(sys.platform, "linux")
_PYTHON: Final = f"py{sys.version_info.major}{sys.version_info.minor}"
_FOLDER: Final = Path(__file__).resolve().parents[2] / "vendor" / f"{_PYTHON}-{_SYSTEM}"
VENDOR: Final = _FOLDER if _FOLDER.is_dir() else None
"""The folder of the packages installed with this one; None in a checkout."""

if VENDOR is not None:
    sys.path[:] = [str(VENDOR), *(folder for folder in sys.path if folder != str(VENDOR))]
