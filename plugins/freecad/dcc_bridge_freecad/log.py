"""The bridge's log in FreeCAD: whole in our own file, a line of each record in the Report view.

Python writes to its error stream what no handler takes, and FreeCAD shows that in red and opens the
Report view for it. Any thread.
"""

from __future__ import annotations

import FreeCAD

from dcc_bridge.spi import Undo, install_log


def install() -> Undo:
    """Show each warning in the Report view, as FreeCAD's own messages are; return what ends it."""
    return install_log(lambda line: FreeCAD.Console.PrintMessage(f"{line}\n"))
