"""The record of a bridge among the running hosts, which is written again if a write fails.

A bridge makes a `HostRecord` as it starts, updates it, and withdraws it as it stops. Any thread.
"""

from __future__ import annotations

import logging
from contextvars import Context
from pathlib import Path
from socket import socket
from typing import Any, Final

from dcc_bridge.callbacks import CallLater
from dcc_bridge.errors import StartError
from dcc_bridge.host import Host
from dcc_bridge.server.discovery import Instance, Registration, scene_facts
from dcc_bridge.server.start_problem import foreign_modules, name_foreign
from dcc_bridge.server.worker import LOOPBACK
from dcc_bridge.threads.background import run_in_thread

log = logging.getLogger(__name__)

_IMPORT_FOLDER: Final = str(Path(__file__).absolute().parents[2])
_RENEW_INTERVAL_S: Final = 5.0  # until a record that could not be updated is written again


class HostRecord:
    """The record of a bridge, from which clients learn its URL and its scene."""

    def __init__(
        self, host: Host, server: socket, later: CallLater, runtime: Path | None = None
    ) -> None:
        """Write the record. Main thread.

        Args:
            host: The application.
            server: The socket of the bridge's server.
            later: Calls a function after some seconds.
            runtime: The folder of the records; None for the user's own.

        Raises:
            StartError: The record cannot be written.
        """
        _, port = server.getsockname()
        url = f"http://{LOOPBACK}:{port}/mcp"
        instance = Instance(
            url, host.name, host.version, imported_from=_IMPORT_FOLDER, **scene_facts(host)
        )
        try:
            self._registration = Registration(instance, runtime)
        except OSError as error:
            raise StartError(f"The host cannot be listed as running: {error}.") from error
        self._later = later
        self._is_renewing = False  # the record is written again soon

    @property
    def instance(self) -> Instance:
        """The facts of the record."""
        return self._registration.instance

    def update(self, **facts: Any) -> None:
        """Write new facts into the record; after an error again some seconds later."""
        try:
            self._registration.update(**facts)
        except OSError as error:  # others still find the host, with the old facts
            if facts:
                log.warning("the entry of this host cannot be updated: %s", error)
            if not self._is_renewing:
                self._is_renewing = True
                Context().run(self._later, _RENEW_INTERVAL_S, self._renew)

    def note_foreign_modules(self, vendor: Path) -> None:
        """Write into the record and the log which modules the host runs from elsewhere.

        Args:
            vendor: The folder in which the plug-in brought its modules.
        """
        foreign = foreign_modules(vendor)
        if foreign:
            log.warning("%s", name_foreign(self.instance.host, foreign))
            self.update(foreign=foreign)

    def _renew(self) -> None:
        """Write the record on a thread of its own, as the write may wait for a reader."""
        self._is_renewing = False
        run_in_thread(self.update, "the record of this host")

    def withdraw(self) -> None:
        """Delete the record; harmless the second time."""
        self._registration.withdraw()
