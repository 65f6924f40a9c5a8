"""Lists a host whose bridge could not be started among the running hosts. Main thread.

The start may have failed because of a package that the plug-in brought, so this module imports such
packages only after it has logged the problem.
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
    """Lists a host to which no agent can connect, with the reason, until `close`.

    Attributes:
        problem: Why the bridge did not start, and what to do.
    """

    def __init__(
        self, host: Host, error: Exception, settings: Settings | None, vendor: Path | None
    ) -> None:
        """Log why the start failed, and list the host.

        Args:
            host: The application.
            error: The exception that the start raised.
            settings: The settings of the bridge; None for the environment and the defaults.
            vendor: The folder with the packages that the plug-in brought.
        """
        self.problem = explain(error, host.name, vendor)
        self._registration: Registration | None = None
        log.error("%s", self.problem, exc_info=error)
        with suppress(Exception):  # the same problem may occur here, and was logged already
            self._registration = _register(host, self.problem, settings)

    def close(self) -> None:
        """Remove the host from the list; harmless the second time. This raises nothing."""
        if self._registration is not None:
            self._registration.withdraw()


def _register(host: Host, problem: StartProblem, settings: Settings | None) -> Registration:
    """Write the record of a running host, with the problem that keeps agents from connecting."""
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
