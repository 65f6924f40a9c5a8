"""What a file's text says of its skills is what importing it says, or nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcc_bridge.skills import importer
from dcc_bridge.skills.signature import Signature, shape_of
from dcc_bridge.skills.source import Source

HEADS = (
    "from dcc_bridge import skill\n",
    "from __future__ import annotations\nfrom dcc_bridge import skill\n",
)
IMPORTS = """
import typing
import typing as t
import datetime
import pathlib, collections.abc
from pathlib import Path
from decimal import Decimal as D
from typing import Any, Literal, Optional, Union
"""
TOLD = [
    "a",
    "a, b=1, *args, **kwargs",
    "a: str, *, b: int = -3, c: float = 1.5, d: bool = True",
    "a: list[str] = [], b: dict[str, int] = {}, c: tuple[float, float] = (0.0, 1.0)",
    "a: str | None = None, b: Optional[int] = None, c: Union[int, str] = 1",
    "a: Literal['x', 'y', 1, None] = 'x', b: t.Literal[True] = True",
    "a: Path, b: pathlib.Path, c: datetime.date, d: D, e: collections.abc.Sequence[int]",
    "a: set[str], b: frozenset[bytes], c: Any, d: object",
    "a: typing.Any, b: tuple[int, ...]",
]
UNTOLD = [
    "a: Mine",
    "a: list[Mine]",
    "a: int = compute()",
    "a: Missing",
    "a: numpy.ndarray",
    "a: Twice",
    "a: Annotated[int, Mine]",
    "a: int = LEAST",
    "a: typing.Annotated[int, 'more than a type']",
    "a: Kind",
    "a: 'str | None'",
    "a: list['int']",
    "a, /",
]
MINE = """
import enum, typing
class Mine(enum.Enum): A = 1
def _compute(): return 1
Twice = int
Twice = str
LEAST = 3
Kind = typing.Literal["a", "b"]
"""


def source(text: str) -> Source:
    return Source.of(Path("/skills/file.py"), text.encode())


@pytest.mark.parametrize("returns", ["", " -> dict[str, int]", " -> list[Path] | None", " -> None"])
@pytest.mark.parametrize("head", HEADS, ids=["now", "postponed"])
@pytest.mark.parametrize("parameters", TOLD)
def test_plain_types_are_told_by_the_text(parameters: str, head: str, returns: str) -> None:
    text = (
        f"{head}{IMPORTS}\n@skill(risk='read')\ndef x({parameters}){returns}:\n    '''Do it.'''\n"
    )
    read = source(text)

    (told,) = read.skills() or ()
    (there,) = importer.skills(read)

    assert told.shape is not None
    assert repr(told.shape) == repr(shape_of(there.fn, "x"))
    static, real = Signature(told.shape, "x"), Signature.of(there.fn, "x")
    assert (static.schema, static.description) == (real.schema, real.description)
    assert static.returns.schema == real.returns.schema


@pytest.mark.parametrize("head", HEADS, ids=["now", "postponed"])
@pytest.mark.parametrize("parameters", UNTOLD)
def test_what_the_text_cannot_say_is_left_to_the_import(parameters: str, head: str) -> None:
    read = source(f"{head}{MINE}\n@skill(risk='read')\ndef x({parameters}): '''Do it.'''\n")

    (told,) = read.skills() or ()

    assert told.name == "x"
    assert told.shape is None


@pytest.mark.parametrize(
    "text",
    [
        "def int(a: str): 'Make one.'\ndef x(a: int): 'Doc.'\n",
        "from typing import *\ndef x(a: str): 'Doc.'\n",
        "str = int\ndef x(a: str): 'Doc.'\nstr = bytes\n",
        "try:\n    from typing import Any as str\nexcept ImportError: pass\ndef x(a: str): 'D.'\n",
        "for str in (int,): pass\ndef x(a: str): 'Doc.'\n",
    ],
)
def test_a_built_in_name_that_the_file_takes_is_not_the_built_in_one(text: str) -> None:
    declared = source(text).skills()

    assert declared is None or all(one.shape is None for one in declared if one.name == "x")


@pytest.mark.parametrize(
    "text",
    [
        "if True:\n    def x(): 'Doc.'\n",
        "def x(): 'Doc.'\ndef x(): 'Other.'\n",
        "def x(): 'Doc.'\ndel x\n",
        "import studio\n@studio.tool\ndef x(): 'Doc.'\n",
        "from dcc_bridge import skill\ny = skill(risk='read')(print)\ndef x(): 'Doc.'\n",
        "from dcc_bridge import skill\nimport s\n@skill\n@s.twice\ndef x(): 'Doc.'\n",
        "from dcc_bridge import skill\nR = input()\n@skill(risk=R)\ndef x(): 'Doc.'\n",
        "from dcc_bridge import skill\nR = 'edit'\n@skill(risk=R)\ndef x(): 'Doc.'\n",
        "from dcc_bridge import skill\nM = {}\n@skill(**M)\ndef x(): 'Doc.'\n",
        "from studio import *\ndef x(): 'Doc.'\n",
    ],
)
def test_a_file_that_makes_its_skills_itself_is_left_to_the_import(text: str) -> None:
    assert source(text).skills() is None


@pytest.mark.parametrize(
    "text",
    [
        "import dcc_bridge\n@dcc_bridge.skill(risk='edit')\ndef x(): 'Doc.'\n",
        "from dcc_bridge import skill as tool\n@tool(risk='edit')\ndef x(): 'Doc.'\n",
        "from dcc_bridge import skill\n@skill(risk='edit')\nasync def x(): 'Doc.'\n",
        "from functools import cache\nfrom dcc_bridge import skill\n@cache\ndef _y(): ...\n"
        "@skill(risk='edit')\ndef x(): 'Doc.'\n",
    ],
)
def test_the_decorator_is_known_by_whatever_name(text: str) -> None:
    (declared,) = source(text).skills() or ()

    assert (declared.name, declared.metadata.risk) == ("x", "edit")
