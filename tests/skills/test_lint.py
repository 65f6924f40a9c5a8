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


FORM = f"""{HEAD}from typing import Literal
from enum import StrEnum

class Axis(StrEnum):
    UP = "up"

class Inner:
    x: int

class Shot:
    {{field}}

@skill(risk="read")
def ask() -> str:
    '''Ask.'''
    return elicit_form_sync("Which?", Shot).value.name
"""


@pytest.mark.parametrize(
    ("field", "told"),
    [
        ("size: Literal[1, 2]", 'Write Literal["1", "2"], and int(...) of the answer.'),
        ("size: Literal[1, 2] | None", 'Write Literal["1", "2"]'),
        ("names: list[str]", 'Write list[Literal["a", "b"]].'),
        ("names: list", 'Write list[Literal["a", "b"]].'),
        ("inner: Inner", "a form is flat"),
        ("inner: dict[str, int] = {}", "a form is flat"),
    ],
)
def test_a_field_that_no_form_can_have_is_told_with_what_to_write(
    field: str, told: str, tmp_path: Path
) -> None:
    ((line, what),) = said(tmp_path, FORM.format(field=field))

    assert line == 13
    assert what.startswith(f"The field {field.partition(':')[0]!r}: ")
    assert told in what


@pytest.mark.parametrize(
    "field",
    [
        "name: str = 'hero'",
        "frames: int",
        "axis: Axis",
        "kind: Literal['a', 'b'] | None = None",
        "kinds: list[Literal['a', 'b']]",
        "day: datetime.date",
        "other: somewhere.Else",
    ],
)
def test_a_field_of_the_subset_is_no_problem(field: str, tmp_path: Path) -> None:
    assert said(tmp_path, FORM.format(field=field)) == []


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ('{"type": "object", "properties": {"a": {"type": "object"}}}', "cannot be asked for"),
        ('{"type": "object", "properties": {"password": {"type": "string"}}}', "password"),
        ('{"type": "object", "properties": {"a": {"type": "string", "x": 1}}}', "'x'"),
    ],
)
@pytest.mark.parametrize("is_named", [False, True])
def test_a_schema_that_no_client_could_draw_is_told(
    is_named: bool, form: str, told: str, tmp_path: Path
) -> None:
    written = "FORM" if is_named else form
    text = f"{HEAD}FORM = {form}\n@skill(risk='read')\ndef x():\n    '''Do.'''\n"

    ((_, what),) = said(tmp_path, f"{text}    elicit_form_sync('Which?', schema={written})\n")

    assert told in what


@pytest.mark.parametrize(
    ("brings", "result"),
    [
        ("import bpy", "bpy.types.Object"),
        ("from pxr import Usd", "list[Usd.Prim]"),
        ("from pxr.Usd import Prim", "Prim | None"),
    ],
)
def test_a_result_that_no_agent_can_read_is_told(brings: str, result: str, tmp_path: Path) -> None:
    text = f"{brings}\n{HEAD}@skill(risk='read')\ndef x() -> {result}:\n    '''Do.'''\n"

    ((line, what),) = said(tmp_path, text)

    assert line == 5
    assert "which no agent can read: return a name, a path or numbers." in what


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
