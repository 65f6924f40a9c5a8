"""The guard of a body that is tried: acts that undo does not bring back are refused. Main thread.

Such acts write, remove or rename a file, start a program or a thread, or use the network. A body
that runs again after a question would do them twice, and a body that is reverted would have done
them for nothing. So the body ends at the line that attempts the act, and the person is asked before
the body runs again. Until then nobody has agreed to such an act, so the guard needs no ledger.

The guard is no sandbox, and is for skills that mean well. Acts of the bridge and the host pass
meanwhile: the stack of frames shows whose code acts.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any, Final

from dcc_bridge.checkpoints import is_inside
from dcc_bridge.consent import audit_events as events
from dcc_bridge.consent.audit_hook import Watch, watching_files
from dcc_bridge.consent.own_code import IMPORTER, has_module, owner_of
from dcc_bridge.errors import BridgeError

watching_files.add(__file__)
_ROOT: Final = "dcc_bridge.consent.attempt"  # the module whose code calls the body
# Modules of ours that call somebody else's function: they are passed over in the stack.
_CARRIERS: Final = {
    IMPORTER,
    "dcc_bridge.consent.audit_hook",  # its function stands in place of a writer
    "dcc_bridge.elicitation.ask",
    "dcc_bridge.skills.body",
    "dcc_bridge.skills.skill",
    "dcc_bridge.threads.flows",
}
_INQUIRING: Final = {"platform", "uuid"}  # modules that start a program to find a fact out
_SELF_PIPE: Final = "_make_self_pipe"  # asyncio's function for the sockets that wake a loop
_NEW_SOCKET: Final = "socket.__new__"  # a socket reaches nobody before it is bound or connected
_ALLOWED: Final = {events.NATIVE, events.PYTHON}  # acts that libraries need to compute


class ReachedOutside(BridgeError):
    """A body that is tried attempted an act that undo does not bring back; it was not done."""

    def __init__(self, act: str) -> None:
        super().__init__(f"It tried to {act}. Undo cannot reverse this, so it was refused.")


class OutsideGuard(Watch):
    """The watch over one body while it is tried: acts outside the scene are refused.

    Attributes:
        wanted: The acts that were refused, once each: "write the new file /shots/a.usda". The body
            may have caught the error.
        files: The existing files that these acts would have written over or removed.
    """

    def __init__(self, file: str) -> None:
        """Prepare the guard.

        Args:
            file: The file name in the body's code object.
        """
        super().__init__()
        self.wanted: list[str] = []
        self.files: list[Path] = []
        self._file = file
        self._temporary = os.path.realpath(tempfile.gettempdir())
        self._own_files: set[str] = set()

    def check(self, event: str, args: tuple[Any, ...]) -> None:
        """Refuse an event that would leave something behind after a revert."""
        act = events.file_act(event, args)
        if act is not None:
            if not all(self._is_own_temporary(path) for path in act.paths):
                self._refuse_files(act)
            return
        if event == _NEW_SOCKET:
            return
        other_act = events.act_of(event)
        if other_act is not None and other_act not in _ALLOWED:
            self.refuse(other_act)

    def refuse(self, act: str) -> None:
        """Raise ReachedOutside, unless the bridge or the host acts by itself."""
        if not self._is_by_body():
            return
        if act not in self.wanted:
            self.wanted.append(act)
        raise ReachedOutside(act)

    def _refuse_files(self, act: events.FileAct) -> None:
        """Raise ReachedOutside as `refuse` does, and note the existing files of the act."""
        try:
            self.refuse(_act_text(act))
        except ReachedOutside:
            for path in act.paths:
                file = Path(path)
                if os.path.isfile(path) and file not in self.files:
                    self.files.append(file)
            raise

    def _is_by_body(self) -> bool:
        """Return whether the body acts, and not the bridge or the host."""
        frame = self.frame()
        while frame is not None:
            if frame.f_code.co_filename == self._file:
                return True
            owner = owner_of(frame)
            if owner == _ROOT:
                return True
            if owner and owner not in _CARRIERS:
                return False
            is_library = has_module(frame)
            if is_library and frame.f_globals["__name__"] in _INQUIRING:
                return False
            if is_library and frame.f_code.co_name == _SELF_PIPE:
                return False
            frame = frame.f_back
        return False

    def _is_own_temporary(self, path: str) -> bool:
        """Return whether a path is a temporary file that the body itself made, or makes now."""
        if not path or not is_inside(path, self._temporary):
            return False
        if path not in self._own_files:
            if os.path.lexists(path):
                return False
            self._own_files.add(path)
        return True


def _act_text(act: events.FileAct) -> str:
    """Return an act in words; a new file and an existing one have different words."""
    if act.verb != "write" or not all(act.paths):
        return act.text
    verb = "write the new file"
    if any(os.path.lexists(path) for path in act.paths):
        verb = "write to the existing file"
    return act._replace(verb=verb).text
