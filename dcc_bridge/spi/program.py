"""For a leaf's module ``program``: what the commands know of an application. Any thread.

The commands find it as ``PROGRAM``, by the entry point ``dcc_bridge.hosts`` of the application's
name: an `InstallTarget` where the application has a Python of its own and a folder for plug-ins, a
`LocalProgram` where it runs in the Python of the commands. It imports nothing of the application's
API, and nothing here does.

An application with a Python of its own:

===================  ===============================================================================
``InstallTarget``    an application that ``dcc-bridge install`` can put a plug-in into
``Places``           where an application may be installed, besides the folders of PATH
``Preferences``      the file in which an application keeps which plug-ins are enabled
``Facts``            what an application's own program said of itself
``System``           an operating system, a user's home folder on it, and the environment
``numbers``          reads a version: "0.20.2" as (0, 20, 2)
``UnknownLocation``  the error that says what must be known to find the plug-in's place
===================  ===============================================================================

An application in the Python of the commands:

===================  ===============================================================================
``LocalProgram``     an application that the commands run in their own Python
``Opening``          what that is started with
``WindowedHost``     that application in its window, while it runs
``MissingExtra``     the error that says which part of the installation is not there
===================  ===============================================================================
"""

from __future__ import annotations

from dcc_bridge.errors import MissingExtra
from dcc_bridge.install.locations import Facts, InstallTarget, System, UnknownLocation, numbers
from dcc_bridge.install.places import Places
from dcc_bridge.install.preferences import Preferences
from dcc_bridge.program import LocalProgram, Opening, WindowedHost

__all__ = [
    "Facts",
    "InstallTarget",
    "LocalProgram",
    "MissingExtra",
    "Opening",
    "Places",
    "Preferences",
    "System",
    "UnknownLocation",
    "WindowedHost",
    "numbers",
]
