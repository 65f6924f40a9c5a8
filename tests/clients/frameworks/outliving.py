"""Strands' client, with tasks switched on, in a process that obeys one line after another.

It runs in the framework's own environment, and knows nothing of the bridge. TARGET is in the
environment; each line of standard input is a step, and what was seen of it goes out as one.
"""

import json
import os
import sys
from datetime import timedelta

from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import ElicitResult
from strands.tools.mcp import MCPClient, TasksConfig

TARGET = json.loads(os.environ["TARGET"])
SEEN = {}
EMPTY = {"text": "", "status": "", "keys": []}


async def asked(context, params):
    """Answer as the step wants it."""
    SEEN["asked"].append(params.message)
    return ElicitResult(**SEEN["reply"])


def words(result):
    """Give all that a result says."""
    return " ".join(
        getattr(part, "text", "") or str(part.get("text")) for part in result["content"]
    )


def looked(client, task):
    """Look at a task once."""
    state = client.get_task_sync(task)
    questions = state.input_requests or {}
    SEEN["asked"] += [it.params.message for it in questions.values()]
    told = [state.status_message, state.error and state.error.message]
    if state.result is not None:
        told += [part.text for part in state.result.content]
    return {
        "status": state.status,
        "text": " ".join(filter(None, told)),
        "keys": list(questions),
    }


def do(client, step):
    """Do a step, and give what is to be told of it."""
    if step["do"] == "call":
        result = client.call_tool_sync("use-1", step["tool"], step["arguments"])
        return {"text": words(result)}
    if step["do"] == "begin":
        return {"text": client.submit_tool_sync(step["tool"], {}).task_id}
    if step["do"] == "answer":
        client.update_task_sync(step["task"], {step["key"]: ElicitResult(**step["reply"])})
        return {}
    if step["do"] == "give_up":
        client.cancel_task_sync(step["task"])
        return {}
    return looked(client, step["task"])


def main():
    """Take the steps until the input ends."""
    if "url" in TARGET:
        way = {"url": TARGET["url"], "headers": TARGET["headers"]}
    else:
        way = {"transport_callable": lambda: stdio_client(StdioServerParameters(**TARGET))}
    patience = TasksConfig(poll_timeout=timedelta(seconds=60))
    with MCPClient(**way, elicitation_callback=asked, tasks_config=patience) as client:
        for line in sys.stdin:
            step = json.loads(line)
            SEEN.update(reply=step.get("reply"), asked=[])
            try:
                report = do(client, step)
            except Exception as error:  # noqa: BLE001 - it is told, as an agent would be
                report = {"text": f"{type(error).__name__}: {error}"}
            print(json.dumps({**EMPTY, **report, "asked": SEEN["asked"]}), flush=True)


main()
