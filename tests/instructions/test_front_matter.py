"""The front matter of a SKILL.md: what is read means to us what it means in YAML."""

from __future__ import annotations

from contextlib import suppress

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from dcc_bridge.errors import InstructionError
from dcc_bridge.instructions.front_matter import read_fields

HEAD = "name: x\n"


def written(fields: str) -> str:
    return f"---\n{fields}---\n\n# A text\n"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("name: light-a-shot\n", {"name": "light-a-shot"}),
        ("name: x  # a remark\n\n# one more\nlicense: MIT\n", {"name": "x", "license": "MIT"}),
        ("a: 'it''s'\nb: \"two\\nlines: \\\"1\\\"\"\n", {"a": "it's", "b": 'two\nlines: "1"'}),
        ("a: >-\n  one\n  two\n\n  three\n", {"a": "one two\nthree"}),
        ("a: |\n  one\n  two\nb: c\n", {"a": "one\ntwo\n", "b": "c"}),
        ("m:\n  by: us\n  version: '1.0'\nb: c\n", {"m": {"by": "us", "version": "1.0"}, "b": "c"}),
        ("allowed-tools: Bash(git:*) Read\n", {"allowed-tools": "Bash(git:*) Read"}),
    ],
)
def test_texts_and_maps_of_texts_are_read_as_they_are_in_yaml(
    fields: str, expected: object
) -> None:
    read = read_fields(written(fields))

    assert read == expected == yaml.safe_load(fields)


def test_line_ends_of_windows_are_line_ends() -> None:
    assert read_fields("---\r\nname: x\r\na: |-\r\n  b\r\n---\r\n") == {"name": "x", "a": "b"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "line 1: it does not begin with ---"),
        ("# Title\n", "line 1: it does not begin with ---"),
        ("---\nname: x\n", "line 1: no --- ends the front matter"),
        (written("name x\n"), "line 2: it is not 'key: text'"),
        (written(f"{HEAD}name: y\n"), "line 3: 'name' stands there twice"),
        (written(f"{HEAD}tags: [a, b]\n"), "line 3: write its text in double quotes"),
        (written(f"{HEAD}tags:\n  - a\n"), "line 4: it is not 'key: text'"),
        (written(f"{HEAD}m:\n  version: 1.0\n"), "line 4: write its text in double quotes"),
        (written(f"{HEAD}a: yes\n"), "line 3: write its text in double quotes"),
        (written(f"{HEAD}a:\n"), "line 3: write its text in double quotes"),
        (written(f"{HEAD}a: Use this: now\n"), "line 3: write its text in double quotes"),
        (written(f"{HEAD}a: &b c\n"), "line 3: write its text in double quotes"),
        (written(f"{HEAD}a: !!python/name:os.system x\n"), "line 3: write its text in double"),
        (written(f"{HEAD}a: one\n  two\n"), "line 3: write its text in one line, or below >-"),
        (written(f"{HEAD}a: >\n  one\n    two\n"), "line 5: begin each line of this text with"),
        (written(f"{HEAD}a: >\nb: c\n"), "line 3: the text below is missing"),
        (written(f"{HEAD}\ta: b\n"), "line 3: it is not 'key: text'"),
    ],
)
def test_what_yaml_may_read_otherwise_is_refused_with_its_line(text: str, told: str) -> None:
    with pytest.raises(InstructionError) as refused:
        read_fields(text)

    assert str(refused.value).startswith(told)


PIECES = st.sampled_from(
    [*"ab:#'\"|>-!&*?[]{}%@`,~=<. \n\\", "  ", "\n  ", ": ", "a: ", "\nb: ", ">-\n", ">-\n  ",
     "|\n", "|\n  ", "\n  a: b", "\n\n", "    ", "1.0", "yes", "2026-01-02", "null", " # ", "\\n",
     "é", "words"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=14).map("".join))
def test_what_is_read_is_never_something_else_in_yaml(fields: str) -> None:
    text = f"---\nkey: {fields}\n---\n"
    read: object = None
    with suppress(InstructionError):
        read = read_fields(text)

    if read is not None:
        front = text.removeprefix("---\n").partition("\n---")[0]
        assert read == yaml.safe_load(front + "\n")
