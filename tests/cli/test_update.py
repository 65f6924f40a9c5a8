"""``dcc-bridge update``: what is set up gets this version, and what a person changed stays."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from importlib import metadata
from pathlib import Path

import pytest

from dcc_bridge.cli import own_package
from dcc_bridge.errors import own_version
from dcc_bridge.server.discovery import Instance, Registration
from tests.cli.commands import Done, _run_here
from tests.cli.pretended import application, put, variables
from tests.install import tree
from tests.versions import NEWER, OLDER

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="a script is no program there"),
    pytest.mark.usefixtures("vendored"),
]

CURSOR = ".cursor/mcp.json"
ADDON = ".config/blender/4.5/scripts/addons/dcc_bridge_blender"
MOD = ".local/share/FreeCAD/Mod/dcc_bridge"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder in which Blender, FreeCAD and Cursor are set up."""
    (folder := tmp_path / "home").mkdir()
    put(folder / CURSOR, '{\n  // mine\n  "mcpServers": {}\n}\n')
    application(tmp_path / "bin/blender", "4.5.3")
    application(tmp_path / "bin/freecadcmd", "0.21.2")
    assert run(folder, "setup", "--yes").code == 0
    return folder


def run(home: Path, *words: str) -> Done:
    """Run a command for a user with that home folder, in this process."""
    return _run_here(variables(home), [*words])


def age(folder: Path, version: str = OLDER) -> None:
    """Make an installed plug-in one of another version."""
    file = folder / "installed.json"
    file.write_text(
        file.read_text().replace(f'"bridge": "{own_version()}"', f'"bridge": "{version}"')
    )
    assert bridge_of(folder) == version


def bridge_of(folder: Path) -> str:
    return str(json.loads((folder / "installed.json").read_text())["facts"]["bridge"])


def entry_of(home: Path) -> dict[str, object]:
    text = (home / CURSOR).read_text().replace("// mine", "")
    return dict(json.loads(text)["mcpServers"]["dcc-bridge"])


def set_entry(home: Path, **members: object) -> None:
    """Change members of Cursor's entry, as an older version or a person has written them."""
    entry = {**entry_of(home), **members}
    put(home / CURSOR, json.dumps({"mcpServers": {"dcc-bridge": entry}}))


@pytest.mark.core
def test_all_that_is_older_is_updated_and_a_second_run_changes_nothing(home: Path) -> None:
    right = entry_of(home)
    age(home / ADDON)
    age(home / MOD)
    set_entry(home, command="/gone/bin/dcc-bridge", args=["connect", "--label", "cursor"])
    before = tree(home)

    dry = run(home, "update", "--dry-run")
    shown = tree(home)
    done = run(home, "update", "--yes")
    after = tree(home)
    again = run(home, "update", "--yes")

    assert (dry.code, shown) == (0, before)
    assert f"plug-in {own_version()} in place of {OLDER}, in {home / ADDON}" in dry.out
    changes = dry.out.partition("This will be written:\n")[2].partition("Nothing was")[0]
    assert changes
    assert changes in done.out
    assert (done.code, "3 of 3 done." in done.out) == (0, True)
    assert f"Blender 4.5.3: {OLDER} is {own_version()} now" in done.out
    assert "Restart the agents' clients that are open" in done.out
    assert [bridge_of(home / folder) for folder in (ADDON, MOD)] == [own_version()] * 2
    assert entry_of(home) == right
    assert (again.code, "Everything is up to date." in again.out) == (0, True)
    assert tree(home) == after


def test_settings_records_copies_skills_and_preferences_are_kept(home: Path) -> None:
    age(home / ADDON)
    age(home / MOD)
    set_entry(home, command="/gone/bin/dcc-bridge", args=["connect", "--label", "cursor"])
    put(home / ".local/state/dcc_bridge/audit/20260101T000000Z-1.jsonl", "a record")
    put(home / ".local/state/dcc_bridge/log/host.log", "a log")
    put(home / ".local/state/dcc_bridge/batch/key", "a key")
    put(home / ".local/share/dcc_bridge/skills/mine.py", "a skill")
    put(home / "shots/shot.usda.checkpoints/checkpoint-20260101T000000Z/shot.usda", "a copy")
    before = _kept(home)

    done = run(home, "update", "--yes")

    assert "3 of 3 done." in done.out
    assert _kept(home) == before


def _kept(home: Path) -> dict[str, bytes | None]:
    """Return what no upgrade may change: all but the plug-ins and the client's file."""
    return {
        name: content
        for name, content in tree(home).items()
        if not name.startswith((ADDON, MOD)) and name != CURSOR
    }


@pytest.mark.parametrize("words", [("install", "blender"), ("setup", "--yes", "--only", "blender")])
def test_an_older_package_puts_its_plug_in_in_place_of_a_newer_one(
    words: tuple[str, ...], home: Path
) -> None:
    """So a person goes back; `update` leaves a newer plug-in where it is."""
    age(home / ADDON, NEWER)
    before = _kept(home)

    done = run(home, *words)

    assert (done.code, bridge_of(home / ADDON)) == (0, own_version())
    assert _kept(home) == before


@pytest.mark.parametrize("more", ["", "/mnt/show/lib"])
def test_an_entry_that_an_applications_python_started_is_free_of_its_path(
    more: str, home: Path
) -> None:
    """Else the program that is started now would import the bridge of that application."""
    right = entry_of(home)
    words = ["-P", "-m", "dcc_bridge", "connect", "--label", "cursor"]
    imported = put(home / "vendor/dcc_bridge/__init__.py", "").parents[1]
    gone = home / "old" / ADDON / "vendor"
    path = os.pathsep.join(filter(None, [str(imported), str(gone), more]))
    set_entry(
        home, command="/opt/blender/python3", args=words, env={"PYTHONPATH": path, "MINE": "1"}
    )

    done = run(home, "update", "--yes")

    assert done.code == 0
    entry = entry_of(home)
    env = dict(entry.pop("env"))  # type: ignore[call-overload]  # it is an object
    assert env.pop("MINE") == "1"
    assert env.pop("PYTHONPATH", "") == more
    assert {**entry, "env": env} == {"env": {}, **right}
    assert "Everything is up to date." in run(home, "update", "--yes").out


@pytest.mark.parametrize(
    "changed",
    [
        {"args": ["connect", "--label", "cursor", "--host", "blender"]},
        {"command": "ssh", "args": ["farm", "dcc-bridge", "connect", "--label", "cursor"]},
        {"command": "/home/ann/bin/mine.sh"},
    ],
)
def test_what_a_person_changed_is_kept_and_named(changed: dict[str, object], home: Path) -> None:
    set_entry(home, **changed)
    age(home / ADDON)
    file = home / ADDON / "__init__.py"
    file.write_text(file.read_text() + "# mine\n")
    before = tree(home)

    done = run(home, "update", "--yes")
    status = run(home, "status")

    assert (done.code, tree(home)) == (1, before)
    assert f"Files were changed since they were installed, such as {file}" in done.out
    assert "Not done: Blender 4.5.3." in done.out
    assert "Cursor: Its entry was changed by hand, and stays as it is." in done.out
    assert "Cursor is set up with an entry that was changed by hand" in status.out
    assert "up to date" not in done.out


@pytest.mark.parametrize("name", ["dcc-bridge", "wrap.sh"])
def test_a_program_that_a_person_wrote_is_kept(name: str, home: Path) -> None:
    wrapper = put(home / "bin" / name, '#!/bin/sh\nexec /opt/env/bin/dcc-bridge "$@"\n')
    wrapper.chmod(0o755)
    words = ["connect", "--label", "cursor"]
    if name == "wrap.sh":
        words = ["-P", "-m", "dcc_bridge", *words]
    set_entry(home, command=str(wrapper), args=words)
    before = tree(home)

    alone = run(home, "update", "--yes")
    kept = tree(home)
    put(home / "bin" / "python3", "")
    beside_a_python = run(home, "update", "--yes")

    assert kept == before
    for done in (alone, beside_a_python):
        assert "Cursor: Its entry was changed by hand, and stays as it is." in done.out


def test_a_script_of_another_environment_is_replaced(home: Path) -> None:
    right = entry_of(home)
    script = put(home / "env/bin/dcc-bridge", "#!python\nfrom dcc_bridge.cli import main\n")
    script.chmod(0o755)
    put(script.with_name("python3.12"), "")
    set_entry(home, command=str(script), args=["connect", "--label", "cursor"])

    assert run(home, "update", "--yes").code == 0
    assert entry_of(home) == right


def test_a_running_application_is_told_apart_and_updated_once_it_is_closed(home: Path) -> None:
    age(home / ADDON)
    age(home / MOD)
    runtime = home.parent / "runtime"
    own_folder = str(home / ADDON / "vendor")
    host = Instance("u", "Blender", "4.5.3", "s", state="ready", imported_from=own_folder)
    registration = Registration(host, runtime)

    meanwhile = run(home, "update", "--yes")
    state = bridge_of(home / ADDON)
    registration.withdraw()
    done = run(home, "update", "--yes")

    assert meanwhile.code == 1
    assert (
        f"It is running ({host.id}). Close it, then run dcc-bridge update again." in meanwhile.out
    )
    assert state == OLDER
    assert bridge_of(home / MOD) == own_version()
    assert (done.code, bridge_of(home / ADDON)) == (0, own_version())


@pytest.mark.parametrize(("version", "is_kept"), [("4.5.3", True), ("4.2.1", False)])
def test_a_running_host_that_does_not_say_where_it_is_is_known_by_its_version(
    version: str, is_kept: bool, home: Path
) -> None:
    age(home / ADDON)
    host = Instance("u", "Blender", version, "s", state="ready")
    registration = Registration(host, home.parent / "runtime")

    done = run(home, "update", "--yes")
    registration.withdraw()

    assert ("It is running" in done.out) == is_kept
    assert (bridge_of(home / ADDON) == OLDER) == is_kept


@pytest.mark.parametrize("version", [NEWER, f"{own_version()}.post1"])
def test_a_newer_plug_in_stays(version: str, home: Path) -> None:
    age(home / ADDON, version)
    before = tree(home)

    done = run(home, "update", "--yes")

    assert (done.code, tree(home)) == (1, before)
    assert "It is newer than this dcc-bridge, and stays. Update dcc-bridge first." in done.out


def test_a_plug_in_is_updated_though_its_application_is_not_found(home: Path) -> None:
    age(home / ADDON)
    shutil.rmtree(home.parent / "bin")

    done = run(home, "update", "--yes", "--only", "blender")

    assert (done.code, bridge_of(home / ADDON)) == (0, own_version())


def test_another_python_of_the_application_gets_its_own_dependencies(home: Path) -> None:
    application(home.parent / "bin/blender", "4.5.9", "3.12")

    done = run(home, "update", "--yes", "--only", "blender")

    assert done.code == 0
    assert json.loads((home / ADDON / "installed.json").read_text())["facts"]["python"] == "3.12"
    assert (home / ADDON / "vendor/mcp/__init__.py").read_text() == "# 3.12 linux-x64"


def test_a_plug_in_for_another_processor_is_replaced(home: Path) -> None:
    file = home / ADDON / "installed.json"
    file.write_text(file.read_text().replace('"linux-x64"', '"linux-arm64"'))

    done = run(home, "update", "--yes", "--only", "blender")

    assert "1 of 1 done." in done.out
    assert json.loads(file.read_text())["facts"]["build"] == "linux-x64"


def test_of_versions_that_share_a_folder_the_one_that_has_the_plug_in_keeps_it(home: Path) -> None:
    application(home / "Applications/freecad-1.0.1/bin/freecadcmd", "1.0.1", "3.12")
    age(home / MOD)

    done = run(home, "update", "--yes", "--only", "freecad")

    facts = json.loads((home / MOD / "installed.json").read_text())["facts"]
    assert done.code == 0
    assert (facts["host_version"], facts["python"]) == ("0.21.2", "3.11")
    assert facts["bridge"] == own_version()


def test_where_nothing_is_set_up_nothing_is_done(tmp_path: Path) -> None:
    (home := tmp_path / "home").mkdir()

    done = run(home, "update", "--yes")

    assert (done.code, tree(home)) == (0, {})
    assert "Nothing is set up. To set up what is on this computer: dcc-bridge setup" in done.out


def test_status_names_the_clients_and_what_is_of_another_version(home: Path) -> None:
    well = run(home, "status")
    age(home / ADDON)
    set_entry(home, command="/gone/bin/dcc-bridge", args=["connect", "--label", "cursor"])
    (home / ".codeium/windsurf").mkdir(parents=True)

    older = run(home, "status")

    assert "Clients: Cursor is set up." in well.out
    assert "dcc-bridge update" not in well.out
    assert re.search(rf"version {OLDER}, .* \(dcc-bridge update\)", older.out)
    another = "Cursor starts another dcc-bridge, /gone/bin/dcc-bridge (dcc-bridge update)"
    assert another in older.out
    assert "not set up: Windsurf (dcc-bridge setup)." in older.out


class Distribution:
    """What is known of an installed package."""

    version = "0.1.0"

    def __init__(self, **files: str) -> None:
        self.files = files

    def read_text(self, name: str) -> str | None:
        return self.files.get(name.partition(".")[0])


@pytest.mark.parametrize(
    ("prefix", "made", "files", "told"),
    [
        ("/home/ann/.cache/uv/archive-v0/x8", "", {}, "uvx --refresh --from dcc-bridge-mcp dcc-br"),
        ("/home/ann/.local/pipx/.cache/a1", "", {}, "pipx run --no-cache --spec dcc-bridge-mcp"),
        ("", "pipx_metadata.json", {}, "pipx upgrade dcc-bridge-mcp"),
        ("", "uv-receipt.toml", {}, "uv tool upgrade dcc-bridge-mcp"),
        (
            "",
            "",
            {"INSTALLER": "uv\n"},
            "uv pip install --python {python} --upgrade dcc-bridge-mcp",
        ),
        ("", "", {"INSTALLER": "pip\n"}, "{python} -m pip install --upgrade dcc-bridge-mcp"),
    ],
)
def test_the_tool_that_brought_the_package_is_named(
    prefix: str,
    made: str,
    files: dict[str, str],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "prefix", prefix or str(tmp_path))
    monkeypatch.setattr(metadata, "distribution", lambda _: Distribution(**files))
    (tmp_path / (made or "other")).touch()

    sentence = own_package.sentence()

    assert f"If there is a newer one, begin with: {told.format(python=sys.executable)}" in sentence


def test_a_clone_is_updated_by_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    origin = {"url": tmp_path.as_uri(), "dir_info": {"editable": True}}
    clone = Distribution(INSTALLER="pip", direct_url=json.dumps(origin))
    monkeypatch.setattr(metadata, "distribution", lambda _: clone)
    monkeypatch.setattr(own_package, "__file__", str(tmp_path / "dcc_bridge/cli/own_package.py"))
    (tmp_path / ".git").mkdir()

    assert own_package.sentence().endswith(f"begin with: git -C {tmp_path} pull")


def test_another_folder_is_left_to_its_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    origin = {"url": "file:///home/ann/dcc%20bridge", "dir_info": {"editable": True}}
    clone = Distribution(INSTALLER="pip", direct_url=json.dumps(origin))
    monkeypatch.setattr(metadata, "distribution", lambda _: clone)

    assert "from the folder /home/ann/dcc bridge, which only you update." in own_package.sentence()
