"""The service interface: what a plug-in imports to bring the bridge to an application.

A plug-in needs `dcc_bridge`, this package and its application's own API, and nothing from inside
`dcc_bridge`. ``resources/guide/hosts.md`` shows how one is written. `dcc_bridge.spi.qt` has what
draws with Qt, `dcc_bridge.spi.drawing` what an application needs that draws questions itself, and
`dcc_bridge.spi.headless` what a process needs that has no window. Nothing is
imported until it is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dcc_bridge import private_files
    from dcc_bridge.application_log import install_log
    from dcc_bridge.audit.log import record_events
    from dcc_bridge.callbacks import Callbacks
    from dcc_bridge.checkpoints import keep_anyway
    from dcc_bridge.config import Settings
    from dcc_bridge.consent.call import calling_client
    from dcc_bridge.consent.late_losses import AgreedIds, Losses, SceneCopy
    from dcc_bridge.elicitation.context import current_context
    from dcc_bridge.elicitation.details import Details
    from dcc_bridge.elicitation.question import Question
    from dcc_bridge.elicitation.text import safe_line, safe_text, tool_tip
    from dcc_bridge.errors import (
        BridgeError,
        Busy,
        LostAnyway,
        MissingExtra,
        NoCheckpoint,
        NotRecorded,
        NotUndoable,
        Unreachable,
        WrongThread,
        own_version,
    )
    from dcc_bridge.geometry import add, frame_of
    from dcc_bridge.host import (
        MOST_TOLD,
        Changes,
        CountChanges,
        Host,
        Later,
        Undo,
        UndoMark,
        compared,
        digest,
        loss_check,
    )
    from dcc_bridge.install.locations import Facts, InstallTarget, System, UnknownLocation, numbers
    from dcc_bridge.plugin import PlugIn
    from dcc_bridge.program import LocalProgram, Opening, WindowedHost
    from dcc_bridge.server.start_problem import explain
    from dcc_bridge.skills.skill import track
    from dcc_bridge.verbs.operations import (
        SCENE,
        ApiEntry,
        At,
        Axes,
        Bounds,
        HostOperations,
        Imported,
        Junk,
        Keys,
        Part,
        Placement,
        Rule,
        Shape,
        Shot,
        SocketLink,
        Value,
        Vector,
        triple,
    )
    from dcc_bridge.verbs.reading import no_such
else:
    # Where the names are, what costs least first: a host stands still as it loads a plug-in.
    _PLACES = (
        "errors",
        "program",
        "install.locations",
        "server.start_problem",
        "callbacks",
        "geometry",
        "config",
        "host",
        "checkpoints",
        "plugin",
        "application_log",
        "audit.log",
        "elicitation.text",
        "elicitation.details",
        "elicitation.question",
        "elicitation.context",
        "consent.late_losses",
        "consent.call",
        "skills.skill",
        "verbs.operations",
        "verbs.reading",
    )

    def __getattr__(name: str) -> Any:
        """Return a name, and import the module that it is in as it is first asked for."""
        for place in _PLACES if name in __all__ else ():
            module = import_module(f"dcc_bridge.{place}")
            if name in vars(module):
                return globals().setdefault(name, getattr(module, name))
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "MOST_TOLD",
    "SCENE",
    "AgreedIds",
    "ApiEntry",
    "At",
    "Axes",
    "Bounds",
    "BridgeError",
    "Busy",
    "Callbacks",
    "Changes",
    "CountChanges",
    "Details",
    "Facts",
    "Host",
    "HostOperations",
    "Imported",
    "InstallTarget",
    "Junk",
    "Keys",
    "Later",
    "LocalProgram",
    "Losses",
    "LostAnyway",
    "MissingExtra",
    "NoCheckpoint",
    "NotRecorded",
    "NotUndoable",
    "Opening",
    "Part",
    "Placement",
    "PlugIn",
    "Question",
    "Rule",
    "SceneCopy",
    "Settings",
    "Shape",
    "Shot",
    "SocketLink",
    "System",
    "Undo",
    "UndoMark",
    "UnknownLocation",
    "Unreachable",
    "Value",
    "Vector",
    "WindowedHost",
    "WrongThread",
    "add",
    "calling_client",
    "compared",
    "current_context",
    "digest",
    "explain",
    "frame_of",
    "install_log",
    "keep_anyway",
    "loss_check",
    "no_such",
    "numbers",
    "own_version",
    "private_files",
    "record_events",
    "safe_line",
    "safe_text",
    "tool_tip",
    "track",
    "triple",
]
