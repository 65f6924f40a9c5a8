"""Blender of a distribution, started from a terminal in which a virtual environment is active.

Such a Blender runs with the Python files of the first Python on its path.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dcc_bridge.server import discovery
from tests.blender import window
from tests.blender.seat import Seat
from tests.cli.commands import run
from tests.hosts.application import Application, until
from tests.hosts.screen import missing, screen
from tests.live import text

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(300),
    pytest.mark.skipif(window.PROGRAM is None, reason="Blender is not installed"),
    pytest.mark.skipif(bool(missing()), reason=f"not installed: {missing()}"),
]
PICTURE = os.environ.get("BLENDER_PICTURE")
"""Where a picture of the panel is written, if it is wanted."""
AGENTS = 1044, 237  # where the tab of the sidebar is that has our panel
POISON = 'raise ImportError("that of the virtual environment")\n'
NOT_LOADED = 'raise ImportError("_speedups.so: undefined symbol: _PyModule_Add")\n'


def virtual_environment(folder: Path) -> dict[str, str]:
    """Make one, whose packages end whoever imports them; return what activating it sets."""
    venv = folder / "venv"
    words = ["/usr/bin/python3", "-m", "venv", "--without-pip", str(venv)]
    subprocess.run(words, check=True, timeout=60)
    (packages,) = venv.glob("lib/python3*/site-packages")
    for name in ("dcc_bridge", "anyio", "uvicorn", "mcp"):
        (packages / name).mkdir()
        (packages / name / "__init__.py").write_text(POISON)
    path = os.pathsep.join((str(venv / "bin"), os.environ["PATH"]))
    return {"VIRTUAL_ENV": str(venv), "PATH": path}


@contextmanager
def seated(folder: Path, environment: dict[str, str]) -> Iterator[tuple[Application, Seat]]:
    scripts = {"BLENDER_USER_SCRIPTS": str(folder / "scripts")}
    words = ("--factory-startup", "--addons", "dcc_bridge_blender")
    with (
        screen(*window.SIZE) as shown,
        window.opened(folder, shown, *words, **environment, **scripts) as application,
    ):
        yield application, Seat(application, shown)


@pytest.fixture
def add_on(tmp_path: Path) -> Path:
    folder = tmp_path / "scripts" / "addons" / "dcc_bridge_blender"
    window.install(folder, qt=False)
    return folder


def test_the_add_on_runs_what_it_brought_and_becomes_ready(add_on: Path, tmp_path: Path) -> None:
    with seated(tmp_path, virtual_environment(tmp_path)) as (application, seat):
        until(lambda: application.instance.state == "ready", "it did not become ready")
        listed = text(application.call("list_items", {}))
        seat.do("write")
        bridge = seat.seen()["bridge"]
        assert seat.close() == 0, application.output

    assert "Cube" in listed
    assert bridge == str(add_on / "vendor" / "dcc_bridge" / "__init__.py")
    assert "that of the virtual environment" not in application.output


def test_an_add_on_that_lost_what_it_brought_says_so_in_its_preferences(
    add_on: Path, tmp_path: Path
) -> None:
    """It cannot be imported then, and Blender printed the error and nothing else."""
    platformdirs = add_on / "vendor" / "platformdirs"
    platformdirs.unlink()
    platformdirs.mkdir()
    (platformdirs / "__init__.py").write_text(NOT_LOADED)
    script = (
        "import addon_utils, dcc_bridge_blender.preferences as preferences\n"
        "print('STATE', preferences.state)\n"
        "addon_utils.disable('dcc_bridge_blender')\n"
        "print('IS REGISTERED', hasattr(preferences.DCC_BRIDGE_preferences, 'bl_rna')"
        " and preferences.DCC_BRIDGE_preferences.is_registered)\n"
    )
    assert window.PROGRAM is not None
    words = ["--background", "--factory-startup", "--addons", "dcc_bridge_blender"]
    done = subprocess.run(
        [window.PROGRAM, *words, "--python-expr", script],
        env={**os.environ, "BLENDER_USER_SCRIPTS": str(tmp_path / "scripts")},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )

    said = "STATE The bridge did not start. ImportError: _speedups.so: undefined symbol"
    assert said in done.stdout, done.stdout + done.stderr
    assert "Install the plug-in again, and restart Blender." in done.stdout
    assert "IS REGISTERED False" in done.stdout
    assert "_speedups.so" in done.stderr


def test_a_start_that_fails_is_explained_in_the_panel_the_log_and_every_command(
    add_on: Path, tmp_path: Path
) -> None:
    """A file of the virtual environment does not load, and the panel used to say no why."""
    (add_on / "vendor" / "uvicorn").unlink()  # so that the one of the environment is found
    environment = virtual_environment(tmp_path)
    runtime = tmp_path / "runtime"
    with seated(tmp_path, environment) as (application, seat):
        until(lambda: application.instance.state == "failed", "it said nothing")
        (instance,) = discovery.running(runtime)
        rows = run(runtime, "list")
        called = run(runtime, "call", "list_items")
        doctor = run(runtime, "doctor", instance.id)
        seat.do("sidebar", "write")
        panel = seat.sees(lambda seen: "Agents cannot connect" in seen["sidebar"])["sidebar"]
        if PICTURE:
            seat.screen.tap("Escape")  # Blender's own greeting
            seat.let_pass(2)
            seat.screen.move(*AGENTS)
            seat.let_pass(1)
            seat.screen.press()
            seat.let_pass(4)
            seat.screen.picture(Path(PICTURE))
        assert seat.close() in (0, 1), application.output  # it is 1 after Esc

    assert f"the virtual environment {environment['VIRTUAL_ENV']}" in instance.why
    assert "that of the virtual environment" in instance.why
    assert "run `deactivate`" in instance.mend
    why = "".join(f"{instance.why} {instance.mend}".split())
    assert why in "".join("".join(panel).split()), panel
    assert why in "".join(rows.out.split())
    assert why in "".join(called.err.split())
    assert "".join(instance.why.split()) in "".join(doctor.out.split())
    assert instance.mend in doctor.out
    assert called.code == 4
    assert doctor.code == 1
    assert instance.why in application.output
