"""Qt, by the binding that the host has: PySide6, or PySide2 in an older one.

A second binding in a process is a crash that nobody can catch, so none is imported to see whether
it is there: the one that the host has loaded is taken, and PySide6 only where there is none, which
is our own application. A host's plug-in therefore imports the host's binding first.

All names lie in one flat space, because some classes live in another module in Qt 5. They are typed
as PySide6's; what is used of them has to be in PySide2 5.15 and in PySide6 6.5 alike. Main thread.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

_KNOWN: Final = {"PySide6": "shiboken6", "PySide2": "shiboken2"}
_PARTS: Final = ("QtCore", "QtGui", "QtWidgets")
NAME: Final = next((name for name in _KNOWN if sys.modules.get(name)), "PySide6")  # which one it is

if TYPE_CHECKING:
    # The whole of Qt, and no list of it to be kept; the stubs declare some names in each module.
    from PySide6.QtCore import *  # noqa: F403
    from PySide6.QtGui import *  # type: ignore[assignment]  # noqa: F403 - told above
    from PySide6.QtWidgets import *  # type: ignore[assignment]  # noqa: F403 - told above
    from shiboken6 import delete as delete
    from shiboken6 import getCppPointer as getCppPointer
    from shiboken6 import isValid as isValid
    from shiboken6 import wrapInstance as wrapInstance
else:
    _parts = [import_module(f"{NAME}.{part}") for part in _PARTS]
    _parts.append(import_module(_KNOWN[NAME]))

    if NAME == "PySide2":

        def delete(thing: Any) -> None:
            """Delete an object of ours at once, by the event that `deleteLater` posts.

            shiboken2's own looks at a bit that it has never written (``isQAppSingleton``, in 5.15.8
            seen by valgrind) and now and then deletes the host's application instead.
            """
            core = _parts[0]
            core.QCoreApplication.sendEvent(thing, core.QEvent(core.QEvent.DeferredDelete))

    def __getattr__(name: str) -> Any:
        """Find a name where this binding has it."""
        for part in _parts:
            if hasattr(part, name):
                return globals().setdefault(name, getattr(part, name))  # next time at once
        raise AttributeError(f"{NAME} has no {name} in {', '.join(_PARTS)}.")


def run(loop: QEventLoop) -> None:  # noqa: F405 - one of Qt's
    """Run an event loop until it is quit; in PySide2 the method has another name."""
    (getattr(loop, "exec", None) or loop.exec_)()


def sheet(files: Sequence[Path], width: int, height: int, quality: int) -> bytes:
    """Put pictures of one size side by side, two in a row, as one JPEG. Main thread.

    Args:
        files: The pictures; the JPEG is written beside the first one.
        width: Pixels of each.
        height: Pixels of each.
        quality: Of the JPEG, 0 to 100.

    Returns:
        The JPEG.

    Raises:
        OSError: It cannot be written there.
    """
    known = sys.modules[__name__]  # in the application they are found when they are asked for
    columns, rows = min(len(files), 2), (len(files) + 1) // 2
    picture = known.QImage(width * columns, height * rows, known.QImage.Format.Format_RGB32)
    picture.fill(0)
    painter = known.QPainter(picture)
    for number, file in enumerate(files):
        painter.drawImage(number % 2 * width, number // 2 * height, known.QImage(str(file)))
    painter.end()
    target = files[0].with_name("sheet.jpg")
    picture.save(str(target), "JPG", quality)
    return target.read_bytes()
