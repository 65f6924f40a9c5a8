"""Reads a window as a screen reader does, by AT-SPI, and prints what it read as JSON.

``dbus-run-session -- /usr/bin/python3 atspi_reader.py PRESS HEAR COMMAND...``. Run by the system's
Python, which has the bindings of AT-SPI. The command shows a window and prints "ready". PRESS is
the name of the button that is pressed then, or "". HEAR is a part of what is announced before the
window is read again, or "" where the command ends.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import gi  # type: ignore[import-not-found]  # the system's Python has it

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib  # type: ignore[import-not-found]  # noqa: E402 - as above

assert sys.platform == "linux"
LIMIT_S = 50
_MAX_CHILDREN = 60
_STEP_MS = 20


class Reader:
    """Somebody who reads by AT-SPI.

    Attributes:
        heard: What was announced: its text, and how urgent it is; 2 is the most.
    """

    def __init__(self) -> None:
        self.heard: list[tuple[str, int]] = []
        self._listener = Atspi.EventListener.new(self._hear)
        self._listener.register("object:announcement")
        GLib.timeout_add(_STEP_MS, lambda: True)  # wakes `until`

    def _hear(self, event: Any) -> None:
        self.heard.append((event.any_data, event.detail1))

    def until(self, condition: Callable[[], Any]) -> Any:
        """Wait until a condition holds, and return what it gave."""
        while not (held := condition()):
            GLib.MainContext.default().iteration(True)
        return held

    def dialog(self) -> Any:
        """Return the dialog that can be seen, or None."""
        desktop = Atspi.get_desktop(0)
        for number in range(desktop.get_child_count()):
            application = desktop.get_child_at_index(number)
            for window in children(application):
                if window.get_role_name() == "dialog" and "showing" in states(window):
                    return window
        return None


def children(thing: Any) -> list[Any]:
    count = min(thing.get_child_count(), _MAX_CHILDREN)
    found = [thing.get_child_at_index(number) for number in range(count)]
    return [child for child in found if child is not None]


def states(thing: Any) -> list[str]:
    return [state.value_nick for state in thing.get_state_set().get_states()]


def read(thing: Any) -> list[dict[str, Any]]:
    """Return what stands in a window and can be seen, from the top."""
    if "showing" not in states(thing) and thing.get_role_name() != "table column header":
        return []
    parts = [
        {
            "role": thing.get_role_name(),
            "name": thing.get_name(),
            "description": thing.get_description(),
            "states": states(thing),
        }
    ]
    for child in children(thing):
        parts.extend(read(child))
    return parts


def press(thing: Any, name: str) -> bool:
    """Press the button of this name below a thing; return whether it is there."""
    if thing.get_role_name() == "push button" and thing.get_name() == name:
        return bool(thing.get_action_iface().do_action(0))
    return any(press(child, name) for child in children(thing))


def _give_up(number: int, frame: object) -> None:
    raise TimeoutError(f"the window was not read in {LIMIT_S} s")


def main() -> None:
    signal.signal(signal.SIGALRM, _give_up)
    signal.alarm(LIMIT_S)
    button, awaited, *command = sys.argv[1:]
    Atspi.init()
    reader = Reader()
    window_manager = subprocess.Popen(["openbox"], stderr=subprocess.DEVNULL)
    shown = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert shown.stdout is not None
    try:
        assert shown.stdout.readline() == "ready\n"
        dialog = reader.until(reader.dialog)
        told: dict[str, Any] = {"before": read(dialog), "after": [], "answer": ""}
        if button:
            assert press(dialog, button), f"there is no button {button}"
        if awaited:
            reader.until(lambda: any(awaited in text for text, _ in reader.heard))
            told["after"] = read(dialog)
        else:
            told["answer"] = shown.stdout.read()
        told["heard"] = reader.heard
        print(json.dumps(told))
    finally:
        for process in (shown, window_manager):
            process.kill()
            process.wait()


if __name__ == "__main__":
    main()
