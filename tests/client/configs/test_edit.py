"""An edit of a configuration changes one entry, and no other byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcc_bridge.client.configs.edit import find, put, remove

ENTRY = {"command": "/opt/dcc-bridge", "args": ["connect", "--label", "é"]}
PATH = ("mcpServers", "dcc-bridge")
BY_HAND = """\
// my servers
{
\t"theme": "dark", // "mcpServers": {
\t/* the real ones */
\t"mcpServers": {
\t\t"git": {"command": "git-mcp", "args": ["a,b", "}"],}, // keep
\t\t// "old": {},
\t},
}
"""
TEXTS = [
    "{}",
    "{\n}\n",
    '{"a": 1}',
    '{"mcpServers": {"x": {}}, "z": 2}',
    '{ // c\n  "a": 1 // last\n  // tail\n}\n',
    '{\n    "mcpServers": {},\n    "z": "// none"\n}',
    '{\n "mcpServers": {\n  "a": 1 /* q */,\n  /* below */ "b": 2 // r\n }\n}',
    BY_HAND,
    BY_HAND.replace("\n", "\r\n"),
]
plain = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
data = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner)
)


@pytest.mark.parametrize("text", ["", *TEXTS])
def test_the_entry_is_put_in_once_and_every_character_that_was_there_stays(text: str) -> None:
    done = put(text, PATH, ENTRY)

    assert find(done, PATH) == ENTRY
    assert put(done, PATH, ENTRY) == done
    characters = iter(done)
    assert all(character in characters for character in text)


@pytest.mark.parametrize("text", [BY_HAND, BY_HAND.replace("\n", "\r\n"), TEXTS[6]])
def test_taken_out_again_the_file_is_what_it_was_byte_for_byte(text: str) -> None:
    assert remove(put(text, PATH, ENTRY), PATH) == text


@pytest.mark.parametrize("text", ["", *TEXTS])
def test_what_was_not_there_is_not_taken_out(text: str) -> None:
    assert remove(text, PATH) == text


def test_an_entry_that_is_another_one_is_made_right_where_it_stands() -> None:
    text = '{"mcpServers": {"dcc-bridge": {"command": "old"}, "z": 1} /* end */}'

    done = put(text, PATH, ENTRY)

    assert find(done, PATH) == ENTRY
    assert done.endswith(', "z": 1} /* end */}')


@pytest.mark.parametrize("before", ["", '"a": 1, ', '"a": 1, "b": [],'])
@pytest.mark.parametrize("after", ["", ', "c": {}', ", // note\n"])
def test_it_is_taken_out_wherever_it_stands(before: str, after: str) -> None:
    text = f'{{"mcpServers": {{{before}"dcc-bridge": {{}}{after}}}}}'

    rest = json.loads(json.dumps(find(remove(text, PATH), PATH[:1])))

    assert "dcc-bridge" not in rest
    assert set(rest) == {key for key in "abc" if f'"{key}"' in text}


@given(st.dictionaries(st.text(max_size=5), data, max_size=4), st.sampled_from([None, 2, "\t"]))
def test_any_json_keeps_all_that_is_not_ours(held: dict[str, Any], indent: Any) -> None:
    text = json.dumps(held, indent=indent)
    if not isinstance(held.get("mcpServers", {}), dict):
        return

    done = put(text, PATH, ENTRY)

    told = json.loads(done)
    assert told["mcpServers"].pop("dcc-bridge") == ENTRY
    assert {**held, "mcpServers": held.get("mcpServers", {})} == told
    assert json.loads(remove(done, PATH)) == told


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 1\n "b": 2}', "from line 2 on"),
        ("{'a': 1}", "from line 1 on"),
        ('{"a": 1} x', "from line 1 on"),
        ('{"mcpServers": []}', "mcpServers is no object"),
        ("[]", "the whole is no object"),
    ],
)
def test_what_is_not_understood_is_not_edited(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        put(text, PATH, ENTRY)
