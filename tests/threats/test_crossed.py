"""Answers that reach another one's question (row 24)."""

from __future__ import annotations

import time
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path

import pytest

from dcc_bridge import elicit_form, elicit_form_sync, skill
from tests.live import live
from tests.threats.raw import Raw
from tests.threats.talking import talk_at_once

CLIENTS = 32
PROCESSES = 2
QUESTIONS = [10, pytest.param(1000, marks=pytest.mark.timeout(590))]
SCHEMA = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}


@skill(risk="read", thread="any")
def on_pool(word: str) -> str:
    """Ask for a word."""
    answer = elicit_form_sync(f"Say {word}", SCHEMA, key="word")
    return f"{word} {(answer.data or {}).get('word')}"


@skill(risk="read")
async def on_loop(word: str) -> str:
    """Ask for a word."""
    answer = await elicit_form(f"Say {word}", SCHEMA, key="word")
    return f"{word} {(answer.data or {}).get('word')}"


@pytest.mark.long
@pytest.mark.parametrize("questions", QUESTIONS)
def test_no_answer_reaches_another_question(questions: int, tmp_path: Path) -> None:
    """Thirty-two clients at once, half of them under one label; each gets what it said itself."""
    with (
        ProcessPoolExecutor(PROCESSES, get_context("spawn")) as processes,  # ends behind the bridge
        live(tmp_path, on_pool, on_loop, open_questions_of_a_client=CLIENTS) as running,
    ):
        raws = [Raw.to(running, f"client{max(0, number - 15)}") for number in range(CLIENTS)]
        shares = [raws[first::PROCESSES] for first in range(PROCESSES)]
        began = time.monotonic()
        counts = running.beside(
            lambda: [*processes.map(talk_at_once, shares, repeat(questions))], limit=580
        )

    right = [count for share in counts for count in share]
    print(f"{sum(right)} questions in {time.monotonic() - began:.0f} s")
    assert right == [questions] * CLIENTS
