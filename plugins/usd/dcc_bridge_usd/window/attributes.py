"""The attributes of a prim as a Qt item model: groups, and in each a line per attribute.

Main thread.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from pxr import Gf, Sdf, Usd, UsdGeom
from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QColor, QFont, QStandardItem, QStandardItemModel

from dcc_bridge.spi.qt import tool_tip

from . import scene, theme, values

if TYPE_CHECKING:
    from ..host import UsdSession

Role = Qt.ItemDataRole
PATH = int(Role.UserRole)
_PREFIXES = ("xformOp:", "inputs:", "primvars:", "collection:")
_MAX_DOCUMENTATION = 400  # characters of a tool tip
_GROUPS = {
    "xformOp": "Transform",
    "xformOpOrder": "Transform",
    "primvars": "Primvars",
    "collection": "Collections",
}
_ORDER = ["Transform", "", "Display", "Primvars", "Collections"]
_SHARED = {"visibility", "purpose", "proxyPrim", "extent", "doubleSided", "orientation"}


class Column(IntEnum):
    """The columns of the table."""

    NAME = 0
    VALUE = 1
    TYPE = 2


class AttributeModel(QStandardItemModel):
    """The attributes and relationships of one prim; changing a value is an undo step.

    Attributes:
        refused: Emitted when an edit was not possible; the text says why.
    """

    refused = Signal(str)

    def __init__(self, session: UsdSession, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._shown: list[str] = []
        self._lines: dict[str, list[QStandardItem]] = {}
        self.setHorizontalHeaderLabels(["Attribute", "Value", "Type"])

    def show_prim(self, path: str) -> None:
        """Show the properties of a prim; if they are shown already, only their values anew."""
        prim = self._session.stage.GetPrimAtPath(path)
        properties = prim.GetProperties() if prim else []
        paths = [str(property_.GetPath()) for property_ in properties]
        if paths != self._shown:
            self._shown = paths
            self._rebuild(properties)
        self._fill(properties)

    def show_scene(self) -> None:
        """Show facts of the whole scene, which cannot be changed here."""
        self.removeRows(0, self.rowCount())
        self._shown = []
        group = self._add_group("Scene")
        for name, value in _facts(self._session).items():
            cells = [QStandardItem(name), QStandardItem(value), QStandardItem()]
            cells[Column.NAME].setForeground(theme.DIM)
            for cell in cells:
                cell.setEditable(False)
                cell.setToolTip(tool_tip(value))
            group.appendRow(cells)

    def _rebuild(self, properties: Iterable[Usd.Property]) -> None:
        self.removeRows(0, self.rowCount())
        self._lines = {}
        groups: dict[str, QStandardItem] = {}
        for property_ in sorted(properties, key=_place):
            name = _group(property_)
            if name not in groups:
                groups[name] = self._add_group(name)
            line = _line(property_)
            self._lines[str(property_.GetPath())] = line
            groups[name].appendRow(line)

    def _add_group(self, name: str) -> QStandardItem:
        cells = [QStandardItem(name), QStandardItem(), QStandardItem()]
        font = QFont()
        font.setBold(True)
        for cell in cells:
            cell.setEditable(False)
            cell.setFont(font)
            cell.setForeground(theme.DIM)
            cell.setBackground(theme.STRIPE)
        self.appendRow(cells)
        return cells[Column.NAME]

    def _fill(self, properties: Iterable[Usd.Property]) -> None:
        for property_ in properties:
            _fill(self._lines[str(property_.GetPath())], property_)

    def attribute(self, index: QModelIndex | QPersistentModelIndex) -> Usd.Attribute | None:
        """Return the attribute in a line; None for a line without one."""
        path = index.sibling(index.row(), Column.NAME).data(PATH)
        if not path:
            return None
        return self._session.stage.GetAttributeAtPath(path)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Role.DisplayRole) -> Any:
        """Return what a line shows; a value that is to be edited with every digit."""
        if role == Role.EditRole:
            attribute = self.attribute(index)
            if attribute:
                return values.exact(values.read(attribute))
        return super().data(index, role)

    def setData(
        self,
        index: QModelIndex | QPersistentModelIndex,
        value: Any,
        role: int = Role.EditRole,
    ) -> bool:
        """Author a typed value, and return whether that was possible."""
        attribute = self.attribute(index)
        if role != Role.EditRole or not attribute or value == index.data(Role.EditRole):
            return False
        if not values.is_editable(attribute):
            self.refused.emit(f"{attribute.GetName()} is animated, or too much to type.")
            return False
        try:
            parsed = values.parse(attribute, value)
            scene.assign(self._session, str(attribute.GetPath()), parsed)
        except (scene.Refused, ValueError) as refusal:
            self.refused.emit(str(refusal))
            return False
        return True


def _facts(session: UsdSession) -> dict[str, str]:
    stage = session.stage
    default = stage.GetDefaultPrim()
    default_name = default.GetName() if default else values.NOTHING
    frames = values.NOTHING
    if stage.HasAuthoredTimeCodeRange():
        frames = f"{stage.GetStartTimeCode():g} to {stage.GetEndTimeCode():g}"
    return {
        "File": str(session.path or "not saved yet"),
        "Default prim": default_name,
        "Up axis": str(UsdGeom.GetStageUpAxis(stage)),
        "Metres per unit": f"{UsdGeom.GetStageMetersPerUnit(stage):g}",
        "Frames": frames,
        "Frames per second": f"{stage.GetFramesPerSecond():g}",
        "Undo steps": str(len(session.undo_labels)),
    }


def _place(property_: Usd.Property) -> tuple[int, str]:
    """Return the place of a property: those of its own type come after the transform."""
    group = _group(property_)
    place = _ORDER.index(group) if group in _ORDER else 1
    return place, property_.GetName()


def _group(property_: Usd.Property) -> str:
    name = property_.GetName()
    if name in _SHARED:
        return "Display"
    space = name.split(":")[0]
    if space in _GROUPS:
        return _GROUPS[space]
    return property_.GetPrim().GetTypeName() or "Prim"


def _line(property_: Usd.Property) -> list[QStandardItem]:
    short = property_.GetName()
    for prefix in _PREFIXES:
        short = short.removeprefix(prefix)
    cells = [QStandardItem(short), QStandardItem(), QStandardItem()]
    cells[Column.NAME].setData(str(property_.GetPath()), PATH)
    cells[Column.TYPE].setForeground(theme.FAINT)
    for cell in cells:
        cell.setEditable(False)
    return cells


def _fill(line: list[QStandardItem], property_: Usd.Property) -> None:
    name, value, type_ = line
    colour = theme.TEXT if property_.IsAuthored() else theme.DIM
    name.setForeground(colour)
    value.setForeground(colour)
    if isinstance(property_, Usd.Attribute):
        _fill_attribute(value, type_, property_)
    else:
        targets = ", ".join(str(path) for path in _targets(property_))
        value.setText(targets or values.NOTHING)
        type_.setText("rel")
    for cell in line:
        cell.setToolTip(tool_tip(_tip(property_, value.text())))


def _targets(property_: Usd.Property) -> list[Sdf.Path]:
    return property_.GetTargets() if isinstance(property_, Usd.Relationship) else []


def _fill_attribute(value: QStandardItem, type_: QStandardItem, attribute: Usd.Attribute) -> None:
    current = values.read(attribute)
    value.setText(values.text(current))
    value.setEditable(values.is_editable(attribute))
    value.setData(_swatch(attribute, current), Role.DecorationRole)
    keys = attribute.GetNumTimeSamples()
    if keys == 0:
        type_.setText(str(attribute.GetTypeName()))
    elif keys == 1:
        type_.setText("1 key")
    else:
        type_.setText(f"{keys} keys")


def _swatch(attribute: Usd.Attribute, value: Any) -> QColor | None:
    """Return the colour that an attribute holds; None where it holds none, or several."""
    if attribute.GetTypeName() == Sdf.ValueTypeNames.Color3fArray and value and len(value) == 1:
        value = value[0]
    elif attribute.GetTypeName() != Sdf.ValueTypeNames.Color3f or value is None:
        return None
    srgb = Gf.ConvertLinearToDisplay(value)
    channels = [min(max(channel, 0.0), 1.0) for channel in srgb]
    return QColor.fromRgbF(*channels)


def _tip(property_: Usd.Property, value: str) -> str:
    text = f"{property_.GetName()}\n{value}"
    documentation = property_.GetDocumentation().strip()
    if not documentation:
        return text
    return f"{text}\n\n{documentation[:_MAX_DOCUMENTATION]}"
