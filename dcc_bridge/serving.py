"""A server in a host's own batch interpreter, without any window. Main thread, there.

``dcc-bridge serve --host`` starts it, with what it is to serve in a file, and reads from another
one where agents reach it. It ends when its standard input does: so also with whoever started it,
however that one ends. A signal would not do: hosts have uses of their own for those.
"""

from __future__ import annotations

import json
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcc_bridge import plugin
from dcc_bridge.batch import JOB
from dcc_bridge.bridge import Bridge
from dcc_bridge.config import Settings
from dcc_bridge.errors import BridgeError
from dcc_bridge.host import Host
from dcc_bridge.hosts import batch


@dataclass(frozen=True, slots=True)
class Serving:
    """What is to be served, as JSON carries it.

    Attributes:
        host: Which host this is.
        scene: The file that is opened, or None.
        skills: Folders of skill files, the most trusted first.
        port: Where the server listens; None for the setting.
        unattended: What answers where nobody can be asked: the setting of that name, or None.
        allow_list: The file that says which skills go on unasked, or None.
        said: The file into which it is written that it is ready, or what keeps it from that.
    """

    host: str
    scene: str | None
    skills: list[str]
    port: int | None
    unattended: str | None
    allow_list: str | None
    said: str

    def say(self, **told: str) -> None:
        """Write something down, all of it at once: somebody looks for it."""
        part = Path(f"{self.said}.part")
        part.write_text(json.dumps(told), encoding="utf-8")
        os.replace(part, self.said)


def main() -> None:
    """Serve what the environment names, until there is no more standard input."""
    job = Serving(**json.loads(Path(os.environ[JOB]).read_text(encoding="utf-8")))
    try:
        with batch.opened(job.host, Path(job.scene) if job.scene else None) as host:
            _serve(job, host)
    except (BridgeError, OSError, ValueError) as error:  # sentences as they are
        job.say(error=str(error))
    except Exception as error:  # noqa: BLE001 - a host may raise anything for a scene; it is told
        job.say(error=f"{type(error).__name__}: {error}")


def _serve(job: Serving, host: Host) -> None:
    enough = threading.Event()

    def ready(bridge: Bridge) -> None:
        threading.Thread(target=_watch, args=(bridge, enough), daemon=True).start()
        job.say(host=f"{host.name} {host.version}", scene=host.scene(), url=bridge.url)

    skills = [Path(one) for one in job.skills]
    plugin.serve(host, skills, enough.is_set, ready, settings=_settings(job))


def _settings(job: Serving) -> Settings:
    told: dict[str, Any] = {"port": job.port, "unattended": job.unattended}
    return Settings.load(**told, allow_list=Path(job.allow_list) if job.allow_list else None)


def _watch(bridge: Bridge, enough: threading.Event) -> None:
    """Wait for the end of the standard input."""
    while os.read(0, 4096):
        pass
    enough.set()
    bridge.main.post(lambda: None)  # it is looked at after each call


if __name__ == "__main__":
    main()
