"""A host that is killed at any stage of a trial: no file is lost, no effect is there twice."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dcc_bridge.audit import reader
from tests.blender.bpy_module import ROOT
from tests.hosts.bodies.port import OTHERS, files_in
from tests.hosts.bodies.usd_files import FILES
from tests.hosts.dying_trials import BODIES, STAGES


@pytest.mark.long
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("body", BODIES)
def test_killed_in_a_trial_it_leaves_every_file_and_a_record_that_says_so(
    body: str, stage: str, tmp_path: Path
) -> None:
    _kill(tmp_path, body, stage)

    files = files_in(tmp_path / "scene")
    counter = files.pop("counter", b"").decode().splitlines()
    assert counter == (["once"] if (body, stage) == ("writes", "end") else [])
    assert {name: files[name].decode() for name in FILES} == FILES
    assert {*files} == {*FILES, *OTHERS}

    (record,) = map(reader.read, reader.logs(tmp_path / "scene" / "bridge" / "audit"))
    assert record.trouble is None or record.trouble.torn
    assert record.ending is None
    (call,) = record.unfinished  # it had begun, and the outcome is unknown
    assert call.fields["skill"] == "program"
    assert reader.recover(record.file.parent) == 1
    whole = reader.read(record.file)
    assert (whole.trouble, whole.ending) == (None, "recovered")


def _kill(folder: Path, body: str, stage: str) -> None:
    """Kill a process that has come to a stage, as ``kill -9`` does."""
    temporary = folder / "temporary"
    temporary.mkdir()
    command = [sys.executable, "-m", "tests.hosts.dying_trials", str(folder), body, stage]
    environment = {"PATH": "", "TMPDIR": str(temporary), "XDG_STATE_HOME": str(folder / "state")}
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == stage
        process.kill()
