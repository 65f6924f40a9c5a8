"""Runs pip as if on another system: ``pip_elsewhere.py MARKERS WORDS...``. A program of its own.

``pip download --platform`` chooses wheels for another system, but decides by the markers of this
one which packages are needed: on Linux it leaves out what only Windows needs, and on Windows it
looks for it on Linux. pip 22 to 26 evaluates markers by the function that is replaced here.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module


def _replace_markers(values: dict[str, str]) -> None:
    markers = vars(import_module("pip._vendor.packaging.markers"))
    here = markers["default_environment"]
    markers["default_environment"] = lambda: {**here(), **values}


if __name__ == "__main__":
    _replace_markers(json.loads(sys.argv[1]))
    sys.exit(import_module("pip._internal.cli.main").main(sys.argv[2:]))
