"""The parts of a bridge that its runs need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from dcc_bridge.audit.log import Auditor
from dcc_bridge.callbacks import CallLater
from dcc_bridge.config import Settings
from dcc_bridge.consent.audit_hook import Writer
from dcc_bridge.consent.call import Call
from dcc_bridge.consent.preview import Preview
from dcc_bridge.host import Host
from dcc_bridge.skills.call_history import Recent
from dcc_bridge.threads.main_thread import MainThread


@dataclass
class RunEnvironment:
    """The parts of a bridge that its runs have in common.

    Attributes:
        host: The application whose scene is edited.
        main: The queue to its main thread.
        settings: What the studio allows.
        clock: Calls back after some seconds, on any thread; returns a function that stops it.
        edited: Called once a call is done, with the label of the undo step that the call left.
        auditor: Records a call before it may change the scene, and its end.
        recent: The records of the latest calls.
        is_paused: Whether the person lets no edit begin.
        too_long: The names and digests of skills that ran for too long when they were tried.
        previews: Makes the pictures of one call's losses. Any thread.
        writers: Lists the host's functions that write files and raise no audit event. Main thread.
    """

    host: Host
    main: MainThread
    settings: Settings
    clock: CallLater
    edited: Callable[[Call, str], None]
    auditor: Auditor
    recent: Recent = field(default_factory=Recent)
    is_paused: bool = False
    too_long: set[tuple[str, str]] = field(default_factory=set)
    previews: Callable[[], Preview] = Preview
    writers: Callable[[], Sequence[Writer]] = tuple
