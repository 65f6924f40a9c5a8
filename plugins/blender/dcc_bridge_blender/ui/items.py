"""The items of a question in a list of Blender's own: it scrolls, is searched, and may be ticked.

The list is drawn in the sidebar, and its first rows in the dialog of the question: a list of
Blender's own needs a region, which a dialog that a timer opens has not. Main thread.

Blender reads the annotations of these classes, so this module must not postpone annotations.
"""

from collections.abc import Callable
from typing import Any, Final

import bpy

from dcc_bridge.spi.drawing import Consent, item_counts, safe_line

from .drawing import say

_MAX_ROWS: Final = 5_000  # of the list; to make 5,000 takes 50 ms
_MAX_NAME: Final = 200  # characters of a row
_LIST: Final = "dcc_bridge_items"  # the property of the window manager that has the rows
_ACTIVE: Final = "dcc_bridge_item"  # and the one that has the number of the chosen row
_WIDE: Final = 80  # characters of a line


def _touch(row: Any, _: object) -> None:
    if current is not None:
        current.note(row)


class DCC_BRIDGE_item(bpy.types.PropertyGroup):
    """A row of the list. Blender searches by `name`."""

    is_kept: bpy.props.BoolProperty(  # type: ignore[valid-type]  # how Blender declares properties
        name="", description="Untick it to leave it as it is", default=True, update=_touch
    )
    icon: bpy.props.StringProperty()  # type: ignore[valid-type]  # how Blender declares properties
    number: bpy.props.IntProperty()  # type: ignore[valid-type]  # how Blender declares properties


class DCC_BRIDGE_UL_items(bpy.types.UIList):
    """The list."""

    def draw_item(
        self,
        context: bpy.types.Context | None,
        layout: Any,
        data: Any,
        item: Any,
        icon: int | None,
        active_data: Any,
        active_property: str | None,
        index: int | None = 0,
        flt_flag: int | None = 0,
    ) -> None:
        """Draw a row."""
        draw_row(layout, item)

    def filter_items(
        self, context: bpy.types.Context | None, data: Any, property: str | None
    ) -> Any:
        """Return which rows match the search, and note how many these are."""
        if current is None:
            return [], []
        current.found = None
        if not self.filter_name:
            return [], []
        helper: Any = bpy.types.UI_UL_list
        rows = getattr(data, property or _LIST)
        flags: list[int] = helper.filter_items_by_name(
            self.filter_name, self.bitflag_filter_item, rows, "name"
        )
        current.found = sum(1 for flag in flags if flag & self.bitflag_filter_item)
        return flags, []


class Items:
    """The items of one consent, and which of them the person left in.

    Attributes:
        total: How many items there are.
        may_take_fewer: Whether the person may untick some.
        found: How many rows match the search; None while nothing is searched.
        touched: Called when a box is ticked or unticked.
    """

    def __init__(self, consent: Consent, touched: Callable[[], None]) -> None:
        """Make no rows yet.

        Args:
            consent: What the person is asked about.
            touched: Called when a box is ticked or unticked.
        """
        self._consent = consent
        self.touched = touched
        self.total = len(consent.items)
        self.may_take_fewer = consent.may_take_fewer
        self.found: int | None = None
        # Not read from the rows: those may be gone, or another question's, when the answer comes.
        self._unticked: set[int] = set()
        if self.may_take_fewer:
            self._unticked.update(range(self.total))  # until the person has a list of them
        self._has_list = False

    def fill(self) -> None:
        """Make the rows, unless they are there: Blender drops them where a file is opened."""
        global current
        rows = _rows()
        shown = self._consent.shown_items[:_MAX_ROWS]
        if rows is None or (current is self and len(rows) == len(shown)):
            return
        if not self._has_list:
            self._unticked.clear()
            self._has_list = True
        current = None  # what is set here is no tick of the person's
        rows.clear()
        kinds = self._consent.kinds or ("",) * self.total
        for number, (item, kind) in enumerate(zip(shown, kinds, strict=False)):
            row = rows.add()
            row.name = safe_line(item, _MAX_NAME)
            row.icon = _icon(kind)
            row.number = number
            row.is_kept = number not in self._unticked
        current = self

    def note(self, row: Any) -> None:
        """Note that a row is ticked or unticked."""
        if not self.may_take_fewer:
            return
        if row.is_kept:
            self._unticked.discard(row.number)
        else:
            self._unticked.add(row.number)
        self.touched()

    def left_out(self) -> tuple[str, ...]:
        """Return the items that are unticked; all, while the person has had no list of them."""
        return tuple(self._consent.items[number] for number in sorted(self._unticked))

    def kept(self) -> list[str]:
        """Return the items that are not unticked."""
        left_out = set(self.left_out())
        return [item for item in self._consent.items if item not in left_out]

    def draw_list(self, layout: Any, lines: int) -> None:
        """Draw how many items there are of which kind, and the list in so many lines."""
        counts = item_counts(self._consent)
        if self.found is not None:
            counts += f" · {self.found:,} of {self.total:,} shown"
        column = layout.column(align=True)
        say(column, counts, _WIDE)
        lines = max(2, min(lines, self.total))
        windows = bpy.context.window_manager
        column.template_list(
            "DCC_BRIDGE_UL_items", "", windows, _LIST, windows, _ACTIVE, rows=lines, maxrows=lines
        )
        rest = self.total - _MAX_ROWS
        if rest > 0:
            say(column, f"… and {rest:,} more", _WIDE)

    def draw_first(self, layout: Any, lines: int, button: Callable[[Any, str, str], None]) -> None:
        """Draw the first items, in a dialog: Blender crashes where that has a list of its own.

        Args:
            layout: The layout to draw on.
            lines: How many lines are free.
            button: Draws a button on a layout; takes the layout, the name with which the button is
                pressed, and the caption.
        """
        column = layout.box().column(align=True)
        top = column.row()
        say(top, item_counts(self._consent), _WIDE)
        rows: Any = ()
        if current is self:
            rows = _rows() or ()
        count = self.total
        if count > lines:
            count = lines - 1
            button(top, "show_list", f"All {self.total:,} in the sidebar")
        for row in rows[:count]:
            draw_row(column, row)
        rest = self.total - count
        if rest > 0:
            say(column, f"… and {rest:,} more", _WIDE)


def draw_row(layout: Any, item: Any) -> None:
    """Draw an item, with a check box where the person may leave it out."""
    row = layout.row(align=True)
    if current is not None and current.may_take_fewer:
        row.prop(item, "is_kept", text="")
    row.label(text=item.name, icon=item.icon, translate=False)


current: Items | None = None  # whose rows are there


def clear() -> None:
    """Drop the rows: their question has ended."""
    global current
    current = None
    rows = _rows()
    if rows is not None:
        rows.clear()


def _rows() -> Any:
    """Return the rows, or None where nothing is registered."""
    return getattr(bpy.context.window_manager, _LIST, None)


def _icon(kind: str) -> str:
    """Return Blender's icon for a type of object or data."""
    layout: Any = bpy.types.UILayout
    known = layout.bl_rna.functions["label"].parameters["icon"].enum_items
    for icon in (f"OUTLINER_OB_{kind}", f"{kind}_DATA", kind):
        if icon in known:
            return icon
    return "OBJECT_DATA"


def register() -> None:
    """Make the list known."""
    windows: Any = bpy.types.WindowManager
    bpy.utils.register_class(DCC_BRIDGE_item)
    bpy.utils.register_class(DCC_BRIDGE_UL_items)
    setattr(windows, _LIST, bpy.props.CollectionProperty(type=DCC_BRIDGE_item))
    setattr(windows, _ACTIVE, bpy.props.IntProperty())


def unregister() -> None:
    """Take the list out."""
    clear()
    windows: Any = bpy.types.WindowManager
    delattr(windows, _ACTIVE)
    delattr(windows, _LIST)
    bpy.utils.unregister_class(DCC_BRIDGE_UL_items)
    bpy.utils.unregister_class(DCC_BRIDGE_item)
