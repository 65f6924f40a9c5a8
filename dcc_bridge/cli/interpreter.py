"""An application's batch interpreter: found, asked, started with the bridge in it. Main thread."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Final, Literal

from dcc_bridge.batch_job import JOB, SAVE, Job
from dcc_bridge.cli import hosts, leaves
from dcc_bridge.cli.exits import Failure, tell
from dcc_bridge.config import POLICY, data_folder
from dcc_bridge.elicitation import routing
from dcc_bridge.errors import own_version
from dcc_bridge.install import plan
from dcc_bridge.install.locations import Facts, InstallTarget, System, UnknownLocation

_PACKAGE: Final = Path(__file__).resolve().parents[1]
# Blender frees a module that `multiprocessing` keeps under this name, and crashes at its end.
# Some hosts go on where a script fails, and freecadcmd then waits for somebody who types.
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
_POLL: Final = 0.05
_GRACE: Final = 15.0  # seconds for its end; then it is killed
_PROBE_TIMEOUT: Final = 180  # seconds; an application that starts for the first time is slow
_PROBE: Final = """\
import json, os, sys
{it.probe_imports}
with open(os.environ["DCC_BRIDGE_TELL"], "w") as out:
    python = "%d.%d" % sys.version_info[:2]
    json.dump({{"version": {it.probe_version}, "python": python, "shared": {it.probe_shared}}}, out)
"""
Rule = Literal["refuse", "deny", "allow"]
_RULES: Final[dict[str, Rule]] = {"deny": "deny", "fallback": "refuse", "allow": "allow"}


class Interpreter:
    """A batch interpreter that was started."""

    def __init__(self, process: subprocess.Popen[bytes], report: Path) -> None:
        self.process = process
        self.was_stopped = threading.Event()  # whether `stop` was called
        self._report = report  # the file in which it says how far it is
        self._killer = threading.Timer(_GRACE, process.kill)
        self._killer.daemon = True

    @property
    def program(self) -> str:
        """What was started."""
        return str(self.process.args[0])  # type: ignore[index]  # it was started with a list

    def report(self) -> dict[str, str]:
        """Read what it wrote last; empty while it wrote nothing."""
        try:
            return dict(json.loads(self._report.read_text(encoding="utf-8")))
        except OSError:
            return {}

    def wait_until_ready(self, seconds: float | None = None) -> dict[str, str] | None:
        """Give its report once it takes requests; None if it failed or ended, or TimeoutError."""
        end = time.monotonic() + seconds if seconds is not None else None
        while self.process.poll() is None and not self.was_stopped.wait(_POLL):
            if report := self.report():
                return report if "url" in report else None
            if end is not None and time.monotonic() > end:
                raise TimeoutError
        return None

    def stop(self) -> None:
        """Have it end because somebody wants so. Any thread."""
        self.was_stopped.set()
        self.end()

    def end(self, *, save: bool = False) -> None:
        """Have it end; one that hangs is killed, unless it is to `save` its scene. Any thread."""
        assert self.process.stdin is not None
        with suppress(OSError, ValueError):  # it has ended, or was told before
            if save:
                self.process.stdin.write(SAVE)
            self.process.stdin.close()
        if not save:  # for how long it may save is the caller's
            with suppress(RuntimeError):  # the timer runs
                self._killer.start()

    def kill(self) -> None:
        """End its process at once."""
        self._killer.cancel()
        self.process.kill()


@contextmanager
def started(
    options: argparse.Namespace, output: IO[str] | IO[bytes], *, port: int | None
) -> Iterator[Interpreter]:
    """Run a host's batch interpreter with the bridge in it, as long as the block lasts.

    The options are what `fill` takes, "scene" and, perhaps, "save_as". What the host itself prints
    goes to `output`; a `port` of None is the setting's. Failure if there is no such interpreter.
    """
    with tempfile.TemporaryDirectory(prefix="dcc_bridge-") as folder:
        report, file = Path(folder, "report.json"), Path(folder, "job.json")
        file.write_text(json.dumps(asdict(_job(options, port, report))), encoding="utf-8")
        process = subprocess.Popen(
            command(options.host, options.interpreter, Path(folder)),
            env={**environment(), JOB: str(file), "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            bufsize=0,
            # Ctrl+C is for this process, which then has the interpreter end in its own way.
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
    save_as = getattr(options, "save_as", None)
    return Job(
        host=options.host,
        scenes=leaves.program(options.host).scenes,
        scene=str(options.scene.absolute()) if options.scene else None,
        skills=[str(folder) for folder in skill_folders(options)],
        port=port,
        unattended=rule,
        allow_list=str(allow_list) if allow_list else None,
        save_as=str(save_as.absolute()) if save_as else None,
        report=str(report),
    )


def command(host: str, program: str | None, folder: Path, module: str = _SERVES) -> list[str]:
    """Return the command that starts a host's interpreter with the ``main`` of a module.

    Args:
        host: The application, as ``--host`` names it.
        program: Its interpreter; None for the one on PATH.
        folder: Where the file is put with which the interpreter begins.
        module: The module, of the bridge or of a package that is installed with it.

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
        paths = _paths(kind, str(executable), module) if executable else []
    except UnknownLocation as error:
        raise Failure(str(error)) from None
    if executable is None:
        names = " or ".join(kind.programs)
        python = f", which may be a Python that has {kind.module}" if kind.module else ""
        raise Failure(f"{kind.title}'s {names} is not on PATH; say --interpreter PATH{python}.")
    start = folder / "start.py"
    start.write_text(_START.format(paths=paths, module=module), encoding="utf-8")
    words = [] if is_python(executable) else kind.start_option
    return [str(executable), *words, str(start)]


def _paths(kind: InstallTarget, program: str, module: str) -> list[str]:
    """List the folders of the bridge, what it depends on, the leaf and a module, for a Python."""
    facts = probe(kind, program)
    packages = [str(kind.leaf)]
    if not module.startswith(_CORE):
        packages.append(_folder_of(module))
    for location, _ in kind.locations(System.here(), [facts]):
        installed = plan.InstalledFiles.read(location.folder)
        if installed is None or installed.facts.get("python") != facts.python:
            continue
        if installed.facts.get("bridge") != own_version():  # its core would not fit our leaf
            raise Failure(
                f"The plug-in in {location.folder} is of dcc-bridge {installed.facts.get('bridge')}"
                f", and this is {own_version()}: dcc-bridge install {kind.name}"
            )
        return [str(location.folder / location.vendor), *packages]
    if facts.python == f"{sys.version_info.major}.{sys.version_info.minor}":
        installed_in = [sysconfig.get_path(name) for name in ("purelib", "platlib")]
        return list(dict.fromkeys([str(_PACKAGE.parent), *packages, *installed_in]))
    mend = f"dcc-bridge install {kind.name}"
    if is_python(Path(program)):
        mend = f"install it there, and run {Path(program).with_name('dcc-bridge')}"
    raise Failure(
        f"{kind.title} has Python {facts.python}, and the bridge is not installed for it: {mend}"
    )


def _folder_of(module: str) -> str:
    """Return the folder that holds the package of a leaf's module, and nothing of others."""
    package = module.partition(".")[0]
    return str(data_folder("plugins") / package.removeprefix("dcc_bridge_"))


def probe(application: InstallTarget, program: str | None = None) -> Facts:
    """Ask an application's batch interpreter what it is; UnknownLocation if it does not answer."""
    if (path := find_program(application, program)) is None:
        return Facts()
    with tempfile.TemporaryDirectory(prefix="dcc_bridge-") as home:
        answer, script = Path(home, "answer.json"), Path(home, "probe.py")
        script.write_text(_PROBE.format(it=application), encoding="utf-8")
        # It is asked in a home of its own: an application that starts writes settings.
        env = {**environment(), "DCC_BRIDGE_TELL": str(answer)}
        env |= dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"), home)
        with suppress(subprocess.TimeoutExpired, OSError):
            subprocess.run(
                [str(path), *([] if is_python(path) else application.script_option), str(script)],
                env=env,
                cwd=home,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_PROBE_TIMEOUT,
                check=False,
            )
        try:
            payload = json.loads(answer.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise UnknownLocation(f"{path} does not say which {application.title} it is.") from None
    shared = Path(payload["shared"]) if payload.get("shared") else None
    return Facts(payload["version"], payload["python"], shared, path)


def environment() -> dict[str, str]:
    """Give an environment in which an application finds its own Python.

    A Blender of a distribution takes the first one on PATH for its own, and then cannot load its
    compiled modules: that must not be the virtual environment from which this was started.
    """
    env = dict(os.environ)
    if sys.prefix != sys.base_prefix:
        ours = os.path.dirname(sys.executable)
        folders = env.get("PATH", "").split(os.pathsep)
        env["PATH"] = os.pathsep.join(folder for folder in folders if folder != ours)
        env.pop("VIRTUAL_ENV", None)
    return env


def find_program(application: InstallTarget, program: str | None = None) -> Path | None:
    """Find an application's batch interpreter; UnknownLocation where a named one is not there."""
    if program is not None:
        if (path := shutil.which(program)) is None:
            raise UnknownLocation(f"There is no program at {program}.")
        return Path(path)
    paths = (shutil.which(name) for name in application.programs)
    return next((Path(path) for path in paths if path), None)


def is_python(program: Path) -> bool:
    """Whether a program is a Python, which may have the application as a module."""
    return re.fullmatch(r"python[\d.]*(\.exe)?", program.name.lower()) is not None


def fill(parser: argparse.ArgumentParser, host_help: str | None = None) -> None:
    """Add what says which host is started, and with what, to a parser."""
    own = leaves.local().name
    parser.add_argument("--host", choices=leaves.host_names(), default=own, help=host_help)
    skills = "a folder of more skill files; may be given more than once"
    parser.add_argument(
        "--skills", type=Path, action="append", default=[], metavar="DIR", help=skills
    )
    program = "the host's batch interpreter, if it is not on PATH"
    parser.add_argument("--interpreter", metavar="PATH", help=program)
    parser.add_argument(
        "--unattended",
        metavar="RULE",
        help="what happens if nobody can be asked. deny: every question is declined; fallback "
        "(the usual default): a skill's fallback values answer, but never as consent; "
        "allow:FILE: the skills listed in the file go on without being asked. Each line has a "
        "skill's name and, to allow only one version of its file, that file's SHA-256 as sha256sum "
        "prints it, or sha256: and that of an agent's code; # starts a comment",
    )


def skill_folders(options: argparse.Namespace) -> list[Path]:
    """Give the folders that ``--skills`` names; Failure where one is not there."""
    for folder in options.skills:
        if not folder.is_dir():
            raise Failure(f"There is no folder of skills at {folder}.")
    folders = tuple(folder.absolute() for folder in options.skills)
    if folders and hosts.settings(skills=folders).skills != folders:
        tell(f"--skills is left out, because the studio fixes the folders of skills in {POLICY}.")
    return list(folders)


def read_unattended(text: str | None) -> tuple[Rule | None, Path | None]:
    """Parse ``--unattended``: the settings ``unattended`` and ``allow_list``; or Failure."""
    if text is None:
        return None, None
    word, _, file = text.partition(":")
    if word not in _RULES or bool(file) != (word == "allow"):
        raise Failure(f"--unattended takes deny, fallback or allow:FILE, not {text}.")
    if not file:
        return _RULES[word], None
    try:
        return "allow", routing.read_allow_list(Path(file).absolute()).file
    except ValueError as error:
        raise Failure(f"The file of --unattended allow cannot be used: {error}") from None
