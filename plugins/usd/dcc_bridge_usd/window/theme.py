"""The application's colours: dark, calm, and one accent.

A palette on Fusion with a short style sheet, so that the dialogs of plug-ins fit in too.

Main thread.
"""

from __future__ import annotations

from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication

from dcc_bridge.spi.qt import outlined

WINDOW = QColor("#26282d")
BASE = QColor("#1c1e22")
STRIPE = QColor("#202226")
RAISED = QColor("#34373e")
LINE = QColor("#3a3d45")
TEXT = QColor("#dcdfe4")
DIM = QColor("#989da8")
FAINT = QColor("#6f7480")
ACCENT = QColor("#4c86d8")
SELECTED = QColor("#ffb454")
GOOD = QColor("#6cc070")
WAITING = QColor("#d8a84c")

_ROLES = {
    QPalette.ColorRole.Window: WINDOW,
    QPalette.ColorRole.WindowText: TEXT,
    QPalette.ColorRole.Base: BASE,
    QPalette.ColorRole.AlternateBase: STRIPE,
    QPalette.ColorRole.ToolTipBase: RAISED,
    QPalette.ColorRole.ToolTipText: TEXT,
    QPalette.ColorRole.PlaceholderText: FAINT,
    QPalette.ColorRole.Text: TEXT,
    QPalette.ColorRole.Button: RAISED,
    QPalette.ColorRole.ButtonText: TEXT,
    QPalette.ColorRole.BrightText: QColor("#ffffff"),
    QPalette.ColorRole.Link: QColor("#7fb0f0"),
    QPalette.ColorRole.Highlight: QColor("#35598c"),
    QPalette.ColorRole.HighlightedText: QColor("#ffffff"),
    QPalette.ColorRole.Light: QColor("#42454d"),
    QPalette.ColorRole.Midlight: LINE,
    QPalette.ColorRole.Mid: QColor("#1f2125"),
    QPalette.ColorRole.Dark: QColor("#17181b"),
    QPalette.ColorRole.Shadow: QColor("#0e0f11"),
}

_SHEET = f"""
QMainWindow::separator {{ background: {BASE.name()}; width: 4px; height: 4px; }}
QMainWindow::separator:hover {{ background: {ACCENT.name()}; }}
QMenuBar {{ background: {WINDOW.name()}; padding: 2px 4px; }}
QMenuBar::item {{ padding: 5px 10px; border-radius: 4px; }}
QMenuBar::item:selected {{ background: {RAISED.name()}; }}
QMenu {{ background: #2d3036; border: 1px solid {LINE.name()}; padding: 4px 0px; }}
QDialogButtonBox {{ dialogbuttonbox-buttons-have-icons: 0; }}
QDockWidget {{ color: {DIM.name()}; }}
QDockWidget::title {{ background: {WINDOW.name()}; padding: 7px 10px; }}
QHeaderView::section {{
    background: {WINDOW.name()}; color: {DIM.name()}; border: none; padding: 5px 8px;
}}
QTreeView, QListView {{ outline: none; }}
QDockWidget QTreeView, QDockWidget QListView {{ border: none; }}
QTreeView::item, QListView::item {{ padding: 3px 2px; }}
QListView::item {{ padding: 3px 6px; }}
QScrollBar {{ background: {BASE.name()}; border: none; }}
QScrollBar:vertical {{ width: 10px; }}
QScrollBar:horizontal {{ height: 10px; }}
QScrollBar::handle {{ background: {LINE.name()}; border-radius: 3px; margin: 2px; }}
QScrollBar::handle:vertical {{ min-height: 28px; }}
QScrollBar::handle:horizontal {{ min-width: 28px; }}
QScrollBar::handle:hover {{ background: {FAINT.name()}; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0px; height: 0px; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: none; }}
QLineEdit#path {{ background: transparent; color: {DIM.name()}; padding: 0px; }}
QToolBar {{ background: {WINDOW.name()}; border: none; spacing: 2px; padding: 3px 6px; }}
QToolBar QToolButton {{ padding: 3px 9px; border-radius: 4px; border: none; color: {DIM.name()}; }}
QToolBar QToolButton:hover {{ background: {RAISED.name()}; color: {TEXT.name()}; }}
QToolBar QToolButton:checked {{ background: {RAISED.name()}; color: {TEXT.name()}; }}
QLabel#caption {{ background: {RAISED.name()}; padding: 9px 14px; font-weight: bold; }}
QStatusBar {{ background: {WINDOW.name()}; color: {DIM.name()}; }}
QStatusBar::item {{ border: none; }}
QToolTip {{ background: {RAISED.name()}; color: {TEXT.name()}; border: 1px solid {LINE.name()}; }}
"""


def palette() -> QPalette:
    """Return the palette of the application."""
    dark = QPalette()
    for role, colour in _ROLES.items():
        dark.setColor(role, colour)
    disabled = QPalette.ColorGroup.Disabled
    for role in (
        QPalette.ColorRole.Text,
        QPalette.ColorRole.WindowText,
        QPalette.ColorRole.ButtonText,
    ):
        dark.setColor(disabled, role, FAINT)
    return dark


def dress(app: QApplication) -> None:
    """Style an application with the palette and the style sheet."""
    app.setStyle("Fusion")
    dark = palette()
    app.setPalette(dark)
    controls = outlined(dark)
    for kind in ("QAbstractButton", "QLineEdit", "QComboBox"):
        app.setPalette(controls, kind)  # type: ignore[arg-type]  # its stub wants bytes, which it refuses
    app.setStyleSheet(_SHEET)
