"""Says which agents' clients are on this computer, and whether they are set up. Main thread."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from dcc_bridge import known_clients
from dcc_bridge.client import entry_state, registration
from dcc_bridge.client.entries import CONFIG_FILES, ConfigFile


def none_found() -> str:
    """Return the line that no client was found, and which are known; "" if there is one."""
    for label, config in _places():
        if config.is_there or entry_state.state(config, label) != "absent":
            return ""
    names = ", ".join(known_clients.CLIENTS[label].name for label in CONFIG_FILES)
    return f"No agent's client was found. These are known: {names}.\n"


def line() -> str:
    """Return a line with the state of each client that was found."""
    states = []
    absent = []
    for label, config in _places():
        name = known_clients.CLIENTS[label].name
        text = _state(label, config)
        if text:
            states.append(f"{name} {text}")
        elif config.is_there:
            absent.append(name)
    if absent:
        states.append(f"not set up: {', '.join(absent)} (dcc-bridge setup)")
    if not states:
        return none_found().rstrip()
    return f"Clients: {'; '.join(states)}."


def tasks(label: str) -> str:
    """Return a sentence on whether a client can have tasks, and why not."""
    known = known_clients.CLIENTS[label]
    if not known.tasks_since:
        return f"Its calls cannot go on as tasks: {known.no_tasks}."
    file = _settings_without_tasks()
    if label == "claude-code" and file:
        fixed = f"{known_clients.NEGOTIATION} is legacy in {file}"
        return f"Its calls cannot go on as tasks, because {fixed}."
    return f"Its long calls can go on as tasks, since {known.tasks_since}."


def _settings_without_tasks() -> str:
    """Return the place whose setting keeps Claude Code from 2026-07-28; "" if there is none."""
    file = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude") / "settings.json"
    variables: Any = None
    with suppress(OSError, ValueError, AttributeError):
        variables = json.loads(file.read_text("utf-8")).get("env")
    places = {str(file): variables, "the environment": os.environ}
    for place, values in places.items():
        if isinstance(values, Mapping) and values.get(known_clients.NEGOTIATION) == "legacy":
            return place
    return ""


def _places() -> Iterator[tuple[str, ConfigFile]]:
    """Yield the label of each client, with each of its files."""
    for label, config in CONFIG_FILES.items():
        for place in config.places():
            yield label, place


def _state(label: str, config: ConfigFile) -> str:
    """Return what is to be said of a client's file; "" if it has no entry of ours."""
    problem = registration.problem(config)
    if problem:
        return f"has a file that {problem}"
    match entry_state.state(config, label):
        case "current":
            return "is set up"
        case "changed":
            return "is set up with an entry that was changed by hand"
        case "other":
            entry = registration.find(config) or {}
            return f"starts another dcc-bridge, {entry.get('command')} (dcc-bridge update)"
    if config.syntax == "yaml" and config.is_there:
        return "is set up by hand"
    return ""
