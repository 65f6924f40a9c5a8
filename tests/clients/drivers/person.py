"""The person at a Python client: reads cases as JSON, answers as they say, tells what was seen.

It runs in the client's own environment, and knows nothing of the bridge.
"""

import json
import os
import sys
from itertools import groupby

import anyio

HTTP_LIMIT = 30.0
SEEN_LIMIT = 16.0
STOP_LIMIT = 0.5


class DriverPerson:
    """Answers what one case after the other is asked."""

    def begin(self, case):
        """Take the next case."""
        self.told = {"case": case["name"], "asked": [], "progress": 0}
        self.is_asked = anyio.Event()
        self._replies = iter(case["replies"])

    async def answer(self, message, url=None):
        """Give the action and the content of the next reply."""
        self.told["asked"].append({"message": message, "url": url})
        reply = next(self._replies, {"action": "cancel"})
        if reply["action"] == "leave":
            print(json.dumps(self.told), flush=True)
            os._exit(0)
        if reply["action"] == "stop":
            self.is_asked.set()
            await anyio.sleep_forever()
        await anyio.sleep(reply.get("after", 0))
        return reply["action"], reply.get("content")

    async def progress(self, progress, total=None, message=None):
        """Count the notices."""
        self.told["progress"] += 1


async def run(connect, call):
    """Go through the cases that standard input holds.

    Args:
        connect: Gives a context manager of a session, of the target and for a case and its person.
        call: Calls a tool in a session, with a limit in seconds or None; gives what it says.
    """
    target = json.loads(os.environ["TARGET"])
    for shared, cases in groupby(json.loads(sys.stdin.read()), shares):
        for group in [list(cases)] if shared else [[case] for case in cases]:
            for told in await _together(target, group, connect, call):
                print(json.dumps(told), flush=True)


def shares(case):
    """Whether a case leaves its session as it was, for the next one."""
    return case["declares"] and not (case["stops"] or case["leaves"] or case["limit"])


async def _together(target, group, connect, call):
    person, all_told = DriverPerson(), []
    person.begin(group[0])
    try:
        async with connect(target, group[0], person) as session:
            for case in group:
                person.begin(case)
                all_told.append(person.told)
                await _go_quietly(session, call, case, person)
    except BaseException as error:  # noqa: BLE001 - it is told
        # mcp 1.x cannot end its own server without one while a callback waits
        kind = "closing" if person.told.keys() & {"text", "seen", "error"} else "error"
        person.told[kind] = _words(error)
    return all_told or [person.told]


async def _go_quietly(session, call, case, person):
    try:
        await _go(session, call, case, person)
    except Exception as error:  # noqa: BLE001 - it is told
        person.told["error"] = _words(error)


async def _go(session, call, case, person):
    arguments = {"case": case["name"]}
    await call(session, "seen", arguments, None, person)  # a server that must start first is there
    if not case["stops"]:
        limit = case["limit"]
        person.told["text"] = await call(session, case["tool"], arguments, limit, person)
        return
    async with anyio.create_task_group() as group:
        stop = getattr(session, "stop_last", group.cancel_scope.cancel)
        group.start_soon(_call_quietly, session, call, arguments, case, person)
        await person.is_asked.wait()
        ended = stop()
        if ended is not None:
            await ended
            await anyio.sleep(STOP_LIMIT)
            group.cancel_scope.cancel()
    person.told["seen"] = "open"
    with anyio.move_on_after(SEEN_LIMIT):
        while person.told["seen"] == "open":
            person.told["seen"] = await call(session, "seen", arguments, None, person)
            await anyio.sleep(0.1)


async def _call_quietly(session, call, arguments, case, person):
    try:
        await call(session, case["tool"], arguments, None, person)
    except Exception as error:  # noqa: BLE001 - it is told
        person.told["ended"] = _words(error)


def _words(error):
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"


def text(result):
    """Give all that a result says."""
    return " ".join(getattr(part, "text", "") for part in result.content)
