"""A start that failed before there was a bridge, listed among the running hosts. Main thread.

The start may have failed for a package that the plug-in brought, so none of these is imported
before the problem is known.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from dcc_bridge.config import Settings
from dcc_bridge.host import Host
from dcc_bridge.server.start_problem import StartProblem, explain

if TYPE_CHECKING:
    from dcc_bridge.server.discovery import Registration

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
            error: The exception that its start raised.
            settings: The settings of its bridge; None for the environment and the defaults.
            vendor: The folder in which its plug-in brought the packages that it depends on.
        """
        self.problem = explain(error, host.name, vendor)
        self._registration: Registration | None = None
        log.error("%s", self.problem, exc_info=error)
        with suppress(Exception):  # the same problem may end this, too; the log has said why
            self._registration = _registered(host, self.problem, settings)

    def close(self) -> None:
        """List the host no more; harmless the second time. It raises nothing."""
        if self._registration is not None:
            self._registration.withdraw()


def _registered(host: Host, problem: StartProblem, settings: Settings | None) -> Registration:
    """Write down that a host is running, and why no agent can connect to it."""
    from dcc_bridge.server.discovery import Instance, Registration, scene_facts

    instance = Instance(
        url="",
        host=host.name,
        version=host.version,
        state="failed",
        why=problem.what,
        mend=problem.mend,
        **scene_facts(host),
    )
    if settings is None:
        settings = Settings.load()
    return Registration(instance, settings.under().runtime)
