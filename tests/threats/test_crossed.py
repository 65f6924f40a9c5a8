"""Answers that reach another one's question (row 24).

24  `test_no_answer_reaches_another_question`
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dcc_bridge import elicit_form, elicit_form_sync, skill
from tests.live import live
from tests.threats.raw import Line, Raw, in_thread

CLIENTS = 32
QUESTIONS = [30, pytest.param(250, marks=[pytest.mark.long, pytest.mark.timeout(290)])]
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


def talk(line: Line, client: int, number: int) -> bool:
    """Call, answer what is asked, and see whether that came back; a few calls are left open."""
    tool, word = ("on_pool", "on_loop")[number % 2], f"{client}-{number}"
    asked = line.call(tool, {"word": word})["result"]
    (request,) = asked["inputRequests"].values()
    content = {"word": f"{word}!"}
    answers = {"word": {"action": "accept", "content": content}}
    state = asked["requestState"]
    told = {"inputResponses": answers, "requestState": state}
    said = line.call(tool, {"word": word}, **told)["result"]["content"][0]["text"]
    return bool(request["params"]["message"] == f"Say {word}" and said == f"{word} {word}!")


@pytest.mark.parametrize("questions", QUESTIONS)
def test_no_answer_reaches_another_question(questions: int, tmp_path: Path) -> None:
    """Thirty-two clients at once, half of them under one label; each gets what it said itself."""
    together = threading.Barrier(CLIENTS)
    with live(tmp_path, on_pool, on_loop, most_open_of_one=CLIENTS) as running:
        raws = [Raw.to(running, f"client{max(0, number - 15)}") for number in range(CLIENTS)]

        def work(client: int) -> int:
            with raws[client].line() as line:
                together.wait(10)
                return sum(talk(line, client, number) for number in range(questions))

        def all_of_them() -> Iterator[int]:
            with ThreadPoolExecutor(CLIENTS) as pool:
                return pool.map(work, range(CLIENTS))

        began = time.monotonic()
        right = list(running.run(in_thread(all_of_them), limit=280))

    print(f"{sum(right)} questions in {time.monotonic() - began:.0f} s")
    assert right == [questions] * CLIENTS
