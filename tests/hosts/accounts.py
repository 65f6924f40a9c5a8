"""The account of an edit in a host that tells it of closed steps."""

from __future__ import annotations

from collections.abc import Callable

from dcc_bridge.consent.account import told
from dcc_bridge.host import Host
from tests.hosts.losses_contract import stretch


def account_of(host: Host, edit: Callable[[], object]) -> str:
    """Return the account of an edit, as an agent is told it."""
    with stretch(host, "Ours"):
        edit()
    account = host.account()
    assert account is not None
    return told(account)
