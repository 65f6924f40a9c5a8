"""The operations of a host that implements every port, as which tests call those of any host."""

from __future__ import annotations

from dcc_bridge.spi import (
    ApiSearch,
    AppliedTransforms,
    Building,
    CheckedValues,
    Checking,
    Cleaning,
    CodeContext,
    Computing,
    Connections,
    Deleting,
    Drawing,
    FileExchange,
    Frames,
    HostOperations,
    Keyframes,
    Marking,
    Materials,
    Rendering,
    Saving,
)


class EveryPort(
    ApiSearch,
    AppliedTransforms,
    Building,
    CheckedValues,
    Checking,
    Cleaning,
    CodeContext,
    Computing,
    Connections,
    Deleting,
    Drawing,
    FileExchange,
    Frames,
    Keyframes,
    Marking,
    Materials,
    Rendering,
    Saving,
):
    """For types only: whether a host implements a port, `isinstance` says."""


PORTS = (HostOperations, *EveryPort.__bases__)


def port_of(method: str) -> type[HostOperations]:
    """Return the port that has a method."""
    return next(port for port in PORTS if method in vars(port))
