"""The job as Open Job Description has it: the template, its parameters, the list of files.

The run on this computer and a farm have the same template; a bundle is a folder as AWS Deadline
Cloud takes it: ``template.json``, ``parameter_values.json``, ``asset_references.json``. Nothing in
the template is an extension, so that whatever knows the revision 2023-09 runs it.
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

PLAN: Final = "plan"  # the copy of the plan in a bundle
_GRACE: Final = 600  # seconds for the scene of now when a task is cancelled
_COMMAND: Final = ["-m", "dcc_bridge", "batch"]
_PLACE: Final = ["--plan", "{{Param.Plan}}"]
_CONSENT: Final = ["--consent", "{{Param.Consent}}"]


def template(plan: Plan, folder: Path, python: str) -> dict[str, Any]:
    """Make the job template of a plan.

    Args:
        plan: What is run.
        folder: Where the plan is for whoever runs it; in a bundle, relative to the bundle.
        python: The interpreter that has dcc_bridge with its extra "batch", on the worker.
    """
    skill = plan.header["skill"]["name"]
    made = when(plan.header["created"])
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
            _text("AnyVersion", "no", "yes: go on in another version of the host than the plan's."),
            _text("Run", "farm", "What failed in a run of this name is not tried again in it."),
        ],
        "jobEnvironments": [
            {
                "name": "WarmHost",
                "description": "One host for all tasks of a session.",
                "script": {
                    "actions": {
                        "onEnter": _action(
                            *("enter", *_PLACE, *_CONSENT),
                            *("--interpreter", "{{Param.Interpreter}}"),
                            *("--any-version", "{{Param.AnyVersion}}"),
                        ),
                        "onExit": _action("leave"),
                    }
                },
            }
        ],
        "steps": [
            {
                "name": "Scenes",
                "parameterSpace": {
                    "taskParameterDefinitions": [
                        {"name": "Task", "type": "INT", "range": f"0-{max(0, plan.tasks - 1)}"}
                    ]
                },
                "script": {
                    "actions": {
                        "onRun": {
                            **_action(
                                *("task", *_PLACE, *_CONSENT, "--root", "{{Param.Root}}"),
                                *("--task", "{{Task.Param.Task}}", "--run", "{{Param.Run}}"),
                            ),
                            "cancelation": {
                                "mode": "NOTIFY_THEN_TERMINATE",
                                "notifyPeriodInSeconds": _GRACE,
                            },
                        }
                    }
                },
            }
        ],
    }


def _action(*words: str) -> dict[str, Any]:
    return {"command": "{{Param.Python}}", "args": [*_COMMAND, *words]}


def _path(name: str, flow: str, default: str, text: str) -> dict[str, Any]:
    facts = {"type": "PATH", "objectType": "DIRECTORY", "dataFlow": flow, "default": default}
    return {"name": name, "description": text, **facts}


def _text(name: str, default: str, text: str) -> dict[str, Any]:
    return {"name": name, "type": "STRING", "description": text, "default": default}


def job(
    plan: Plan, python: str, run: str, *, is_any_version: bool = False
) -> tuple[Job, JobParameterValues]:
    """Make the job that runs on this computer, and its parameters."""
    decoded = decode_job_template(template=template(plan, plan.folder.absolute(), python))
    folders = {"Plan": str(plan.folder.absolute()), "Root": str(plan.root)}
    texts = {"Python": python, "Interpreter": "", "Consent": "", "Run": run}
    texts["AnyVersion"] = "yes" if is_any_version else "no"
    path = ParameterValueType.PATH
    text = ParameterValueType.STRING
    values = {name: ParameterValue(type=path, value=value) for name, value in folders.items()}
    values |= {name: ParameterValue(type=text, value=value) for name, value in texts.items()}
    return create_job(job_template=decoded, job_parameter_values=values), values


def export(plan: Plan, folder: Path, python: str) -> None:
    """Write the bundle of an approved plan into a folder that is not there, or empty.

    FileExistsError: there is something in it. OSError: it cannot be written. NotApproved: the
    consent that was copied is not the user's own; on a farm nobody can check that any more.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise FileExistsError(f"{folder} is not empty; name another folder.")
    copy = folder / PLAN
    copy.mkdir()
    for name in (HEADER, SCENES, approval.FILE):
        shutil.copy2(plan.folder / name, copy / name)
    copied = Plan.read(copy)
    approval.check(copied)
    (copy / "ledger").mkdir()
    document = template(plan, Path(PLAN), python)
    for parameter in document["parameterDefinitions"]:
        if parameter["name"] == "Root":  # a default must lie below the template: it is a value
            del parameter["default"]
    values = {
        "Root": str(plan.root),
        "Consent": approval.digest(copied),
        "Interpreter": plan.request.interpreter or "",
    }
    listed = [{"name": name, "value": value} for name, value in values.items()]
    _write(folder / "template.json", document)
    _write(folder / "parameter_values.json", {"parameterValues": listed})
    # A farm that copies files to its workers copies these, and back what became of them.
    scenes = [str(plan.root / scene["path"]) for scene in plan.scenes() if scene["state"] == "asks"]
    assets = {
        "inputs": {"filenames": scenes, "directories": []},
        "outputs": {"directories": sorted({str(Path(scene).parent) for scene in scenes})},
        "referencedPaths": [],
    }
    _write(folder / "asset_references.json", {"assetReferences": assets})


def _write(file: Path, value: object) -> None:
    file.write_text(json.dumps(value, indent=1) + "\n", encoding="ascii")
