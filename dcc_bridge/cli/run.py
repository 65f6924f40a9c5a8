"""``dcc-bridge run``: one skill in a host's own batch interpreter, with no client. Main thread."""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from dcc_bridge.audit import reader
from dcc_bridge.batch import JOB, Job
from dcc_bridge.cli import accounts, interpreter, unattended
from dcc_bridge.cli.answers import tell
from dcc_bridge.cli.exits import REFUSED, SUCCESS, TOOL_ERROR, USAGE, Failure
from dcc_bridge.config import data_folder
from dcc_bridge.hosts.batch import HOSTS
from dcc_bridge.install import probe

_CODES: Final = {"done": SUCCESS, "refused": REFUSED, "no_consent": REFUSED, "not_started": USAGE}
_TAIL: Final = 2000
_REFUSED: Final = (
    "It was refused, and nothing was changed. What may go on unasked where nobody sits is said "
    "with --unattended allow:FILE."
)


def fill(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("skill", metavar="SKILL", help="its name")
    parser.add_argument("--host", choices=sorted(HOSTS), default="standalone")
    parser.add_argument("--scene", type=Path, metavar="FILE", help="opened before")
    parser.add_argument("--args", default="{}", metavar="JSON", help='such as \'{"name": "Box"}\'')
    parser.add_argument(
        "--save-as", type=Path, metavar="FILE", help="where the scene is written if it is done"
    )
    unattended.fill(parser)
    parser.add_argument(
        "--skills", type=Path, action="append", default=[], metavar="DIR", help="more skill files"
    )
    parser.add_argument("--interpreter", metavar="PATH", help="where it is not on PATH")
    parser.add_argument("--timeout", type=float, default=600.0, metavar="S", help="seconds (600)")


def run(options: argparse.Namespace) -> int:
    """Run it, and print what it returned; who was asked and answered goes to the other stream.

    Raises:
        Failure: It could not be started.
    """
    with tempfile.TemporaryDirectory(prefix="dcc_bridge-") as folder:
        job = _job(options, Path(folder, "ending.json"))
        ending = _run(job, options, Path(folder))
    told, error = _account(ending.get("audit")), accounts.for_person(ending["error"] or "")
    code = _CODES.get(ending["status"], TOOL_ERROR)
    if code == REFUSED:
        tell(_REFUSED)
    elif error and error not in told:
        tell(error)
    if ending["status"] == "done":
        print(json.dumps(ending["value"], indent=2))
    if ending.get("saved"):
        tell(f"The scene was written to {ending['saved']}.")
    return code


def _job(options: argparse.Namespace, ending: Path) -> Job:
    rule, allow_list = unattended.read(options.unattended)
    ours = data_folder("plugins") / options.host / "skills"
    return Job(
        host=options.host,
        skill=options.skill,
        arguments=_arguments(options.args),
        scene=str(options.scene.absolute()) if options.scene else None,
        save_as=str(options.save_as.absolute()) if options.save_as else None,
        skills=[str(ours), *(str(one.absolute()) for one in options.skills)],
        unattended=rule,
        allow_list=str(allow_list) if allow_list else None,
        ending=str(ending),
    )


def _arguments(text: str) -> dict[str, Any]:
    try:
        told = json.loads(text)
    except ValueError as error:
        raise Failure(f"--args is no JSON: {error}.") from None
    if not isinstance(told, dict):
        raise Failure('--args is a JSON object, such as {"name": "Box"}.')
    return told


def _run(job: Job, options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    file = folder / "job.json"
    file.write_text(json.dumps(asdict(job)), encoding="utf-8")
    command = interpreter.command(job.host, options.interpreter, folder)
    try:
        done = subprocess.run(
            command,
            env={**probe.environment(), JOB: str(file), "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=options.timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Failure(
            f"It took more than {options.timeout:g} s, and was ended.", TOOL_ERROR
        ) from None
    try:
        ending: dict[str, Any] = json.loads(Path(job.ending).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        said = (done.stdout + done.stderr)[-_TAIL:].strip()
        raise Failure(
            f"{command[0]} ended with {done.returncode} and without a result. It said:\n{said}",
            TOOL_ERROR,
        ) from None
    return ending


def _account(record: str | None) -> str:
    """Say who could have answered and what did, from the record itself; give what was said."""
    if record is None:
        return ""
    calls = accounts.calls(reader.read(Path(record)))
    told = "\n".join("\n".join(accounts.sentences(call)) for call in calls)
    tell(told)
    tell(f"The record of it: {record}")
    return told
