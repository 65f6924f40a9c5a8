"""README and the guide hold: their commands and code run, their links and figures are right."""

from __future__ import annotations

import hmac
import inspect
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, fields
from pathlib import Path
from types import ModuleType
from typing import Any, Final, cast, get_args, get_type_hints
from urllib.parse import parse_qsl, urlsplit

import anyio.to_thread
import httpx2
import pytest
from mcp_types import ElicitRequestParams, ElicitRequestURLParams, ElicitResult

from dcc_bridge import cli, skill
from dcc_bridge.audit import program_log
from dcc_bridge.cli import exits
from dcc_bridge.cli.skill import PAGES
from dcc_bridge.config import Settings
from dcc_bridge.elicitation.rate_limits import MUTE_DURATION_S
from dcc_bridge.elicitation.schema import MAX_FIELDS, parse
from dcc_bridge.skills.skill import Metadata
from dcc_bridge_usd import install
from dcc_bridge_usd.host import UsdSession
from tests import homes
from tests.cli.commands import SHOT
from tests.cli.test_json import LISTS
from tests.cli.test_run_hosts import Farm
from tests.hosts import freecad
from tests.live import Tap, live, text
from tests.server.provider import ACCESS, Site, provider
from tests.server.sending import Browser
from tests.stand_ins import Person
from tests.tiers import sampled
from tests.verbs.studio import NO, YES

ROOT: Final = Path(__file__).parents[1]
GUIDE: Final = ROOT / "resources" / "guide"
TEXTS: Final = {"README": (ROOT / "README.md").read_text(encoding="utf-8")} | {
    page: (GUIDE / f"{page}.md").read_text(encoding="utf-8") for page in PAGES
}
PACKAGE: Final = ROOT / "dcc_bridge"
ALL_TROUBLE: Final = TEXTS["README"] + TEXTS["troubleshooting"]
_FENCE: Final = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CODE: Final = re.compile(r"`([^`\n]+)`")
_LINK: Final = re.compile(r"\]\(([^)\s]+)\)")
_LIMIT: Final = 120
KEY: Final = "not a real key"
TRACKER: Final = "https://tracker.example"
REAL: Final = ("blender", "freecad")


def blocks(page: str, language: str) -> list[str]:
    return [code for kind, code in _FENCE.findall(TEXTS[page]) if kind == language]


@dataclass(frozen=True)
class Line:
    """A line of a shell block.

    Attributes:
        text: All of it.
        words: Without the remark.
    """

    text: str
    words: tuple[str, ...]

    @property
    def tier(self) -> str:
        """What it needs: "pip", "real" for an application, or nothing more."""
        if "pip" in self.text:
            return "pip"
        return "real" if any(host in self.words for host in REAL) else ""

    @property
    def code(self) -> int:
        """The exit code that the page announces."""
        announced = re.search(r"# exit code (\d+)", self.text)
        return int(announced[1]) if announced else 0


def lines(page: str) -> list[Line]:
    return [typed(text) for text in "".join(blocks(page, "sh")).splitlines()]


def typed(text: str) -> Line:
    return Line(text, tuple(shlex.split(text, comments=True)))


class Walk:
    """Somebody who types what a page says into a terminal, in a folder of their own."""

    def __init__(self, folder: Path, page: str, *program: str) -> None:
        self.folder, self.page, self.program = folder, page, program
        folder.mkdir(exist_ok=True)
        farm = Farm(folder, "maya"), Farm(folder, "houdini")
        home = folder / "home"
        (home / ".cursor").mkdir(parents=True)  # a client that `setup` finds
        kept = {n: v for n, v in os.environ.items() if not n.startswith(("DCC_BRIDGE_", "XDG_"))}
        for screen in ("DISPLAY", "WAYLAND_DISPLAY"):
            kept.pop(screen, None)
        runtime = {"DCC_BRIDGE_RUNTIME": str(folder / "runtime")}
        self.environment = {**kept, **farm[0].environment, **homes.home(home), **runtime}
        shutil.copy(SHOT, folder / "shot.usda")
        (folder / "my_skills").mkdir()
        for number, code in enumerate(blocks(page, "python")):
            (folder / "my_skills" / f"skill_{number}.py").write_text(code)
        for code in blocks(page, "text"):
            (folder / "allowed.txt").write_text(code)

    @contextmanager
    def beside_a_host(self) -> Iterator[None]:
        """Have a host that runs, and something on record, for the pages that look at one."""
        with ExitStack() as servers:
            if self.page in ("security", "troubleshooting"):
                servers.enter_context(self._served(typed("dcc-bridge serve --headless")))
                nobody = """dcc-bridge call delete --args '{"pattern": "*_cam"}'"""
                self.type(typed(f"{nobody} # exit code 3"))
            yield

    def take(self, tier: str) -> None:
        """Type the lines of a tier; a block that starts a server is pasted as a whole."""
        for block in blocks(self.page, "sh"):
            if "dcc-bridge serve" in block:
                if not tier and sys.platform != "win32":  # it is for a Unix shell
                    self.paste(block)
                continue
            for line in map(typed, block.splitlines()):
                if line.tier == tier:
                    self.type(line)

    def paste(self, block: str) -> None:
        """Paste a block into a shell; what it leaves in the background is ended after it."""
        if sys.platform == "win32":
            raise NotImplementedError("Windows has no process groups")
        program = self.folder / "bin" / "dcc-bridge"
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\nexec {shlex.join(self.program)} "$@"\n')
        program.chmod(0o755)
        path = os.pathsep.join([str(program.parent), os.environ["PATH"]])
        with (self.folder / "said").open("w+") as said:
            shell = subprocess.Popen(
                ["bash", "-e"],
                cwd=self.folder,
                env={**self.environment, "PATH": path},
                stdin=subprocess.PIPE,
                stdout=said,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )
            try:
                shell.communicate(block, timeout=_LIMIT / 2)
            finally:
                with suppress(ProcessLookupError):  # nothing was left
                    os.killpg(shell.pid, signal.SIGKILL)
            said.seek(0)
            assert shell.returncode == 0, said.read()

    def type(self, line: Line) -> None:
        done = subprocess.run(
            self._command(line),
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_LIMIT,
            check=False,
        )
        assert done.returncode == line.code, f"{line.text}\n{done.stdout}{done.stderr}"

    @contextmanager
    def _served(self, line: Line) -> Iterator[None]:
        process = subprocess.Popen(
            self._command(line),
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert process.stdout is not None
        with process:
            ready = process.stdout.readline()
            try:
                assert ready.startswith("Ready"), ready
                yield
            finally:
                if sys.platform == "win32":
                    process.kill()  # no signal reaches a process without a console there
                else:
                    process.send_signal(signal.SIGINT)

    def _command(self, line: Line) -> list[str]:
        assert line.words[0] == "dcc-bridge", line.text
        return [*self.program, *line.words[1:]]


@pytest.mark.timeout(_LIMIT)
@pytest.mark.parametrize("page", sampled(["README", "troubleshooting"], TEXTS))
def test_what_a_page_says_to_type_can_be_typed(page: str, tmp_path: Path) -> None:
    walk = Walk(tmp_path, page, sys.executable, "-W", "error", "-m", "dcc_bridge")

    with walk.beside_a_host():
        walk.take("")


@pytest.mark.real
@pytest.mark.timeout(600)
@pytest.mark.skipif(shutil.which("blender") is None, reason="Blender is not installed")
@pytest.mark.skipif(freecad.PROGRAM is None, reason="FreeCAD is not installed")
@pytest.mark.parametrize("page", [page for page in TEXTS if any(it.tier for it in lines(page))])
def test_what_a_page_says_of_an_application_holds_in_it(page: str, tmp_path: Path) -> None:
    walk = Walk(tmp_path, page, sys.executable, "-W", "error", "-m", "dcc_bridge")
    if page == "troubleshooting":  # where it is installed already
        walk.type(typed("dcc-bridge install blender"))

    walk.take("real")


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_wheel_in_an_empty_folder_does_all_that_the_pages_say(tmp_path: Path) -> None:
    """What the first block of README says is done in a clone, what the others say beside it."""
    clone, python = tmp_path / "clone", tmp_path / "clone" / ".venv" / "bin" / "python"
    shell("git", "clone", "-q", str(ROOT), str(clone), folder=tmp_path)
    for line in (line for page in TEXTS for line in lines(page) if line.tier == "pip"):
        if line.text.endswith(("pytest", "dcc-bridge-mcp")):
            continue  # the one is this run, the other comes last
        shell("bash", "-c", f"PATH=$PWD/.venv/bin:$PATH; {line.text}", folder=clone)
    shell(str(python), "-m", "pip", "wheel", "-q", "--no-deps", "-w", "dist", ".", folder=clone)
    (wheel,) = (clone / "dist").iterdir()
    shell(sys.executable, "-m", "venv", "new", folder=tmp_path)
    program = tmp_path / "new" / "bin"
    shell(str(program / "pip"), "install", "-q", f"{wheel}[demo,batch]", folder=tmp_path)
    shutil.rmtree(clone)

    for page in TEXTS:
        walk = Walk(tmp_path / page, page, str(program / "dcc-bridge"))
        with walk.beside_a_host():
            walk.take("")
        assert shell(str(program / "dcc-bridge"), "guide", folder=tmp_path) == contents()
    shell(str(program / "pip"), "uninstall", "-q", "-y", "dcc-bridge-mcp", folder=tmp_path)
    rest = [file for file in (tmp_path / "new").rglob("*dcc_bridge*/**/*") if file.is_file()]
    assert {file.suffix for file in rest} <= {".pyc"}


def shell(*command: str, folder: Path) -> str:
    kept = {n: v for n, v in os.environ.items() if not n.startswith("DCC_BRIDGE_")}
    done = subprocess.run(
        command, cwd=folder, env=kept, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


# ---- code

STRIPES: Final = [f"/World/Set/Street/Crossing/Stripe_{number:02}" for number in range(1, 7)]
CALLS: Final[dict[str, tuple[dict[str, Any], Any]]] = {
    "delete_children": ({"of": "/World/Characters"}, {"result": 4}),
    "delete_empty_groups": ({}, {"result": 1}),
    "add_group": ({}, {"added": "/World/Crowd", "name_from": "client"}),
    "save_over": ({}, "a copy of it"),
    "clear_out": ({"of": "/World/Set/Street/Crossing"}, {"deleted": STRIPES}),
    "set_up_axis": ({}, "The up axis is Y."),
    "sign_text": ({"text": "cut"}, hmac.new(KEY.encode(), b"cut", "sha256").hexdigest()),
    "sign_in": ({}, "The person is signed in."),
    "hide_lights": ({}, {"result": 12}),
    "clear_lights": ({}, {"result": 12}),
}
"""The skills of the pages that no line of them runs: with what, and what comes of it."""


async def agree(params: ElicitRequestParams) -> ElicitResult:
    """Answer as a person who agrees, takes the first choice, and knows the key."""
    if isinstance(params, ElicitRequestURLParams):
        await anyio.to_thread.run_sync(enter, params.url)
        return ElicitResult(action="accept")
    fields_asked = params.requested_schema["properties"]
    content = {name: field.get("enum", [True])[0] for name, field in fields_asked.items()}
    return ElicitResult(action="accept", content=content)


def enter(url: str) -> None:
    with httpx2.Client(timeout=10, follow_redirects=True) as browser:
        page = browser.get(url).text
        if "Key for signatures" in page:
            browser.post(url, data={"exit": "accept", "secret": KEY})


@pytest.fixture
def site() -> Iterator[Site]:
    with provider() as made:
        yield made


def test_every_skill_of_the_pages_runs(tmp_path: Path, site: Site) -> None:
    scene = Path(shutil.copy(SHOT, tmp_path))
    skills = tmp_path / "skills"
    skills.mkdir()
    names = set[str]()
    for number, code in enumerate(code for page in TEXTS for code in blocks(page, "python")):
        (skills / f"skill_{number}.py").write_text(code.replace(TRACKER, site.origin))
        names |= set(re.findall(r"@skill.*\n(?:async )?def (\w+)", code))
    run_by_a_line = {word for page in TEXTS for line in lines(page) for word in line.words}

    results: dict[str, Any] = {}
    session = UsdSession(scene, has_ui=False)
    uninstall = install(session)
    with live(tmp_path / "run", host=session, skills=[skills]) as running:
        for name, (arguments, _) in CALLS.items():
            result = running.call(name, arguments, asked=agree)
            results[name] = result.structured_content or text(result)
        wrong = text(running.call("clear_out", {"of": "/Wrong"}, asked=agree))
        again = running.call("add_group", {}, asked=agree).structured_content
    uninstall()

    assert names - run_by_a_line <= CALLS.keys()
    copy = results.pop("save_over")["copy"]
    assert Path(copy).is_relative_to(f"{scene}.checkpoints")
    assert results == {name: wanted for name, (_, wanted) in CALLS.items() if name in results}
    assert "There is no prim at '/Wrong'." in wrong
    assert again == {"was_there": "/World/Crowd", "name_from": "client"}


def test_the_first_skill_of_readme_is_asked_about_in_the_words_that_it_says(
    tmp_path: Path,
) -> None:
    """A no leaves the scene as it was, and a prim without anything below it is no question."""
    scene = Path(shutil.copy(SHOT, tmp_path))
    readme = TEXTS["README"]
    code = blocks("README", "python")[0]
    file = tmp_path / "skill.py"
    file.write_text(code)
    body = code.partition("@skill\n")[2]
    person = Person(NO)
    session = UsdSession(scene, has_ui=True)
    before = session.stage.ExportToString()
    uninstall = install(session)
    with live(tmp_path / "run", host=session, presenter=person) as running:
        running.load(file)
        refused = running.call("delete_children", {"of": "/World/Lights"})
        after = session.stage.ExportToString()
        nothing = running.call("delete_children", {"of": "/World/Lights/Lamp_01_Glow"})
    uninstall()

    assert "confirm" not in body
    assert len(body.splitlines()) == 6
    assert refused.is_error
    assert f'"{person.shown[0].message}"' in readme
    assert (after, person.shown[1:]) == (before, [])
    assert nothing.structured_content == {"result": 0}


def test_the_tests_that_the_guide_shows_pass(tmp_path: Path) -> None:
    (tests,) = (code for code in blocks("skills", "py") if "dcc_bridge.testing" in code)
    (line,) = (code for code in _CODE.findall(TEXTS["skills"]) if code.startswith("pytest "))
    for name, content in (
        ("my_skills/lights.py", blocks("README", "python")[0]),
        ("tests/test_lights.py", tests),
    ):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(content)

    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(line), "--rootdir", str(tmp_path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=_LIMIT,
        check=False,
    )

    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout


@pytest.mark.parametrize(
    ("how", "says", "asked_for_tokens"),
    [
        ("", "The person is signed in.", 1),
        ("access_denied", "The tracker refused to sign the person in.", 0),
        ("wrong state", "exceeded its time limit", 0),
    ],
)
def test_nobody_but_the_skill_of_the_guide_gets_the_token_of_a_sign_in(
    tmp_path: Path, how: str, says: str, asked_for_tokens: int, caplog: pytest.LogCaptureFixture
) -> None:
    (code,) = (code for code in blocks("skills", "python") if TRACKER in code)
    person = Browser()
    tap = Tap()
    caplog.set_level("DEBUG")
    with provider(how) as site, live(tmp_path) as running:
        file = tmp_path / "sign_in.py"
        limit = 1 if how == "wrong state" else 60
        code = code.replace(TRACKER, site.origin).replace("timeout=300", f"timeout={limit}")
        file.write_text(code)
        running.load(file)
        result = running.call("sign_in", asked=person.asked, tap=tap)
        came_to = urlsplit(str(person.pages[0].url))

    records = "".join(one.read_text() for one in (tmp_path / "audit").rglob("*.jsonl"))
    person_logs = ("httpx2", "httpcore2")  # the browser is in this process
    logged = [it.getMessage() for it in caplog.records if not it.name.startswith(person_logs)]
    written = "".join([records, *logged])
    assert says in text(result)
    assert "You can close this page." in person.pages[0].text
    assert len(site.changed) == asked_for_tokens
    assert ACCESS not in written
    assert "sign_in" in records
    assert ACCESS.encode() not in bytes(tap.heard)
    assert dict(parse_qsl(came_to.query)).get("code", "no code") not in written
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", came_to.port or 0), timeout=10)


class AcmeNode:
    """A node of the application of the guide, as its scene is now."""

    type = "Grade"
    locked = False
    id = 1

    def __init__(self, acme: Acme, path: str) -> None:
        self._acme, self.path = acme, path
        self.values = acme.scene[path]
        self.inputs: list[str] = []

    def set(self, prop: str, value: float) -> None:
        self.values[prop] = value

    def delete(self) -> None:
        del self._acme.scene[self.path]


class Acme:
    """The application of the guide: its scene has nodes with numbers, each state of it kept."""

    def __init__(self) -> None:
        self.scene = {path: {"gain": 1.0} for path in ("/a", "/b", "/c")}
        self._done: list[tuple[str, Any]] = []
        self._undone: list[tuple[str, Any]] = []
        self.undo = self

    def version(self) -> str:
        return "1.0"

    def is_batch(self) -> bool:
        return False

    def scene_file(self) -> str:
        return ""

    def selected(self) -> list[AcmeNode]:
        return []

    def nodes(self) -> list[AcmeNode]:
        return [AcmeNode(self, path) for path in self.scene]

    def find(self, path: str) -> AcmeNode | None:
        return AcmeNode(self, path) if path in self.scene else None

    def begin(self, label: str) -> None:
        self._done.append((label, deepcopy(self.scene)))

    def end(self) -> None:
        if self._done[-1][1] == self.scene:
            self._done.pop()

    def labels(self) -> list[str]:
        return [label for label, _ in self._done]

    def back(self) -> None:
        label, before = self._done.pop()
        self._undone.append((label, self.scene))
        self.scene = before

    def forth(self) -> None:
        label, after = self._undone.pop()
        self._done.append((label, self.scene))
        self.scene = after


@pytest.fixture
def acme(monkeypatch: pytest.MonkeyPatch) -> Acme:
    application = Acme()
    monkeypatch.setitem(sys.modules, "acme", cast("ModuleType", application))
    return application


def acme_example() -> dict[str, Any]:
    """Run what the guide shows of the host and of its operations."""
    example: dict[str, Any] = {}
    for block in blocks("hosts", "py")[:2]:
        exec(block, example)
    return example


def test_the_host_of_the_guide_is_one(tmp_path: Path, acme: Acme) -> None:
    host = acme_example()["AcmeHost"]()

    @skill(risk="edit")
    def drop(name: str) -> None:
        """Drop one."""
        acme.nodes()[0].set(name, 3.0)
        if name == "no":
            raise ValueError("Not that one.")

    with live(tmp_path, drop, host=host) as running:
        running.call("drop", {"name": "no"})
        rolled_back = deepcopy(acme.scene)
        running.call("drop", {"name": "mix"})
        dropped = deepcopy(acme.scene)
        running.call("undo_last")

    whole = {path: {"gain": 1.0} for path in ("/a", "/b", "/c")}
    assert rolled_back == whole == acme.scene
    assert dropped == whole | {"/a": {"gain": 1.0, "mix": 3.0}}
    assert host.describe("/a") == {"type": "Grade", "inputs": []}
    assert host.fingerprint(["/a"]) != host.fingerprint(["/b"])


def test_the_operations_of_the_guide_list_edit_ask_and_undo(tmp_path: Path, acme: Acme) -> None:
    example = acme_example()
    host, person = example["AcmeHost"](), Person(NO, YES)
    make = example["AcmeOperations"]
    with live(tmp_path, host=host, presenter=person, operations=make) as running:
        running.until(lambda: "delete" in running.bridge.registry)
        listed = running.call("list_items", {"fields": ["gain"]})
        changes = [{"item": "/b", "prop": "gain", "value": 0.5}]
        running.call("set_values", {"changes": changes})
        refused = running.call("delete", {"items": ["/a"]})
        kept = list(acme.scene)
        running.call("delete", {"items": ["/a"]})
        left = deepcopy(acme.scene)
        running.call("undo_last")
        back = deepcopy(acme.scene)
        running.call("undo_last")

    assert "'gain': 1.0" in str(listed.structured_content)
    assert refused.is_error
    assert [question.message for question in person.shown] == ['Delete the grade "/a"?'] * 2
    assert kept == ["/a", "/b", "/c"]
    assert left == {"/b": {"gain": 0.5}, "/c": {"gain": 1.0}}
    assert back == {"/a": {"gain": 1.0}, **left}
    assert acme.scene == {path: {"gain": 1.0} for path in ("/a", "/b", "/c")}


def test_the_example_of_another_application_takes_what_the_service_interface_offers() -> None:
    """It never opens the core, and its starts are calls that there are."""
    host, operations, *starts = blocks("hosts", "py")
    taken = re.findall(r"^from (dcc_bridge\S*) import", "".join([host, operations, *starts]), re.M)

    assert set(taken) == {"dcc_bridge.spi", "dcc_bridge.spi.headless"}
    assert "dcc_bridge." not in re.sub(r"^from dcc_bridge.*", "", "".join(starts), flags=re.M)
    for start in starts:
        names: dict[str, Any] = {}
        (line,) = re.findall(r"^from .*$", start, re.M)
        exec(line, names)
        (call,) = re.findall(r"(\w+)\(AcmeHost\(\), \[\], (.*)\)", start)
        keywords = {part.partition("=")[0]: None for part in call[1].split(", ")}
        inspect.signature(names[call[0]]).bind(None, [], **keywords)


@pytest.mark.parametrize("page", TEXTS)
def test_every_block_is_of_a_kind_that_is_run(page: str) -> None:
    kinds = {kind for kind, _ in _FENCE.findall(TEXTS[page])}
    opened = TEXTS[page].count("\n```")

    assert kinds <= {"sh", "powershell", "python", "py", "text", "toml"}
    assert opened == 2 * len(_FENCE.findall(TEXTS[page]))


def test_what_the_pages_fix_for_a_studio_can_be_fixed(tmp_path: Path) -> None:
    (policy,) = blocks("security", "toml")
    (tmp_path / "policy.toml").write_text(policy)

    settings = Settings().under(tmp_path / "policy.toml")

    assert (settings.edit, settings.session_grants) == ("ask", False)


# ---- text


def contents() -> str:
    titles = {page: TEXTS[page].splitlines()[0].removeprefix("# ") for page in PAGES}
    return "".join(f"{page:16}{title}\n" for page, title in titles.items())


def test_the_guide_is_printed_page_by_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["guide"]) == 0
    assert capsys.readouterr().out == contents()

    for page in PAGES:
        assert cli.main(["guide", page]) == 0
        assert capsys.readouterr().out == TEXTS[page]


def test_each_powershell_line_says_what_a_unix_line_says() -> None:
    unix = {line.text for line in lines("README")}

    spelled = [
        text.replace("py -m", "python3 -m")
        .replace("; ", " && ")
        .replace(".venv\\Scripts\\", ".venv/bin/")
        .replace('"', "'")
        for block in blocks("README", "powershell")
        for text in block.splitlines()
    ]

    assert len(spelled) == 2
    assert {*spelled} <= unix


def test_readme_lists_its_parts_in_order() -> None:
    readme = TEXTS["README"]
    headings = re.findall(r"^## (.+)$", readme, re.MULTILINE)

    assert re.findall(r"\]\(#([\w-]+)\)", readme) == [
        heading.lower().replace(" ", "-") for heading in headings
    ]


@pytest.mark.parametrize("page", TEXTS)
def test_every_link_leads_to_a_file(page: str) -> None:
    folder = ROOT if page == "README" else GUIDE
    links = [link for link in _LINK.findall(TEXTS[page]) if not link.startswith("#")]

    assert [link for link in links if not (folder / link).is_file()] == []
    assert page != "README" or {f"resources/guide/{page}.md" for page in PAGES} <= {*links}


@pytest.mark.parametrize("page", TEXTS)
def test_every_command_and_option_in_a_sentence_is_one(
    page: str, capsys: pytest.CaptureFixture[str]
) -> None:
    codes = _CODE.findall(TEXTS[page])
    if page != "README":  # whose lines for PowerShell are those for a Unix shell, as a test says
        typed_elsewhere = blocks(page, "powershell") + blocks(page, "text")
        shells = ("dcc-bridge ", ".venv\\Scripts\\dcc-bridge ")
        lines_there = "".join(typed_elsewhere).splitlines()
        codes += [line for line in lines_there if line.startswith(shells)]
    named = [shlex.split(code)[1:] for code in codes if "dcc-bridge " in code]
    unknown = []
    for words in (words for words in named if words[0] != "--help"):
        names = [word for word in words[:2] if word.islower() and not word.startswith("-")]
        with pytest.raises(SystemExit, match="0"):
            cli.main([*names[: 1 + (names[0] in NESTED)], "--help"])
        options = set(re.findall(r"--[\w-]+", capsys.readouterr().out))
        unknown += [word for word in words if word.startswith("--") and word not in options]

    assert unknown == []


NESTED: Final = ("audit", "checkpoint", "client", "skill", "token")
"""The commands that have commands."""


def test_no_command_is_named_behind_the_line_that_removes_it() -> None:
    assert "`dcc-bridge" not in TEXTS["README"].partition("pip uninstall")[2]


@pytest.mark.parametrize("page", TEXTS)
def test_a_page_that_opens_the_shot_says_where_it_comes_from(page: str) -> None:
    assert "shot.usda" not in TEXTS[page] or f"resources/scenes/{SHOT.name}" in TEXTS[page]


def test_every_message_that_troubleshooting_quotes_is_said() -> None:
    said = "".join(file.read_text(encoding="utf-8") for file in PACKAGE.rglob("*.py")).lower()
    quoted = re.findall(r'^(?:## |- \*\*).*?"(?:\d+ )?(.*?)\.?"', ALL_TROUBLE, re.MULTILINE)

    assert len(quoted) >= 6
    assert [message for message in quoted if message.lower() not in said] == []


@pytest.mark.parametrize("page", TEXTS)
def test_every_variable_is_a_setting(page: str) -> None:
    settings = {f"DCC_BRIDGE_{field.name.upper()}" for field in fields(Settings)}

    assert set(re.findall(r"DCC_BRIDGE_[A-Z_]+[A-Z]", TEXTS[page])) <= settings


def test_what_the_guide_says_of_a_field_that_was_left_out_holds() -> None:
    @dataclass
    class Shot:
        name: str
        frames: int = 24

    form = parse(Shot)
    data = form.check({"name": "main"})

    assert (data, form.instance(data)) == ({"name": "main"}, Shot("main", 24))
    guide = " ".join(TEXTS["skills"].split())
    assert "A field that was left out is not in `answer.data`, even if it has a default." in guide
    assert "`answer.value` is the model, if you gave one, with its defaults." in guide


def test_the_figures_of_readme_are_those_of_the_code() -> None:
    settings = Settings()
    limits = TEXTS["README"].partition("### Limits")[2].partition("#")[0]
    figures = [int(figure) for figure in re.findall(r"\b\d+\b", limits)]

    assert figures == [
        settings.deadline,
        settings.pending_questions,
        settings.dialogs_per_minute,
        MUTE_DURATION_S / 60,
        MAX_FIELDS,
    ]


def test_readme_names_every_field_of_the_decorator_with_its_default() -> None:
    rows = re.findall(r"^\| (`.*?) \| (.*?) \|", TEXTS["README"], re.MULTILINE)
    named = {name: default for names, default in rows for name in re.findall(r"`(\w+)`", names)}
    metadata = {field.name: field.default for field in fields(Metadata)}

    assert named.keys() == metadata.keys()
    assert all(
        f"`{default!r}`".replace("'", '"') in named[name]
        for name, default in metadata.items()
        if name not in ("name", "title", "undo")
    )


def test_the_exit_codes_of_the_guide_are_those_of_the_code() -> None:
    rows = re.findall(r"^\| (\d+) \| (.+?) \|", TEXTS["running"], re.MULTILINE)

    assert {int(code): meaning for code, meaning in rows} == exits.MEANINGS


def test_the_guide_names_every_command_that_prints_json() -> None:
    sentence = TEXTS["running"].partition("`--json` prints")[2].partition(".")[0]

    assert {*_CODE.findall(sentence)} == {*LISTS}


def test_the_level_and_size_of_the_log_are_those_of_the_code() -> None:
    log = " ".join(TEXTS["running"].partition("## The log")[2].partition("## What")[0].split())
    levels = get_args(get_type_hints(Settings)["log_level"])
    size = program_log._MAX_BYTES / 1e6

    assert {*levels} <= {*_CODE.findall(log)}
    assert f"`{Settings().log_level}` (the default)" in log
    assert f"A file of {size:g} MB" in log
    assert f"take {2 * size:g} MB at most" in log


def test_the_settings_of_the_guide_have_the_defaults_of_the_code() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `(.*?)` \|", TEXTS["security"], re.MULTILINE)

    assert {name: tomllib.loads(f"it = {value}")["it"] for name, value in rows} == {
        name: getattr(Settings(), name) for name, _ in rows
    }
    assert rows
