"""The rows of the clients on this computer, by which a person sets one up. Main thread."""

from __future__ import annotations

from typing import Final

from dcc_bridge.elicitation.text import Translate, safe_line
from dcc_bridge.known_clients import CLIENTS
from dcc_bridge.local_clients import LocalClient
from dcc_bridge.panel.row import Act, Row
from dcc_bridge.panel.state import State

LOCAL_KEY: Final = "local/"  # begins the key of each of these rows


def local_rows(state: State, tr: Translate) -> list[Row]:
    """List those that are there below a heading, or offer to look for them."""
    title, local = tr("Connect a client"), state.local
    if local.clients:
        return [Row("local", title), *(_local_row(client, state, tr) for client in local.clients)]
    if local.step == "looking":
        return [Row(LOCAL_KEY, title, tr("Looking for the clients on this computer…"), done=-1.0)]
    detail = {
        "new": tr("Find those on this computer, and set one up."),
        "failed": tr("In a terminal: pip install dcc-bridge-mcp, then dcc-bridge client list"),
        "done": tr("None was found. Install one, such as Claude Code, Cursor or VS Code."),
    }[local.step]
    look = Act("look", tr("Find clients"), tr("Look for the clients on this computer."))
    return [Row(LOCAL_KEY, title, detail, (look,))]


def _local_row(client: LocalClient, state: State, tr: Translate) -> Row:
    """Say how far a client is, and offer the next step."""
    known, local = CLIENTS[client.label], state.local
    key, name, is_last = LOCAL_KEY + client.label, known.name, client.label == local.label
    add = Act("add", tr("Connect"), tr("Add dcc-bridge to its configuration."))
    verb = {"claude-desktop": "bundle", "vscode": "link", "cursor": "link"}.get(client.label)
    tip = tr("It asks you there whether to add dcc-bridge.")
    asks = (Act(verb, tr("Open in {name}", name=name), tip),) if verb else ()
    if client.label in {seen.client.label for seen in state.clients}:
        return Row(key, name, tr("Connected"))
    if is_last and local.step == "looking":
        return Row(key, name, tr("Setting it up…"), done=-1.0)
    if is_last and local.error:
        return Row(key, name, safe_line(local.error, 400), (add, *asks))
    if is_last and local.verb == verb:
        return Row(key, name, tr("Opened: agree there to add dcc-bridge."), asks)
    if client.is_set_up:
        detail = tr("Set up. Start {name} again to connect. If it does not come: {advice}")
        advice = tr("look at {servers}, and run dcc-bridge doctor.", servers=known.servers)
        return Row(key, name, detail.format(name=name, advice=advice), asks)
    if client.is_writable:
        return Row(key, name, tr("On this computer, not set up"), (add,))
    detail = tr("Copy the entry of dcc-bridge, and paste it into {file}", file=client.file)
    # What is copied is the key of the row.
    return Row(client.entry, name, detail, (Act("copy", tr("Copy"), detail),))
