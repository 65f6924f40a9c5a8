"""A person connects a client from the panel: it is found, set up by a click, and seen to come.

The processes are real, in a home folder of the test's own.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication

from dcc_bridge import local_clients
from dcc_bridge.elicitation.caller import SeenClient
from dcc_bridge.local_clients import LocalClient, LocalState
from dcc_bridge.panel.row import Act, Row
from dcc_bridge.qt.event_loop import DeferredDeletion
from dcc_bridge.qt.panel.cards import Card
from dcc_bridge.qt.panel.widgets import Action
from tests.cli.test_client import client, stand_in
from tests.tiers import sampled

from .contrasts import dark, light
from .desk import CLAUDE, CURSOR, Desk
from .measure import problems
from .stage import click, until
from .test_panel import activate, button, card, focused, titles
from .test_panel_live import Session

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="these are Linux's places")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's home with Cursor and Codex in it, and no client's own command on PATH."""
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("DCC_BRIDGE_RUNTIME", str(tmp_path / "runtime"))
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".codex").mkdir()
    return tmp_path


@pytest.fixture
def desk(home: Path, desk: Desk) -> Iterator[Desk]:
    """A session with its panel, in which nobody is connected yet."""
    yield desk
    until(lambda: desk.local_clients.now.step != "looking")


def look(desk: Desk) -> None:
    """Open the list of clients, as a person does who has none."""
    click(desk.panel.banner.connect_client)
    until(lambda: desk.local_clients.now.step in ("done", "failed"))
    desk.panel.refresh()
    until(lambda: all(one.height() > one.fontMetrics().height() for one in buttons(desk)))


def buttons(desk: Desk) -> list[Action]:
    return desk.panel.clients.buttons


def press(desk: Desk, name: str, caption: str) -> Card:
    """Press a button of a client, and give its card once all is done."""
    before = desk.local_clients.now
    click(button(desk.panel.clients, name, caption))
    until(lambda: (now := desk.local_clients.now) is not before and now.step == "done", 40)
    desk.panel.refresh()
    until(lambda: all(one.height() > one.fontMetrics().height() for one in buttons(desk)))
    return card(desk.panel.clients, name)


def captions(shown: Card) -> list[str]:
    return [button.text() for button in shown.buttons]


def test_with_nobody_connected_the_head_leads_to_the_clients_on_this_computer(desk: Desk) -> None:
    assert desk.panel.banner.connect_client.isVisible()

    look(desk)

    assert desk.panel.clients.isVisible()
    assert titles(desk.panel.clients) == ["Cursor", "Codex"]
    assert captions(card(desk.panel.clients, "Cursor")) == ["Connect"]


def test_one_button_writes_the_entry_and_says_what_to_do_if_the_client_does_not_come(
    desk: Desk, home: Path
) -> None:
    look(desk)

    cursor = press(desk, "Cursor", "Connect")

    entry = json.loads((home / ".cursor" / "mcp.json").read_text())["mcpServers"]["dcc-bridge"]
    assert entry["args"][-3:] == ["connect", "--label", "cursor"]
    assert entry["env"]["DCC_BRIDGE_RUNTIME"] == str(home / "runtime")
    assert cursor.row.detail == (
        "Set up. Restart Cursor to connect. If it does not connect, look at its Customize > MCPs "
        "and run dcc-bridge doctor."
    )
    assert captions(cursor) == ["Open in Cursor"]


def test_a_client_is_connected_once_the_server_has_seen_it(desk: Desk, home: Path) -> None:
    client(home, "add", "cursor")
    look(desk)

    desk.clients.note(SeenClient(CURSOR, "2026-07-28", True, False, time.time()))

    until(lambda: card(desk.panel.clients, "Cursor").row.detail == "Connected")
    assert captions(card(desk.panel.clients, "Cursor")) == []
    assert not desk.panel.banner.connect_client.isVisible()


def test_the_link_of_a_client_is_opened_as_the_command_prints_it(
    desk: Desk, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It asks there; what cannot be opened is told."""
    calls = stand_in(home, "browser")
    client(home, "add", "cursor")
    look(desk)
    monkeypatch.setenv("BROWSER", "/nowhere/at/all")
    refused = press(desk, "Cursor", "Open in Cursor").row.detail
    monkeypatch.setenv("BROWSER", str(home / "bin" / "browser"))

    opened = press(desk, "Cursor", "Open in Cursor").row.detail

    assert "Nothing on this computer opens a link of cursor." in refused
    assert opened == "Cursor is open. Agree there to add dcc-bridge."
    assert json.loads(calls.read_text()) == [client(home, "link", "cursor").out.strip()]


def test_the_bundle_of_claude_desktop_is_made_and_opened(
    desk: Desk, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = stand_in(home, "browser")
    (home / ".config" / "Claude").mkdir(parents=True)
    client(home, "add", "claude-desktop")
    look(desk)
    monkeypatch.setenv("BROWSER", str(home / "bin" / "browser"))

    opened = press(desk, "Claude Desktop", "Open in Claude Desktop").row.detail

    assert opened == "Claude Desktop is open. Agree there to add dcc-bridge."
    (bundle,) = home.rglob("*.mcpb")
    assert json.loads(calls.read_text()) == [bundle.as_uri()]


def test_what_cannot_be_written_says_why_and_can_be_tried_again(desk: Desk, home: Path) -> None:
    (home / ".cursor" / "mcp.json").write_text("{ // mine\n")
    look(desk)

    cursor = press(desk, "Cursor", "Connect")

    assert "it is not valid JSON from line 1 on. Correct" in cursor.row.detail
    assert captions(cursor) == ["Connect", "Open in Cursor"]
    assert (home / ".cursor" / "mcp.json").read_text() == "{ // mine\n"


def test_an_entry_that_only_a_person_can_add_is_copied_for_them(
    desk: Desk, app: QApplication, home: Path
) -> None:
    look(desk)
    codex = card(desk.panel.clients, "Codex")

    click(codex.buttons[0])

    assert captions(codex) == ["Copy"]
    assert str(home / ".codex" / "config.toml") in codex.row.detail
    assert app.clipboard().text().strip() == client(home, "print", "codex").out.strip()


def test_a_clients_own_command_that_takes_its_time_does_not_hold_the_panel(
    desk: Desk, home: Path
) -> None:
    """It waits until the panel has done something else."""
    (home / ".claude.json").write_text("{}")
    go_on = home / "go on"
    waits = f"while not os.path.exists({str(go_on)!r}): time.sleep(0.01)"
    stand_in(home, "claude", "import os, time", waits)
    look(desk)

    click(button(desk.panel.clients, "Claude Code", "Connect"))
    until(lambda: card(desk.panel.clients, "Claude Code").row.detail == "Setting it up…")
    until(lambda: (home / "calls.jsonl").exists())
    click(desk.panel.banner.pause)
    assert desk.is_paused
    go_on.touch()
    until(lambda: card(desk.panel.clients, "Claude Code").row.detail.startswith("Set up."))


@pytest.mark.parametrize("palette", sampled([dark], [dark, light]))
def test_the_list_is_whole_and_can_be_read_in_a_narrow_panel(
    palette: Callable[[], QPalette], desk: Desk, app: QApplication, home: Path
) -> None:
    before = app.palette()
    app.setPalette(palette())
    (home / ".claude.json").write_text("{ // mine\n")
    client(home, "add", "cursor")
    look(desk)
    press(desk, "Claude Code", "Connect")

    until(lambda: not problems(desk.panel.clients))

    assert [captions(shown) for shown in desk.panel.clients.cards] == [
        ["Connect"],
        ["Open in Cursor"],
        ["Copy"],
    ]
    app.setPalette(before)


def test_two_buttons_go_below_an_error_that_would_be_narrow_beside_them(desk: Desk) -> None:
    """The panel has its usual width, and what came in place of one button is two of them."""
    desk.panel.resize(432, 900)
    entries = LocalClient("vscode", "/home/ida/.config/Code/User/mcp.json", False, True, "")
    desk.panel.enter_clients()
    until(lambda: desk.local_clients.now.step == "done")
    desk.local_clients.now = LocalState((entries,), "done")
    desk.panel.refresh()
    why = "It has comments or trailing commas, which would be lost. Edit it yourself. " * 2

    desk.local_clients.now = LocalState((entries,), "done", "vscode", "add", why)
    desk.panel.refresh()

    shown = card(desk.panel.clients, "VS Code")
    assert captions(shown) == ["Connect", "Open in VS Code"]
    until(lambda: shown._detail.width() > 0.8 * shown.width())
    until(lambda: not problems(desk.panel.clients))


@pytest.mark.usefixtures("app")
def test_two_buttons_stay_beside_words_that_are_short() -> None:
    acts = Act("show", "Show"), Act("cancel", "Cancel")
    question = Card(Row("key", "Delete 127 cameras?", "cursor asks", acts), DeferredDeletion())

    question.resize(400, 50)
    question.show()

    until(lambda: question.buttons[0].x() > question._title.geometry().right() > 0)
    question.close()


def test_where_no_python_can_run_the_command_it_says_how_to_go_on(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a host that is one program, with its Python inside it."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "host"))
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path))

    look(desk)

    (shown,) = desk.panel.clients.cards
    assert "pip install dcc-bridge-mcp" in shown.row.detail
    assert captions(shown) == ["Find clients"]


def test_a_host_is_never_started_in_the_place_of_its_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Maya has its Python beside its own program, Houdini below the Python's own folder."""
    files = [tmp_path / "bin" / name for name in ("maya.bin", "mayapy")]
    files.append(tmp_path / "python" / "bin" / "python{}.{}".format(*sys.version_info))
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    monkeypatch.setattr(sys, "executable", str(files[0]))
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path / "python"))

    assert list(local_clients._pythons()) == files[1:]


def test_the_button_is_reached_by_tab_and_pressed_by_enter(desk: Desk) -> None:
    activate(desk.panel)
    desk.panel.banner.pause.setFocus()

    desk.panel.focusNextChild()

    assert focused() is desk.panel.banner.connect_client
    desk.meet(CLAUDE)
    until(lambda: not desk.panel.banner.connect_client.isVisible())


def test_over_the_wire_it_is_the_label_of_the_entry_that_makes_it_connected(
    app: QApplication, home: Path
) -> None:
    (home / ".claude.json").write_text("{}")
    session = Session(home)
    session.panel.enter_clients()
    until, clients = session.running.until, session.panel.clients
    until(lambda: "Claude Code" in titles(clients))
    before = card(clients, "Claude Code").row.detail

    call = session.go("rename")
    session.answer()
    until(call.done)

    until(lambda: card(clients, "Claude Code").row.detail == "Connected")
    assert before == "On this computer, not set up"
    assert titles(clients) == ["claude-code", "Claude Code", "Cursor", "Codex"]
    session.close()


def test_a_step_that_takes_too_long_is_not_run_again_with_another_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("first", "second"):
        (script := tmp_path / name).write_text(
            f"#!/bin/sh\necho {name} >> {tmp_path}/ran\nexec sleep 9"
        )
        script.chmod(0o755)
    monkeypatch.setattr(
        local_clients, "_pythons", lambda: [tmp_path / "first", tmp_path / "second"]
    )
    monkeypatch.setattr(local_clients, "_TIMEOUT_S", 3)

    done = local_clients.LocalClients(lambda: None)._run("client", "add", "codex")

    assert (done, (tmp_path / "ran").read_text()) == (None, "first\n")
