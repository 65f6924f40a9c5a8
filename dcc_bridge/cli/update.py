"""``dcc-bridge update``: brings what is set up to the version of this package. Main thread."""

from __future__ import annotations

import argparse

from dcc_bridge.cli import own_package, setup
from dcc_bridge.cli.exits import SUCCESS
from dcc_bridge.cli.steps import carry_out
from dcc_bridge.cli.update_rows import rows_to_update


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to a parser."""
    setup.fill_choice(parser)


def run(options: argparse.Namespace) -> int:
    """Show what is set up, ask once, and update what is not of this version."""
    print(own_package.sentence())
    print("Looking for what is set up; each application is started once.", flush=True)
    rows = rows_to_update(options.only)
    if not rows:
        print("Nothing is set up. To set up what is on this computer: dcc-bridge setup")
        return SUCCESS
    return carry_out(
        rows,
        options,
        heading="This will be written:",
        warning=setup.runner_warning(),
        nothing="Everything is up to date.",
        after="Restart the agents' clients that are open: each starts dcc-bridge only once.",
    )
