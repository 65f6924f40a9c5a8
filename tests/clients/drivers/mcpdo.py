"""The Inspector's command line, in each era that it speaks, by a person who types commands.

It keeps connections in a process of its own between its commands; ours is private and ends with us.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

COMMAND = json.loads(os.environ["MCPDO"])
ERA = os.environ["ERA"]
MODERN = "2026-07-28"
HOME = Path(os.environ["HOME"])
NAME = "host"


def do(*words):
    """Run a command, and give what it prints."""
    ran = subprocess.run(
        [*COMMAND, "--format", "json", *words],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
    )
    try:
        return json.loads(ran.stdout)
    except ValueError:
        raise RuntimeError(f"{words[0]}: {ran.stdout}{ran.stderr}") from None


def keep_to_ourselves():
    """Take a process of our own, and say where the server is in a file, not in arguments."""
    exports = subprocess.run([*COMMAND, "private"], capture_output=True, text=True, check=True)
    for line in exports.stdout.splitlines():
        name, _, value = line.removeprefix("export ").partition("=")
        os.environ[name] = value.strip("'\"")
    target = json.loads(os.environ["TARGET"])
    kind = {"type": "streamable-http"} if "url" in target else {"type": "stdio"}
    catalog = HOME / "mcp.json"
    catalog.write_text(json.dumps({"mcpServers": {NAME: {**kind, **target}}}))
    os.environ["MCP_CATALOG_PATH"] = str(catalog)


def answer(id_, asked, reply):
    """Answer as a person would."""
    time.sleep(reply.get("after", 0))
    if reply["action"] != "accept":
        return do("--connection", NAME, "elicitation/respond", id_, f"--{reply['action']}")
    said = "--done" if asked["url"] else json.dumps(reply["content"])
    return do("--connection", NAME, "elicitation/respond", id_, said)


def connect(elicit):
    """Connect, saying that we can ask, "both" ways, or not, "off"."""
    do("connect", NAME, "--era", "modern" if ERA == MODERN else "legacy", "--elicit", elicit)


def go(case, told):
    """Put one case through."""
    arguments = json.dumps({"case": case["name"]})
    result = do("--connection", NAME, "tools/call", case["tool"], arguments)
    replies = iter(case["replies"])
    while "elicitationPending" in json.dumps(result):
        asked = result.get("elicitationPending", result)
        told["asked"].append({"message": asked.get("message"), "url": asked.get("url")})
        if case["stops"]:
            raise RuntimeError("there is no command that cancels a call")
        reply = next(replies, {"action": "cancel"})
        if reply["action"] == "leave":
            return
        result = answer(asked["elicitationId"], told["asked"][-1], reply)
    told["text"] = " ".join(part.get("text", "") for part in result["content"])


def main():
    """Go through the cases that standard input holds."""
    keep_to_ourselves()
    try:
        connected = None
        for case in json.loads(sys.stdin.read()):
            elicit = "both" if case["declares"] else "off"
            if elicit != connected:
                connect(elicit)
            # a question that is left open holds its connection
            connected = None if case["stops"] else elicit
            told = {"case": case["name"], "asked": [], "progress": 0}
            try:
                go(case, told)
            except Exception as error:  # noqa: BLE001 - it is told
                told["error"] = str(error)
            print(json.dumps(told), flush=True)
    finally:
        do("daemon", "stop")


main()
