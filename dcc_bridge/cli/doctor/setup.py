"""What was set up here: the plug-ins that are installed, and the clients that know us. Any thread.

No application is asked for its version, which takes seconds: `doctor HOST` does that.
"""

from __future__ import annotations

import shutil

from dcc_bridge import known_clients
from dcc_bridge.cli import install
from dcc_bridge.cli.doctor.report import Report
from dcc_bridge.client import registration
from dcc_bridge.client.config_files import CONFIG_FILES
from dcc_bridge.install.location import InstallTarget
from dcc_bridge.install.locations import APPLICATIONS


def check() -> Report:
    """Look at both, a line each."""
    report = Report()
    for kind in APPLICATIONS.values():
        _plug_ins(report, kind)
    if not report.facts and not report.findings:
        report.facts.append("No plug-in is installed: dcc-bridge install HOST.")
    before = len(report.facts) + len(report.findings)
    for name in CONFIG_FILES:
        _client(report, name)
    if len(report.facts) + len(report.findings) == before:
        report.facts.append("No client is set up: dcc-bridge client add NAME.")
    return report


def _plug_ins(report: Report, kind: InstallTarget) -> None:
    for told in install.find_installations(kind, install.known_versions(kind)):
        if "wrong" in told or told["missing"]:
            mend = f"See what it is: dcc-bridge doctor {kind.name}"
            report.find("installation", f"Not as it was installed: {install.describe(told)}.", mend)
        else:
            report.facts.append(f"Installed: {install.describe(told)}.")


def _client(report: Report, name: str) -> None:
    config, title = CONFIG_FILES[name], known_clients.CLIENTS[name].name
    entry = registration.find(config) if config.is_writable else None
    if entry is None:
        return
    file, program = config.path(), str(entry.get("command"))
    if shutil.which(program) is None:
        what = f"{title} starts {program}, as {file} says, and that is no program here."
        report.find("client", what, f"dcc-bridge client add {name}")
    else:
        report.facts.append(f"{title} is set up in {file}.")
