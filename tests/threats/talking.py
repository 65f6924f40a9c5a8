"""Clients in a process of their own, so that they take nothing from the server's.

``python -m tests.threats.talking`` reads JSON, ``[port, questions, {client: token}]``, and prints
how often each client got what it said itself.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from tests.threats.raw import Line, Raw


def talk(line: Line, client: str, number: int) -> bool:
    """Call, answer what is asked, and see whether that came back."""
    tool, word = ("on_pool", "on_loop")[number % 2], f"{client}-{number}"
    asked = line.call(tool, {"word": word})["result"]
    (request,) = asked["inputRequests"].values()
    content = {"word": f"{word}!"}
    answers = {"word": {"action": "accept", "content": content}}
    state = asked["requestState"]
    told = {"inputResponses": answers, "requestState": state}
    said = line.call(tool, {"word": word}, **told)["result"]["content"][0]["text"]
    return bool(request["params"]["message"] == f"Say {word}" and said == f"{word} {word}!")


def process(port: int, questions: int, tokens: Mapping[str, str]) -> subprocess.Popen[str]:
    """Start clients; each is a thread with a connection of its own."""
    command = [sys.executable, "-m", "tests.threats.talking"]
    pipe = subprocess.PIPE
    started = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
    assert started.stdin is not None
    started.stdin.write(json.dumps([port, questions, tokens]) + "\n")
    started.stdin.flush()
    return started


def main() -> None:
    """Talk, all at once."""
    port, questions, tokens = json.loads(sys.stdin.readline())
    together = threading.Barrier(len(tokens))

    def work(client: str) -> int:
        with Raw(port, tokens[client]).line() as line:
            together.wait(10)
            return sum(talk(line, client, number) for number in range(questions))

    with ThreadPoolExecutor(len(tokens)) as pool:
        print(json.dumps(list(pool.map(work, tokens))))


if __name__ == "__main__":
    main()
