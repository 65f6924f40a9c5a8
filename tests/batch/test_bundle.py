"""An exported job, checked and run by the command of Open Job Description, on another path."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dcc_bridge_batch import bundle, outcome
from dcc_bridge_batch.plan import Plan
from tests.batch.conftest import ROOT, Show, digests
from tests.batch.test_runs import approved_show, wrong

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(600),
    pytest.mark.usefixtures("new_interpreter"),
]


def this_environment(_: Path) -> Path:
    return Path(sys.executable)


def fresh_environment(folder: Path) -> Path:
    """Build a wheel, and install it with what a worker needs into a new environment."""
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(folder), str(ROOT)]
    subprocess.run(pip, check=True, capture_output=True, timeout=300)
    (wheel,) = folder.glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", str(folder / "worker")], check=True, timeout=120)
    python = folder / "worker" / "bin" / "python"
    pip = [str(python), "-m", "pip", "install", "-q", f"{wheel}[demo,batch]"]
    subprocess.run(pip, check=True, capture_output=True, timeout=400)
    return python


def command(python: Path, state: Path, *words: str | Path) -> str:
    """Run the command of an environment that knows nothing of this one; give what it printed."""
    kept = {it: text for it, text in os.environ.items() if not it.startswith("PYTHON")}
    done = subprocess.run(
        [str(python.with_name("openjd")), *map(str, words)],
        env={**kept, "XDG_STATE_HOME": str(state)},  # another user's: their key does not count
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.mark.parametrize("environment", [this_environment, fresh_environment])
def test_an_exported_job_is_valid_and_runs_elsewhere(
    tmp_path: Path, environment: Callable[[Path], Path]
) -> None:
    farm = tmp_path / "farm"
    farm.mkdir()
    python = environment(farm)
    show = approved_show(tmp_path, 5, 2)
    before = digests(show.root)
    bundle.export(show.plan, tmp_path / "job", str(python))
    shutil.copytree(tmp_path / "job", farm / "job")
    shutil.copytree(show.root, farm / "scenes")
    template, rules = farm / "job" / "template.json", farm / "rules.json"
    rule = {
        "source_path_format": "POSIX",
        "source_path": str(show.root),
        "destination_path": str(farm / "scenes"),
    }
    rules.write_text(json.dumps({"version": "pathmapping-1.0", "path_mapping_rules": [rule]}))
    parameters = json.loads((farm / "job" / "parameter_values.json").read_text())
    values = [f"{it['name']}={it['value']}" for it in parameters["parameterValues"] if it["value"]]
    words = [word for value in values for word in ("--job-param", value)]

    command(python, farm / "state", "check", template)
    mapped = ("--path-mapping-rules", rules.as_uri())
    command(python, farm / "state", "run", template, *words, *mapped)

    plan = Plan.read(farm / "job" / "plan")
    assert outcome.totals(plan).states == {"done": 5}
    moved = Show(farm / "scenes", plan)
    assert wrong(moved, before) == []
    assert digests(show.root) == before
    assert outcome.roll_back(plan, moved.root).states == {"rolled_back": 5}


def test_an_exported_job_runs_by_what_the_guide_says_to_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = " ".join((ROOT / "resources" / "guide" / "batch.md").read_text("utf-8").split())
    (typed,) = re.findall(r"`openjd (run[^`]*)`", page)
    show = approved_show(tmp_path, 2, 2)
    bundle.export(show.plan, tmp_path / "job", sys.executable)
    monkeypatch.chdir(tmp_path)

    state = Path(os.environ["XDG_STATE_HOME"])
    command(
        Path(sys.executable), state, *shlex.split(typed.replace("/shows/shots", str(show.root)))
    )

    assert outcome.totals(Plan.read(tmp_path / "job" / "plan")).states == {"done": 2}
