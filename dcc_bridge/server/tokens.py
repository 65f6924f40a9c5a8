"""A client's token: its label and a code that only this host can make for it. Any thread."""

from __future__ import annotations

import hashlib
import hmac
from typing import Final

COMMANDS: Final = "cli"
"""The label of the person's own commands."""


def issue(secret: str, label: str) -> str:
    """Make the token of a client.

    Args:
        secret: The host's master secret.
        label: The name under which the person set the client up; without a dot.
    """
    code = hmac.new(secret.encode(), label.encode("utf-8", "replace"), hashlib.sha256).hexdigest()
    return f"{label}.{code}"


def label_of(secret: str, token: str) -> str | None:
    """Give the label that a token proves, or None for one that this host did not make.

    Args:
        secret: The host's master secret.
        token: What the client sent.
    """
    label, dot, _ = token.rpartition(".")
    if not (label and dot and "." not in label):
        return None
    wanted = issue(secret, label)
    same = hmac.compare_digest(wanted.encode("utf-8", "replace"), token.encode("utf-8", "replace"))
    return label if same else None
