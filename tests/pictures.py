"""The pictures of README and the guide: real widgets, the bundled scene, a screen of their own.

``python tests/pictures.py [--to FOLDER]``. Needs Xvfb; where openbox is installed too, the windows
have frames. Everything that is started ends with it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from PIL import Image
from PySide6.QtCore import QRect
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from dcc_bridge.code import agreed
from dcc_bridge.code.code_text import read_code
from dcc_bridge.config import data_folder
from dcc_bridge.consent.call import Call
from dcc_bridge.consent.effect import CodeRun
from dcc_bridge.elicitation.ask import yes_or_no
from dcc_bridge.elicitation.broker import Broker
from dcc_bridge.elicitation.caller import Client
from dcc_bridge.elicitation.question import Consent, Offers, Page, Question
from dcc_bridge.elicitation.schema import parse
from dcc_bridge.qt.event_loop import HostLoop
from dcc_bridge.qt.panel.panel import Panel
from dcc_bridge.qt.presenter import DialogPresenter
from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.plain_names import PLAIN
from dcc_bridge_usd.program import PROGRAM
from dcc_bridge_usd.window import theme
from dcc_bridge_usd.window.main_window import MainWindow
from tests.hosts.screen import screen
from tests.qt.desk import Parts, furnish
from tests.qt.stage import delete, until

if TYPE_CHECKING:
    from dcc_bridge.qt.question_dialog import QuestionDialog

ROOT: Final = Path(__file__).parents[1]
_LIMIT: Final = 120
_PAINTED: Final = 600
"""Milliseconds after which the screen shows what was drawn."""
_COLOURS: Final = 255
_TRANSPARENT: Final = 255  # the number of the colour after these
_BLACKS: Final = [0] * 3 * (_TRANSPARENT + 1)
_CLIENT: Final = Client("claude-code", "Claude Code", "2.1")
_NAMES: Final = ("dialog", "form", "panel", "agreed_code")
_PHISHING: Final = "https://tracker.example.com.review-login.example/sign-in?next=%2Ftasks"
_FRAMES: Final = """\
<openbox_config xmlns="http://openbox.org/3.4/rc"><theme><name>calm</name></theme></openbox_config>
"""
_THEME: Final = """\
border.width: 1
padding.height: 4
window.*.border.color: #4a4e58
window.*.title.bg: flat solid
window.*.title.bg.color: #1c1e22
window.*.button.*.bg: parentrelative
window.*.button.*.image.color: #989da8
window.*.label.bg: parentrelative
window.label.text.justify: center
window.active.label.text.color: #dcdfe4
window.inactive.label.text.color: #989da8
window.*.client.color: #26282d
window.client.padding.width: 0
window.client.padding.height: 0
window.handle.width: 0
"""
_WHY: Final = (
    "Make the lamps of the bay brighter by half, and take away those that are switched off."
)
_CODE: Final = """\
from pxr import UsdLux

SOFT = 0.35
report = []

for prim in stage.Traverse():
    if not prim.HasAPI(UsdLux.LightAPI):
        continue
    light = UsdLux.LightAPI(prim)
    intensity = light.GetIntensityAttr()
    if not intensity.Get():
        stage.RemovePrim(prim.GetPath())
        continue
    intensity.Set(1.5 * intensity.Get())
    report.append(f"{prim.GetPath()}: {intensity.Get():.2f}")

result = report
"""
_DONE: Final = (
    "Added 3 sphere lights",
    "Moved 2 cars",
    "Renamed 14 props",
    "Set the focal length of sq010_sh0100_cam to 35",
    "Hid 6 buildings",
    "Parented 9 trees to Street",
)
"""The earlier calls in the history."""
_PASSES: Final = ("Beauty", "Depth", "Normals", "Motion vectors")
_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "name": {
            "type": "string",
            "title": "Version",
            "description": "How it is listed in the review.",
            "default": "layout_v012",
            "minLength": 3,
        },
        "note": {"type": "string", "title": "Note to the supervisor"},
        "scale": {
            "type": "number",
            "title": "Resolution",
            "description": "In parts of the full frame.",
            "minimum": 0.1,
            "maximum": 1,
            "default": 0.5,
        },
        "step": {"type": "integer", "title": "Every n-th frame", "minimum": 1, "maximum": 24},
        "quality": {
            "type": "string",
            "title": "Quality",
            "oneOf": [
                {"const": "draft", "title": "Draft, some minutes"},
                {"const": "final", "title": "Final, over night"},
            ],
            "default": "draft",
        },
        "passes": {
            "type": "array",
            "title": "Passes",
            "items": {"anyOf": [{"const": name.lower(), "title": name} for name in _PASSES]},
            "minItems": 1,
            "default": ["beauty", "depth"],
        },
        "burn_in": {"type": "boolean", "title": "Burn in the frame numbers", "default": True},
    },
    "required": ["name", "scale", "step", "quality", "passes", "burn_in"],
}


def form_question() -> Question:
    return Question(
        "Render a preview of shot_010?\nIt is sent to the review once it is done.",
        Call("render_preview", "Render preview", "edit", _CLIENT),
        form=parse(_SCHEMA),
        title="Render",
        offers=Offers(135, 300, hand_over="Claude Code", mute="claude-code"),
    )


def code_question() -> Question:
    """Make a question about code, some lines of which were agreed to before."""
    before = _CODE.replace("1.5 *", "1.2 *").replace(
        "        stage.RemovePrim(prim.GetPath())\n", ""
    )
    text = read_code(_CODE, PLAIN)
    return Question(
        agreed._message(text, _WHY, []),
        Call("run_python", "Run code", "destructive", _CLIENT),
        form=yes_or_no("Run"),
        title="Run code",
        consent=Consent(),
        details=agreed._details(text, before),
        offers=Offers(300, 300, mute="claude-code"),
    )


def code_run() -> CodeRun:
    lamps = [f"/World/Lamps/Lamp_{number:02}" for number in range(1, 14)]
    changes = {"created": (0, []), "changed": (11, lamps[:11]), "deleted": (2, lamps[11:])}
    return CodeRun(_WHY, agreed._details(read_code(_CODE, PLAIN), None), changes)


def page_question() -> Question:
    """Make a question about a page whose host begins like the one that is meant."""
    return Question(
        "Please sign in to the tracker.",
        Call("publish_version", "Publish version", "edit", _CLIENT),
        page=Page(_PHISHING, "Your tasks of shot_010 are listed then."),
        offers=Offers(300, 300, hand_over="Claude Code", mute="claude-code"),
    )


def fill_in(dialog: QuestionDialog) -> None:
    assert dialog.form is not None
    step = next(row.editor for row in dialog.form.rows if row.field.name == "step")
    step.setFocus()
    QTest.keyClicks(step, "2.5")


def waiting_question() -> Question:
    form = parse({"type": "object", "properties": {"name": {"type": "string"}}})
    call = Call("rename", "Rename prim", "edit", _CLIENT)
    return Question("What should Lamp_08_Glow be called?", call, form=form)


@contextmanager
def framed_screen(place: Path) -> Iterator[str]:
    """Have a screen that nobody looks at, with frames around its windows where it can be.

    Args:
        place: A folder for what is needed meanwhile.
    """
    with screen(1600, 1400) as shown:
        if shutil.which("openbox") is None:
            yield shown.display
            return
        theme, settings = place / "themes" / "calm" / "openbox-3", place / "rc.xml"
        theme.mkdir(parents=True)
        (theme / "themerc").write_text(_THEME)
        settings.write_text(_FRAMES)
        environment = {**os.environ, "DISPLAY": shown.display, "XDG_DATA_HOME": str(place)}
        command = ["openbox", "--sm-disable", "--config-file", str(settings)]
        with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as frames:
            try:
                yield shown.display
            finally:
                frames.terminate()


class Window:
    """Our own application's window, with what draws questions over it."""

    def __init__(self, session: UsdSession) -> None:
        """Show it."""
        self.app = QApplication([])
        theme.dress(self.app)
        self._host = MainWindow(session)
        self._host.set_server("MCP: http://127.0.0.1:41234/mcp", True)
        self._host.show()
        self._loop = HostLoop()
        self.presenter = DialogPresenter(self._loop.main, session, lambda: self._host)
        main, broker = self._loop.main, Broker(host=self.presenter)
        self._parts = Parts(main, broker)
        self._panel = Panel(self._parts, self.presenter.bring)
        self._host.add_agents(
            self._panel, self.presenter.enter, self._panel.enter, self._panel.enter_clients
        )

    def form(self) -> QWidget:
        """Draw the form, and give its window."""
        return self._drawn(form_question(), fill_in)

    def code(self) -> QWidget:
        """Draw the code that is agreed to, and give its window."""
        return self._drawn(code_question())

    def _drawn(self, question: Question, play: Callable[[Any], None] = lambda _: None) -> QWidget:
        self.presenter.show(question, lambda _: None)
        until(lambda: self.presenter.dialogs)
        (dialog,) = self.presenter.dialogs
        self.presenter.enter()
        QTest.qWaitForWindowActive(dialog)
        play(dialog)
        QTest.qWait(_PAINTED)
        return dialog

    def panel(self) -> QWidget:
        """Have a session in which a good deal goes on, and give the whole window."""
        for number, title in enumerate(_DONE):
            self._parts.ended(title, "done", ago=60 * (90 - 7 * number))
        furnish(self._parts)
        self._parts.ended("Moved 12 boxes", "done", ago=40)
        self._parts.ended("Turned 12 boxes", "done", ago=20)
        until(lambda: self.presenter.dialogs and self.presenter.notifications.visible)
        self.presenter.dialogs[0].set_aside()
        self.presenter.notifications.clear()
        QTest.qWait(2 * _PAINTED)
        host: QWidget = self._host
        return host

    def clear(self) -> None:
        self.presenter.dialogs[0].reject()
        until(lambda: not self.presenter.dialogs)

    def save(self, window: QWidget, file: Path) -> None:
        """Save what the screen shows of a window, frame and all, once it is what is drawn."""

        def shown(area: QRect) -> QImage:
            x, y, width, height = area.x(), area.y(), area.width(), area.height()
            grabbed = window.screen().grabWindow(0, x, y, width, height)
            return grabbed.toImage().convertToFormat(QImage.Format.Format_RGB32)

        def is_painted() -> bool:
            top = QApplication.activePopupWidget() or window
            drawn = top.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
            return shown(top.geometry()) == drawn

        until(is_painted, 20)
        # A widget may keep a frame that it read before its window had one; its handle reads it now.
        assert shown(window.windowHandle().frameGeometry()).save(str(file))

    def close(self) -> None:
        self._parts.broker.close()
        self._loop.main.close()
        self._panel.close_for_good()
        self.presenter.close()
        self._loop.close()
        self._host.feed.close()
        delete(self._host)


def _dialog(scene: Path, runtime: Path, file: Path) -> None:
    """Let the demo take the picture of its own question."""
    words = ["demo", "--window", "--answer", "accept", "--scene", scene, "--screenshot", file]
    subprocess.run(
        [sys.executable, "-m", "dcc_bridge", *map(str, words)],
        env={**os.environ, "DCC_BRIDGE_RUNTIME": str(runtime)},
        stdout=subprocess.DEVNULL,
        timeout=_LIMIT,
        check=True,
    )


def _draw(scene: Path, folder: Path) -> None:
    """Take the pictures of a window."""
    window = Window(UsdSession(scene, has_ui=True))
    window.save(window.form(), folder / "form.png")
    window.clear()
    window.save(window.code(), folder / "agreed_code.png")
    window.clear()
    window.save(window.panel(), folder / "panel.png")
    window.close()


def _shrink(file: Path) -> None:
    """Save a picture with as many colours as the eye needs."""
    with Image.open(file) as picture:
        few = picture.convert("RGB").quantize(
            _COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE
        )
        opacity = picture.convert("RGBA").getchannel("A")
    palette = few.getpalette() or []
    few.putpalette([*palette, *_BLACKS][: len(_BLACKS)])  # up to the number that is transparent
    few.paste(_TRANSPARENT, mask=opacity.point(lambda opaque: 255 - opaque))
    few.save(file, optimize=True, transparency=_TRANSPARENT)


def take(folder: Path) -> list[Path]:
    """Take the pictures in a folder, and return their files."""
    files = [folder / f"{name}.png" for name in _NAMES]
    with (
        TemporaryDirectory(prefix="pictures-") as name,
        framed_screen(place := Path(name)) as display,
    ):
        os.environ.update(DISPLAY=display, QT_QPA_PLATFORM="xcb")
        scene = Path(shutil.copy(data_folder("resources") / PROGRAM.sample, place))
        _dialog(scene, place / "run", files[0])
        _draw(scene, folder)
    for file in files:
        _shrink(file)
    return files


def main() -> None:
    """Take the pictures, and tell where they are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=ROOT / "resources" / "pictures")
    chosen = parser.parse_args()
    folder: Path = chosen.to
    if shutil.which("Xvfb") is None:
        parser.error("the pictures need Xvfb, which is not installed")
    folder.mkdir(parents=True, exist_ok=True)
    for file in take(folder):
        print(f"{file}: {file.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
