"""A start that failed before there was a bridge, listed among the running hosts. Main thread."""

from __future__ import annotations

import logging
from contextlib import suppress
from pathlib import Path

from dcc_bridge.config import Settings
from dcc_bridge.errors import BridgeError
from dcc_bridge.host import Host
from dcc_bridge.server.discovery import Instance, Registration
from dcc_bridge.server.start_problem import explain

log = logging.getLogger(__name__)


class FailedStart:
    """Lists a host as one to which no agent can connect, and says why, until `close`.

    Attributes:
        problem: Why it did not start, and what to do.
    """

    def __init__(
        self, host: Host, error: Exception, settings: Settings | None, vendor: Path | None
    ) -> None:
        """Log why the start failed, and list the host.

        Args:
            host: The application.
            error: What its start raised.
            settings: Those of its bridge; None for the environment and the defaults.
            vendor: The folder in which its plug-in brought what it depends on.
        """
        self.problem = explain(error, host.name, vendor)
        self._registration: Registration | None = None
        log.error("%s", self.problem, exc_info=error)
        instance = Instance(
            url="",
            host=host.name,
            version=host.version,
            scene=host.scene(),
            state="failed",
            why=self.problem.what,
            mend=self.problem.mend,
        )
        with suppress(BridgeError, OSError, ValueError):  # where that failed, too, the log says why
            runtime = (settings or Settings.load()).under().runtime
            self._registration = Registration(instance, runtime)

    def close(self) -> None:
        """List the host no more; harmless the second time."""
        if self._registration is not None:
            self._registration.withdraw()
