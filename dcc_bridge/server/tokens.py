"""A client's token: its label and a code that only this host can make for it. Any thread."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from typing import Final

COMMANDS: Final = "cli"
"""The label of the person's own commands."""


def issue(secret: str, label: str, turn: int = 0) -> str:
    """Make the token of a client.

    Args:
        secret: The host's master secret.
        label: The name under which the person set the client up; without a dot.
        turn: How often its tokens were revoked.
    """
    said = f"{label}.{turn}" if turn else label
    code = hmac.new(secret.encode(), said.encode("utf-8", "replace"), hashlib.sha256).hexdigest()
    return f"{label}.{code}"


def label_of(secret: str, token: str, turn: Callable[[str], int] = lambda label: 0) -> str | None:
    """Give the label that a token proves, or None for one that this host did not make.

    Args:
        secret: The host's master secret.
        token: What the client sent.
        turn: How often the tokens of a label were revoked.
    """
    label, dot, _ = token.rpartition(".")
    if not (label and dot and "." not in label):
        return None
    wanted = issue(secret, label, turn(label))
    same = hmac.compare_digest(wanted.encode("utf-8", "replace"), token.encode("utf-8", "replace"))
    return label if same else None
