"""The skill that plans another skill for many scene files, and asks for approval.

A plan says what that skill would ask and delete in each file. ``dcc-bridge batch plan`` makes the
plan in a process of its own; the skill waits for it on a thread of the pool. A host offers this
skill if this folder is in its list of skill folders. Our own application adds the folder if the
extra "batch" is installed.
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

_PACKAGE_PARENT: Final = Path(__file__).resolve().parents[2]  # the folder with the package
_ANSWER_TIMEOUT_S: Final = 600.0  # there is a list to read
_NOT_INSTALLED: Final = 'dcc-bridge batch is not installed: pip install "dcc-bridge-mcp[batch]"'
_HOSTS: Final = ("usd", "blender", "freecad", "maya", "houdini")
_POLL_S: Final = 0.2
_END_TIMEOUT_S: Final = 30.0  # for the process of a plan that is cancelled; then it is killed


@skill(risk="destructive", confirms=True, thread="any", title="Plan a batch")
def plan_batch(
    skill: str, scenes: list[str], arguments: dict[str, Any] | None = None, host: str = ""
) -> dict[str, Any]:
    """Plan a skill for many scene files, and ask the person to approve it. Changes no scene.

    Only the person runs a plan. Tell them what "next" says; do not do it yourself.

    Args:
        skill: Name of a skill.
        scenes: Whole paths, or patterns such as "/show/**/*.usda".
        arguments: The arguments of the skill.
        host: "usd", "blender", "freecad", "maya" or "houdini"; "" for this one.

    Returns:
        The plan's folder and report, its counts, whether it was approved, and what comes next.
    """
    skill_name = re.sub(r"[^A-Za-z0-9_-]", "_", skill)
    name = f"{skill_name[:40]}-{datetime.now():%Y%m%d-%H%M%S-%f}"
    folder = approval.key_folder() / "plans" / name
    command = _plan_command(skill, scenes, arguments or {}, host, folder)
    _run(command)
    plan = Plan.read(folder)
    is_approved, next_step = _approval(plan)
    return {**_facts(plan), "approved": is_approved, "next": next_step}


def _plan_command(
    skill: str, scenes: list[str], arguments: dict[str, Any], host: str, folder: Path
) -> list[str]:
    """Return the command that makes the plan; raise ValueError for a wrong argument."""
    relative = [scene for scene in scenes if not Path(scene).is_absolute()]
    if relative or not scenes:
        raise ValueError(f"Give full paths of scenes, not {relative[:3]}.")
    # A list could be any file, and errors that quote its lines go to the agent.
    lists = [scene for scene in scenes if Path(scene).suffix.lower() in LISTS]
    if lists:
        raise ValueError(f"Give the scenes' own paths and patterns, not {lists[0]}.")
    host = host or _this_host()
    if host not in _HOSTS:
        raise ValueError(f"host is one of {', '.join(_HOSTS)}, not {host!r}.")
    command = [*_program(), "batch", "plan", "--host", host, "--counts", "--out", str(folder)]
    context = current_context()
    skill_folders = context.settings.skills if context is not None else ()
    for skill_folder in skill_folders:
        if skill_folder.is_dir():
            command += ["--skills", str(skill_folder)]
    # The agent's texts stand after "=" or "--", so that none is read as an option.
    command.append(f"--args={json.dumps(arguments)}")
    for scene in scenes:
        command.append(f"--scenes={scene}")
    return [*command, "--", skill]


def _this_host() -> str:
    """Return the ``--host`` name of the application that runs this skill; "" if not known."""
    context = current_context()
    if context is None:
        return ""
    words = context.host.name.lower().split()
    for host in _HOSTS:
        if host in words:
            return host
    return ""


def _program() -> list[str]:
    """Find dcc-bridge with its extra: in this Python, in the Python of this file, or on PATH."""
    if find_spec("openjd") and Path(sys.executable).name.lower().startswith("python"):
        return [sys.executable, "-m", "dcc_bridge"]
    # In an environment the package is in lib/python3.11/site-packages or Lib/site-packages.
    folders = []
    for environment in _PACKAGE_PARENT.parents[1:3]:
        folders += [str(environment / "bin"), str(environment / "Scripts")]
    program = shutil.which("dcc-bridge", path=os.pathsep.join(folders))
    if program is None:
        program = shutil.which("dcc-bridge")
    if program is None:
        raise ValueError(_NOT_INSTALLED)
    return [program]


def _run(command: list[str]) -> None:
    """Run the command that makes the plan, and report its progress.

    Raises:
        ValueError: The plan could not be made; the message says why.
        Stopped: The call was cancelled.
    """
    env = {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1"}
    # An application sets these for its own Python, and another Python is started here.
    env.pop("PYTHONHOME", None)
    env.pop("PYTHONPATH", None)
    with subprocess.Popen(
        command,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    ) as process:
        try:
            sentence = _follow(process)
        except BaseException:  # the call was cancelled; the hosts end with the process
            process.terminate()  # SIGINT would be ignored below a script's "&"
            try:
                process.wait(_END_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                process.kill()
            raise
    if process.returncode:
        raise ValueError(sentence or "The plan could not be made.")


def _follow(process: subprocess.Popen[str]) -> str:
    """Report the progress that a process prints until it ends, and return its last sentence.

    Raises:
        Stopped: The call was cancelled.
    """
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()
    sentence = ""
    reader = threading.Thread(target=_read_lines, args=(process.stdout, lines), daemon=True)
    reader.start()
    while True:
        check_cancelled()
        try:
            line = lines.get(timeout=_POLL_S)
        except queue.Empty:
            continue
        if not line:
            return sentence
        counts = re.fullmatch(r"(\d+)/(\d+)\n", line)
        if counts:
            report_progress(int(counts[1]), int(counts[2]), "scenes planned")
        elif line.startswith("dcc-bridge: "):
            sentence = line.removeprefix("dcc-bridge: ").strip()


def _read_lines(output: IO[str], lines: queue.SimpleQueue[str]) -> None:
    """Put lines into a queue, and "" at the end. A thread of its own.

    Waiting for a queue can be cancelled, and a blocked read cannot.
    """
    for line in output:
        lines.put(line)
    lines.put("")


def _approval(plan: Plan) -> tuple[bool, str]:
    """Ask the person at the host, and sign the plan if they agree.

    Returns:
        Whether the plan was approved, and the next step for the person.
    """
    approve = approval.command("approve", plan.folder)
    if not plan.asks:
        return False, f"{approval.NOTHING_TO_APPROVE} The report says why."
    context = current_context()
    if context is None or not (context.host.has_ui and context.settings.host_dialogs):
        return False, f"The person approves it at a terminal: {approve}"
    try:
        message = summary.message(plan)
        details = summary.details(plan)
    except summary.PlanTooLong as error:
        return False, f"{error} The person approves it at a terminal: {approve} --terminal"
    field = {"type": "boolean", "title": summary.verb(plan)}
    schema = {"type": "object", "properties": {"approve": field}, "required": ["approve"]}
    answer = elicit_form_sync(
        message, schema, title="Approve a plan", details=details, timeout=_ANSWER_TIMEOUT_S
    )
    values = answer.data or {}
    if not answer.accepted or values.get("approve") is not True:
        approval.record_answer(plan, "host", "declined", {"by": answer.answered_by})
        return False, "It was not approved. Ask the person what they want instead."
    if answer.answered_by != "host":  # a client could answer without asking its person
        return False, f"The person approves it on their computer: {approve}"
    approval.approve(plan, by="host")
    return True, f"The person runs it: {approval.command('run', plan.folder)}"


def _facts(plan: Plan) -> dict[str, Any]:
    """Return the plan's paths and counts, and the first scenes that differ from the rest."""
    overview = report.overview(plan)
    differing = []
    for number, why in overview.differing[:10]:
        differing.append({"scene": plan.scene(number)["path"], "why": why})
    return {
        "plan": str(plan.folder),
        "report": str(plan.folder / report.FILE),
        "scenes": {report.WORDS[state]: count for state, count in overview.states.items()},
        "items": dict(overview.kinds.most_common(10)),
        "differ": differing,
    }
