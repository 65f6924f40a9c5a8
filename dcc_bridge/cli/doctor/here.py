"""What is wrong with the installation that this command is part of. Any thread."""

from __future__ import annotations

import platform

from dcc_bridge.cli.doctor import versions
from dcc_bridge.cli.doctor.report import Report
from dcc_bridge.server.clients import packages


def check() -> Report:
    """Look at the versions that are installed beside it."""
    found, python = packages(), platform.python_version()
    report = Report([f"dcc-bridge runs on Python {python} with mcp {found.get('mcp', '(none)')}."])
    report.findings += versions.check(found, python, "This installation")
    return report
