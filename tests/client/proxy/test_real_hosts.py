"""Three applications at once, and one client that goes from one to the next in mid-session."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from mcp import Client

from tests.blender import bpy_module
from tests.cli.commands import SHOT, environment, serve
from tests.client.proxy.stage import client, names, run, said, told
from tests.hosts import freecad
from tests.live import ERAS

pytestmark = [pytest.mark.real, pytest.mark.timeout(600)]


@contextmanager
def started(command: list[str | Path], runtime: Path, **more: str) -> Iterator[str]:
    """Run an application for as long as the block lasts, and give its id."""
    process = subprocess.Popen(
        [str(word) for word in command],
        env=environment(runtime, PYTHONPATH=os.pathsep.join(bpy_module.PATHS), **more),
        cwd=runtime,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            assert process.stdout is not None
            lines = (line.strip() for line in process.stdout)
            said = next((line for line in lines if line.startswith("serving ")), "")
            assert said, "the application ended by itself"
            yield said.removeprefix("serving ")
        finally:
            process.kill()


def blender(runtime: Path) -> list[str | Path]:
    python = bpy_module.python("4.5.15")
    if python is None:
        pytest.skip("the Python that this Blender needs is not installed")
    return [python, "-m", "tests.client.proxy.in_blender", runtime, runtime / "set.blend"]


def free_cad(runtime: Path) -> list[str | Path]:
    if freecad.CONSOLE is None:
        pytest.skip("FreeCAD is not installed")
    file = runtime / "part.FCStd"
    statement = f"from tests.client.proxy import in_freecad as it; it.main({str(runtime)!r}, "
    return [freecad.CONSOLE, freecad.script(f"{statement}{str(file)!r})", runtime)]


@pytest.mark.parametrize("era", ERAS)
def test_three_applications_and_a_change_between_them_in_mid_session(
    era: str, tmp_path: Path
) -> None:
    """Each does its own work, and what is done in one is seen in no other."""
    tmp_path.chmod(0o700)

    async def agent() -> None:
        async with client(tmp_path, era) as session:
            hosts = (await told(session, "list_hosts"))["hosts"]
            assert len(hosts) == 3
            assert {one["scene"] for one in hosts} == {SHOT.name, "set.blend", "part"}
            for _ in range(2):
                for place, scene in ((in_blender, "set.blend"), (in_freecad, "part.FCStd")):
                    await told(session, "use_host", host=place)
                    assert await said(session, "where") == scene
                    await _adds(session, scene)
                await told(session, "use_host", host=standalone)
                assert "list_items" in await names(session)
                assert SHOT.name in await said(session, "summary")

    with ExitStack() as stack:
        in_blender = stack.enter_context(started(blender(tmp_path), tmp_path))
        command = free_cad(tmp_path)
        in_freecad = stack.enter_context(started(command, tmp_path, HOME=str(tmp_path)))
        shot = stack.enter_context(serve(tmp_path, "--headless", "--scene", SHOT))
        standalone = shot.instance.id
        run(agent, limit=120.0)


async def _adds(session: Client, scene: str) -> None:
    listed = await said(session, "add_object", name="Ours")
    assert "Ours" in listed
    assert ("Cube" in listed, "Box" in listed) == (scene == "set.blend", scene == "part.FCStd")
