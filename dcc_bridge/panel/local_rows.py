"""The panel's rows of the clients on this computer, with buttons to set them up. Main thread."""

from __future__ import annotations

from typing import Final

from dcc_bridge.elicitation.text import Translate, safe_line
from dcc_bridge.known_clients import CLIENTS
from dcc_bridge.local_clients import LocalClient
from dcc_bridge.panel.row import Act, Row
from dcc_bridge.panel.state import State

LOCAL_KEY: Final = "local/"  # the beginning of the keys of these rows
_MAX_ERROR_CHARS: Final = 400
# The verbs that open a client; the client then asks the person whether to add dcc-bridge.
_OPENING_VERBS: Final = {"claude-desktop": "bundle", "vscode": "link", "cursor": "link"}


def local_rows(state: State, tr: Translate) -> list[Row]:
    """Return the clients on this computer below a heading, or a row that offers to find them."""
    title = tr("Connect a client")
    local = state.local
    if local.clients:
        rows = [Row("local", title)]
        rows.extend(_local_row(client, state, tr) for client in local.clients)
        return rows
    if local.step == "looking":
        return [Row(LOCAL_KEY, title, tr("Looking for the clients on this computer…"), done=-1.0)]
    details = {
        "new": tr("Find the clients on this computer and set one up."),
        "failed": tr("In a terminal: pip install dcc-bridge-mcp, then dcc-bridge client list"),
        "done": tr("No client was found. Install one, such as Claude Code, Cursor or VS Code."),
    }
    look = Act("look", tr("Find clients"), tr("Look for the clients on this computer."))
    return [Row(LOCAL_KEY, title, details[local.step], (look,))]


def _local_row(client: LocalClient, state: State, tr: Translate) -> Row:
    """Return a row that says how far a client is set up, and offers the next step."""
    known = CLIENTS[client.label]
    name = known.name
    key = LOCAL_KEY + client.label
    if client.label in {seen.client.label for seen in state.clients}:
        return Row(key, name, tr("Connected"))

    add = Act("add", tr("Connect"), tr("Add dcc-bridge to its configuration."))
    verb = _OPENING_VERBS.get(client.label)
    opening = _opening_buttons(verb, name, tr)
    local = state.local
    if client.label == local.label:
        if local.step == "looking":
            return Row(key, name, tr("Setting it up…"), done=-1.0)
        if local.error:
            return Row(key, name, safe_line(local.error, _MAX_ERROR_CHARS), (add, *opening))
        if local.verb == verb:
            return Row(
                key, name, tr("{name} is open. Agree there to add dcc-bridge.", name=name), opening
            )

    if client.is_set_up:
        detail = tr("Set up. Restart {name} to connect. If it does not connect, {advice}")
        advice = tr("look at {servers} and run dcc-bridge doctor.", servers=known.servers)
        return Row(key, name, detail.format(name=name, advice=advice), opening)
    if client.is_writable:
        return Row(key, name, tr("On this computer, not set up"), (add,))
    detail = tr("Copy the dcc-bridge entry and paste it into {file}", file=client.file)
    # The button copies the key of the row, so the key is the entry itself.
    return Row(client.entry, name, detail, (Act("copy", tr("Copy"), detail),))


def _opening_buttons(verb: str | None, name: str, tr: Translate) -> tuple[Act, ...]:
    if verb is None:
        return ()
    tip = tr("{name} asks you whether to add dcc-bridge.", name=name)
    return (Act(verb, tr("Open in {name}", name=name), tip),)
