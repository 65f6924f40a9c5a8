"""The filter above the history in the sidebar: words, a client and a kind. Main thread.

Blender reads the annotations of these classes, so this module must not postpone annotations.
"""

from typing import Any, Final

import bpy

from dcc_bridge.spi.drawing import CallView, PanelView

_PROPERTY: Final = "dcc_bridge_history"  # of the window manager
_ALL: Final = "all"  # Blender has no choice without a name
_SKIP: Final = {"SKIP_SAVE"}
_numbers: dict[str, int] = {}  # the clients that were offered: a choice is kept as a number
_clients: list[tuple[str, str, str, int]] = []  # Blender needs these texts as long as it draws them


def _offered_clients(group: Any, context: object) -> list[tuple[str, str, str, int]]:
    return _clients


def _kinds() -> list[tuple[str, str, str]]:
    return [(kind or _ALL, caption, "") for kind, caption in PanelView.history_kinds().items()]


class DCC_BRIDGE_history(bpy.types.PropertyGroup):
    """The choices of the filter."""

    text: bpy.props.StringProperty(  # type: ignore[valid-type]  # how Blender declares properties
        name="Search the history", options={*_SKIP, "TEXTEDIT_UPDATE"}
    )
    client: bpy.props.EnumProperty(  # type: ignore[valid-type]  # how Blender declares properties
        name="Client", items=_offered_clients, options=_SKIP
    )
    kind: bpy.props.EnumProperty(  # type: ignore[valid-type]  # how Blender declares properties
        name="Kind", items=_kinds(), options=_SKIP
    )
    lists_reads: bpy.props.BoolProperty(  # type: ignore[valid-type]  # how Blender declares properties
        name="Show reads", description="Also show calls that changed nothing", options=_SKIP
    )


def draw(layout: Any, view: PanelView) -> None:
    """Draw the filter.

    Args:
        layout: The layout of Blender's to draw on.
        view: What the sidebar shows; its clients are offered.
    """
    group = _group()
    if group is None:
        return
    _offer(view.history_clients)
    column = layout.column(align=True)
    column.prop(group, "text", text="", icon="VIEWZOOM")
    if len(_clients) > 2:
        column.prop(group, "client", text="")
    column.prop(group, "kind", text="")
    column.prop(group, "lists_reads")


def chosen(view: PanelView, most: int) -> list[CallView]:
    """Return the newest calls that fit the filter.

    Args:
        view: What the sidebar shows.
        most: How many calls at most.
    """
    group = _group()
    if group is None:
        return view.history(most)
    client = group.client
    kind = group.kind
    return view.history(
        most,
        text=group.text,
        client="" if client == _ALL else client,
        kind="" if kind == _ALL else kind,
        lists_reads=group.lists_reads,
    )


def _offer(clients: dict[str, str]) -> None:
    """Offer clients; one that was offered before keeps its number."""
    for label in clients:
        _numbers.setdefault(label, len(_numbers) + 1)
    if len(_clients) == len(_numbers) + 1:
        return
    names = {label: name for label, name, _, _ in _clients} | clients
    _clients[:] = [(_ALL, "All clients", "", 0)]
    for label, number in _numbers.items():
        _clients.append((label, names[label], "", number))


def _group() -> Any:
    """Return the choices, or None where nothing is registered."""
    return getattr(bpy.context.window_manager, _PROPERTY, None)


def register() -> None:
    """Let Blender know the choices."""
    _offer({})
    bpy.utils.register_class(DCC_BRIDGE_history)
    windows: Any = bpy.types.WindowManager
    setattr(windows, _PROPERTY, bpy.props.PointerProperty(type=DCC_BRIDGE_history))


def unregister() -> None:
    """Take the choices out."""
    windows: Any = bpy.types.WindowManager
    delattr(windows, _PROPERTY)
    bpy.utils.unregister_class(DCC_BRIDGE_history)
