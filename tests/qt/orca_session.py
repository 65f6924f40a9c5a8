"""Listens to the screen reader Orca, and prints what it says, line by line.

``dbus-run-session -- /usr/bin/python3 orca_session.py FOLDER KEYS COMMAND...``. The command shows a
window and prints "ready". KEYS are pressed one after the other, separated by commas; each once Orca
has spoken of the one before. FOLDER is for the settings of Orca.

Orca writes what it says into its log, whether anything can speak here or not. Into a file it would
write late, so the log is a terminal.
"""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread

assert sys.platform == "linux"
LIMIT_S = 60
_SAID = re.compile(r"SPEECH OUTPUT: '(.*?)'\s*\{", re.DOTALL)
_SPEECH_ALONE = ("-e", "speech", "-d", "braille", "-d", "braille-monitor")
_KEYS = {"tab", "down", "space", "return", "left control"}  # as Orca names them


class Orca:
    """The screen reader, and what it said so far."""

    def __init__(self, folder: Path) -> None:
        self._log = ""
        ours, theirs = pty.openpty()
        Thread(target=self._listen, args=(ours,), daemon=True).start()
        log = os.ttyname(theirs)
        settings = str(folder / "orca")
        command = ["orca", "--debug-file", log, "--user-prefs", settings, *_SPEECH_ALONE]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def _listen(self, terminal: int) -> None:
        while True:
            self._log += os.read(terminal, 65536).decode(errors="replace")

    def said(self) -> list[str]:
        """Return what Orca said, without the names of the keys that are pressed."""
        lines = [" ".join(line.split()) for line in _SAID.findall(self._log)]
        return [line for line in lines if line not in _KEYS]

    def wait_for(self, text: str, after: int = 0) -> None:
        """Wait until Orca says something with a text, not counting what it said first."""
        while not any(text in line for line in self.said()[after:]):
            time.sleep(0.05)


def _give_up(number: int, frame: object) -> None:
    raise TimeoutError(f"the session did not end in {LIMIT_S} s")


def main() -> None:
    signal.signal(signal.SIGALRM, _give_up)
    signal.alarm(LIMIT_S)
    folder, keys, *command = sys.argv[1:]
    window_manager = subprocess.Popen(["openbox"], stderr=subprocess.DEVNULL)
    orca = Orca(Path(folder))
    orca.wait_for("Screen reader on.")
    shown = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert shown.stdout is not None
    try:
        assert shown.stdout.readline() == "ready\n"
        orca.wait_for("dialog")
        for key in filter(None, keys.split(",")):
            count = len(orca.said())
            subprocess.run(["xdotool", "key", key], check=True)
            orca.wait_for("", after=count)
        print("\n".join(orca.said()))
    except BaseException:
        print("\n".join(orca.said()), file=sys.stderr)
        raise
    finally:
        for process in (shown, orca.process, window_manager):
            process.kill()
            process.wait()


if __name__ == "__main__":
    main()
