"""The bridge in Blender: an extension from 4.2 on, an add-on before.

Both are this folder. An extension brings its dependencies as wheels, which Blender installs. The
add-on brings them in ``vendor``. Nothing but this module is imported until Blender registers it.
Main thread.
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path

bl_info = {
    "name": "DCC Bridge",
    "author": "The DCC Bridge authors",
    "version": (0, 1, 0),
    "blender": (3, 4, 0),
    "location": "3D View > Sidebar > Agents",
    "description": "AI agents work in your scene, and ask before they change it",
    "category": "System",
}

# In front: the path may lead to older packages of the same names, or to those of another Python, as
# in the virtual environment of the terminal from which Blender was started.
_vendor = Path(__file__).parent / "vendor"
if _vendor.is_dir():
    sys.path[:] = [str(_vendor), *(folder for folder in sys.path if folder != str(_vendor))]


def register() -> None:
    """Start as soon as Blender's window is up; the preferences say why where that fails."""
    from . import preferences  # its dependencies are on the path by now

    preferences.register()
    try:
        from . import plugin
    except Exception as error:  # whatever an import raises: the person is told
        from dcc_bridge.spi import explain

        vendor = _vendor if _vendor.is_dir() else None
        problem = explain(error, "Blender", vendor)
        logging.getLogger("dcc_bridge.blender").error("%s", problem, exc_info=error)
        preferences.state = str(problem)
        return
    plugin.register()


def unregister() -> None:
    """Stop. Blender also calls it when it quits."""
    from . import preferences

    plugin = sys.modules.get(f"{__name__}.plugin")  # None where the import failed
    if plugin is not None:
        plugin.unregister()
    preferences.unregister()
