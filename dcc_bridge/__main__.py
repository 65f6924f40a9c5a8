"""``python -m dcc_bridge`` is the command ``dcc-bridge``."""

import sys

from dcc_bridge.cli import main

sys.exit(main())
