"""A server that other computers could reach (row 31)."""

from __future__ import annotations

import socket
from contextlib import closing

import pytest

from dcc_bridge.server.worker import listen


@pytest.mark.parametrize("address", ["127.0.0.2", "::1"])
def test_no_other_address_of_the_computer_reaches_the_server(address: str) -> None:
    with closing(listen(0)) as listening:
        port = listening.getsockname()[1]
        socket.create_connection(("127.0.0.1", port)).close()

        with pytest.raises(OSError):  # refused, or no such network here
            socket.create_connection((address, port))
