"""The bridge's log in FreeCAD: whole in our own file, a line of each record in the Report view.

Python writes a record that no handler takes to its error stream, which FreeCAD shows in red, and
opens the Report view for that. Any thread.
"""

from __future__ import annotations

import FreeCAD

from dcc_bridge.spi import Undo, install_log


def install() -> Undo:
    """Show each warning in the Report view like FreeCAD's own messages; return the undo of that."""
    return install_log(_print)


def _print(line: str) -> None:
    FreeCAD.Console.PrintMessage(f"{line}\n")
