"""The service interface: what a plug-in imports to bring the bridge to an application.

A plug-in needs `dcc_bridge`, this package and its application's own API, and nothing from inside
`dcc_bridge`. ``resources/guide/hosts.md`` shows how one is written. `dcc_bridge.spi.qt` has what
draws with Qt, and `dcc_bridge.spi.drawing` what an application needs that draws questions itself.
"""

from __future__ import annotations

from dcc_bridge.callbacks import Callbacks
from dcc_bridge.checkpoints import keep_anyway
from dcc_bridge.config import Settings
from dcc_bridge.consent.late_losses import AgreedIds, Losses, SceneCopy
from dcc_bridge.elicitation.text import safe_line, safe_text, tool_tip
from dcc_bridge.errors import (
    BridgeError,
    Busy,
    LostAnyway,
    NoCheckpoint,
    NotUndoable,
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
    start_once,
)
from dcc_bridge.plugin import PlugIn
from dcc_bridge.skills.skill import track
from dcc_bridge.verbs.names import no_such
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
from dcc_bridge.verbs.ports import (
    ApiSearch,
    AppliedTransforms,
    Building,
    Checking,
    Cleaning,
    CodeContext,
    Connections,
    Deleting,
    Drawing,
    FileExchange,
    Frames,
    Keyframes,
    Materials,
    Saving,
)

__all__ = [
    "MOST_TOLD",
    "SCENE",
    "AgreedIds",
    "ApiEntry",
    "ApiSearch",
    "AppliedTransforms",
    "At",
    "Axes",
    "Bounds",
    "BridgeError",
    "Building",
    "Busy",
    "Callbacks",
    "Changes",
    "Checking",
    "Cleaning",
    "CodeContext",
    "Connections",
    "CountChanges",
    "Deleting",
    "Drawing",
    "FileExchange",
    "Frames",
    "Host",
    "HostOperations",
    "Imported",
    "Junk",
    "Keyframes",
    "Keys",
    "Later",
    "Losses",
    "LostAnyway",
    "Materials",
    "NoCheckpoint",
    "NotUndoable",
    "Part",
    "Placement",
    "PlugIn",
    "Rule",
    "Saving",
    "SceneCopy",
    "Settings",
    "Shape",
    "Shot",
    "SocketLink",
    "Undo",
    "UndoMark",
    "Value",
    "Vector",
    "WrongThread",
    "add",
    "compared",
    "digest",
    "frame_of",
    "keep_anyway",
    "loss_check",
    "no_such",
    "own_version",
    "safe_line",
    "safe_text",
    "start_once",
    "tool_tip",
    "track",
    "triple",
]
