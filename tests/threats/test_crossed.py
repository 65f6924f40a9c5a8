"""Answers that reach another one's question (row 24).

24  `test_no_answer_reaches_another_question`
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from dcc_bridge import elicit_form, elicit_form_sync, skill
from tests.live import live
from tests.threats.raw import Raw, in_thread
from tests.threats.talking import process

CLIENTS = 32
PROCESSES = 2
QUESTIONS = [10, pytest.param(1000, marks=[pytest.mark.long, pytest.mark.timeout(590)])]
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


@pytest.mark.parametrize("questions", QUESTIONS)
def test_no_answer_reaches_another_question(questions: int, tmp_path: Path) -> None:
    """Thirty-two clients at once, half of them under one label; each gets what it said itself."""
    with live(tmp_path, on_pool, on_loop, open_questions_of_a_client=CLIENTS) as running:
        raws = [Raw.to(running, f"client{max(0, number - 15)}") for number in range(CLIENTS)]
        tokens = {str(number): raw.token for number, raw in enumerate(raws)}
        shares = [dict(list(tokens.items())[n::PROCESSES]) for n in range(PROCESSES)]

        def all_of_them() -> list[int]:
            talking = [process(raws[0].port, questions, share) for share in shares]
            return [right for one in talking for right in json.loads(one.communicate()[0])]

        began = time.monotonic()
        right = running.run(in_thread(all_of_them), limit=580)

    print(f"{sum(right)} questions in {time.monotonic() - began:.0f} s")
    assert right == [questions] * CLIENTS
