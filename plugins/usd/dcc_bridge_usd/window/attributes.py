"""A prim's attributes as a Qt item model: groups, and in each a line per attribute.

Main thread.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from functools import reduce
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
    """The attributes and relationships of one prim; changing a value is an undo step."""

    refused = Signal(str)  # an edit was not possible; the text says why

    def __init__(self, session: UsdSession, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._shown: list[str] = []
        self._lines: dict[str, list[QStandardItem]] = {}
        self.setHorizontalHeaderLabels(["Attribute", "Value", "Type"])

    def show_prim(self, path: str) -> None:
        """Show a prim's properties; where the same ones are shown already, only their values."""
        prim = self._session.stage.GetPrimAtPath(path)
        properties = prim.GetProperties() if prim else []
        paths = [str(property_.GetPath()) for property_ in properties]
        if paths != self._shown:
            self._shown = paths
            self._rebuild(properties)
        self._fill(properties)

    def show_scene(self) -> None:
        """Show what is true of the whole scene; nothing of it can be changed here."""
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
            self._lines[str(property_.GetPath())] = line = _line(property_)
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
        """Give the attribute in a line, or None where there is none."""
        path = index.sibling(index.row(), Column.NAME).data(PATH)
        return self._session.stage.GetAttributeAtPath(path) if path else None

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Role.DisplayRole) -> Any:
        """Give every digit where a value is to be edited."""
        if role == Role.EditRole and (attribute := self.attribute(index)):
            return values.exact(values.read(attribute))
        return super().data(index, role)

    def setData(
        self,
        index: QModelIndex | QPersistentModelIndex,
        value: Any,
        role: int = Role.EditRole,
    ) -> bool:
        """Author a typed value."""
        attribute = self.attribute(index)
        if role != Role.EditRole or not attribute or value == index.data(Role.EditRole):
            return False
        if not values.is_editable(attribute):
            self.refused.emit(f"{attribute.GetName()} is animated, or too much to type.")
            return False
        try:
            scene.assign(self._session, str(attribute.GetPath()), values.parse(attribute, value))
        except (scene.Refused, ValueError) as refusal:
            self.refused.emit(str(refusal))
            return False
        return True


def _facts(session: UsdSession) -> dict[str, str]:
    stage = session.stage
    first, last = stage.GetStartTimeCode(), stage.GetEndTimeCode()
    default = stage.GetDefaultPrim()
    return {
        "File": str(session.path or "not saved yet"),
        "Default prim": default.GetName() if default else values.NOTHING,
        "Up axis": str(UsdGeom.GetStageUpAxis(stage)),
        "Metres per unit": f"{UsdGeom.GetStageMetersPerUnit(stage):g}",
        "Frames": f"{first:g} to {last:g}" if stage.HasAuthoredTimeCodeRange() else values.NOTHING,
        "Frames per second": f"{stage.GetFramesPerSecond():g}",
        "Undo steps": str(len(session.undo_labels)),
    }


def _place(property_: Usd.Property) -> tuple[int, str]:
    """Sort what the prim's own type brings between its transform and what every prim has."""
    group = _group(property_)
    return _ORDER.index(group) if group in _ORDER else 1, property_.GetName()


def _group(property_: Usd.Property) -> str:
    name = property_.GetName()
    if name in _SHARED:
        return "Display"
    return _GROUPS.get(name.split(":")[0]) or property_.GetPrim().GetTypeName() or "Prim"


def _line(property_: Usd.Property) -> list[QStandardItem]:
    name = property_.GetName()
    short = reduce(str.removeprefix, ("xformOp:", "inputs:", "primvars:", "collection:"), name)
    cells = [QStandardItem(short), QStandardItem(), QStandardItem()]
    cells[Column.NAME].setData(str(property_.GetPath()), PATH)
    cells[Column.TYPE].setForeground(theme.FAINT)
    for cell in cells:
        cell.setEditable(False)
    return cells


def _fill(line: list[QStandardItem], property_: Usd.Property) -> None:
    name, value, type_ = line
    authored = property_.IsAuthored()
    name.setForeground(theme.TEXT if authored else theme.DIM)
    value.setForeground(theme.TEXT if authored else theme.DIM)
    if isinstance(property_, Usd.Attribute):
        _fill_attribute(value, type_, property_)
    else:
        value.setText(", ".join(map(str, _targets(property_))) or values.NOTHING)
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
    samples = attribute.GetNumTimeSamples()
    keys = "1 key" if samples == 1 else f"{samples} keys"
    type_.setText(keys if samples else str(attribute.GetTypeName()))


def _swatch(attribute: Usd.Attribute, value: Any) -> QColor | None:
    if attribute.GetTypeName() == Sdf.ValueTypeNames.Color3fArray and value and len(value) == 1:
        value = value[0]
    elif attribute.GetTypeName() != Sdf.ValueTypeNames.Color3f or value is None:
        return None
    srgb = Gf.ConvertLinearToDisplay(value)
    return QColor.fromRgbF(*(min(max(channel, 0.0), 1.0) for channel in srgb))


def _tip(property_: Usd.Property, value: str) -> str:
    text = f"{property_.GetName()}\n{value}"
    documentation = property_.GetDocumentation().strip()
    return f"{text}\n\n{documentation[:400]}" if documentation else text
