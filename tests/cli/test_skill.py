"""`dcc-bridge skill`: a file to begin with that runs and passes, and a check with an exit code."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from dcc_bridge.config import data_folder
from dcc_bridge.elicitation.question import Reply
from tests.cli.commands import Command, run, serve
from tests.instructions.shelf import put
from tests.live import live, until
from tests.skills.shelf import save
from tests.stand_ins import FakeHost, Person
from tests.tiers import sampled

ARGUMENTS = {
    "read": {"pattern": "camera*"},
    "edit": {"pattern": "light_1", "prefix": "old_"},
    "destructive": {"pattern": "light*"},
}
RESULTS = {
    "read": {"result": ["camera_1", "camera_2"]},
    "edit": {"light_1": "old_light_1"},
    "destructive": {"deleted": ["light_1"]},
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "mine"
    monkeypatch.setenv("DCC_BRIDGE_USER_SKILLS", str(folder))
    return folder


@pytest.mark.core
@pytest.mark.parametrize("risk", ARGUMENTS)
def test_a_new_file_passes_the_check_and_runs(risk: str, tmp_path: Path, command: Command) -> None:
    folder = tmp_path / "skills"
    person = Person(Reply("accept", {"confirm": True}))

    assert command("skill", "new", "try_it", "--folder", folder, "--risk", risk).code == 0
    assert command("skill", "check", folder).code == 0
    host = FakeHost(has_ui=True)
    with live(tmp_path, host=host, presenter=person, skills=[folder]) as running:
        result = running.call("try_it", ARGUMENTS[risk])

    assert result.structured_content == RESULTS[risk]
    assert [one.items for one in person.shown] == [("light_1",)] * (risk == "destructive")


@pytest.mark.parametrize("risk", ARGUMENTS)
def test_the_check_names_what_is_still_to_be_filled_in(
    risk: str, tmp_path: Path, command: Command
) -> None:
    command("skill", "new", "try_it", "--folder", tmp_path, "--risk", risk)
    file = tmp_path / "try_it.py"
    lines = file.read_text().splitlines()
    scene, sentence = (lines.index(next(it for it in lines if s in it)) for s in ("SCENE =", "Say"))

    untouched = command("skill", "check", file).out.splitlines()
    file.write_text(file.read_text().replace("camera_1", "mine").replace("Say in", "It says in"))
    filled = command("skill", "check", file)

    assert [it.split(": ")[:2] for it in untouched[:-1]] == [
        [f"{file}:{number + 1}", "Still to be filled in"] for number in (scene, sentence)
    ]
    assert filled.out == "No problems in 1 file.\n"


def test_it_is_said_when_a_skill_takes_the_place_of_a_verb(
    tmp_path: Path, command: Command
) -> None:
    said: list[str] = []
    for name in ("delete", "mine"):
        new = command("skill", "new", name, "--folder", tmp_path)
        said += [line for line in new.out.splitlines() if "verb" in line]
    checked = command("skill", "check", tmp_path)
    said += [line for line in checked.out.splitlines() if "verb" in line]

    assert checked.code == 0
    sentence = "delete takes the place of the verb of that name in every host."
    assert said == [sentence, f"{tmp_path / 'delete.py'}:15: {sentence}"]


def test_instructions_beside_the_skills_are_checked_too(tmp_path: Path, command: Command) -> None:
    put(tmp_path, "light-a-shot")
    sound = command("skill", "check", tmp_path)
    put(tmp_path, "rig", version="1.0")
    broken = command("skill", "check", tmp_path)

    assert (sound.code, sound.out) == (0, "No problems in 0 files and 1 instruction.\n")
    assert broken.code == 1
    assert broken.out.startswith(f"{tmp_path / 'rig' / 'SKILL.md'}:1: ")
    assert "line 4: write its text in double quotes" in broken.out


@pytest.mark.parametrize("named", [".", "SKILL.md", "{}", "{}/SKILL.md"])
def test_an_instruction_is_checked_by_its_own_folder_or_by_its_main_file_too(
    named: str, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = put(tmp_path, "light-a-shot")
    broken = put(tmp_path, "rig", version="1.0")
    done = []
    for folder in (sound, broken):
        monkeypatch.chdir(folder)
        done.append(command("skill", "check", named.format(folder)))

    assert (done[0].code, done[0].out) == (0, "No problems in 0 files and 1 instruction.\n")
    assert done[1].code == 1
    assert "line 4: write its text in double quotes" in done[1].out


@pytest.mark.skipif(sys.platform == "win32", reason="rights are POSIX's")
def test_an_instruction_in_a_folder_of_everybody_is_a_problem(
    tmp_path: Path, command: Command
) -> None:
    folder = put(tmp_path / "open", "rig").parent
    folder.chmod(0o777)

    told = command("skill", "check", folder)
    as_json = command("skill", "check", folder, "--json")

    (problem,) = json.loads(as_json.out)
    assert (told.code, as_json.code) == (1, 1)
    assert told.out == f"{problem['file']}:1: {problem['problem']}\n"
    assert problem["file"] == str(folder / "rig" / "SKILL.md")
    assert "everybody may write to it" in problem["problem"]


def test_problems_are_listed_as_json(tmp_path: Path, command: Command) -> None:
    file = tmp_path / "broken.py"
    file.write_text("def half(:\n", encoding="utf-8")

    broken = command("skill", "check", file, "--json")
    command("skill", "new", "sound", "--folder", tmp_path)
    sound = command("skill", "check", tmp_path / "sound.py", "--json")

    (problem,) = json.loads(broken.out)
    assert broken.code == 1
    assert (problem["file"], problem["line"]) == (str(file), 1)
    assert problem["problem"]
    assert (sound.code, json.loads(sound.out)) == (0, [])


def test_without_a_folder_it_is_the_persons_own(home: Path, command: Command) -> None:
    assert command("skill", "new", "mine").code == 0

    assert (home / "mine.py").is_file()


def test_a_file_that_is_there_is_not_written_over(tmp_path: Path, command: Command) -> None:
    file = save(tmp_path / "mine.py", "# precious\n")

    done = command("skill", "new", "mine", "--folder", tmp_path)

    assert (done.code, "already exists" in done.err) == (2, True)
    assert file.read_text() == "# precious\n"


NO_NAMES = [
    *("", ".", "..", "../x", "../../x", "..\\x", "/x", "/etc/x", "//x", "\\\\host\\x", "C:x"),
    *("C:\\x", "x/y", "x\\y", "x/../y", "./x", "x/", "x.py", "x y", " x", "x ", "x\n", "x\0y"),
    *("~", "~/x", "$HOME", "%APPDATA%", "x;y", "x|y", "x&y", "`x`", "$(x)", "-x", "--x", "x-y"),
    *("_x", "__init__", "1x", "x:y", "x*", "x?", "<x>", '"x"', "'x'", "x%2fy", "%2e%2e", "x\ty"),
    *("class", "def", "None", "löschen", "\uff58", "x\u202ey", "x\u200by"),
    *("con", "NUL", "com1", "lpt9", "aux", "Prn", "x" * 61, "x" * 5000, "{name}", "x{}"),
]


@pytest.mark.parametrize("name", sampled(NO_NAMES[::3], NO_NAMES), ids=ascii)
def test_a_name_that_leads_elsewhere_is_no_name(
    name: str, tmp_path: Path, command: Command
) -> None:
    assert command("skill", "new", "--folder", tmp_path / "skills", "--", name).code == 2

    assert list(tmp_path.rglob("*")) == []


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("class", "it is a word of Python"),
        ("nul", "no file can have it in Windows"),
        ("x" * 61, "it has more than 60 characters"),
        ("my-skill", "use letters, digits and underscores"),
    ],
)
def test_it_is_said_why_a_name_is_none(name: str, why: str, command: Command) -> None:
    assert f"cannot be the name of a skill: {why}" in command("skill", "new", name).err


def test_findings_are_lines_and_the_exit_code_is_1(tmp_path: Path, command: Command) -> None:
    file = save(tmp_path / "mine.py", "def mine(a):\n    '''Do it.'''\n")

    told = command("skill", "check", file)

    assert told.code == 1
    assert told.out.splitlines() == [
        f"{file}:1: mine: 'a' has no type, so agents may pass anything.",
        f'{file}:1: mine: it states no risk, so it counts as "destructive": add @skill(risk=...).',
    ]
    assert told.err == "2 problems in 1 file.\n"


SAME = """\
from dcc_bridge import skill


@skill(risk="read", hosts=["usd"])
def same() -> str:
    '''Say where this is.'''
    return __file__
"""


ORDER = ("mine/z.py", "show/skills/z.py", "studio/a.py", "studio/b.py", "two/z.py", "one/z.py")


@pytest.mark.timeout(120)
@pytest.mark.parametrize("names", sampled([ORDER[1::3]], [ORDER[1::3], ORDER]), ids=len)
def test_of_two_skills_of_a_name_the_first_in_the_order_of_the_guide_wins_everywhere(
    names: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In `serve` and in `run`."""
    places = [save(tmp_path / name, SAME) for name in names]
    more = {
        "DCC_BRIDGE_USER_SKILLS": str(tmp_path / "mine"),
        "DCC_BRIDGE_PROJECT": str(tmp_path / "show"),
        "DCC_BRIDGE_SKILLS": str(tmp_path / "studio"),
    }
    elsewhere = SAME.replace("usd", "Blender")
    save(tmp_path / "elsewhere" / "z.py", elsewhere)
    for name, value in more.items():
        monkeypatch.setenv(name, value)
    folders = dict.fromkeys(str(Path(name).parent) for name in (*ORDER, "elsewhere/z.py"))
    for folder in folders:
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    given = ("--skills", tmp_path / "two", "--skills", tmp_path / "one")
    runtime = tmp_path / "runtime"

    assert run(runtime, "run", "same", *given, **more).out == f'"{places[0]}"\n'
    with serve(runtime, "--headless", *given, **more) as host:
        while places:
            until(lambda: host.run("call", "same").out == f"{places[0]}\n")
            places.pop(0).unlink()

    guide = (data_folder("resources") / "guide" / "skills.md").read_text()
    words = (
        "of an installed command",
        "`dcc-bridge skill new NAME`",
        *list(more)[1:],
        "`--skills`",
    )
    assert [guide.index(word) for word in words] == sorted(guide.index(word) for word in words)


def test_a_path_that_is_not_there_is_a_usage_error(tmp_path: Path, command: Command) -> None:
    assert command("skill", "check", tmp_path / "gone").code == 2


def test_a_file_of_another_kind_is_a_usage_error(tmp_path: Path, command: Command) -> None:
    text = tmp_path / "readme.md"
    text.write_text("# Skills")

    done = command("skill", "check", text)

    assert (done.code, done.out) == (2, "")
    assert f"{text} is no skill file, as its name does not end in .py" in done.err


def test_where_there_is_nothing_to_check_it_is_said_what_could_be(
    tmp_path: Path, command: Command
) -> None:
    done = command("skill", "check", tmp_path)

    assert done.code == 0
    assert "nothing to check: skills are files that end in .py" in done.err


def test_a_file_in_another_encoding_that_it_declares_has_no_problems(
    tmp_path: Path, command: Command
) -> None:
    file = tmp_path / "see.py"
    text = '@skill(risk="read")\ndef see() -> dict:\n    """Look at a café."""\n    return {}\n'
    text = f"# -*- coding: latin-1 -*-\nfrom dcc_bridge import skill\n\n\n{text}"
    file.write_text(text, encoding="latin-1")

    done = command("skill", "check", file)

    assert (done.code, done.out) == (0, "No problems in 1 file.\n")
