"""A plain Python file becomes a tool, and a bad one harms no other."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from dcc_bridge import skill
from dcc_bridge.errors import BadArguments, BrokenSkill, SkillError, UnknownSkill
from dcc_bridge.skills import loader
from dcc_bridge.skills.registry import Registry
from dcc_bridge.skills.signature import Signature
from dcc_bridge.skills.skill import describe

GOOD = '''
from dcc_bridge import skill

@skill(risk="read", title="List cameras")
def list_cameras(pattern: str = "*", **kwargs) -> list:
    """List the cameras.

    Args:
        pattern: A glob on the name.
    """
    return []

def not_offered():
    """No decorator, in a file that has some."""
'''


def write(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.write_text(text)
    return file


def test_a_decorated_function_is_a_skill_and_the_others_are_not(tmp_path: Path) -> None:
    (found,) = loader.skills(write(tmp_path, "cameras.py", GOOD))

    assert (found.name, found.title, found.metadata.risk) == (
        "list_cameras",
        "List cameras",
        "read",
    )


def test_a_plain_function_with_a_docstring_is_a_destructive_skill(tmp_path: Path) -> None:
    text = 'def wipe():\n    """Wipe it."""\n\ndef _inner():\n    """Not offered."""\n'

    (found,) = loader.skills(write(tmp_path, "wipe.py", text))

    assert (found.name, found.metadata.risk, found.metadata.confirms) == (
        "wipe",
        "destructive",
        False,
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("def x(:\n", "broken.py, line 1: SyntaxError"),
        ("\n\nimport no_such_module\n", "broken.py, line 3: ModuleNotFoundError"),
        ("x = 1\n", "no function that is a skill"),
        ("def x(a, /):\n    '''Doc.'''\n", "'a' cannot be given by its name"),
        ("def x(a: 'Nowhere'):\n    '''Doc.'''\n", "Nowhere"),
    ],
)
def test_a_broken_file_is_named_and_harms_no_other(tmp_path: Path, text: str, told: str) -> None:
    registry = Registry()
    write(tmp_path, "broken.py", text)
    write(tmp_path, "cameras.py", GOOD)

    for file in loader.files(tmp_path):
        loader.load(file, registry)

    assert told in str(registry.broken["broken"])
    assert [entry.skill.name for entry in registry.entries()] == ["list_cameras"]
    with pytest.raises(BrokenSkill):
        registry.find("broken")


def test_a_name_that_is_taken_is_refused_with_both_places(tmp_path: Path) -> None:
    registry = Registry()
    for name in ("one.py", "two.py"):
        loader.load(write(tmp_path, name, GOOD), registry)

    assert "one.py" in str(registry.broken["two"])
    assert "two.py" in str(registry.broken["two"])


def test_a_skill_for_another_host_is_passed_over(tmp_path: Path) -> None:
    text = GOOD.replace('risk="read"', 'risk="read", hosts=["maya"]')
    registry = Registry()

    loader.load(write(tmp_path, "cameras.py", text), registry, "blender")

    assert registry.entries() == []


def test_what_was_loaded_can_be_taken_out_again(tmp_path: Path) -> None:
    registry = Registry()

    loader.load(write(tmp_path, "cameras.py", GOOD), registry)()

    with pytest.raises(UnknownSkill, match="'list_cameras'"):
        registry.find("list_cameras")


def test_a_missing_folder_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(SkillError, match="no folder of skills"):
        loader.files(tmp_path / "nowhere")


def test_the_signature_and_the_docstring_make_the_schema() -> None:
    def rename(path: str, kind: Literal["a", "b"] = "a", keep: list[str] = []) -> None:  # noqa: B006
        """Rename a prim.

        Its children come along.

        Args:
            path: Where it is.
            kind: Which way.
        """

    signature = Signature(rename, "rename")

    assert signature.description == "Rename a prim.\n\nIts children come along."
    assert signature.schema["required"] == ["path"]
    assert signature.schema["properties"]["path"]["description"] == "Where it is."
    assert signature.schema["properties"]["kind"]["enum"] == ["a", "b"]
    assert signature.bind({"path": "/a"}) == {"path": "/a", "kind": "a", "keep": []}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "path: it is required"),
        ({"path": "/a", "pth": 1}, "pth: there is no such argument"),
        ({"path": 3}, "path: input should be a valid string"),
    ],
)
def test_arguments_that_do_not_fit_are_named(arguments: dict[str, object], told: str) -> None:
    def rename(path: str) -> None:
        """Rename."""

    with pytest.raises(BadArguments) as error:
        Signature(rename, "rename").bind(arguments)

    assert told in str(error.value)


def test_a_parameter_may_be_named_like_anything_of_pydantics() -> None:
    def odd(schema: str, copy: int, model_config: bool, json: str = "x") -> None:
        """Odd."""

    bound = Signature(odd, "odd").bind({"schema": "s", "copy": 1, "model_config": True})

    assert bound == {"schema": "s", "copy": 1, "model_config": True, "json": "x"}


def test_the_decorator_gives_the_function_back_unchanged() -> None:
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    marked = skill(risk="read")(add)

    assert marked is add
    assert marked(1, 2) == 3
    assert describe(add).metadata.risk == "read"
