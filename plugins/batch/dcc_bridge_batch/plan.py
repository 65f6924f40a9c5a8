"""The plan folder: written once, read and verified against its digests. Any thread.

Its format is in the package's own text. Lines of scenes are read one at a time: a plan of 100,000
scenes takes no more memory than one of ten.
"""

from __future__ import annotations

import getpass
import hashlib
import json
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal

from . import files

HEADER: Final = "plan.json"
SCENES: Final = "scenes.jsonl"
FORMAT: Final = 1
State = Literal["asks", "nothing", "twice", "unsafe", "failed"]
_CHANGED: Final = "The plan in {} was changed after it was made; make a new one."
Scene = dict[str, Any]  # one line; its fields are in the package's own text


def when(moment: str) -> str:
    """Return a time as a person reads it, in UTC; ValueError: it is none."""
    return f"{datetime.fromisoformat(moment).astimezone(UTC):%Y-%m-%d %H:%M} UTC"


class PlanError(Exception):
    """A plan cannot be used: it is not there, or it was changed. A sentence for the person."""


@dataclass(frozen=True, slots=True)
class Request:
    """The request that a plan is made for.

    Attributes:
        host: The application, by the name that ``--host`` takes.
        skill: The name of the skill.
        arguments: What the skill is called with.
        folders: Folders of skill files besides the host's.
        interpreter: The host's program, where it is not on PATH.
        chunk: Scenes a task.
        failures: The part of the scenes whose failure pauses a run.
        limit: Seconds for one scene; then its host is taken for hung.
    """

    host: str
    skill: str
    arguments: dict[str, Any]
    folders: list[str] = field(default_factory=list)
    interpreter: str | None = None
    chunk: int = 50
    failures: float = 0.1
    limit: float = 900.0


@dataclass(frozen=True, slots=True)
class HostFacts:
    """The facts that a warm host tells of itself and of the skill.

    Attributes:
        version: The application's own version.
        bridge: The version of dcc_bridge.
        skill_sha256: The digest of the skill's file, or of its code where it has none.
        skill_file: Where the skill's file is, or None for a verb.
    """

    version: str
    bridge: str
    skill_sha256: str
    skill_file: str | None


class _Lines:
    """The offset and the digest of each line of a file: 40 bytes a line."""

    def __init__(self, file: Path) -> None:
        whole = hashlib.sha256()
        self.offsets = array("Q")
        self._digests = bytearray()
        at = 0
        with file.open("rb") as stream:
            for line in stream:
                whole.update(line)
                self.offsets.append(at)
                self._digests += hashlib.sha256(line).digest()
                at += len(line)
        self.sha256 = whole.hexdigest()

    def __len__(self) -> int:
        return len(self.offsets)

    def has(self, number: int, line: bytes) -> bool:
        """Return whether a line is the one that was read."""
        return self._digests[32 * number : 32 * number + 32] == hashlib.sha256(line).digest()


class Plan:
    """A plan that was read. Its digests hold."""

    def __init__(self, folder: Path, header: Mapping[str, Any], lines: _Lines) -> None:
        self.folder = folder
        self.header = header
        self._lines = lines

    @classmethod
    def read(cls, folder: Path) -> Plan:
        """Read a plan and verify it; PlanError says what is wrong with it."""
        try:
            header = files.read_json(folder / HEADER)
            rest = {name: value for name, value in header.items() if name != "digest"}
            is_whole = header["format"] == FORMAT and header["digest"] == files.digest_of(rest)
            lines = _Lines(folder / SCENES)
            is_same = lines.sha256 == header["scenes"]["sha256"]
        except FileNotFoundError:
            raise PlanError(f"There is no plan in {folder}.") from None
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise PlanError(f"The plan in {folder} cannot be read: {error}.") from None
        if not (is_whole and is_same):
            raise PlanError(_CHANGED.format(folder))
        return cls(folder, header, lines)

    @property
    def digest(self) -> str:
        """The digest that an approval is bound to."""
        return str(self.header["digest"])

    @property
    def id(self) -> str:
        """A short name: it is in the names of the files beside a scene."""
        return self.digest[:8]

    @property
    def request(self) -> Request:
        """The request that it was made for."""
        names = {it.name for it in fields(Request)} & set(self.header) - {"skill"}
        values = {name: self.header[name] for name in names}
        return Request(skill=self.header["skill"]["name"], **values)

    @property
    def root(self) -> Path:
        """The folder below which all scenes lie, where the plan was made."""
        return Path(self.header["root"])

    @property
    def count(self) -> int:
        """How many scenes it has."""
        return int(self.header["scenes"]["count"])

    @property
    def asks(self) -> int:
        """How many scenes it would change."""
        return int(self.header["totals"]["scenes"].get("asks", 0))

    @property
    def tasks(self) -> int:
        """How many tasks they are."""
        return -(-self.count // int(self.header["chunk"]))

    def numbers(self, task: int) -> range:
        """Return the numbers of a task's scenes; PlanError: there is no such task."""
        if not 0 <= task < self.tasks:
            raise PlanError(f"The plan has {self.tasks} tasks, from 0 on, and no task {task}.")
        chunk = int(self.header["chunk"])
        return range(task * chunk, min((task + 1) * chunk, self.count))

    def scenes(self) -> Iterator[Scene]:
        """Read all lines, one after the other; PlanError: one was changed after `read`."""
        with (self.folder / SCENES).open("rb") as stream:
            for number in range(len(self._lines)):
                yield self._checked(number, stream)

    def scene(self, number: int) -> Scene:
        """Read the line of one scene; PlanError: there is none, or it was changed after `read`."""
        if not 0 <= number < len(self._lines):
            raise PlanError(f"The plan has no scene {number}.")
        with (self.folder / SCENES).open("rb") as stream:
            stream.seek(self._lines.offsets[number])
            return self._checked(number, stream)

    def _checked(self, number: int, stream: BinaryIO) -> Scene:
        line = stream.readline()
        if not self._lines.has(number, line):
            raise PlanError(_CHANGED.format(self.folder))
        scene: Scene = json.loads(line)
        return scene

    def check_skill(self) -> None:
        """Have the skill's file be the one of the plan; PlanError: it is not."""
        skill = self.header["skill"]
        if skill["file"] is None:
            return  # a verb: the host compares its code
        file = Path(skill["file"])
        try:
            now = files.digest_file(file)
        except OSError as error:
            raise PlanError(f"The skill {skill['name']} cannot be read: {error}.") from None
        if now != skill["sha256"]:
            raise PlanError(
                f"The skill {skill['name']} was changed after the plan was made "
                f"({file}); make a new plan."
            )


def question_digest(question: Mapping[str, Any] | None) -> str | None:
    """Digest a question, as the host compares it; None for none."""
    return None if question is None else files.digest_of(question)


def check_new(folder: Path) -> None:
    """Have no plan be in a folder; PlanError: there is one."""
    if (folder / HEADER).exists():
        raise PlanError(f"There is a plan in {folder} already; name another folder with --out.")


def write(
    folder: Path, request: Request, facts: HostFacts, root: Path, scenes: Iterable[Scene]
) -> Plan:
    """Write a plan into a folder, the header last, and read it again.

    PlanError: a plan is there already. OSError: it cannot be written.
    """
    check_new(folder)
    folder.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    count = 0
    states = Counter[str]()
    kinds = Counter[str]()
    part = folder / f"{SCENES}.part"
    with part.open("wb") as out:
        for scene in scenes:
            line = files.canonical(scene) + b"\n"
            digest.update(line)
            out.write(line)
            count += 1
            states[scene["state"]] += 1
            kinds.update((scene["question"] or {}).get("kinds", ()))
    files.sync_file(part)
    part.replace(folder / SCENES)
    skill = {"name": request.skill, "sha256": facts.skill_sha256, "file": facts.skill_file}
    header = {
        **asdict(request),
        "format": FORMAT,
        "skill": skill,
        "version": facts.version,
        "bridge": facts.bridge,
        "root": str(root),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "by": user(),
        "scenes": {"count": count, "sha256": digest.hexdigest()},
        "totals": {"scenes": dict(states), "items": dict(kinds.most_common(200))},
    }
    files.write_json(folder / HEADER, {**header, "digest": files.digest_of(header)})
    return Plan.read(folder)


def user() -> str:
    """Return the name of the user, as the system knows it."""
    with suppress(OSError, KeyError, ImportError):  # an account without a name, as in containers
        return getpass.getuser()
    return "unknown"
