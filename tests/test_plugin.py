"""What a plug-in starts and stops, in a host that has Qt."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("PySide6.QtWidgets")

from PySide6.QtWidgets import QApplication

from dcc_bridge.config import Settings
from dcc_bridge.errors import StartError
from dcc_bridge.plugin import PlugIn
from dcc_bridge.server import discovery
from tests.hosts.fakes.live_application import LiveApplication, application
from tests.stand_ins import FakeHost


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(runtime=tmp_path / "runtime", audit=tmp_path / "audit")


@pytest.fixture
def plug_in(settings: Settings) -> Iterator[PlugIn]:
    application()
    plug_in = PlugIn(FakeHost(["cam1"], has_ui=True), [], settings=settings)
    yield plug_in
    plug_in.stop()


def test_a_second_start_changes_nothing(plug_in: PlugIn) -> None:
    """A host may load a plug-in twice."""
    plug_in.start()
    bridge, panel = plug_in.bridge, plug_in.panel

    assert plug_in.start().done()

    assert plug_in.bridge is bridge
    assert plug_in.panel is panel


def test_it_stops_before_it_is_ready_and_starts_again(plug_in: PlugIn) -> None:
    """A person may unload a plug-in at once."""
    plug_in.start()

    plug_in.stop()
    plug_in.stop()
    plug_in.start()

    assert plug_in.bridge is not None
    assert LiveApplication(plug_in.bridge).call("recent_calls").is_error is False


class Turns(FakeHost):
    """A host that calls what waits for its window in turns of its event loop."""

    def __init__(self) -> None:
        super().__init__(["cam1"], has_ui=True)
        self.waiting: list[Callable[[], None]] = []

    def when_ready(self, start: Callable[[], None]) -> Callable[[], None]:
        self.waiting.append(start)
        return self.waiting.clear


def test_what_a_bridge_needs_is_imported_before_it_starts_a_part_in_each_turn(
    settings: Settings,
) -> None:
    """All at once would hold the host's window for 0.1 s."""
    application()
    host = Turns()
    plug_in = PlugIn(host, [], settings=settings)
    plug_in.install()
    turns = 0

    while host.waiting:
        assert plug_in.bridge is None
        host.waiting.pop(0)()
        turns += 1

    assert plug_in.bridge is not None
    assert turns > 5
    plug_in.uninstall()


def test_a_plug_in_that_is_unloaded_between_its_turns_does_not_start(settings: Settings) -> None:
    host = Turns()
    plug_in = PlugIn(host, [], settings=settings)
    plug_in.install()
    host.waiting.pop(0)()

    plug_in.uninstall()

    assert (host.waiting, plug_in.bridge) == ([], None)


_WITHOUT_PLATFORMDIRS = """
import sys
from dcc_bridge.plugin import PlugIn
from tests.stand_ins import FakeHost

sys.modules["platformdirs"] = None
plug_in = PlugIn(FakeHost(has_ui=True), [])
try:
    plug_in.start()
except ImportError as error:
    print("RAISED", error)
print("PROBLEM", plug_in.problem)
"""
"""A plug-in that has lost something that it brought."""


def test_a_start_tells_its_own_error_where_the_list_of_hosts_cannot_be_imported_either() -> None:
    words = [sys.executable, "-c", _WITHOUT_PLATFORMDIRS]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)

    assert "RAISED import of platformdirs halted" in done.stdout
    assert "PROBLEM The bridge did not start. ModuleNotFoundError: " in done.stdout
    assert "The bridge did not start." in done.stderr  # in the log


class SceneUnknown(FakeHost):
    """A host that cannot say which scene is open."""

    def scene(self) -> str:
        raise RuntimeError("no scene yet")


def test_a_start_tells_its_own_error_where_the_host_names_no_scene(
    settings: Settings, tmp_path: Path
) -> None:
    application()
    wrong = replace(settings, unattended="allow", allow_list=tmp_path / "none")
    plug_in = PlugIn(SceneUnknown(has_ui=True), [], settings=wrong)

    with pytest.raises(StartError, match="none"):
        plug_in.start()

    assert "none" in plug_in.problem
    plug_in.uninstall()


def test_a_host_whose_start_failed_lists_the_file_that_it_has_open(
    settings: Settings, tmp_path: Path
) -> None:
    """`dcc-bridge checkpoint restore` warns of it."""
    application()
    scene = tmp_path / "shot.json"
    wrong = replace(settings, unattended="allow", allow_list=tmp_path / "none")
    plug_in = PlugIn(FakeHost(has_ui=True, file=scene), [], settings=wrong)

    with pytest.raises(StartError):
        plug_in.start()

    (listed,) = discovery.running(settings.runtime)
    assert (listed.state, listed.file) == ("failed", str(scene))
    plug_in.uninstall()


@pytest.mark.parametrize("why", ["the port is taken", "a setting cannot be used"])
def test_a_start_that_fails_leaves_nothing_but_why(
    why: str, settings: Settings, tmp_path: Path
) -> None:
    """It is the same error for the host, no widget stays, and a port may be tried again."""
    application()
    before = set(QApplication.allWidgets())
    with socket.create_server(("127.0.0.1", 0)) as taken:
        wrong = {
            "the port is taken": {"port": taken.getsockname()[1]},
            "a setting cannot be used": {"unattended": "allow", "allow_list": tmp_path / "none"},
        }
        changed = replace(settings, **wrong[why])
        plug_in = PlugIn(FakeHost(has_ui=True), [], settings=changed)

        with pytest.raises(StartError, match="none" if changed.allow_list else None):
            plug_in.start()

        (listed,) = discovery.running(settings.runtime)

    assert plug_in.bridge is None
    assert plug_in.panel is None
    assert set(QApplication.allWidgets()) == before
    assert (listed.state, plug_in.problem) == ("failed", f"{listed.why} {listed.mend}")
    if why == "the port is taken":
        plug_in.start()
        assert plug_in.problem == ""
        assert len(discovery.running(settings.runtime)) == 1
        plug_in.stop()
    else:
        plug_in.uninstall()
    assert discovery.running(settings.runtime) == []


def test_a_part_that_cannot_be_imported_is_told(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The host's event loop imports it, where nobody would read the error."""
    application()
    host = Turns()
    plug_in = PlugIn(host, [], settings=settings)
    monkeypatch.setattr("dcc_bridge.plugin._MODULES", ("no_such_part",))
    plug_in.install()

    with pytest.raises(ImportError):
        host.waiting.pop(0)()

    (listed,) = discovery.running(settings.runtime)
    assert "No module named 'no_such_part'" in listed.why
    assert plug_in.problem == f"{listed.why} {listed.mend}"
    plug_in.uninstall()
    assert discovery.running(settings.runtime) == []
