"""What is wrong with an installation is found, and each finding has its mend."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from importlib import metadata
from pathlib import Path

import pytest

from dcc_bridge.cli import interpreter, leaves
from dcc_bridge.cli.doctor_setup import check_installation, check_setup
from dcc_bridge.cli.findings import Advice, Finding
from dcc_bridge.client import registration
from dcc_bridge.client.entries import CONFIG_FILES
from dcc_bridge.install import vendor
from dcc_bridge.install.installed import LIST_NAME, find_installations
from dcc_bridge.install.locations import Facts, System
from dcc_bridge.install.plan import Plan
from tests import homes

APPLICATIONS = leaves.targets()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """FreeCAD with Python 3.11, into which it was installed."""

    def fill(into: Path, python: str, platform: str) -> None:
        (into / "mcp").mkdir(parents=True)
        (into / "mcp" / "__init__.py").write_text("")

    system, told = System("linux", tmp_path, {}), Facts("1.0", "3.11", program=Path("/freecadcmd"))
    monkeypatch.setattr(vendor, "fill", fill)
    monkeypatch.setattr(System, "here", lambda: system)
    monkeypatch.setattr(interpreter, "probe", lambda kind: told)
    kind = APPLICATIONS["freecad"]
    plan = Plan(kind, told, kind.location(system, told, False), system)
    plan.install()
    return plan.location.folder


@pytest.mark.core
def test_a_whole_installation_is_well(folder: Path) -> None:
    """And the folder is named."""
    *_, whole = check_installation("freecad")

    assert whole == f"Version {metadata.version('dcc-bridge-mcp')} is complete in {folder}."


def the_finding(results: Iterable[str | Finding]) -> Finding:
    (finding,) = (result for result in results if isinstance(result, Finding))
    return finding


def lose(folder: Path) -> None:
    (folder / "Init.py").unlink()


def add_qt(folder: Path) -> None:
    (folder / "vendor/py311-linux/PySide6").mkdir()


def spoil(folder: Path) -> None:
    (folder / LIST_NAME).write_text("{")


def forget(folder: Path) -> None:
    (folder / LIST_NAME).unlink()


@pytest.mark.parametrize(
    ("meddle", "check", "said"),
    [
        (lose, "files", "missing"),
        (add_qt, "qt", "a second Qt"),
        (spoil, "installation", "cannot be read"),
        (forget, "installation", "dcc-bridge did not install"),
    ],
)
def test_what_is_wrong_is_found(
    folder: Path, meddle: Callable[[Path], None], check: str, said: str
) -> None:
    """One finding for one fault, with what to do."""
    meddle(folder)

    finding = the_finding(check_installation("freecad"))

    assert finding.check == check
    assert said in finding.what
    assert finding.mend


def test_another_python_than_it_was_installed_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an update of the application."""
    monkeypatch.setattr(interpreter, "probe", lambda kind: Facts("1.0", "3.13"))

    finding = the_finding(check_installation("freecad"))

    assert (finding.check, "3.13" in finding.what) == ("python", True)


def test_what_was_never_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mend is the command."""
    monkeypatch.setattr(System, "here", lambda: System("linux", tmp_path, {}))
    monkeypatch.setattr(interpreter, "probe", lambda kind: Facts())

    finding = the_finding(check_installation("freecad"))

    assert finding.mend == "dcc-bridge install freecad"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home in which Cursor knows us."""
    homes.set_all(monkeypatch, homes.home(tmp_path))
    registration.add(CONFIG_FILES["cursor"], "cursor")
    return tmp_path


def age(home: Path) -> Path:
    """Have the entry name a program that is gone; give its file."""
    file = home / ".cursor/mcp.json"
    told = json.loads(file.read_text())
    told["mcpServers"]["dcc-bridge"]["command"] = str(home / "old/dcc-bridge")
    file.write_text(json.dumps(told))
    return file


def test_without_a_host_it_lists_what_is_set_up(folder: Path, home: Path) -> None:
    """A line for each plug-in and each client; no application is started for that."""
    plug_in, client = map(str, check_setup())

    assert plug_in.startswith("Installed: freecad 1.0: version ")
    assert plug_in.endswith(f"in {folder}.")
    assert client.startswith(f"Cursor is set up in {home / '.cursor/mcp.json'}. ")
    assert "Its calls cannot go on as tasks" in client


def test_what_is_set_up_and_gone_is_found(folder: Path, home: Path) -> None:
    """A file of a plug-in, and the program that a client starts."""
    lose(folder)
    age(home)

    plug_in, client = check_setup()

    assert isinstance(plug_in, Finding)
    assert isinstance(client, Finding)
    assert (plug_in.mend, "1 files missing" in plug_in.what) == (
        "For details: dcc-bridge doctor freecad",
        True,
    )
    assert (client.mend, str(home / "old") in client.what) == ("dcc-bridge client add cursor", True)


def test_where_nothing_is_set_up_it_says_how(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither is wrong: a host may be served, and a client be told by hand.

    But nothing comes of it as long as there is no client.
    """
    homes.set_all(monkeypatch, homes.home(tmp_path))
    monkeypatch.setattr(System, "here", lambda: System("linux", tmp_path, {}))

    plug_in, client = check_setup()

    assert plug_in == "No plug-in is installed: dcc-bridge install HOST."
    assert isinstance(client, Advice)
    assert client.what == "No client is set up, so no agent finds the running hosts."
    assert client.mend.startswith("dcc-bridge client add NAME")


def test_a_plug_in_is_found_though_its_application_is_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two versions of Blender, neither of them on PATH."""
    system = System("linux", tmp_path, {})
    monkeypatch.setattr(System, "here", lambda: system)
    monkeypatch.setattr(vendor, "fill", lambda into, python, platform: into.mkdir())
    kind = APPLICATIONS["blender"]
    for told in (Facts("4.2.1", "3.11"), Facts("5.2", "3.13")):
        Plan(kind, told, kind.location(system, told, False), system).install()

    found = [one["host_version"] for one in find_installations(kind, kind.known_versions)]

    assert found == ["4.2.1", "5.2"]


def test_a_dead_entry_beside_comments_is_mended_by_the_same_command(home: Path) -> None:
    file = age(home)
    file.write_text(f"// mine\n{file.read_text()}")

    client = the_finding(check_setup())

    assert client.mend == "dcc-bridge client add cursor"


def test_a_dead_entry_in_a_file_that_we_do_not_write_is_to_be_replaced_by_its_owner(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    (file := home / ".codex/config.toml").parent.mkdir()
    file.write_text(f'[mcp_servers.dcc-bridge]\ncommand = "{home.as_posix()}/old/dcc-bridge"\n')

    client = the_finding(check_setup())

    assert (
        client.mend == f"Paste the output of `dcc-bridge client print codex` into {file} yourself."
    )


def test_a_file_of_a_client_that_is_no_json_is_found(home: Path) -> None:
    file = home / ".cursor/mcp.json"
    file.write_text('{"mcpServers": {"x":')

    client = the_finding(check_setup())

    assert client.what == f"{file} cannot be read: it is not valid JSON from line 1 on."
    assert client.mend == "Correct the file, then: dcc-bridge client add cursor"
