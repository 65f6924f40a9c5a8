"""JSON with comments, edited in place."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcc_bridge.client.jsonc import Document, InvalidJson
from tests.tiers import repeated

SPACES = st.sampled_from(["", "", " ", "\n", "\r\n\t", "// x, }\n", '/* ] // " */', "/**/ \n"])
SCALARS = st.sampled_from(["1e400", "1.0", "-0", "true", "null", r'"\u00e9\\\"//"', '"/*"'])
NAMES = st.sampled_from(["a", "b", "ours", "c d", "é", "x//"])
ENTRY = {"command": "/a b/é", "args": ["connect", '"'], "env": {"A": "1"}}


@st.composite
def values(draw: st.DrawFn, levels: int = 3) -> str:
    """Write a value, with comments and space at every place where they may be."""
    kind = draw(st.integers(0, 3))
    if levels == 0 or kind < 2:
        return draw(SCALARS)
    if kind == 2:
        items = draw(st.lists(values(levels - 1), max_size=3))
        return written(draw, "[]", items)
    return draw(objects(levels))


@st.composite
def objects(draw: st.DrawFn, levels: int = 3) -> str:
    """Write an object, likewise."""
    names = draw(st.lists(NAMES, max_size=4, unique=True))
    members = []
    for name in names:
        value = draw(values(levels - 1))
        members.append(f"{json.dumps(name)}{draw(SPACES)}:{draw(SPACES)}{value}")
    return written(draw, "{}", members)


def written(draw: st.DrawFn, brackets: str, items: list[str]) -> str:
    """Write a list or an object of its items."""
    spaced = [f"{draw(SPACES)}{item}{draw(SPACES)}" for item in items]
    end = draw(SPACES)
    if items:
        end = draw(st.sampled_from(["", ","])) + end
    return f"{brackets[0]}{','.join(spaced)}{end}{brackets[1]}"


def without(said: list[str], entry: list[str]) -> list[str]:
    """Leave an entry out of what a text says."""
    at = next(it for it in range(len(said)) if said[it : it + len(entry)] == entry)
    return said[:at] + said[at + len(entry) :]


@given(objects(), st.sampled_from(["", "\ufeff"]))
def test_what_is_added_to_any_text_and_removed_again_leaves_all_else_as_it_was(
    text: str, mark: str
) -> None:
    """Its tokens and comments; and its bytes, where something else is in the same object."""
    text = mark + Document(text).remove("ours")
    before = Document(text).significant()

    added = Document(text).set(["ours"], ENTRY)
    removed = Document(added).remove("ours")

    assert Document(added).get("ours") == ENTRY
    said = [it for it in Document(added).significant() if it != ","]
    entry = ['"ours"', ":", *(it for it in Document(json.dumps(ENTRY)).significant() if it != ",")]
    assert without(said, entry) == [it for it in before if it != ","]
    assert Document(removed).significant() == before
    if Document(text).get():
        assert removed == text


@given(objects(), NAMES)
def test_a_value_that_is_replaced_leaves_the_text_on_both_sides_of_it(text: str, name: str) -> None:
    with_one = Document(text).set([name], 1)

    changed = Document(with_one).set([name], ENTRY)

    assert Document(changed).get(name) == ENTRY
    assert Document(changed).set([name], 1) == with_one


@given(objects())
def test_a_value_is_read_as_python_reads_json_without_comments(text: str) -> None:
    document = Document(text)

    value = document.get()

    assert value == json.loads("".join(it for it in document.significant() if it[0] != "/"))


@pytest.mark.parametrize("levels", repeated(3_000, 200_000))
def test_neither_nesting_nor_comments_slow_it_down_or_stop_it(levels: int) -> None:
    """What grows faster than the text does not end within the time of a test."""
    deep = '{"a":' * levels + "1," + "/**/" * levels + "}" * levels
    text = "{" + f'"deep": {deep}' + "}"

    changed = Document(text).set(["ours"], {})

    assert changed == text[:-1] + ', "ours": {}}'


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{", 1),
        ('{"a"}', 1),
        ('{"a" 1}', 1),
        ("{,}", 1),
        ('{"a": [,]}', 1),
        ('{"a": 1 "b": 2}', 1),
        ('{"a":\n01}', 2),
        ('{"a":\n1.}', 2),
        ('{"a": tru}', 1),
        ('{"a": "\t"}', 1),
        (r'{"a": "\x"}', 1),
        ('{"a": "', 1),
        ('{"a": 1} /* b', 1),
        ('{"a": 1}\n{}', 2),
        ('{"a": [1}\n', 1),
        ("}", 1),
    ],
)
def test_what_is_no_json_is_refused_with_the_line(text: str, line: int) -> None:
    with pytest.raises(InvalidJson, match=f"^it is not valid JSON from line {line} on$"):
        Document(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[]", "it does not hold a JSON object"),
        ('{"a": 1}', "a is not an object in it"),
        ('{"a": {}, "\\u0061": {}}', "a is in it twice"),
    ],
)
def test_what_cannot_be_edited_says_why(text: str, why: str) -> None:
    with pytest.raises(InvalidJson, match=f"^{why}$"):
        Document(text).set(["a", "b"], 1)


def test_a_value_that_is_too_deep_for_python_is_refused_and_no_other() -> None:
    document = Document('{"deep": ' + "[" * 100_000 + "]" * 100_000 + ', "b": {"c": 1}}')

    assert document.get("b") == {"c": 1}
    with pytest.raises(InvalidJson, match="deep is nested too deeply"):
        document.get("deep")


@pytest.mark.parametrize("text", ["", " \n", "\ufeff", "// mine", "/* mine */\n"])
def test_a_text_without_a_value_stands_for_an_empty_object(text: str) -> None:
    changed = Document(text).set(["a", "b", "c"], {})

    assert changed.startswith(text)
    assert Document(changed).get() == {"a": {"b": {"c": {}}}}
