"""Lines that a terminal may show."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from dcc_bridge.client.terminal_io import lines


@given(st.text(), st.integers(min_value=20, max_value=200))
def test_nothing_that_a_terminal_acts_on_is_left(text: str, columns: int) -> None:
    kinds = {unicodedata.category(char) for part in lines(text, columns) for char in part}

    assert {kind for kind in kinds if kind[0] == "C" or kind in ("Zl", "Zp")} == set()


@given(st.text(), st.integers(min_value=20, max_value=200))
def test_no_line_is_wider_than_it_may_be(text: str, columns: int) -> None:
    assert all(_width(part) <= columns for part in lines(text, columns))


@given(st.lists(st.text("abc .", min_size=1), min_size=1))
def test_no_word_is_lost(parts: list[str]) -> None:
    shown = " ".join(lines("\n".join(parts), 40))

    assert shown.replace(" ", "") == "".join(parts).replace(" ", "")


def test_what_follows_of_a_point_cannot_pass_for_the_next_point() -> None:
    shown = lines("Turn?\n- path: «" + "x " * 30 + "- axis: y»\n- count: «2»", 30)

    assert [part for part in shown if part.startswith("-")] == [shown[1], "- count: «2»"]
    assert all(part.startswith("  ") for part in shown[2:-1])


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)
