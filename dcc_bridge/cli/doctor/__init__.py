"""``dcc-bridge doctor``: what is wrong with a connection or an installation, and what mends it.

A check is a function that gives a `Report`; `_checks` says which ones are made.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

from dcc_bridge.cli.doctor import here, installation, live, setup
from dcc_bridge.cli.doctor.report import Check, Report
from dcc_bridge.cli.exits import SUCCESS, TOOL_ERROR
from dcc_bridge.elicitation.plain import line
from dcc_bridge.install.locations import APPLICATIONS


def fill(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument(
        "url",
        nargs="?",
        metavar="URL|HOST",
        help="where the host is; without it, the one that runs. Or what the plug-in was installed "
        f"into: {', '.join(sorted(APPLICATIONS))}",
    )
    parser.add_argument(
        "--no-question", action="store_true", help="do not ask the person a test question"
    )
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")


def run(options: argparse.Namespace) -> int:
    """Make the checks, and show what they found."""
    reports = []
    for check in _checks(options):
        reports.append(check())
        if not options.json:
            _show(reports[-1])
    findings = [one for report in reports for one in report.findings]
    if options.json:
        facts = [one for report in reports for one in report.facts]
        told = {"findings": [asdict(one) for one in findings], "facts": facts}
        print(json.dumps(told, indent=2))
    elif findings:
        print(f"{len(findings)} to mend.", file=sys.stderr)
    else:
        print("Nothing to mend.")
    return TOOL_ERROR if findings else SUCCESS


def _checks(options: argparse.Namespace) -> list[Check]:
    if options.url in APPLICATIONS:
        return [here.check, lambda: installation.check(options.url)]
    there = [] if options.url else [setup.check]
    return [here.check, *there, lambda: live.check(options.url, ask=not options.no_question)]


def _show(report: Report) -> None:
    for fact in report.facts:
        print(f"ok     {line(fact)}", flush=True)
    for one in report.findings:
        print(f"WRONG  {line(one.what)}\n       To mend it: {line(one.mend)}", flush=True)
