"""Makes the Open Job Description job of a plan: template, parameters, list of files. Any thread.

The run on this computer and a farm use the same template. A bundle is a folder as AWS Deadline
Cloud takes it: ``template.json``, ``parameter_values.json``, ``asset_references.json``. The
template uses no extension, so every program that knows the revision 2023-09 can run it.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, Final

from openjd.model import (
    Job,
    JobParameterValues,
    ParameterValue,
    ParameterValueType,
    create_job,
    decode_job_template,
)

from . import approval
from .plan import HEADER, SCENES, Plan, when

PLAN: Final = "plan"  # the folder with the copy of the plan in a bundle
_CANCEL_GRACE_S: Final = 600  # for a cancelled task to finish its current scene
_COMMAND: Final = ("-m", "dcc_bridge", "batch")
_PLAN_OPTIONS: Final = ("--plan", "{{Param.Plan}}", "--consent", "{{Param.Consent}}")


def template(plan: Plan, folder: Path, python: str) -> dict[str, Any]:
    """Return the job template of a plan.

    Args:
        plan: The plan to run.
        folder: The folder of the plan on the worker; in a bundle, relative to the bundle.
        python: The worker's Python interpreter, which has dcc_bridge with its extra "batch".
    """
    skill = plan.header["skill"]["name"]
    made = when(plan.header["created"])
    enter = _action(
        "enter",
        *_PLAN_OPTIONS,
        "--interpreter",
        "{{Param.Interpreter}}",
        "--any-version",
        "{{Param.AnyVersion}}",
    )
    leave = _action("leave")
    run_task = _action(
        "task",
        *_PLAN_OPTIONS,
        "--root",
        "{{Param.Root}}",
        "--task",
        "{{Task.Param.Task}}",
        "--run",
        "{{Param.Run}}",
    )
    run_task["cancelation"] = {
        "mode": "NOTIFY_THEN_TERMINATE",
        "notifyPeriodInSeconds": _CANCEL_GRACE_S,
    }
    last_task = max(0, plan.tasks - 1)
    task_parameter = {"name": "Task", "type": "INT", "range": f"0-{last_task}"}
    return {
        "specificationVersion": "jobtemplate-2023-09",
        "name": f"{skill} in {plan.count} scenes"[:128],
        "description": f"Plan {plan.digest} of {made}, by dcc-bridge batch.",
        "parameterDefinitions": [
            _path("Plan", "INOUT", str(folder), "The plan, approved, and its ledger."),
            _path("Root", "INOUT", str(plan.root), "The folder below which the scenes lie."),
            _text("Python", python, "A Python with dcc-bridge-mcp[batch]."),
            _text("Interpreter", "", "The host's batch interpreter; empty for the one on PATH."),
            _text("Consent", "", "The digest of the consent that counts; empty: the user's own."),
            _text(
                "AnyVersion",
                "no",
                "yes: also run in a different version of the host than the plan's.",
            ),
            _text("Run", "farm", "What failed in a run of this name is not tried again in it."),
        ],
        "jobEnvironments": [
            {
                "name": "WarmHost",
                "description": "One host for all tasks of a session.",
                "script": {"actions": {"onEnter": enter, "onExit": leave}},
            }
        ],
        "steps": [
            {
                "name": "Scenes",
                "parameterSpace": {"taskParameterDefinitions": [task_parameter]},
                "script": {"actions": {"onRun": run_task}},
            }
        ],
    }


def _action(*words: str) -> dict[str, Any]:
    """Return the action that starts a command of ``dcc-bridge batch``."""
    return {"command": "{{Param.Python}}", "args": [*_COMMAND, *words]}


def _path(name: str, flow: str, default: str, text: str) -> dict[str, Any]:
    """Return the definition of a parameter that is a folder."""
    return {
        "name": name,
        "description": text,
        "type": "PATH",
        "objectType": "DIRECTORY",
        "dataFlow": flow,
        "default": default,
    }


def _text(name: str, default: str, text: str) -> dict[str, Any]:
    """Return the definition of a parameter that is a text."""
    return {"name": name, "type": "STRING", "description": text, "default": default}


def job(
    plan: Plan, python: str, run: str, *, is_any_version: bool = False
) -> tuple[Job, JobParameterValues]:
    """Make the job that runs on this computer.

    Args:
        plan: The plan to run.
        python: The Python interpreter that runs the tasks.
        run: The name of the run.
        is_any_version: Whether the host may have another version than the plan.

    Returns:
        The job and the values of its parameters.
    """
    folder = plan.folder.absolute()
    decoded = decode_job_template(template=template(plan, folder, python))
    folders = {"Plan": str(folder), "Root": str(plan.root)}
    any_version = "yes" if is_any_version else "no"
    texts = {
        "Python": python,
        "Interpreter": "",
        "Consent": "",
        "Run": run,
        "AnyVersion": any_version,
    }
    values: JobParameterValues = {}
    for name, value in folders.items():
        values[name] = ParameterValue(type=ParameterValueType.PATH, value=value)
    for name, value in texts.items():
        values[name] = ParameterValue(type=ParameterValueType.STRING, value=value)
    made = create_job(job_template=decoded, job_parameter_values=values)
    return made, values


def export(plan: Plan, folder: Path, python: str) -> None:
    """Write the bundle of an approved plan into a folder.

    Args:
        plan: The plan.
        folder: The folder of the bundle, created if need be.
        python: The worker's Python interpreter, which has dcc_bridge with its extra "batch".

    Raises:
        FileExistsError: The folder is not empty.
        NotApproved: The plan's consent is not the user's own, which a farm could not check.
        OSError: The bundle cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise FileExistsError(f"{folder} is not empty; name another folder.")
    plan_folder = folder / PLAN
    plan_folder.mkdir()
    for name in (HEADER, SCENES, approval.FILE):
        shutil.copy2(plan.folder / name, plan_folder / name)
    plan_copy = Plan.read(plan_folder)
    approval.check(plan_copy)
    (plan_folder / "ledger").mkdir()
    document = template(plan, Path(PLAN), python)
    for parameter in document["parameterDefinitions"]:
        if parameter["name"] == "Root":  # a default would have to lie below the template
            del parameter["default"]
    values = {
        "Root": str(plan.root),
        "Consent": approval.digest(plan_copy),
        "Interpreter": plan.request.interpreter or "",
    }
    parameters = [{"name": name, "value": value} for name, value in values.items()]
    _write(folder / "template.json", document)
    _write(folder / "parameter_values.json", {"parameterValues": parameters})
    # A farm without shared storage copies the inputs to its workers, and the outputs back.
    scenes = [plan.root / scene["path"] for scene in plan.scenes() if scene["state"] == "asks"]
    folders = {str(scene.parent) for scene in scenes}
    assets = {
        "inputs": {"filenames": [str(scene) for scene in scenes], "directories": []},
        "outputs": {"directories": sorted(folders)},
        "referencedPaths": [],
    }
    _write(folder / "asset_references.json", {"assetReferences": assets})


def _write(file: Path, value: object) -> None:
    file.write_text(json.dumps(value, indent=1) + "\n", encoding="ascii")
