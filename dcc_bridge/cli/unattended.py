"""``--unattended``: what answers where nobody can be asked. Main thread."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final, Literal

from dcc_bridge.cli.exits import Failure
from dcc_bridge.elicitation import unattended

Rule = Literal["refuse", "deny", "allow"]
_RULES: Final[dict[str, Rule]] = {"deny": "deny", "fallback": "refuse", "allow": "allow"}


def fill(parser: argparse.ArgumentParser) -> None:
    """Say what the option takes."""
    parser.add_argument(
        "--unattended",
        metavar="RULE",
        help="what answers where nobody can be asked. deny: every question is declined; fallback "
        "(unless the settings say otherwise): what a skill declared answers, but never for "
        "consent; allow:FILE: the skills that the file lists go on unasked. It has a skill's name "
        "on each line and, after it, if only that very file is meant, the SHA-256 of the skill's "
        "file (as sha256sum gives it); # begins a remark",
    )


def read(text: str | None) -> tuple[Rule | None, Path | None]:
    """Read it.

    Returns:
        The settings ``unattended`` and ``allow_list``; None where nothing was said.

    Raises:
        Failure: It is none of them, or the list cannot be read; its line is named.
    """
    if text is None:
        return None, None
    word, _, file = text.partition(":")
    if word not in _RULES or bool(file) != (word == "allow"):
        raise Failure(f"--unattended is deny, fallback or allow:FILE, not {text}.")
    if not file:
        return _RULES[word], None
    try:
        return "allow", unattended.read_allow_list(Path(file).absolute()).file
    except ValueError as error:
        raise Failure(f"What --unattended allow names cannot be used: {error}") from None
