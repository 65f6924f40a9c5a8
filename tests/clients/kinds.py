"""Other people's clients: which there are, in which eras, and how each is started."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from tests.packages import from_npm, from_pip, put_beside

HERE: Final = Path(__file__).parent
NPM: Final = shutil.which("npm")
OLD, LEGACY, MODERN = "2025-06-18", "2025-11-25", "2026-07-28"
_DRIVERS: Final = HERE / "drivers"

Start = tuple[list[str], dict[str, str]]
"""A command, and what its environment has besides."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A client.

    Attributes:
        name: With its version.
        eras: The revisions of the protocol that it speaks.
        start: Gives how its script is run.
        deadline: Seconds for an answer; where nobody can tell that it left, they end the question.
    """

    name: str
    eras: tuple[str, ...]
    start: Callable[[], Start]
    deadline: float = 12.0


def _python2() -> Start:
    return [sys.executable, str(_DRIVERS / "python2.py")], {}


def _python(lock: str) -> Callable[[], Start]:
    def start() -> Start:
        folder = from_pip(HERE / "locks" / f"{lock}.txt")
        return [sys.executable, str(_DRIVERS / f"{lock}.py")], {"PYTHONPATH": str(folder)}

    return start


def _typescript(package: str) -> Callable[[], Start]:
    def start() -> Start:
        folder = packages()
        return [node(folder), str(put_beside(folder, _DRIVERS / "typescript.mjs"))], {
            "PACKAGE": package
        }

    return start


def _mcpdo() -> Start:
    folder = packages()
    inspector = folder / "node_modules" / "@modelcontextprotocol" / "inspector"
    command = [node(folder), str(inspector / "clients" / "mcpdo" / "build" / "mcp-bin.js")]
    return [sys.executable, str(_DRIVERS / "mcpdo.py")], {"MCPDO": json.dumps(command)}


def inspector() -> list[str]:
    """Return the command of the protocol's Inspector."""
    folder = packages()
    own = folder / "node_modules" / "@modelcontextprotocol" / "inspector"
    return [node(folder), str(own / "clients" / "launcher" / "build" / "index.js")]


def packages() -> Path:
    """Return the folder of the clients that npm brings."""
    return from_npm(NPM or "", HERE, "clients")


def node(folder: Path) -> str:
    """Return the Node.js that npm brings beside the clients, or else that of this computer."""
    brought = next((folder / "node_modules").glob("node-*/bin/node*"), None)
    return str(brought or shutil.which("node"))


KINDS: Final = (
    Kind("mcpdo 2.12.0", (LEGACY, MODERN), _mcpdo),
    Kind("mcp 1.30.0", (OLD, LEGACY), _python("python1")),
    Kind("mcp 2.3.0", (OLD, LEGACY, MODERN), _python2),
    Kind("fastmcp 4.1.0", (LEGACY, MODERN), _python("fastmcp4")),
    Kind("@modelcontextprotocol/sdk 1.32.2", (LEGACY,), _typescript("@modelcontextprotocol/sdk")),
    Kind(
        "@modelcontextprotocol/client 2.4.0",
        (LEGACY, MODERN),
        _typescript("@modelcontextprotocol/client"),
    ),
)
HTTP, PROXY = "HTTP", "the proxy"


class Row(NamedTuple):
    """A client in one era and by one way, as it stands in the matrix."""

    kind: Kind
    era: str
    way: str


ROWS: Final = {
    f"{kind.name} @ {era} by {way}": Row(kind, era, way)
    for way in (HTTP, PROXY)
    for kind in KINDS
    for era in kind.eras
    if way == HTTP or era != OLD  # to the proxy the two legacy revisions are one
}
"""The matrix's rows by what they are called."""
