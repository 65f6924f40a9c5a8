"""A client's token: its label and a code that only this host can make for it. Any thread."""

from __future__ import annotations

import hashlib
import hmac


def issue(secret: str, label: str) -> str:
    """Make the token of a client.

    Args:
        secret: The host's master secret.
        label: The name under which the person set the client up; without a dot.
    """
    code = hmac.new(secret.encode(), label.encode(), hashlib.sha256).hexdigest()
    return f"{label}.{code}"


def label_of(secret: str, token: str) -> str | None:
    """Give the label that a token proves, or None for one that this host did not make."""
    label, dot, _ = token.rpartition(".")
    wanted = issue(secret, label)
    same = hmac.compare_digest(wanted.encode(), token.encode("utf-8", "replace"))
    return label if label and dot and same else None
