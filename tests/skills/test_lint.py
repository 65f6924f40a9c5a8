"""The check of skill files finds what is wrong by reading them, each with its file and line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dcc_bridge.cli import leaves
from dcc_bridge.errors import SkillError
from dcc_bridge.skills import lint
from dcc_bridge.skills.skill import HOSTS
from tests.skills.shelf import save

HEAD = "import no_such_module\nfrom dcc_bridge import skill\n"
FINE = f"{HEAD}@skill(risk='read')\ndef x(a: no_such_module.Type, *, b=1):\n    '''Do it.'''\n"


def said(tmp_path: Path, text: str) -> list[tuple[int, str]]:
    file = save(tmp_path / "x.py", text)
    return [(one.line, one.message) for one in lint.check(file)]


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("def x(:\n", 1, "SyntaxError"),
        ("def x():\n    y = 1\n    +\n", 3, "SyntaxError"),
        (f"{HEAD}\n@skill(risk='read')\ndef x(): ...\n", 5, "x: it has no docstring"),
        (FINE, 4, "x: 'b' has no type, so agents may pass anything."),
        ("def x():\n    '''Do it.'''\n", 1, "x: it states no risk"),
        (f"{HEAD}@cache\ndef x():\n    '''Do it.'''\n", 4, "x: it states no risk"),
        (f"{HEAD}@skill(risk='raed')\ndef x():\n    '''Do it.'''\n", 4, "risk is read, edit"),
        (f"{HEAD}@skill(rsik='', risk='edit')\ndef x():\n    '''Do.'''\n", 4, "mean 'risk'?"),
        ("x = 1\n", 1, "no function that is a skill"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(
    text: str, line: int, told: str, tmp_path: Path
) -> None:
    ((where, what),) = said(tmp_path, text)

    assert where == line
    assert told in what


def test_a_skill_with_docstring_types_and_risk_has_no_problem(tmp_path: Path) -> None:
    assert said(tmp_path, FINE.replace("b=1", "b: int = 1")) == []
    assert said(tmp_path, FINE.replace("b=1", "b: int = 1").replace("risk='read'", "**READ")) == []


@pytest.mark.parametrize("mark", ["@skill", "@dcc_bridge.skill", "@skill(undo='Do it')"])
def test_a_skill_that_is_marked_need_not_state_a_risk(mark: str, tmp_path: Path) -> None:
    """What it loses is asked about all the same."""
    assert said(tmp_path, f"{HEAD}{mark}\ndef x():\n    '''Do it.'''\n") == []


@pytest.mark.skipif(sys.platform == "win32", reason="rights are POSIX's")
def test_a_file_that_others_can_write_is_told(tmp_path: Path) -> None:
    file = save(tmp_path / "x.py", FINE)
    file.chmod(0o666)

    (found,) = lint.check(file)

    assert "chmod o-w" in found.message


def test_it_knows_every_host_that_comes_with_us() -> None:
    assert list(HOSTS) == leaves.host_names()


def test_a_path_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(SkillError, match="no file or folder"):
        lint.files(tmp_path / "gone")


@pytest.mark.parametrize("folder", ["plugins/batch/dcc_bridge_batch/skills", "resources/skills"])
def test_our_own_skills_pass(folder: str) -> None:
    files = lint.files(Path(__file__).parents[2] / folder)

    assert [lint.check(file) for file in files] == [[]] * len(files)
