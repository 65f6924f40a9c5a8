"""The service interface: what a plug-in imports to bring the bridge to an application.

A plug-in needs `dcc_bridge`, this package and its application's own API, and nothing from inside
`dcc_bridge`. ``resources/guide/hosts.md`` shows how one is written. Five modules of the package
have what not every plug-in needs:

===========================  =======================================================================
`dcc_bridge.spi.program`     to tell the commands of an application
`dcc_bridge.spi.qt`          to draw with Qt
`dcc_bridge.spi.drawing`     for an application that draws questions itself
`dcc_bridge.spi.headless`    for a process without a window
`dcc_bridge.spi.batch`       for the batch of many scenes alone
===========================  =======================================================================

A name's module is imported when the name is first used, as a host stands still while it loads a
plug-in. ``help(Host)`` tells all methods of a port, with what each takes, returns and raises.

Everything is called on the application's main thread, unless its docstring says "any thread".
Lengths are in the scene's units, angles in degrees, times in seconds. An item is a string by which
the application finds a thing again after an undo: a path, a unique name, an id.

The application:

=====================  =============================================================================
``Host``               the port to an application: what it must offer, and what it may
``Trial``              an open undo step that can be taken back as if it had never been
``UndoMark``           a place in its undo stack
``Changes``            what became of the items of a scene
``Account``            what is different in a scene after an edit, for the agent
``path_changes``       tells which items are new, gone or moved by their paths, for `Host.account`
``value_change``       tells a value before and now, for `Trial.account`
``name_change``        tells an item's name before and now, for `Trial.account`
``follow_change``      tells an item that only moved with one above it, for `Trial.account`
``Undo``               type: a function that takes a registration back; harmless the second time
``Later``              type: a function that has the event loop call another one in a later turn
``CountChanges``       type: a function that returns the `Changes` until now
``MOST_TOLD``          1000: names in one answer to an agent; more of them help nobody
``digest``             digests plain facts, for `Host.fingerprint`
``compared``           tells what became of items, for `Host.changes`
``start_once``         calls a function once the application is up, for `Host.when_ready`
``Callbacks``          functions that observers registered, for `Host.watch`
=====================  =============================================================================

What undo does not bring back:

=====================  =============================================================================
``loss_check``         a context variable: what refuses a loss to the skill that runs here, None
                       outside of any; `Host.losing` asks it
``keep_anyway``        keeps a copy where the application lets nobody refuse a loss
``Losses``             losses of which an application tells too late to refuse them
``AgreedIds``          what goes with the items that a person was asked about, as it was then
=====================  =============================================================================

Operations: what it does for the verbs:

=====================  =============================================================================
``HostOperations``     what every host does: tell what there is, read and set values
``Building``           items are made, copied, placed, parented, named
``AppliedTransforms``  a transform is put into an item's data
``CheckedValues``      values that belong together are checked once they are all written
``Computing``          items that the application cannot compute are told
``Materials``          materials are made and assigned
``Connections``        outputs are connected to inputs
``Keyframes``          properties are keyed
``FileExchange``       files of other formats are read and written
``Saving``             the scene is saved
``Deleting``           items are deleted
``Cleaning``           junk is found and cleaned away
``Checking``           the host's own rules, and the files that a scene refers to
``ApiSearch``          this version's API is listed
``Drawing``            pictures of the scene are drawn
``Rendering``          the application's own renderer is used
``Marking``            places in a picture are marked, for questions about a loss
``Frames``             the scene is read as it is at another frame
``CodeContext``        code of an agent is run
=====================  =============================================================================

What operations take and return:

=====================  =============================================================================
``SCENE``              "@scene", which stands for the scene itself where values are read and set
``SCENE_PROPS``        the properties that it has in most applications
``Value``              a property as the scene has it
``Placement``          where an item is
``SocketLink``         a connection between two sockets
``Rule``               a rule of `check`
``PlainNames``         what of its interface only reads and edits the scene
``LiteralArgument``    an argument that plain code writes out
``Shot``               from where a picture is taken
``Render``             which pictures are rendered
``Imported``           what came in with a file
``Exported``           what went into a file, and what was left out
``ApiEntry``           one thing of the API
``Said``               what people say for it
``other_value``        a value for an example of a property
``shortened``          a text that ends with a word and "..."
``Vector``             type: three numbers
``At``                 type: a `Vector`, or None for what stays as it is
``Bounds``             type: the lowest and the highest corner of a box
``Axes``               type: "world" or "local"
``Part``               type: a part of an item: "values", "inputs", "uses", "keys", "bounds",
                       "counts", "text"
``Keys``               type: a frame and a value each
``Shape``              type: of the curve between keys: "linear", "smooth", "step"
``Junk``               type: "unused", "empty_groups", "duplicate_materials", "dead_links",
                       "history"
``triple``             makes a `Vector` of an application's own vector
``add``                adds a share of a vector to another one
``frame_of``           returns right, up and forward of somebody who looks along a direction
``no_such``            says that there is no such thing, what is near, and how names look here
``like``               says how names look here, to end another error with
``read_each``          reads each of many things; the answer tells of those that cannot be read
``readable``           reads one thing of many, or has the answer tell why it cannot be read
=====================  =============================================================================

The plug-in:

=====================  =============================================================================
``PlugIn``             starts and stops all of it in an application with Qt
``explain``            returns why a bridge did not start, for the person
``install_log``        has the bridge's log written to its file and to the application
``own_version``        returns the version of the bridge
``retry_while_held``   calls a function again while Windows refuses a file that a program has open
=====================  =============================================================================

Errors, whose texts an agent or a person reads:

=====================  =============================================================================
``BridgeError``        the base of all of them
``Busy``               the person is at something in which nothing can be edited
``WrongThread``        what belongs to the main thread was called elsewhere
``NotUndoable``        not all that was undone came back
``LostAnyway``         something was lost although nobody agreed; it says where the copy is
=====================  =============================================================================
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dcc_bridge.application_log import install_log
    from dcc_bridge.callbacks import Callbacks
    from dcc_bridge.checkpoints import keep_anyway
    from dcc_bridge.consent.account import follow_change, name_change, value_change
    from dcc_bridge.consent.agreed_ids import AgreedIds
    from dcc_bridge.consent.item_paths import path_changes
    from dcc_bridge.consent.late_losses import Losses
    from dcc_bridge.errors import (
        BridgeError,
        Busy,
        LostAnyway,
        NotUndoable,
        WrongThread,
        own_version,
    )
    from dcc_bridge.geometry import add, frame_of
    from dcc_bridge.held_files import retry_while_held
    from dcc_bridge.host import (
        MOST_TOLD,
        Account,
        Changes,
        CountChanges,
        Host,
        Later,
        Trial,
        Undo,
        UndoMark,
        compared,
        digest,
        loss_check,
        start_once,
    )
    from dcc_bridge.plugin import PlugIn
    from dcc_bridge.server.start_problem import explain
    from dcc_bridge.verbs.api_examples import other_value
    from dcc_bridge.verbs.names import like, no_such, shortened
    from dcc_bridge.verbs.operations import (
        SCENE,
        SCENE_PROPS,
        ApiEntry,
        At,
        Axes,
        Bounds,
        Exported,
        HostOperations,
        Imported,
        Junk,
        Keys,
        Part,
        Placement,
        Render,
        Rule,
        Said,
        Shape,
        Shot,
        SocketLink,
        Value,
        Vector,
        triple,
    )
    from dcc_bridge.verbs.plain_names import LiteralArgument, PlainNames
    from dcc_bridge.verbs.ports import (
        ApiSearch,
        AppliedTransforms,
        Building,
        CheckedValues,
        Checking,
        Cleaning,
        CodeContext,
        Computing,
        Connections,
        Deleting,
        Drawing,
        FileExchange,
        Frames,
        Keyframes,
        Marking,
        Materials,
        Rendering,
        Saving,
    )
    from dcc_bridge.verbs.unreadable import read_each, readable
else:
    # Where the names are, what costs least first: a host stands still as it loads a plug-in.
    _PLACES = (
        "errors",
        "server.start_problem",
        "callbacks",
        "geometry",
        "held_files",
        "host",
        "checkpoints",
        "plugin",
        "application_log",
        "consent.agreed_ids",
        "consent.account",
        "consent.item_paths",
        "consent.late_losses",
        "verbs.plain_names",
        "verbs.operations",
        "verbs.api_examples",
        "verbs.names",
        "verbs.ports",
        "verbs.unreadable",
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
    "SCENE_PROPS",
    "Account",
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
    "CheckedValues",
    "Checking",
    "Cleaning",
    "CodeContext",
    "Computing",
    "Connections",
    "CountChanges",
    "Deleting",
    "Drawing",
    "Exported",
    "FileExchange",
    "Frames",
    "Host",
    "HostOperations",
    "Imported",
    "Junk",
    "Keyframes",
    "Keys",
    "Later",
    "LiteralArgument",
    "Losses",
    "LostAnyway",
    "Marking",
    "Materials",
    "NotUndoable",
    "Part",
    "Placement",
    "PlainNames",
    "PlugIn",
    "Render",
    "Rendering",
    "Rule",
    "Said",
    "Saving",
    "Shape",
    "Shot",
    "SocketLink",
    "Trial",
    "Undo",
    "UndoMark",
    "Value",
    "Vector",
    "WrongThread",
    "add",
    "compared",
    "digest",
    "explain",
    "follow_change",
    "frame_of",
    "install_log",
    "keep_anyway",
    "like",
    "loss_check",
    "name_change",
    "no_such",
    "other_value",
    "own_version",
    "path_changes",
    "read_each",
    "readable",
    "retry_while_held",
    "shortened",
    "start_once",
    "triple",
    "value_change",
]
