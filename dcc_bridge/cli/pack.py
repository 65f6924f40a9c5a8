"""``dcc-bridge pack``: makes Blender's extension, one file that Blender installs. Main thread."""

from __future__ import annotations

import argparse
from pathlib import Path

from dcc_bridge.cli.exits import SUCCESS, Failure
from dcc_bridge.install import extension
from dcc_bridge.install.system import System


def fill(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument(
        "--into", type=Path, default=Path(), metavar="DIR", help="where it is put (here)"
    )


def run(options: argparse.Namespace) -> int:
    """Make it for this system, and say what to do with it.

    Raises:
        Failure: It cannot be written.
    """
    try:
        # What a wheel needs on another system cannot be told here: pip looks at this one.
        made = extension.build(options.into, System.here().platform)
    except OSError as error:
        raise Failure(f"It cannot be written: {error}.") from None
    print(f"Done: {made}, {made.stat().st_size / 1e6:.0f} MB, for Blender 4.2 and newer.")
    print(f"To install it: blender --command extension install-file -r user_default -e {made}")
    print("Or in Blender: Edit > Preferences > Get Extensions > Install from Disk.")
    return SUCCESS
