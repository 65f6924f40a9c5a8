"""Runs pytest in ``blender -b --python``, with the arguments after ``--``. Main thread."""

from __future__ import annotations

import os
import sys

sys.path[:0] = os.environ["BLENDER_PATH"].split(os.pathsep)

import pytest  # noqa: E402 - found on the path above

code = pytest.main(sys.argv[sys.argv.index("--") + 1 :])
sys.modules.pop("__mp_main__", None)  # Blender frees this file, and crashes as it quits with that
sys.exit(code)
