"""Contrasts of what is drawn, from pictures: ``python -m tests.qt.contrasts [FOLDER]``.

It prints the least contrast of text, of outlines, of check boxes and of the focus, for each host
with a Qt of its own, each theme and two scales, and saves the pictures in a folder.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from dcc_bridge.config import Settings
from dcc_bridge.consent.call import Call
from dcc_bridge.consent.effect import CodeRun
from dcc_bridge.elicitation.broker import Broker
from dcc_bridge.elicitation.caller import Client
from dcc_bridge.elicitation.details import Details
from dcc_bridge.elicitation.question import Consent, Offers, Picture, Question
from dcc_bridge.elicitation.schema import parse
from dcc_bridge.panel.row import Act, Row
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.event_loop import DeferredDeletion, HostLoop
from dcc_bridge.qt.keep_bar import BarWindow
from dcc_bridge.qt.panel.panel import Panel
from dcc_bridge.qt.question_dialog import QuestionDialog
from tests.qt.parts import YES, Parts, furnish
from tests.stand_ins import FakeHost, Person

ROOT = Path(__file__).parents[2]
LEAST_CONTRAST = 4.5
"""The contrast that the Web Content Accessibility Guidelines ask of text, level AA."""
LEAST_OF_A_CONTROL = 3.0
"""The contrast that they ask of a control's outline or ground, and of the focus."""
LEAST = {
    "text": LEAST_CONTRAST,
    "outlines": LEAST_OF_A_CONTROL,
    "check boxes": LEAST_OF_A_CONTROL,
    "focus": LEAST_OF_A_CONTROL,
}
FREECAD_THEMES = ("Behave-dark", "ProDark", "Light-blue")
"""Style sheets that come with FreeCAD."""
_OUTLINED = (
    qt.QPushButton,
    qt.QCheckBox,
    qt.QLineEdit,
    qt.QComboBox,
    qt.QAbstractItemView,
    qt.QPlainTextEdit,
)
_CAPTIONED = (qt.QLabel, qt.QAbstractButton, qt.QLineEdit)
_BAND = 3  # pixels at the edge of a control in which its outline or its focus is looked for
_FOCUS_PIXELS = 20  # that have to change as a control gets the focus
_LIMIT_S = 60.0
_SCREEN = {"name": "large", "x": 0, "y": 0, "width": 3200, "height": 2600}
_SCREEN |= {"logicalDpi": 96, "logicalBaseDpi": 96, "dpr": 1}
_MOST_COLUMNS = 3  # of a list
_SCALES = (1, 2)
Role = qt.QPalette.ColorRole


def dark() -> qt.QPalette:
    return qt.QPalette(qt.QColor("#44474d"), qt.QColor("#2b2d31"))


def light() -> qt.QPalette:
    return qt.QPalette(qt.QColor("#efefef"))


def high_contrast() -> qt.QPalette:
    """Make a palette as of a desktop with high contrast: white and yellow on black."""
    palette = qt.QPalette(qt.QColor("black"), qt.QColor("black"))
    for role in (Role.WindowText, Role.Text):
        palette.setColor(role, qt.QColor("white"))
    palette.setColor(Role.ButtonText, qt.QColor("yellow"))
    palette.setColor(Role.Base, qt.QColor("black"))
    palette.setColor(Role.Highlight, qt.QColor("#1aebff"))
    palette.setColor(Role.HighlightedText, qt.QColor("black"))
    return palette


LOOKS: dict[str, Callable[[], qt.QPalette]] = {
    "dark": dark,
    "light": light,
    "contrast": high_contrast,
}


def contrast(picture: qt.QImage, area: qt.QRect) -> float:
    """Return the contrast of what is written in a part of a picture with what it stands on."""
    scale = picture.devicePixelRatio()
    corner, end = area.topLeft() * scale, area.bottomRight() * scale
    counted = Counter(
        picture.pixel(x, y) for x in range(corner.x(), end.x()) for y in range(corner.y(), end.y())
    )
    if not counted:
        return 21.0  # scrolled out of sight
    ground = _luminance(counted.most_common(1)[0][0])
    return max(_ratio(_luminance(pixel), ground) for pixel in counted)


def texts(top: qt.QWidget, picture: qt.QImage) -> Iterator[tuple[str, float]]:
    """Return the captions of a window, each with its contrast."""
    for part in top.findChildren(qt.QWidget):
        is_shown = isinstance(part, _CAPTIONED) and part.isVisibleTo(top) and not inner(part)
        if is_shown and _text(part) and is_in_sight(part, part.rect()):
            yield name_of(part), contrast(picture, _caption(part, top))


def row_texts(top: qt.QWidget, picture: qt.QImage) -> Iterator[tuple[str, float]]:
    """Return the cells of the lists in a window, each with its contrast, a long one in two."""
    for view in top.findChildren(qt.QAbstractItemView):
        if not view.isVisibleTo(top) or isinstance(view, qt.QHeaderView):
            continue
        for row in rows_in_sight(view):
            if not is_in_sight(view.viewport(), view.visualRect(row)):
                continue
            for column in range(_MOST_COLUMNS):
                cell = row.sibling(row.row(), column)
                words = cell.data(qt.Qt.ItemDataRole.DisplayRole)
                if not words:
                    continue
                area = view.visualRect(cell) & view.viewport().rect()
                area.translate(view.viewport().mapTo(top, qt.QPoint()))
                yield f"{words!r}", contrast(picture, area)
                if "\n" in words:  # its second part is quieter, and ends at the right
                    yield f"end of {words!r}", contrast(picture, _end_of(area, view))


def _end_of(area: qt.QRect, view: qt.QWidget) -> qt.QRect:
    width = area.width() // 3
    if view.isRightToLeft():
        return qt.QRect(area.topLeft(), qt.QSize(width, area.height()))
    return area.adjusted(area.width() - width, 0, 0, 0)


def outlines(top: qt.QWidget, picture: qt.QImage) -> Iterator[tuple[str, bool, float]]:
    """Return the outlines of controls, whether each is of a check box, and its contrast."""
    visible = [part for part in top.findChildren(qt.QWidget) if part.isVisibleTo(top)]
    controls = [it for it in visible if isinstance(it, _OUTLINED) and not inner(it)]
    for control in controls:
        if _is_bare(control) or not control.isEnabled():
            continue
        for place, is_box in _outlined(control):
            area = qt.QRect(control.mapTo(top, place.topLeft()), place.size())
            if top.rect().contains(area) and is_in_sight(control, place):
                yield name_of(control), is_box, edge_contrast(picture, area)


def unseen(top: qt.QWidget, picture: qt.QImage) -> list[str]:
    """Say which controls of a window do not stand out from what is around them."""
    return [
        f"{name} has an outline with a contrast of {seen:.2f}"
        for name, _, seen in outlines(top, picture)
        if seen < LEAST_OF_A_CONTROL
    ]


def focuses(top: qt.QWidget) -> Iterator[tuple[str, float]]:
    """Return the controls that Tab reaches, and by how much enough pixels change with the focus."""
    widgets = [widget for widget in top.findChildren(qt.QWidget) if _is_reached(widget, top)]
    assert len(widgets) > 2
    for number, widget in enumerate(widgets):
        yield name_of(widget), _focus_change(widget, widgets[number - 1], top)


def _focus_change(widget: qt.QWidget, other: qt.QWidget, top: qt.QWidget) -> float:
    """Return by how much enough pixels change; once more if the layout has changed meanwhile."""
    while True:
        other.setFocus(qt.Qt.FocusReason.TabFocusReason)
        before = _picture_of(widget, top)
        widget.setFocus(qt.Qt.FocusReason.TabFocusReason)
        assert widget.hasFocus(), name_of(widget)
        after = _picture_of(widget, top)
        if before.size() == after.size():
            return _change(before, after)


def _is_reached(widget: qt.QWidget, top: qt.QWidget) -> bool:
    takes_tab = bool(widget.focusPolicy() & qt.Qt.FocusPolicy.TabFocus)
    is_itself = widget.focusProxy() is None and not inner(widget)
    is_seen = widget.isVisibleTo(top) and not widget.visibleRegion().isEmpty()
    return takes_tab and is_itself and is_seen and widget.isEnabled()


def _picture_of(widget: qt.QWidget, top: qt.QWidget) -> qt.QImage:
    """Take a picture of a widget and of a band around it."""
    qt.QApplication.processEvents()
    area = _area(widget, top).adjusted(-_BAND, -_BAND, _BAND, _BAND) & top.rect()
    return top.grab(area).toImage().convertToFormat(qt.QImage.Format.Format_RGB32)


def _change(before: qt.QImage, after: qt.QImage) -> float:
    """Return the contrast by which enough pixels of two pictures differ at least."""
    pixels = zip(
        memoryview(before.constBits()).cast("B").cast("I"),
        memoryview(after.constBits()).cast("B").cast("I"),
        strict=True,
    )
    changed = Counter(pair for pair in pixels if pair[0] != pair[1])
    seen = 0
    by_contrast = {pair: _ratio(*map(_luminance, pair)) for pair in changed}
    for pair in sorted(changed, key=by_contrast.__getitem__, reverse=True):
        seen += changed[pair]
        if seen >= _FOCUS_PIXELS:
            return by_contrast[pair]
    return 1.0


def inner(part: qt.QWidget) -> bool:
    """Whether it is a part of what draws its own parts; a dialog's scrolled body is looked into."""
    if isinstance(part, qt.QFocusFrame):
        return True
    parent = part.parentWidget()
    while parent is not None and not parent.isWindow():
        if isinstance(parent, (qt.QLineEdit, qt.QComboBox, qt.QAbstractItemView)):
            return True  # they draw their own parts
        parent = parent.parentWidget()
    return part.objectName().startswith("qt_scrollarea")


def is_in_sight(widget: qt.QWidget, place: qt.QRect) -> bool:
    """Whether all of a place in a widget is drawn, and not scrolled out of sight."""
    return bool(widget.visibleRegion().boundingRect().contains(place))


def name_of(part: qt.QWidget) -> str:
    text = getattr(part, "text", str)() or part.accessibleName()
    return f"{type(part).__name__} {text!r}"


def _text(part: qt.QWidget) -> str:
    """Return what is written on a part: in an empty line its example."""
    if isinstance(part, qt.QLineEdit):
        return part.text() or part.placeholderText()
    return str(getattr(part, "text", str)())


def _area(part: qt.QWidget, top: qt.QWidget) -> qt.QRect:
    return qt.QRect(part.mapTo(top, qt.QPoint()), part.size()) & top.rect()


def _caption(part: qt.QWidget, top: qt.QWidget) -> qt.QRect:
    """Return where a part's text stands: inside of a button's outline."""
    edge = _BAND if isinstance(part, (qt.QPushButton, qt.QLineEdit)) else 0
    return _area(part, top).adjusted(edge, edge, -edge, -edge)


def _is_bare(control: qt.QWidget) -> bool:
    """Whether it is only text, or fills what it is in, as a list in a dock does."""
    if isinstance(control, qt.QPushButton):
        return control.isFlat()
    if isinstance(control, qt.QLineEdit):
        return not control.hasFrame()
    return isinstance(control, qt.QFrame) and not control.frameWidth()


def _outlined(control: qt.QWidget) -> list[tuple[qt.QRect, bool]]:
    """Return the parts of a control that have an outline, and whether each is a check box."""
    style = control.style()
    if isinstance(control, qt.QCheckBox):
        box = qt.QStyleOptionButton()
        control.initStyleOption(box)
        indicator = qt.QStyle.SubElement.SE_CheckBoxIndicator
        return [(style.subElementRect(indicator, box, control), True)]
    places = [(control.rect(), False)]
    if isinstance(control, (qt.QListView, qt.QTreeView)):
        places.extend((place, True) for place in _boxes_of_rows(control))
    return places


def _boxes_of_rows(view: qt.QListView | qt.QTreeView) -> Iterator[qt.QRect]:
    """Return the check boxes of the rows in sight."""
    for row in rows_in_sight(view):
        if row.data(qt.Qt.ItemDataRole.CheckStateRole) is None:
            continue
        item = qt.QStyleOptionViewItem()
        if hasattr(view, "initViewItemOption"):
            view.initViewItemOption(item)
        else:  # Qt 5
            item = view.viewOptions()  # type: ignore[union-attr]  # not in the stubs of Qt 6
        item.rect = view.visualRect(row)
        item.features = qt.QStyleOptionViewItem.ViewItemFeature.HasCheckIndicator
        indicator = qt.QStyle.SubElement.SE_ItemViewItemCheckIndicator
        place = view.style().subElementRect(indicator, item, view)
        yield place.translated(view.viewport().pos())


def rows_in_sight(view: qt.QAbstractItemView) -> Iterator[qt.QModelIndex]:
    """Return the first cells of the rows that are whole and in sight."""
    middle = view.viewport().width() // 2
    row = view.indexAt(qt.QPoint(middle, 1)).siblingAtColumn(0)
    while row.isValid() and view.viewport().rect().contains(view.visualRect(row)):
        yield row
        below = qt.QPoint(middle, view.visualRect(row).bottom() + 2)
        row = view.indexAt(below).siblingAtColumn(0)


def edge_contrast(picture: qt.QImage, area: qt.QRect) -> float:
    """Return the contrast of an area's edge with what is beside it, at its weakest side."""
    scale = picture.devicePixelRatio()
    left, top = round(area.left() * scale), round(area.top() * scale)
    right, bottom = round((area.right() + 1) * scale) - 1, round((area.bottom() + 1) * scale) - 1
    middle = ((left + right) // 2, (top + bottom) // 2)
    beside = -round(2 * scale)
    band = range(-1, round(_BAND * scale))  # where a pixel is a part of one, a line may lie before
    sides = (
        [(left + step, middle[1]) for step in (beside, *band)],
        [(right - step, middle[1]) for step in (beside, *band)],
        [(middle[0], top + step) for step in (beside, *band)],
        [(middle[0], bottom - step) for step in (beside, *band)],
    )
    least = []
    for side in sides:
        inside = [point for point in side if picture.rect().contains(*point)]
        ground, *edge = (_luminance(picture.pixel(x, y)) for x, y in inside)
        least.append(max(_ratio(pixel, ground) for pixel in edge))
    return min(least)


def _ratio(one: float, other: float) -> float:
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


def _luminance(pixel: int) -> float:
    colour = qt.QColor(pixel)
    red, green, blue = map(_linear, (colour.redF(), colour.greenF(), colour.blueF()))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)


# ---- what is drawn


def png(colour: str) -> bytes:
    """Make a picture of one colour."""
    image = qt.QImage(480, 360, qt.QImage.Format.Format_RGB32)
    image.fill(qt.QColor(colour))
    file = qt.QBuffer()
    file.open(qt.QIODevice.OpenModeFlag.WriteOnly)
    image.save(file, "PNG")  # type: ignore[call-overload]  # its stub wants bytes, which it refuses
    return bytes(file.data().data())


def until(condition: Callable[[], object]) -> None:
    """Run the event loop until a condition holds."""
    end = time.monotonic() + _LIMIT_S
    while not condition():
        assert time.monotonic() < end, "it did not come true"
        qt.QApplication.processEvents(qt.QEventLoop.ProcessEventsFlag.AllEvents, 20)


def questions() -> Iterator[Question]:
    """Return a deletion whose items can be unticked, a form with each kind of field, and a code."""
    items = tuple(f"/World/Cameras/sq{n % 5}/sh{10 * n:04}_cam" for n in range(40))
    kinds = ("Camera",) * len(items)
    call = Call("delete", "Delete", "destructive", Client("claude-code", "Claude Code", "2.1"))
    offers = Offers(3000, 9000, hand_over="Claude", remember=200, mute="claude")
    pictures = (Picture(png("#8a7050"), "Now"), Picture(png("#777"), "Afterwards"))
    consent = Consent(items, kinds, may_take_fewer=True, pictures=pictures)
    yield Question("Delete 40 cameras?", call, YES, "deletion", consent=consent, offers=offers)
    fields = {
        "name": {"type": "string", "title": "Name", "description": "Of the file."},
        "frames": {"type": "integer", "title": "Frames", "minimum": 1},
        "hidden": {"type": "boolean", "title": "With what is hidden"},
        "format": {"type": "string", "title": "Format", "enum": ["usd", "abc"]},
        "parts": {"type": "array", "title": "Parts", "items": {"enum": ["mesh", "camera"]}},
        "layers": {"type": "array", "items": {"enum": [f"l{n}" for n in range(20)]}},
    }
    form = parse({"type": "object", "properties": fields, "required": ["name"]})
    yield Question("How is it exported?", call, form, "form", offers=offers)
    details = Details("del cameras\n" * 30, ((3, "removes objects"),), "keep cameras\n" * 30)
    yield Question("Run 30 lines?", call, YES, "code", consent=Consent(), details=details)


def drawn() -> Iterator[tuple[str, qt.QWidget]]:
    """Draw the questions, the panel with its history and a code, and the bar; give one by one."""
    host = FakeHost(has_ui=True)
    for question in questions():
        dialog = QuestionDialog(question, host, None, lambda event: None)
        dialog.show()
        until(dialog.exits.verb.isEnabled)
        dialog.enter()
        yield str(question.title), dialog
        qt.delete(dialog)
    yield from _panel()
    acts = (Act("keep", "Keep"), Act("undo_last", "Undo"))
    row = Row("a/b", "Turned 12 boxes", "claude-code", acts)
    bar = BarWindow(row, None, DeferredDeletion())
    bar.fit(800)
    bar.show()
    yield "bar", bar
    qt.delete(bar)


def _panel() -> Iterator[tuple[str, qt.QWidget]]:
    loop = HostLoop()
    broker = Broker(Settings(dialogs_per_minute=1000), host=Person())
    parts = Parts(loop.main, broker)
    furnish(parts)
    code = CodeRun("Make the lamps brighter", Details("lamp.on = True\n" * 20, ((2, "why"),)))
    parts.ended("Ran 20 lines of code", "done", "destructive", by="host", code=code, ago=20)
    parts.ended("Turned 12 boxes", "done", ago=10)
    panel = Panel(parts, lambda question: None)
    window = qt.QMainWindow()
    dock = qt.QDockWidget("Agents", window)
    dock.setWidget(panel)
    window.addDockWidget(qt.Qt.DockWidgetArea.RightDockWidgetArea, dock)
    window.resize(panel.fontMetrics().height() * 26, panel.fontMetrics().height() * 60)
    window.show()
    history = panel.history
    history.list.setCurrentIndex(history.model.index(1, 0))
    yield "panel", window
    history.text.click()
    yield "text", history.card.reader
    history.card.reader.close()
    broker.close()
    loop.main.close()
    panel.close_for_good()
    qt.delete(window)
    loop.close()


Least = dict[str, tuple[float, str]]


def measured(folder: Path, look: str) -> Least:
    """Draw everything, save the pictures, and give the least contrast of each kind and where."""
    least: Least = dict.fromkeys(LEAST, (21.0, ""))
    for name, top in drawn():
        takes_focus = name != "bar"
        if takes_focus:
            top.activateWindow()
            until(top.isActiveWindow)
        for _ in range(5):  # a layout takes some turns
            qt.QApplication.processEvents()
        picture = top.grab().toImage()
        picture.save(str(folder / f"{look}-{name}.png"))
        for kind, what, seen in all_contrasts(top, picture, takes_focus=takes_focus):
            least[kind] = min(least[kind], (round(seen, 2), f"{name}: {what}"))
    return least


def all_contrasts(
    top: qt.QWidget, picture: qt.QImage, *, takes_focus: bool
) -> Iterator[tuple[str, str, float]]:
    """Return each contrast in a window, with its kind and where it is."""
    for what, seen in (*texts(top, picture), *row_texts(top, picture)):
        yield "text", what, seen
    for what, is_box, seen in outlines(top, picture):
        yield "check boxes" if is_box else "outlines", what, seen
    if takes_focus:
        for what, seen in focuses(top):
            yield "focus", what, seen


def measure(file: Path, looks: dict[str, Callable[[qt.QApplication], object]]) -> None:
    """Measure in this application, in one look after the other, and write it to a file."""
    app = qt.QApplication.instance()
    assert isinstance(app, qt.QApplication)
    found = {}
    for look, put_on in looks.items():
        put_on(app)
        found[look] = measured(file.parent, look)
    file.write_text(json.dumps(found), encoding="utf-8")


def in_fusion(look: str) -> Callable[[qt.QApplication], object]:
    """Return what gives an application a palette, drawn by Qt's own style."""

    def put_on(app: qt.QApplication) -> None:
        app.setStyleSheet("")
        app.setStyle("Fusion")
        app.setPalette(LOOKS[look]())

    return put_on


def in_our_window(folder: Path, scale: float) -> dict[str, Least]:
    """Measure with the Qt of our own application, without a screen."""
    file = folder / "contrasts.json"
    screens = folder / "screens.json"
    screens.write_text(json.dumps({"screens": [_SCREEN]}), encoding="utf-8")
    platform = {
        "QT_QPA_PLATFORM": f"offscreen:configfile={screens}",
        "QT_SCALE_FACTOR": str(scale),
    }
    done = subprocess.run(
        [sys.executable, "-m", "tests.qt.contrasts", "--measure", str(file)],
        cwd=ROOT,
        env={**os.environ, **platform},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(file.read_text(encoding="utf-8")))


def in_freecad(folder: Path, scale: float) -> dict[str, Least]:
    """Measure with the Qt of FreeCAD, without a screen, in its own themes too."""
    from tests.freecad import launch

    file = folder / "contrasts.json"
    ours = {"CONTRASTS": str(file), "QT_SCALE_FACTOR": str(scale)}
    done = launch.run("tests.freecad.contrasts", folder, **ours)
    assert file.exists(), done.stdout + done.stderr
    found: dict[str, Least] = json.loads(file.read_text(encoding="utf-8"))
    assert "error" not in found, found["error"]
    return found


def table(folder: Path) -> Iterator[str]:
    """Return the lines of the table, as they are measured."""
    from tests.freecad import launch

    hosts: dict[str, Callable[[Path, float], dict[str, Least]]] = {"dcc_bridge": in_our_window}
    if launch.PROGRAM is not None:
        hosts["FreeCAD"] = in_freecad
    yield f"| host | theme | scale | {' | '.join(LEAST)} |"
    yield f"|---|---|---|{'---|' * len(LEAST)}"
    for host, take in hosts.items():
        for scale in _SCALES:
            own = folder / f"{host}-{scale}"
            own.mkdir(parents=True, exist_ok=True)
            for look, least in take(own, scale).items():
                cells = [f"{least[kind][0]:.1f}" for kind in LEAST]
                yield f"| {host} | {look} | {scale} | {' | '.join(cells)} |"


def faint(found: dict[str, Least]) -> list[str]:
    """Say what is too faint, in which look."""
    return [
        f"{look}: {kind} of {where} has {seen}"
        for look, least in found.items()
        for kind, (seen, where) in least.items()
        if seen < LEAST[kind]
    ]


def main(arguments: list[str]) -> None:
    """Print the table, or measure in this process."""
    if arguments[:1] == ["--measure"]:
        from dcc_bridge_usd.window import theme

        app = qt.QApplication([])
        looks: dict[str, Callable[[qt.QApplication], object]] = {"own": theme.dress}
        looks |= {look: in_fusion(look) for look in LOOKS}
        measure(Path(arguments[1]), looks)
        del app
        return
    with TemporaryDirectory(prefix="contrasts-") as temporary:
        for line in table(Path(*arguments[:1] or [temporary])):
            print(line, flush=True)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main(sys.argv[1:])
