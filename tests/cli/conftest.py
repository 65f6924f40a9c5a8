"""A host in a process of its own, for the commands that need one."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from dcc_bridge.cli import main
from dcc_bridge.install import vendor
from dcc_bridge.install.builds import Build
from tests.cli.commands import SHOT, SKILLS, Command, Done, Served, serve


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve the bundled shot without a window; the tests of a module leave it as it was."""
    runtime = tmp_path_factory.mktemp("runtime")
    with serve(runtime, "--headless", "--scene", SHOT, "--skills", SKILLS) as served:
        yield served


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Give what runs a command in this process, in which its test has set the environment."""

    def run(*words: str | Path) -> Done:
        code = main([*map(str, words)])
        return Done(code, *capsys.readouterr())

    return run


@pytest.fixture
def runtime(tmp_path: Path) -> Path:
    """Give a folder in which no host is running."""
    return tmp_path / "runtime"


@pytest.fixture
def vendored(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for what pip brings."""

    def fill(into: Path, python: str, build: Build) -> None:
        (into / "mcp").mkdir(parents=True)
        (into / "mcp" / "__init__.py").write_text(f"# {python} {build.name}")

    monkeypatch.setattr(vendor, "fill", fill)


@pytest.fixture(autouse=True, scope="session")
def _ctrl_c_reaches_the_commands() -> None:
    """A run in a shell's background ignores Ctrl+C, and what it starts would too."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
