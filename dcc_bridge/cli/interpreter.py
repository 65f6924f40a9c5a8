"""How each host's batch interpreter is started, and where the bridge is for it. Main thread."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path
from typing import Final

from dcc_bridge.cli.exits import Failure
from dcc_bridge.install import probe
from dcc_bridge.install.location import Facts, System, UnknownLocation
from dcc_bridge.install.locations import APPLICATIONS
from dcc_bridge.install.plan import InstalledFiles

_PACKAGE: Final = Path(__file__).resolve().parents[1]
# Blender frees a module that `multiprocessing` keeps under this name, and crashes at its end.
# Some hosts go on where a script fails, and freecadcmd then waits for somebody who types.
_START: Final = """\
import os, sys, traceback
sys.path[:0] = {paths!r}
try:
    from dcc_bridge.{module} import main
    main()
except BaseException:
    traceback.print_exc()
    sys.stderr.flush()
    os._exit(1)
sys.modules.pop("__mp_main__", None)
"""


def command(host: str, program: str | None, folder: Path, module: str = "batch") -> list[str]:
    """Give the command that runs a job in a host.

    Args:
        host: Its name.
        program: Its batch interpreter; None for the one on PATH.
        folder: For the file that begins it.
        module: The module of ours whose ``main`` does the job.

    Raises:
        Failure: It is not there, or has another Python and the bridge was not installed for it.
    """
    if host == "standalone":
        return [program or sys.executable, "-m", f"dcc_bridge.{module}"]
    kind = APPLICATIONS[host]
    try:
        found = probe.find_program(kind, program)
        paths = _paths(host, program) if found else []
    except UnknownLocation as error:
        raise Failure(str(error)) from None
    if found is None:
        names = " or ".join(kind.programs)
        raise Failure(f"{kind.title}'s {names} is not on PATH; say --interpreter PATH.")
    start = folder / "start.py"
    start.write_text(_START.format(paths=paths, module=module), encoding="utf-8")
    if host == "blender":
        return [str(found), "-b", "--python", str(start)]
    return [str(found), str(start)]


def _paths(host: str, program: str | None) -> list[str]:
    """List where the bridge and what it depends on is, for a host's Python."""
    kind = APPLICATIONS[host]
    told = probe.probe(kind, program)
    for for_all in (False, True):
        found = _installed(host, told, for_all)
        if found is not None:
            return [str(found)]
    if told.python == f"{sys.version_info.major}.{sys.version_info.minor}":
        own = dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib"))
        return [str(_PACKAGE.parent), *own]
    raise Failure(
        f"{kind.title} has Python {told.python}, and the bridge is not installed for it: "
        f"dcc-bridge install {host}"
    )


def _installed(host: str, told: Facts, for_all: bool) -> Path | None:
    try:
        place = APPLICATIONS[host].location(System.here(), told, for_all)
    except UnknownLocation:
        return None
    old = InstalledFiles.read(place.folder)
    is_same = old is not None and old.facts.get("python") == told.python
    return place.folder / place.vendor if is_same else None
