"""What our own application does for the verbs: a USD stage. Main thread.

An item is the path of a prim, "/World/Props/Lamp_01". What is edited goes to the layer that the
person edits. The application has no current frame: it shows the first key of each value.

It is long since a prim may come from layers, references and variants, of which one is edited.
"""

from __future__ import annotations

import sys
from pathlib import Path

from dcc_bridge.host import Host
from dcc_bridge.verbs.operations import HostOperations


def operations(host: Host) -> HostOperations:
    """Give the operations of a session. The application lies beside its folder of skills."""
    application = str(Path(__file__).parents[2])
    if application not in sys.path:
        sys.path.append(application)
    from .drawing import UsdOperations

    return UsdOperations(host)
