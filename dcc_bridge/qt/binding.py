"""Qt, by the binding that the host has: PySide6, or PySide2 in an older host. Main thread.

``from dcc_bridge.qt import binding as qt`` gives all classes of Qt's core, GUI and widgets, such as
``qt.QWidget``, in one namespace: some classes live in another module in Qt 5. The names are typed
as PySide6's; those in use have to be in PySide2 5.15 and in PySide6 6.5 alike.

A second binding in a process is a crash that nobody can catch, so no binding is imported to see
whether it is there. The binding that is loaded already is taken, and else PySide6, which our own
application has. A host's plug-in therefore imports the host's binding first.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

_SHIBOKENS: Final = {"PySide6": "shiboken6", "PySide2": "shiboken2"}
_PARTS: Final = ("QtCore", "QtGui", "QtWidgets")


def _loaded_binding() -> str:
    """Return the name of the binding that the host has loaded; PySide6 where there is none."""
    for name in _SHIBOKENS:
        if sys.modules.get(name):
            return name
    return "PySide6"


NAME: Final = _loaded_binding()

if TYPE_CHECKING:
    # All names, so that no list has to be kept; the stubs declare some of them in each module.
    from PySide6.QtCore import *  # noqa: F403
    from PySide6.QtGui import *  # type: ignore[assignment]  # noqa: F403 - as said above
    from PySide6.QtWidgets import *  # type: ignore[assignment]  # noqa: F403 - as said above
    from shiboken6 import delete as delete
    from shiboken6 import getCppPointer as getCppPointer
    from shiboken6 import isValid as isValid
    from shiboken6 import wrapInstance as wrapInstance
else:
    _parts = [import_module(f"{NAME}.{part}") for part in _PARTS]
    _parts.append(import_module(_SHIBOKENS[NAME]))

    if NAME == "PySide2":

        def delete(thing: Any) -> None:
            """Delete an object of ours at once, by the event that `deleteLater` posts.

            The function of shiboken2 looks at a bit that it has never written
            (``isQAppSingleton``, seen in 5.15.8 by valgrind), and now and then deletes the host's
            application instead.
            """
            core = _parts[0]
            core.QCoreApplication.sendEvent(thing, core.QEvent(core.QEvent.DeferredDelete))

    def __getattr__(name: str) -> Any:
        """Return a name of Qt's from the module in which this binding has it."""
        for part in _parts:
            if hasattr(part, name):
                return globals().setdefault(name, getattr(part, name))  # next time at once
        raise AttributeError(f"{NAME} has no {name} in {', '.join(_PARTS)}.")


def run(loop: QEventLoop) -> None:  # noqa: F405 - one of Qt's
    """Run an event loop until it is quit."""
    if hasattr(loop, "exec"):
        loop.exec()
    else:  # PySide2
        loop.exec_()


def sheet(files: Sequence[Path], width: int, height: int, quality: int) -> bytes:
    """Put pictures of one size side by side, two in a row, as one JPEG. Main thread.

    Args:
        files: The pictures; the JPEG is written beside the first one.
        width: The width of each picture, in pixels.
        height: The height of each picture, in pixels.
        quality: The quality of the JPEG, 0 to 100.

    Returns:
        The bytes of the JPEG.

    Raises:
        OSError: The JPEG cannot be written beside the first picture.
    """
    qt = sys.modules[__name__]  # `__getattr__` finds Qt's names, which are no globals of ours
    columns = min(len(files), 2)
    rows = (len(files) + 1) // 2
    picture = qt.QImage(width * columns, height * rows, qt.QImage.Format.Format_RGB32)
    picture.fill(0)
    painter = qt.QPainter(picture)
    for number, file in enumerate(files):
        row, column = divmod(number, 2)
        painter.drawImage(column * width, row * height, qt.QImage(str(file)))
    painter.end()
    target = files[0].with_name("sheet.jpg")
    picture.save(str(target), "JPG", quality)
    return target.read_bytes()
