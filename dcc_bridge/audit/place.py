"""Where the record is kept. Any thread."""

from __future__ import annotations

from pathlib import Path

import platformdirs


def folder(chosen: Path | None = None) -> Path:
    """Give the folder of the record; it need not be there yet.

    Args:
        chosen: Another place than the system's own.
    """
    return chosen or platformdirs.user_state_path("dcc_bridge") / "audit"
