"""Thousands of calls while hosts die, restart and share names.

``CONNECT_CALLS`` says how many; thirty thousand take a minute and a half on two cores.
"""

from __future__ import annotations

import json
import os
import random
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.bench.agent import envelope
from tests.client.proxy.host import LEDGER
from tests.client.proxy.stage import Small, Stdio, stdio
from tests.live import ERAS

CALLS = int(os.environ.get("CONNECT_CALLS", "30000"))
AGENTS = (ERAS[1], ERAS[2], ERAS[1], ERAS[2])
FILES = ("one/shot.ma", "two/shot.ma", "two/shot.ma", "three/shot.ma")
SEATS = (*FILES, "untitled", "untitled")
PATIENCE = 60.0
"""Seconds after which an answer counts as lost."""
NOT_CALLED = "was not called"
WENT_AWAY = "went away"
TOLD = "told of a restart"
ENDS = ("done", "went away", "not called")
CLIENT = {"name": "crashes", "version": "1"}
Message = dict[str, Any]


@dataclass(frozen=True)
class Scene:
    """A scene that a call is meant for: a file, or what one process holds where it has none."""

    host: str
    file: str | None

    def is_same(self, other: Scene) -> bool:
        """Tell whether a call that is meant for this one may be done in the other one."""
        return self.host == other.host or (self.file is not None and self.file == other.file)


class Agent:
    """A client of the proxy that counts each answer; its requests go out without waiting."""

    def __init__(self, stdio: Stdio, era: str) -> None:
        self.answers: dict[int, list[Message]] = defaultdict(list)
        self._stdio = stdio
        self._era = era
        self._last = 0
        self._heard = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()
        if era != ERAS[-1]:
            hello = {"protocolVersion": era, "capabilities": {}, "clientInfo": CLIENT}
            self.answer(self.send("initialize", hello))
            self._write({"method": "notifications/initialized"})

    def send(self, method: str, params: Message) -> int:
        self._last += 1
        meta = {"_meta": envelope()} if self._era == ERAS[-1] else {}
        self._write({"id": self._last, "method": method, "params": params | meta})
        return self._last

    def call(self, tool: str, **arguments: Any) -> int:
        return self.send("tools/call", {"name": tool, "arguments": arguments})

    def answer(self, number: int) -> Message:
        """Wait for the answer to a request, and give its result."""
        with self._heard:
            assert self._heard.wait_for(lambda: self.answers.get(number), PATIENCE), "lost"
            result: Message = self.answers[number][0]["result"]
            return result

    def _write(self, message: Message) -> None:
        self._stdio.write(json.dumps({"jsonrpc": "2.0", **message}))

    def _read(self) -> None:
        for line in self._stdio.process.stdout or ():
            message = json.loads(line)
            if "method" not in message:
                with self._heard:
                    self.answers[message["id"]].append(message)
                    self._heard.notify_all()


class Work:
    """What one agent does, and what is known of each call afterwards."""

    def __init__(self, agent: Agent, numbers: Iterator[int], chance: random.Random) -> None:
        self.meant: dict[int, set[Scene]] = {}
        """The scenes that a call may reach: two of them while the agent changes."""
        self.asked: dict[int, int] = {}
        """The request of each call."""
        self._agent = agent
        self._numbers = numbers
        self._chance = chance

    def run(self) -> None:
        """Call until there are no numbers left; change hosts at random, in the midst of calls."""
        scene: Scene | None = None
        while True:
            scene = scene or self._choose()
            if scene is None:
                continue
            asked = [self._note(scene) for _ in range(self._chance.randint(1, 8))]
            if self._chance.random() < 0.3 and (other := self._find()) is not None:
                asked += [self._note(scene) for _ in range(4)]
                change = self._agent.call("use_host", host=other.host)
                asked += [self._note(scene, other) for _ in range(4)]
                scene = scene if self._agent.answer(change).get("isError") else other
            results = [self._agent.answer(number) for number in asked if number is not None]
            if None in asked:
                return
            if any(NOT_CALLED in str(result) for result in results):
                scene = scene if self._waits_for_restart() else None
            elif scene.file is not None and any(WENT_AWAY in str(result) for result in results):
                self._waits_for_restart()  # it goes on in either case

    def _note(self, *scenes: Scene) -> int | None:
        number = next(self._numbers, None)
        if number is None:
            return None
        self.meant[number] = set(scenes)
        seconds = self._chance.choice([0.0, 0.0, 0.002, 0.01])
        self.asked[number] = self._agent.call("note", number=number, seconds=seconds)
        return self.asked[number]

    def _waits_for_restart(self) -> bool:
        """Trust, now and then, that the proxy goes on in the same file."""
        for _ in range(self._chance.choice([0, 50, 50])):
            if self._hosts()["in_use"]:
                return True
            time.sleep(0.1)
        return False

    def _hosts(self) -> Message:
        result = self._agent.answer(self._agent.call("list_hosts"))
        content: Message = result["structuredContent"]
        return content

    def _find(self) -> Scene | None:
        ready = [host for host in self._hosts()["hosts"] if host["state"] == "ready"]
        return Scene(*map(self._chance.choice(ready).get, ("id", "file"))) if ready else None

    def _choose(self) -> Scene | None:
        scene = self._find()
        if scene is None:
            return None
        result = self._agent.answer(self._agent.call("use_host", host=scene.host))
        return None if result.get("isError") else scene


def crash(runtime: Path, hosts: list[Small], is_over: threading.Event) -> int:
    """Kill and restart one host after the other until it is over; give how many died."""
    chance, count = random.Random(2), 0
    while not is_over.wait(chance.uniform(0.02, 0.2)):
        seat = chance.randrange(len(SEATS))
        hosts[seat].kill()
        is_over.wait(chance.choice([0.0, 0.0, 0.3]))
        hosts[seat] = Small(runtime, SEATS[seat])
        count += 1
    return count


def done(runtime: Path) -> dict[int, list[Scene]]:
    places: dict[int, list[Scene]] = defaultdict(list)
    for line in (runtime / LEDGER).read_text().splitlines():
        number, host, file = line.split(" ", 2)
        places[int(number)].append(Scene(host, file or None))
    return places


def judge(works: list[Work], runtime: Path) -> Counter[str]:
    """Count what must not be, and how the calls ended."""
    seen: Counter[str] = Counter()
    places = done(runtime)
    for work in works:
        for number, scenes in work.meant.items():
            answers = work._agent.answers[work.asked[number]]
            text = str(answers)
            was_done = "isError': True" not in text
            seen["lost"] += not answers
            seen["answered twice"] += len(answers) > 1
            seen["done twice"] += len(places[number]) > 1
            seen["said to be done and was not"] += was_done and not places[number]
            seen["said not to be done and was"] += NOT_CALLED in text and bool(places[number])
            for place in places[number]:
                seen["in another scene"] += not any(scene.is_same(place) for scene in scenes)
            how = "done" if was_done else "not called" if NOT_CALLED in text else "went away"
            seen[how] += 1
            seen[TOLD] += "You now work in another process" in text
    return seen


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_no_call_is_lost_done_twice_or_done_in_another_scene(tmp_path: Path) -> None:
    counter = iter(range(CALLS))
    lock = threading.Lock()

    def numbers() -> Iterator[int]:
        while True:
            with lock:
                number = next(counter, None)
            if number is None:
                return
            yield number

    began = time.monotonic()
    is_over = threading.Event()
    hosts = [Small(tmp_path, seat) for seat in SEATS]
    works: list[Work] = []
    with ThreadPoolExecutor() as pool:
        crashing = pool.submit(crash, tmp_path, hosts, is_over)

        def work(era: str, seed: int) -> None:
            with stdio(tmp_path) as client:
                works.append(one := Work(Agent(client, era), numbers(), random.Random(seed)))
                one.run()

        try:
            for going in [pool.submit(work, era, seed) for seed, era in enumerate(AGENTS)]:
                going.result()
        finally:
            is_over.set()
            crashes = crashing.result()
            for host in hosts:
                host.kill()
    seen = judge(works, tmp_path)
    print(f"{CALLS} calls, {crashes} crashes, {time.monotonic() - began:.0f} s: {dict(seen)}")

    assert sum(seen[how] for how in ENDS) == CALLS
    assert seen["done"] > CALLS / 2
    assert crashes > CALLS / 1000
    assert seen[TOLD]
    assert +(seen - Counter(dict.fromkeys((*ENDS, TOLD), CALLS))) == Counter()
