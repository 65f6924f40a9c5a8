"""One deletion in our own application's window, which a person agrees to by the keyboard.

Nothing of the test runs in the application: the agent is ``dcc-bridge call``, and the keys are
those of the window system, which Wine gives to Qt's own plug-in. Each step leaves a picture.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PureWindowsPath
from tempfile import TemporaryDirectory
from threading import Timer
from typing import Final

from PIL import Image

from tests.hosts.screen import Screen

ROOT: Final = Path(__file__).parents[2]
SCENE: Final = ROOT / "resources" / "scenes" / "shot_010_layout.usda"
DRAWN: Final = {"WINEQT_QPA_PLATFORM": "windows"}
"""Has Qt draw by its plug-in for Windows. Wine hands on no name that begins with QT by itself."""
Start = Callable[[list[str], Mapping[str, str]], subprocess.Popen[bytes]]
"""What starts a Windows Python with words and more variables; its output is a pipe."""
_DELETE: Final = ("call", "delete", "--args", '{"pattern": "*", "type": "Camera"}')
_QUESTION: Final = "a question for you"
# In pixels: the width of a window's frame, and the size of the button that agrees.
_FRAME: Final = 4
_BUTTON: Final = (170, 45)
_DIFFERENCE: Final = 50  # between the parts of a colour
_LIMIT_S: Final = 60.0
_TURN_S: Final = 0.2  # between two looks
_LOOKS: Final = 4  # that are the same, of a window that is still; its clock moves each second
_LIGHT: Final = 210  # of each part of a colour, more than of the letters' edges
_TRIES: Final = 6


class Wrong(Exception):
    """What did not happen."""


def play(start: Start, screen: Screen, folder: Path) -> str:
    """Play it, and return what went wrong, or "".

    Args:
        start: Starts a Windows Python.
        screen: The screen on which its windows are.
        folder: The folder for the pictures.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="window-") as name:
        try:
            _play(start, screen, Path(name), folder)
        except (Wrong, subprocess.SubprocessError) as error:
            return f"{error}: {folder}"
    return ""


def _play(start: Start, screen: Screen, place: Path, folder: Path) -> None:
    scene = Path(shutil.copy(SCENE, place))
    variables = {
        **DRAWN,
        "DCC_BRIDGE_RUNTIME": _named_there(place / "run"),
        "DCC_BRIDGE_DEADLINE": str(5 * _LIMIT_S),
        "DCC_BRIDGE_AUDIT": _named_there(place / "audit"),
    }
    serve = ["-m", "dcc_bridge", "serve", "--window", "--scene", _named_there(scene)]
    with _started(start, serve, variables) as application:
        _wait_for_line(application, b"Ready: ")
        _find(screen, scene.name)
        _still(screen).save(folder / "window.png")
        with _started(start, ["-m", "dcc_bridge", *_DELETE], variables) as agent:
            try:
                _agree(screen, folder)
                heard = agent.communicate(timeout=_LIMIT_S)[0].decode(errors="replace")
            finally:
                screen.look().save(folder / "after.png")
        if agent.returncode or "127" not in heard:
            raise Wrong(f"the agent heard: {heard}")
        _still(screen).save(folder / "after.png")


def _agree(screen: Screen, folder: Path) -> None:
    """Go to the question by F8, to the button that agrees by Tab, where it is last; press it."""
    _find(screen, _QUESTION)
    _still(screen)
    _tap(screen, "F8", until=_is_entered)
    _still(screen).save(folder / "question.png")
    _tap(screen, "Tab", until=_has_focus)
    _still(screen).save(folder / "button.png")
    screen.tap("space")


def _tap(screen: Screen, key: str, *, until: Callable[[Image.Image], bool]) -> None:
    """Press a key until the question looks as it should: it drops keys of its first moment."""
    for _ in range(_TRIES):
        screen.tap(key)
        if _comes_true(lambda: until(_question(screen)), _LIMIT_S / _TRIES):
            return
    raise Wrong(f"{key} did not do what it should")


def _is_entered(question: Image.Image) -> bool:
    """Return whether the title of the question has the colour of a window with the keyboard."""
    pixel = question.getpixel((question.width // 2, _FRAME + 2))
    assert isinstance(pixel, tuple)
    return pixel[2] > pixel[0] + _DIFFERENCE  # blue above red


def _has_focus(question: Image.Image) -> bool:
    """Return whether the red button in the lower right corner, which agrees, is framed in light."""
    right = question.width - 2 * _FRAME
    bottom = question.height - 2 * _FRAME
    for y in range(bottom - _BUTTON[1], bottom):
        row = [question.getpixel((x, y)) for x in range(right - _BUTTON[0], right)]
        light = [pixel for pixel in row if isinstance(pixel, tuple) and min(pixel[:3]) > _LIGHT]
        if len(light) > _BUTTON[0] / 2:  # no letters are as close together
            return True
    return False


@contextmanager
def _started(
    start: Start, words: list[str], variables: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program as long as the block, and at most some time."""
    with start(words, variables) as program:
        timer = Timer(3 * _LIMIT_S, program.kill)
        timer.start()
        try:
            yield program
        finally:
            timer.cancel()
            program.kill()


def _wait_for_line(program: subprocess.Popen[bytes], beginning: bytes) -> None:
    assert program.stdout is not None
    lines = []
    for line in program.stdout:
        if line.startswith(beginning):
            return
        lines.append(line.decode(errors="replace"))
    raise Wrong(f"the application ended: {''.join(lines)}")


def _find(screen: Screen, title: str) -> str:
    """Wait for a window with a title, and return its number."""
    search = ["search", "--sync", "--onlyvisible", "--name", title]
    return screen.ask(*search, limit=_LIMIT_S).split()[0]


def _question(screen: Screen) -> Image.Image:
    """Return how the question looks, with its frame."""
    told = screen.ask("getwindowgeometry", "--shell", _find(screen, _QUESTION))
    facts = {}
    for line in told.splitlines():
        name, _, value = line.partition("=")
        facts[name] = int(value)
    left, top = facts["X"], facts["Y"]
    return screen.look().crop((left, top, left + facts["WIDTH"], top + facts["HEIGHT"]))


def _still(screen: Screen) -> Image.Image:
    """Return what the screen shows once it does not change any more."""
    looks = [screen.look()]

    def is_still() -> bool:
        looks.append(screen.look())
        return len(looks) > _LOOKS and all(look == looks[-1] for look in looks[-_LOOKS:])

    if not _comes_true(is_still, _LIMIT_S):
        raise Wrong("the windows go on changing")
    return looks[-1]


def _comes_true(condition: Callable[[], bool], limit_s: float) -> bool:
    """Wait until a condition holds, and return whether it did in time."""
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        time.sleep(_TURN_S)
        if condition():
            return True
    return False


def _named_there(path: Path) -> str:
    """Return the name that a path of this computer has in Wine."""
    return str(PureWindowsPath("Z:/", *path.parts[1:]))
