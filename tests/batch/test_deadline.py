"""A job for a farm, as AWS Deadline Cloud's own client reads it. Nothing is sent anywhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge_batch import approval, bundle
from dcc_bridge_batch.plan import Plan
from tests.batch.conftest import write_plan
from tests.packages import from_pip

pytestmark = [pytest.mark.long, pytest.mark.timeout(400)]

LOCK = Path(__file__).parent / "locks" / "deadline.txt"
# What its `bundle submit` does with a folder before it asks for an account.
READ = """
import json, sys
from deadline.client.job_bundle import loader, parameters
from deadline.client.job_bundle.submission import AssetReferences

folder = sys.argv[1]
loader.validate_directory_symlink_containment(folder)
loader.read_yaml_or_json_object(folder, "template", True)
listed = parameters.read_job_bundle_parameters(folder)
assets = AssetReferences.from_dict(
    loader.read_yaml_or_json_object(folder, "asset_references", True)
)
parameters.apply_job_parameters([], folder, listed, assets)
print(json.dumps({
    "values": {it["name"]: it.get("value", it.get("default")) for it in listed},
    "inputs": sorted(assets.input_filenames),
    "copied": sorted(assets.input_directories),
    "outputs": sorted(assets.output_directories),
}))
"""


def deadline(*words: str) -> Any:
    """Run Python with Deadline Cloud's client, and without an account; gives what it prints."""
    home = {"HOME": "/nonexistent", "AWS_EC2_METADATA_DISABLED": "true"}
    env = {**os.environ, **home, "PYTHONPATH": str(from_pip(LOCK))}
    done = subprocess.run(
        [sys.executable, *words], env=env, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """Export the job of a plan in which two of three scenes are changed."""
    made = write_plan(tmp_path / "show", states=("asks", "nothing"))
    approval.approve(made)
    bundle.export(made, tmp_path / "job", "/farm/bin/python")
    return tmp_path / "job"


def test_the_client_of_deadline_cloud_reads_the_bundle_as_it_would_submit_it(job: Path) -> None:
    show, plan = job.parent / "show", str(job / "plan")

    read = deadline("-c", READ, str(job))

    assert read["inputs"] == [str(show / "shot_0.usda"), str(show / "shot_2.usda")]
    assert read["copied"] == read["outputs"] == [plan, str(show)]
    assert read["values"] == {
        **{"Plan": plan, "Root": str(show), "Python": "/farm/bin/python", "Interpreter": ""},
        **{"Consent": approval.digest(Plan.read(job / "plan")), "AnyVersion": "no", "Run": "farm"},
    }


def test_the_command_of_deadline_cloud_shows_the_bundle(job: Path) -> None:
    shown = deadline("-m", "deadline", "bundle", "info", str(job))

    assert shown["name"] == "skill in 3 scenes"
    assert shown["steps"] == ["Scenes"]
    assert [it["name"] for it in shown["parameters"]][:2] == ["Plan", "Root"]
