"""The command's outside: help, version, usage."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from tests.cli.commands import environment, run
from tests.tiers import sampled


@pytest.mark.core
def test_the_help_names_every_command_and_every_exit_code(runtime: Path) -> None:
    done = run(runtime, "--help")

    assert done.code == 0
    assert all(f"    {name} " in done.out for name in ("demo", "serve", "tools", "call"))
    assert all(f"\n  {code} " in done.out for code in (0, 1, 2, 3, 4, 130))


@pytest.mark.core
@pytest.mark.parametrize("command", ["demo", "serve", "tools", "call"])
def test_every_command_has_a_help_of_its_own(runtime: Path, command: str) -> None:
    done = run(runtime, command, "--help")

    assert done.code == 0
    assert done.out.startswith(f"usage: dcc-bridge {command}")
    assert "exit codes:" in done.out


def test_the_version_is_that_of_the_package(runtime: Path) -> None:
    done = run(runtime, "--version")

    assert done.out == f"dcc-bridge {metadata.version('dcc-bridge-mcp')}\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "required: COMMAND"),
        (["fly"], "There is no command 'fly'. `dcc-bridge --help` lists the commands."),
        (["Calls"], "Did you mean call?"),
        (["list", "--jsn"], "usage: dcc-bridge list [-h] [--json]"),
        (["list", "--jsn"], "unrecognized arguments: --jsn"),
        (["--jsn", "list"], "unrecognized arguments: --jsn"),
        (["audit", "show", "--jsn"], "usage: dcc-bridge audit show [-h]"),
        (["call"], "required: TOOL"),
        (["call", "x", "--args", "{"], "this is not JSON"),
        (["call", "x", "--args", "[1]"], "an object such as"),
        (["call", "x", "--answer", "perhaps"], "or a JSON object, not 'perhaps'"),
        (["call", "x", "--era", "old"], "invalid choice: 'old'"),
        (["demo", "--answer", "{}"], "invalid choice"),
        (["serve", "--port", "many"], "invalid int value"),
    ],
    ids=str,
)
def test_wrong_words_are_answered_with_a_sentence(
    runtime: Path, words: list[str], said: str
) -> None:
    done = run(runtime, *words)

    assert done.code == 2
    assert said in done.err
    assert "Traceback" not in done.err


def test_a_setting_that_cannot_be_read_is_named(runtime: Path) -> None:
    done = run(runtime, "tools", DCC_BRIDGE_PORT="many")

    assert done.code == 2
    assert done.err == "dcc-bridge: DCC_BRIDGE_PORT is a whole number, not 'many'.\n"


def without(
    runtime: Path, packages: tuple[str, ...], *words: str
) -> subprocess.CompletedProcess[str]:
    script = (
        "import sys\n"
        f"for name in {packages}: sys.modules[name] = None\n"
        "from dcc_bridge.cli import main\n"
        f"sys.exit(main({[*words]}))\n"
    )
    return subprocess.run(
        [sys.executable, "-c", script],
        env=environment(runtime),
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def test_help_needs_neither_the_protocol_nor_the_scene_nor_a_window(runtime: Path) -> None:
    done = without(runtime, ("mcp", "uvicorn", "pxr", "PySide6"), "--help")

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "words",
    sampled(["serve --headless"], ["serve --headless", "demo --headless", "demo --window"]),
)
def test_an_installation_without_the_extra_is_told_what_to_install(
    runtime: Path, words: str
) -> None:
    done = without(runtime, ("pxr", "PySide6", "qasync"), *words.split())

    assert done.returncode == 2
    assert 'pip install "dcc-bridge-mcp[demo]"' in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", [["serve", "--headless"], ["run", "summary"]])
def test_usd_that_cannot_be_loaded_is_told_with_the_reason(
    runtime: Path, tmp_path: Path, words: list[str]
) -> None:
    reason = "libGL.so.1: cannot open shared object file"
    (tmp_path / "pxr").mkdir()
    (tmp_path / "pxr" / "__init__.py").write_text(f"raise ImportError({reason!r})")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from dcc_bridge import cli; "
    done = subprocess.run(
        [sys.executable, "-c", f"{code}sys.exit(cli.main({words!r}))"],
        env={**environment(runtime), "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 2
    assert reason in done.stderr


@pytest.mark.parametrize("package", ["rich", "openjd"])
def test_a_batch_without_its_extra_is_told_what_to_install(runtime: Path, package: str) -> None:
    """Before any work: a plan that was made and cannot be shown would be no use."""
    done = without(runtime, (package,), "batch", "status", "plan")

    assert done.returncode == 2
    assert 'pip install "dcc-bridge-mcp[batch]"' in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.usefixtures("new_interpreter")
def test_who_reads_only_a_part_of_the_output_hears_no_complaint(runtime: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "dcc_bridge", "--help"],
        env=environment(runtime),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.close()

    assert process.stderr is not None
    assert process.stderr.read() == ""
    process.stderr.close()
    process.wait(30)
