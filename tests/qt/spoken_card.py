"""Shows one question in a window, for a screen reader: ``python -m tests.qt.spoken_card NAME``.

It prints "ready" once keys count in the question, and the answer when it is answered.
"""

from __future__ import annotations

import sys
from typing import Any

from PySide6.QtCore import QBuffer, QIODevice, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from dcc_bridge.elicitation.question import Offers, Picture, Question
from tests.qt.stage import Stage, ask_name, consent, form, go_to, until

NOW = "Now: the 127 cameras that go are framed"
AFTER = "Afterwards: the same view without them"
_LONG = Offers(3000, 9000, hand_over="Claude", remember=200, mute="claude")


def deletion() -> Question:
    """Make the question about 127 items, which stand in groups and can be unticked."""
    items = tuple(f"/World/Cameras/sq{n // 20:03}/sh{10 * n:04}_cam" for n in range(127))
    return consent(
        items=items,
        kinds=("Camera",) * len(items),
        pictures=(Picture(_png(), NOW), Picture(_png(), AFTER)),
        may_take_fewer=True,
        offers=_LONG,
    )


def export() -> Question:
    """Make the question with a field of each kind."""
    fields: dict[str, dict[str, Any]] = {
        "name": {"type": "string", "title": "Name", "description": "Of the file."},
        "frames": {"type": "integer", "title": "Frames", "minimum": 1},
        "hidden": {"type": "boolean", "title": "With what is hidden"},
        "format": {"type": "string", "title": "Format", "enum": ["usd", "abc"]},
        "parts": {"type": "array", "title": "Parts", "items": {"enum": ["mesh", "camera"]}},
    }
    return ask_name("How is it exported?", form=form(["name"], **fields), offers=_LONG)


def ending() -> Question:
    """Make a question whose last part begins after 20 seconds, and again after *More time*."""
    return ask_name(offers=Offers(40, 9000))


def _png() -> bytes:
    picture = QImage(320, 200, QImage.Format.Format_RGB32)
    picture.fill(Qt.GlobalColor.darkGreen)
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    picture.save(buffer, "PNG")  # type: ignore[call-overload]  # the stub wants bytes
    return bytes(buffer.data().data())


QUESTIONS = {"deletion": deletion, "export": export, "ending": ending}


def main() -> None:
    app = QApplication(["card"])
    app.setQuitOnLastWindowClosed(False)
    stage = Stage()
    heard, _ = stage.show(QUESTIONS[sys.argv[1]]())
    go_to(stage.dialog)
    print("ready", flush=True)
    until(lambda: heard, limit=300)
    print("answered", getattr(heard[0], "action", heard[0]), flush=True)
    stage.close()


if __name__ == "__main__":
    main()
