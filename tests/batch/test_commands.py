"""What ``dcc-bridge batch`` says, as far as no host is needed for it."""

from __future__ import annotations

import importlib.util
import os
import pty
import shutil
import subprocess
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from dcc_bridge_batch import approval, commands, files, report, scenes
from dcc_bridge_batch.plan import Plan, PlanError
from tests.batch.conftest import Command, write_plan

if sys.platform == "win32":
    pytest.skip("a terminal is POSIX's", allow_module_level=True)


def test_where_its_packages_are_missing_it_says_how_to_get_them(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(name: str) -> ModuleSpec | None:
        return None if name == "openjd" else importlib.util.find_spec(name)

    monkeypatch.setattr(commands, "find_spec", find)

    code, said = command("status", "plan")

    assert code == 2
    assert said == 'dcc-bridge: openjd is not installed: pip install "dcc-bridge-mcp[batch]"\n'


def test_a_folder_without_a_plan_is_told(command: Command, tmp_path: Path) -> None:
    assert command("status", tmp_path) == (2, f"dcc-bridge: There is no plan in {tmp_path}.\n")


def test_nobody_but_a_person_at_a_terminal_can_approve(made: Plan, command: Command) -> None:
    code, said = command("approve", made.folder)

    assert code == 3
    assert "A person must approve a plan in a window or at a terminal." in said
    assert "skill in 3 scenes" in said
    assert not (made.folder / approval.FILE).exists()


def typed(words: list[str | Path], line: str) -> tuple[int, str]:
    """Run a command at a terminal of its own, and type a line."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "dcc_bridge", "batch", *map(str, words)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    ) as process:
        os.close(theirs)
        os.write(ours, line.encode() + b"\n")
        said = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            said += part
        os.close(ours)
    return process.returncode, said.decode(errors="replace")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("3", 0),
        pytest.param("yes", 3, marks=pytest.mark.long),
        pytest.param("", 3, marks=pytest.mark.long),
        ("33", 3),
    ],
)
def test_who_agrees_types_how_many_scenes_are_changed(made: Plan, line: str, code: int) -> None:
    ended, said = typed(["approve", made.folder], line)

    assert ended == code, said
    assert "To approve changes to 3 scenes, type 3:" in said
    assert (made.folder / approval.FILE).exists() == (code == 0)


@pytest.mark.core
def test_a_plan_that_was_not_approved_is_neither_run_nor_exported(
    made: Plan, command: Command, tmp_path: Path
) -> None:
    for words in (("run", made.folder), ("export", made.folder, tmp_path / "job")):
        code, said = command(*words)
        assert code == 3
        assert "is not approved yet" in said
    assert not (tmp_path / "job").exists()


def test_a_second_process_does_not_work_on_the_same_plan(made: Plan, command: Command) -> None:
    with files.only_process(made.folder):
        code, said = command("rollback", made.folder)

    assert code == 2
    assert "Another process is using" in said


def test_scenes_are_found_once_each_and_in_order(tmp_path: Path) -> None:
    for name in ("b/shot.usda", "a/shot.usda", "a/.shot.1234.kept.usda", "[x] 1.usda"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "c").symlink_to(tmp_path / "a")
    (tmp_path / "list.txt").write_text("# those of a\na/shot.usda\n\nc/shot.usda\n")

    everything = scenes.find(["**/*.usda", "list.txt", "[x] 1.usda"], tmp_path)

    assert [str(it.relative_to(tmp_path)) for it in everything] == [
        "[x] 1.usda",
        "a/shot.usda",
        "b/shot.usda",
    ]


@pytest.mark.parametrize(
    ("words", "why"),
    [(["*.blend"], r"no scene at \*.blend"), (["list.txt"], "line 2: there is no file")],
)
def test_a_word_that_names_no_scene_is_told(tmp_path: Path, words: list[str], why: str) -> None:
    (tmp_path / "a.usda").touch()
    (tmp_path / "list.txt").write_text("a.usda\nb.usda\n")

    with pytest.raises(PlanError, match=why):
        scenes.find(words, tmp_path)


def test_nothing_but_the_plan_itself_is_read_back(tmp_path: Path) -> None:
    made = write_plan(tmp_path, count=120)

    again = Plan.read(made.folder)

    assert (again.digest, again.count, again.tasks) == (made.digest, 120, 3)
    assert list(again.numbers(2)) == list(range(100, 120))
    assert again.scene(77)["path"] == "shot_77.usda"
    assert [it["n"] for it in again.scenes()] == list(range(120))


@pytest.mark.parametrize("hours", ["nan", "inf", "1e6", "0.5", "-1", "soon"])
def test_a_consent_holds_for_an_hour_to_a_year(
    made: Plan, command: Command, capsys: pytest.CaptureFixture[str], hours: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        command("approve", made.folder, f"--hours={hours}")

    assert ended.value.code == 2
    assert f"1 to 8760 hours, not {hours}" in capsys.readouterr().err


def test_whoever_approves_reads_a_report_of_this_very_plan(made: Plan) -> None:
    (made.folder / report.FILE).write_text("It changes nothing, go on.")

    typed(["approve", made.folder, "--terminal"], "no")

    assert (made.folder / report.FILE).read_text() != "It changes nothing, go on."
    assert approval.FILE not in os.listdir(made.folder)
    assert "shot_2.usda" in (made.folder / report.FILE).read_text()


def test_a_host_that_ends_as_it_starts_is_told_from_what_was_typed_wrong(
    command: Command, tmp_path: Path
) -> None:
    scene = tmp_path / "shot.usda"
    scene.write_text("#usda 1.0\n")
    plan = ("plan", "rename", "--scenes", scene, "--out", tmp_path / "plan")

    ended = command(*plan, "--interpreter", shutil.which("false") or "")
    wrong = command(*plan, "--jobs", "0")

    assert (ended[0], "The host ended as it started." in ended[1]) == (4, True)
    assert wrong[0] == 2
