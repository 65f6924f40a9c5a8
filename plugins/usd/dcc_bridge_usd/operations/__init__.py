"""The operations of our own application for the verbs, on a USD stage. Main thread.

An item is the path of a prim, "/World/Props/Lamp_01". What is edited goes to the layer that the
person edits. The application has no current frame: it shows the first key of each value.

It is long since a prim may come from layers, references and variants, of which one is edited.
"""

from __future__ import annotations

from dcc_bridge.spi import Host, HostOperations

from .drawing import UsdOperations


def operations(host: Host) -> HostOperations:
    """Return the operations of a session."""
    return UsdOperations(host)
