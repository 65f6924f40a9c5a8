"""Benchmarks, ``python -m tests.bench.NAME``. What their bridges record is not the user's."""

import atexit
import os
import sys
from tempfile import TemporaryDirectory

if "pytest" not in sys.modules:  # whose tests have folders of their own
    _state = TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True)
    atexit.register(_state.cleanup)
    os.environ.update(XDG_STATE_HOME=_state.name, XDG_DATA_HOME=_state.name)
