"""Plan a skill for many scene files, and ask for approval.

A skill like any other, for hosts in whose folders of skills this one is: our own where the extra
"batch" is installed. The plan is made by ``dcc-bridge batch plan``, in a process of its own.
"""

from __future__ import annotations

import json
import os
import queue
import re
import shutil
import subprocess
import sys
import threading
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, Final

from dcc_bridge import check_cancelled, elicit_form_sync, report_progress, skill
from dcc_bridge.spi.batch import current_context
from dcc_bridge_batch import approval, report, summary
from dcc_bridge_batch.plan import Plan
from dcc_bridge_batch.scenes import LISTS

_INSTALLED_IN: Final = Path(__file__).resolve().parents[2]  # where the package lies
_LIMIT: Final = 600.0  # seconds for an answer: there is a list to read
_EXTRA: Final = "dcc-bridge batch is not installed: pip install 'dcc-bridge-mcp[batch]'"
_HOSTS: Final = ("usd", "blender", "freecad", "maya", "houdini")
_POLL: Final = 0.2  # seconds
_END: Final = 30.0  # seconds for the end of a plan that is cancelled


@skill(risk="destructive", confirms=True, thread="any", title="Plan a batch")
def plan_batch(
    skill: str, scenes: list[str], arguments: dict[str, Any] | None = None, host: str = ""
) -> dict[str, Any]:
    """Plan a skill for many scene files, and ask the person to approve it. Changes no scene.

    Only the person runs a plan. Tell them what "next" says; do not do it yourself.

    Args:
        skill: Name of a skill.
        scenes: Whole paths, or patterns such as "/show/**/*.usda".
        arguments: What the skill is called with.
        host: "usd", "blender", "freecad", "maya" or "houdini"; "" for this one.

    Returns:
        The plan's folder and report, its counts, whether it was approved, and what comes next.
    """
    name = f"{re.sub(r'[^A-Za-z0-9_-]', '_', skill)[:40]}-{datetime.now():%Y%m%d-%H%M%S-%f}"
    folder = approval.key_folder() / "plans" / name
    _make(_words(skill, scenes, arguments or {}, host, folder))
    plan = Plan.read(folder)
    is_approved, following = _approval(plan)
    return {**_facts(plan), "approved": is_approved, "next": following}


def _words(
    skill: str, scenes: list[str], arguments: dict[str, Any], host: str, folder: Path
) -> list[str]:
    """Return the command that makes the plan; ValueError says what cannot be meant."""
    relative = [it for it in scenes if not Path(it).is_absolute()]
    if relative or not scenes:
        raise ValueError(f"Give whole paths of scenes, not {relative[:3]}.")
    # its lines may be anything, and an error that names one goes to the agent
    listed = [it for it in scenes if Path(it).suffix.lower() in LISTS]
    if listed:
        raise ValueError(f"Give the scenes' own paths and patterns, not {listed[0]}.")
    context = current_context()
    if not host and context is not None:  # "Blender" is the name of one, and not its word here
        host = next((it for it in _HOSTS if it in context.host.name.lower().split()), "")
    if host not in _HOSTS:
        raise ValueError(f"host is one of {', '.join(_HOSTS)}, not {host!r}.")
    folders = context.settings.skills if context is not None else ()
    more = [word for it in folders if it.is_dir() for word in ("--skills", str(it))]
    words = [*_program(), "batch", "plan", "--host", host, "--counts", "--out", str(folder), *more]
    patterns = [f"--scenes={it}" for it in scenes]
    # What an agent sends is a value, and never an option: each stands behind a "=" or a "--".
    return [*words, f"--args={json.dumps(arguments)}", *patterns, "--", skill]


def _program() -> list[str]:
    """Find dcc-bridge with its extra: in this Python, in the one of this file, or on PATH."""
    if find_spec("openjd") and Path(sys.executable).name.lower().startswith("python"):
        return [sys.executable, "-m", "dcc_bridge"]
    # of an environment: lib/python3.11/site-packages below it, or Lib/site-packages
    environments = _INSTALLED_IN.parents[1:3]
    beside = [str(folder / it) for folder in environments for it in ("bin", "Scripts")]
    for place in (os.pathsep.join(beside), None):
        program = shutil.which("dcc-bridge", path=place)
        if program is not None:
            return [program]
    raise ValueError(_EXTRA)


def _make(words: list[str]) -> None:
    """Make the plan, and report how far it is; ValueError says why it could not be made."""
    # An application's own Python is not that of the process which is started here.
    env = {it: value for it, value in os.environ.items() if it not in ("PYTHONHOME", "PYTHONPATH")}
    with subprocess.Popen(
        words,
        env={**env, "PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    ) as process:
        try:
            sentence = _follow(process)
        except BaseException:  # it was cancelled: its hosts end with it
            process.terminate()  # below a script's "&", it would ignore Ctrl+C
            try:
                process.wait(_END)
            except subprocess.TimeoutExpired:
                process.kill()
            raise
    if process.returncode:
        raise ValueError(sentence or "The plan could not be made.")


def _follow(process: subprocess.Popen[str]) -> str:
    """Report the progress that is printed, and give the last sentence. Stopped: cancelled."""
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()
    sentence = ""
    reader = threading.Thread(target=_read, args=(process.stdout, lines), daemon=True)
    reader.start()
    while True:
        check_cancelled()
        try:
            line = lines.get(timeout=_POLL)
        except queue.Empty:
            continue
        if not line:
            return sentence
        if counts := re.fullmatch(r"(\d+)/(\d+)\n", line):
            report_progress(int(counts[1]), int(counts[2]), "scenes planned")
        elif line.startswith("dcc-bridge: "):
            sentence = line.removeprefix("dcc-bridge: ").strip()


def _read(output: IO[str], lines: queue.SimpleQueue[str]) -> None:
    """Hand lines on, and "" at the end: a read that waits cannot be cancelled."""
    for line in output:
        lines.put(line)
    lines.put("")


def _approval(plan: Plan) -> tuple[bool, str]:
    """Ask at the host, and sign; tell whether it was approved, and what the person does next."""
    run, approve = (f"dcc-bridge batch {it} {plan.folder}" for it in ("run", "approve"))
    if not plan.asks:
        return False, f"{approval.NOTHING} The report says why."
    context = current_context()
    if context is None or not (context.host.has_ui and context.settings.host_dialogs):
        return False, f"The person approves it at a terminal: {approve}"
    verb = {"type": "boolean", "title": summary.verb(plan)}
    try:
        message = summary.message(plan)
        details = summary.details(plan)
    except summary.TooLong as error:
        return False, f"{error} The person approves it at a terminal: {approve} --terminal"
    answer = elicit_form_sync(
        message,
        {"type": "object", "properties": {"approve": verb}, "required": ["approve"]},
        title="Approve a plan",
        details=details,
        timeout=_LIMIT,
    )
    is_approved = answer.accepted and (answer.data or {}).get("approve") is True
    if not is_approved:
        approval.record_answer(plan, "host", "declined", {"by": answer.answered_by})
        return False, "It was not approved. Ask the person what they want instead."
    if answer.answered_by != "host":  # a client may answer by itself, and this is signed
        return False, f"The person approves it where they sit: {approve}"
    approval.approve(plan, by="host")
    return True, f"The person runs it: {run}"


def _facts(plan: Plan) -> dict[str, Any]:
    seen = report.overview(plan)
    odd = [{"scene": plan.scene(number)["path"], "why": why} for number, why in seen.differing[:10]]
    return {
        "plan": str(plan.folder),
        "report": str(plan.folder / report.FILE),
        "scenes": {report.WORDS[state]: count for state, count in seen.states.items()},
        "items": dict(seen.kinds.most_common(10)),
        "differ": odd,
    }
