"""What all runs of a bridge have in common. Frozen, any thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dcc_bridge.audit.port import Auditor
from dcc_bridge.callbacks import CallLater
from dcc_bridge.config import Settings
from dcc_bridge.elicitation.call import Call
from dcc_bridge.host import Host
from dcc_bridge.skills.pause import Pause
from dcc_bridge.threads import MainThread


@dataclass(frozen=True, slots=True)
class Shared:
    """What all runs have in common.

    Attributes:
        host: The application whose scene is edited.
        main: The way to its main thread.
        settings: What the studio allows.
        clock: Calls back after some seconds, on any thread; gives what stops it.
        pause: The person's switch.
        edited: Told, once a call is done, the label of the undo step that it left.
        ended: Told the id of a call whose run is over.
        auditor: Told that a call may change the scene, before it does, and what came of it.
    """

    host: Host
    main: MainThread
    settings: Settings
    clock: CallLater
    pause: Pause
    edited: Callable[[Call, str], None]
    ended: Callable[[str], None]
    auditor: Auditor
