"""Clients that are asked, for processes of their own: they take nothing from the server's."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor

from tests.threats.raw import Line, Raw


def talk_at_once(clients: list[Raw], questions: int) -> list[int]:
    """Let each client talk on a thread and a connection of its own.

    Returns:
        How often each of them got what it had said itself.
    """
    together = threading.Barrier(len(clients))

    def work(number: int) -> int:
        with clients[number].line() as line:
            together.wait(10)
            return sum(
                _talk(line, f"{os.getpid()}-{number}-{count}", count % 2 > 0)
                for count in range(questions)
            )

    with ThreadPoolExecutor(len(clients)) as threads:
        return list(threads.map(work, range(len(clients))))


def _talk(line: Line, word: str, on_loop: bool) -> bool:
    """Call, answer what is asked, and see whether that came back."""
    tool = "on_loop" if on_loop else "on_pool"
    asked = line.call(tool, {"word": word})["result"]
    (question,) = asked["inputRequests"].values()
    answer = {"action": "accept", "content": {"word": f"{word}!"}}
    ended = line.call(
        tool, {"word": word}, inputResponses={"word": answer}, requestState=asked["requestState"]
    )
    text = ended["result"]["content"][0]["text"]
    return bool(question["params"]["message"] == f"Say {word}" and text == f"{word} {word}!")
