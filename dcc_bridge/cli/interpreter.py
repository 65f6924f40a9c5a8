"""Finds an application's batch interpreter, and starts the bridge in it. Main thread."""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, Final, Literal

from dcc_bridge import shell
from dcc_bridge.batch_job import JOB, SAVE, Job
from dcc_bridge.cli import hosts, leaves
from dcc_bridge.cli.exits import UNREACHABLE, Failure, tell
from dcc_bridge.config import POLICY, data_folder
from dcc_bridge.elicitation import unattended
from dcc_bridge.errors import own_version
from dcc_bridge.install import applications
from dcc_bridge.install.builds import own_machine
from dcc_bridge.install.installed import InstalledFiles
from dcc_bridge.install.locations import Facts, InstallTarget, System, UnknownLocation

_PACKAGE: Final = Path(__file__).resolve().parents[1]
# The file that an interpreter runs first. `os._exit`: some hosts continue after a script has
# failed, and freecadcmd then waits for typed commands. "__mp_main__": Blender frees the module that
# `multiprocessing` stores under this name, and crashes at its end.
_START: Final = """\
import os, sys, traceback
sys.path[:0] = {paths!r}
try:
    from {module} import main
    main()
except BaseException:
    traceback.print_exc()
    sys.stderr.flush()
    os._exit(1)
sys.modules.pop("__mp_main__", None)
"""
_CORE: Final = "dcc_bridge."
_SERVES: Final = "dcc_bridge.headless"  # the module whose `main` serves one scene
_POLL_INTERVAL_S: Final = 0.05
_END_TIMEOUT_S: Final = 15.0  # from the request to end until the interpreter is killed
_PROBE_TIMEOUT_S: Final = 180  # an application that starts for the first time is slow
_HOME_VARIABLES: Final = ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")
# On Windows `platform.machine()` is the computer's, which on ARM also runs what is made for x64. On
# macOS it is the process's, also under Rosetta.
_PROBE: Final = """\
import json, os, platform, sys, sysconfig
{it.probe_imports}
with open(os.environ["DCC_BRIDGE_TELL"], "w") as out:
    answer = {{"version": {it.probe_version}, "shared": {it.probe_shared}}}
    answer["python"] = "%d.%d" % sys.version_info[:2]
    answer["machine"] = platform.machine()
    if sys.platform == "win32":
        answer["machine"] = sysconfig.get_platform().rpartition("-")[2]
    json.dump(answer, out)
"""
Rule = Literal["refuse", "deny", "allow"]
_RULES: Final[dict[str, Rule]] = {"deny": "deny", "fallback": "refuse", "allow": "allow"}


class Interpreter:
    """A batch interpreter that was started.

    Args:
        process: The process of the interpreter, started with a list of words.
        report: The file for the interpreter's reports.

    Attributes:
        process: The process of the interpreter.
        was_stopped: Set once `stop` was called.
    """

    def __init__(self, process: subprocess.Popen[bytes], report: Path) -> None:
        self.process = process
        self.was_stopped = threading.Event()
        self._report = report
        self._killer = threading.Timer(_END_TIMEOUT_S, process.kill)
        self._killer.daemon = True

    @property
    def program(self) -> str:
        """The path of the program that was started."""
        return str(self.process.args[0])  # type: ignore[index]  # it was started with a list

    def report(self) -> dict[str, str]:
        """Return the interpreter's last report; {} if there is none yet."""
        try:
            return dict(json.loads(self._report.read_text(encoding="utf-8")))
        except OSError:
            return {}

    def reported_failure(self, *, was_ready: bool) -> Failure | None:
        """Return the failure that the interpreter reported; None if it reported none.

        Args:
            was_ready: Whether the interpreter took requests before.
        """
        error = self.report().get("error")
        if error is None:
            return None
        if was_ready:
            return Failure(error, UNREACHABLE)
        return Failure(error)

    def wait_until_ready(self, seconds: float | None = None) -> dict[str, str] | None:
        """Wait until the interpreter takes requests.

        Args:
            seconds: The time limit; None for no limit.

        Returns:
            The report, which has the server's "url"; None if the interpreter failed or ended.

        Raises:
            TimeoutError: The time limit was reached.
        """
        give_up_at = math.inf
        if seconds is not None:
            give_up_at = time.monotonic() + seconds
        while self.process.poll() is None and not self.was_stopped.wait(_POLL_INTERVAL_S):
            report = self.report()
            if "url" in report:
                return report
            if report:
                return None
            if time.monotonic() > give_up_at:
                raise TimeoutError
        return None

    def stop(self) -> None:
        """Ask the interpreter to end, and set `was_stopped`. Any thread."""
        self.was_stopped.set()
        self.end()

    def end(self, *, save: bool = False) -> None:
        """Ask the interpreter to end. Any thread.

        Args:
            save: Whether to save the scene first. The caller then has to limit the time; else an
                interpreter that hangs is killed.
        """
        assert self.process.stdin is not None
        with suppress(OSError, ValueError):  # the interpreter has ended, or its stdin is closed
            if save:
                self.process.stdin.write(SAVE)
            self.process.stdin.close()
        if not save:
            with suppress(RuntimeError):  # the timer runs already
                self._killer.start()

    def kill(self) -> None:
        """End the process at once."""
        self._killer.cancel()
        self.process.kill()


@contextmanager
def started(
    options: argparse.Namespace, output: IO[str] | IO[bytes], *, port: int | None
) -> Iterator[Interpreter]:
    """Run a host's batch interpreter with the bridge in it, for the length of a ``with`` block.

    Args:
        options: The options of `fill`, "scene" and, perhaps, "save_as".
        output: The stream for the output of the host itself.
        port: The port of the server; None for the port of the settings.

    Yields:
        The interpreter.

    Raises:
        Failure: There is no such interpreter, or the bridge is not installed for it.
    """
    with tempfile.TemporaryDirectory(prefix="dcc_bridge-") as folder:
        report = Path(folder, "report.json")
        job_file = Path(folder, "job.json")
        job = _job(options, port, report)
        job_file.write_text(json.dumps(asdict(job)), encoding="utf-8")
        process = subprocess.Popen(
            command(options.host, options.interpreter, Path(folder)),
            env={**environment(), JOB: str(job_file), "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            bufsize=0,
            # Ctrl+C reaches only this process, which then ends the interpreter in order.
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        interpreter = Interpreter(process, report)
        with process:
            try:
                yield interpreter
            finally:
                interpreter.kill()


def _job(options: argparse.Namespace, port: int | None, report: Path) -> Job:
    rule, allow_list = read_unattended(options.unattended)
    return Job(
        host=options.host,
        scenes=leaves.program(options.host).scenes,
        scene=_absolute(options.scene),
        skills=[str(folder) for folder in skill_folders(options)],
        port=port,
        unattended=rule,
        allow_list=_absolute(allow_list),
        save_as=_absolute(getattr(options, "save_as", None)),
        report=str(report),
    )


def _absolute(path: Path | None) -> str | None:
    if path is None:
        return None
    return str(path.absolute())


def command(host: str, program: str | None, folder: Path, module: str = _SERVES) -> list[str]:
    """Return the command that starts a host's interpreter with the ``main`` of a module.

    Args:
        host: The application, as ``--host`` names it.
        program: The application's interpreter; None for the one on PATH.
        folder: The folder for the file that the interpreter runs first.
        module: The module, of the bridge or of a package that is installed with the bridge.

    Returns:
        The words of the command.

    Raises:
        Failure: There is no such interpreter, or it has another Python and the bridge was not
            installed for it.
    """
    kind = leaves.program(host)
    if not isinstance(kind, InstallTarget):
        return [program or sys.executable, "-m", module]
    try:
        executable = find_program(kind, program)
        if executable is None and kind.module and importlib.util.find_spec(kind.module):
            executable = Path(sys.executable)
        if executable is None:
            raise _no_program(kind)
        paths = _paths(kind, str(executable), module)
    except UnknownLocation as error:
        raise Failure(str(error)) from None
    start = folder / "start.py"
    start.write_text(_START.format(paths=paths, module=module), encoding="utf-8")
    return _script_command(executable, kind.start_option, start)


def _no_program(kind: InstallTarget) -> Failure:
    names = " or ".join(kind.programs)
    python = ""
    if kind.module:
        python = f", which may be a Python that has {kind.module}"
    return Failure(f"{kind.title}'s {names} was not found; use --interpreter PATH{python}.")


def _script_command(program: Path, options: Sequence[str], script: Path) -> list[str]:
    """Return the command by which an interpreter runs a file; a Python needs no options."""
    if is_python(program):
        return [str(program), str(script)]
    return [str(program), *options, str(script)]


def _paths(kind: InstallTarget, program: str, module: str) -> list[str]:
    """Return the folders from which a Python imports the bridge, its dependencies and a module."""
    facts = probe(kind, program)
    packages = [str(kind.leaf)]
    if not module.startswith(_CORE):
        packages.append(_folder_of(module))
    for location, _ in kind.locations(System.here(), [facts]):
        installed = InstalledFiles.read(location.folder)
        if installed is None or installed.facts.get("python") != facts.python:
            continue
        if installed.facts.get("bridge") != own_version():  # that core would not fit our leaf
            raise Failure(
                f"The plug-in in {location.folder} is of dcc-bridge {installed.facts.get('bridge')}"
                f", and this is {own_version()}: dcc-bridge install {kind.name}"
            )
        return [str(location.folder / location.vendor), *packages]
    same_python = facts.python == f"{sys.version_info.major}.{sys.version_info.minor}"
    if same_python and facts.machine in (None, own_machine()):
        libraries = (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
        folders = (str(_PACKAGE.parent), *packages, *libraries)
        return list(dict.fromkeys(folders))
    advice = f"dcc-bridge install {kind.name}"
    if is_python(Path(program)):
        there = shell.line([str(Path(program).with_name("dcc-bridge"))])
        advice = f"install it there, and run {there}"
    raise Failure(
        f"{kind.title} has Python {facts.python}, and the bridge is not installed for it: {advice}"
    )


def _folder_of(module: str) -> str:
    """Return the folder that contains the package of a leaf's module and no other package."""
    package = module.partition(".")[0]
    return str(data_folder("plugins") / package.removeprefix("dcc_bridge_"))


def probe(
    application: InstallTarget, program: str | None = None, version: str | None = None
) -> Facts:
    """Ask an application's batch interpreter for its version and its Python.

    Args:
        application: The application.
        program: The application's interpreter; None for the one that `find_program` finds.
        version: The version that the person named, if any.

    Returns:
        The facts; empty where no interpreter is found.

    Raises:
        UnknownLocation: The interpreter does not exist, or does not answer, or several were found.
    """
    path = find_program(application, program, version)
    if path is None:
        return Facts()
    with tempfile.TemporaryDirectory(prefix="dcc_bridge-") as home:
        script = Path(home, "probe.py")
        script.write_text(_PROBE.format(it=application), encoding="utf-8")
        # The probe has its own home folder, because an application writes settings on start.
        own_home = dict.fromkeys(_HOME_VARIABLES, home)
        payload = answer(path, application.script_option, script, **own_home)
    if payload is None:
        raise UnknownLocation(f"{path} does not say which {application.title} it is.")
    shared = None
    if payload.get("shared"):
        shared = Path(payload["shared"])
    machine = payload.get("machine")
    return Facts(payload["version"], payload["python"], shared, path, machine)


def answer(
    program: Path, options: Sequence[str], script: Path, **variables: str
) -> dict[str, Any] | None:
    """Run a Python file in an application's batch interpreter, and return its answer.

    Args:
        program: The interpreter.
        options: The words before the file; a Python needs none.
        script: The file, which writes a JSON object to the file that ``DCC_BRIDGE_TELL`` names.
        **variables: More variables of the environment.

    Returns:
        The object; None if the interpreter did not start, or did not answer in time.
    """
    with tempfile.TemporaryDirectory(prefix="dcc_bridge-") as folder:
        answer_file = Path(folder, "answer.json")
        env = {**environment(), "XDG_CACHE_HOME": folder, **variables}
        env["DCC_BRIDGE_TELL"] = str(answer_file)
        env["PYTHONDONTWRITEBYTECODE"] = "1"
        with suppress(subprocess.TimeoutExpired, OSError):
            subprocess.run(
                _script_command(program, options, script),
                env=env,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_PROBE_TIMEOUT_S,
                check=False,
            )
        try:
            return dict(json.loads(answer_file.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None


def environment() -> dict[str, str]:
    """Return an environment in which an application finds its own Python.

    The Blender of a Linux distribution uses the first Python on PATH, and then cannot load its own
    compiled modules. So the virtual environment of this process is removed from PATH.
    """
    env = dict(os.environ)
    if sys.prefix != sys.base_prefix:
        ours = os.path.dirname(sys.executable)
        folders = env.get("PATH", "").split(os.pathsep)
        env["PATH"] = os.pathsep.join(folder for folder in folders if folder != ours)
        env.pop("VIRTUAL_ENV", None)
    return env


def find_program(
    application: InstallTarget, program: str | None = None, version: str | None = None
) -> Path | None:
    """Return the path of an application's batch interpreter.

    Args:
        application: The application.
        program: The interpreter, by its name or path. None for the first one on PATH, or the one
            where applications are installed on this system.
        version: The version that the person named, if any. An interpreter whose folder has that
            version in its name is preferred to the one on PATH.

    Returns:
        The path; None if no interpreter is found.

    Raises:
        UnknownLocation: The named interpreter does not exist, or cannot be used.
        SeveralFound: Several interpreters were found, none of them on PATH.
    """
    if program is not None:
        path = shutil.which(program)
        if path is None:
            raise UnknownLocation(f"There is no program at {program}.")
        problem = applications.problem_of(application, Path(path))
        if problem:
            raise UnknownLocation(f"{problem}.")
        return Path(path)
    chosen = None
    if version is None:
        chosen = applications.first_on_path(application, System.here())
    if chosen is None:
        found = applications.search(application, applications.Computer.here())
        chosen = applications.choose(application, found, version)
    if chosen is None:
        return None
    return chosen.program


def is_python(program: Path) -> bool:
    """Return whether a program is a Python, in which the application may be a module."""
    return re.fullmatch(r"python[\d.]*(\.exe)?", program.name.lower()) is not None


def fill(parser: argparse.ArgumentParser, host_help: str | None = None) -> None:
    """Add the options that choose a host to start, its skills and its rules, to a parser.

    Args:
        parser: The parser.
        host_help: The help of ``--host``.
    """
    own = leaves.local().name
    parser.add_argument("--host", choices=leaves.host_names(), default=own, help=host_help)
    skills = "an additional folder of skill files; repeatable"
    parser.add_argument(
        "--skills", type=Path, action="append", default=[], metavar="DIR", help=skills
    )
    program = "the host's batch interpreter, if it is not found, or found several times"
    parser.add_argument("--interpreter", metavar="PATH", help=program)
    parser.add_argument(
        "--unattended",
        metavar="RULE",
        help="what happens if nobody can be asked. deny: every question is declined; fallback "
        "(the usual default): a skill's fallback values answer, but never as consent; "
        "allow:FILE: the skills listed in the file run without a question. Each line has a "
        "skill's name and, to allow only one version of its file, that file's SHA-256 as sha256sum "
        "prints it, or sha256: and that of an agent's code; # starts a comment",
    )


def skill_folders(options: argparse.Namespace) -> list[Path]:
    """Return the folders that ``--skills`` names.

    Raises:
        Failure: A folder does not exist.
    """
    for folder in options.skills:
        if not folder.is_dir():
            raise Failure(f"There is no folder of skills at {folder}.")
    folders = tuple(folder.absolute() for folder in options.skills)
    if folders and hosts.settings(skills=folders).skills != folders:
        tell(f"--skills is ignored because the studio sets the skill folders in {POLICY}.")
    return list(folders)


def read_unattended(text: str | None) -> tuple[Rule | None, Path | None]:
    """Parse ``--unattended``.

    Args:
        text: The value of the option, if given.

    Returns:
        The settings ``unattended`` and ``allow_list``.

    Raises:
        Failure: The value is not a rule, or its file cannot be read.
    """
    if text is None:
        return None, None
    word, _, file = text.partition(":")
    if word not in _RULES or bool(file) != (word == "allow"):
        raise Failure(f"--unattended takes deny, fallback or allow:FILE, not {text}.")
    if not file:
        return _RULES[word], None
    try:
        return "allow", unattended.read_allow_list(Path(file).absolute()).file
    except ValueError as error:
        raise Failure(f"The file of --unattended allow cannot be used: {error}") from None
