"""The plan folder: written once, read and verified against its digests. Any thread.

The package's docstring describes the format. Lines of scenes are read one at a time: only 40 bytes
per scene are in memory.
"""

from __future__ import annotations

import getpass
import hashlib
import json
import math
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal

from . import files

HEADER: Final = "plan.json"
SCENES: Final = "scenes.jsonl"
FORMAT: Final = 1
State = Literal["asks", "nothing", "twice", "unsafe", "failed"]  # of a scene; see the package
_CHANGED: Final = "The plan in {} was changed after it was made. Make a new plan."
_MAX_ITEM_TYPES: Final = 200  # in the totals of the header
Scene = dict[str, Any]  # one line; the package's docstring lists its fields


def when(moment: str) -> str:
    """Return an ISO time as text for a person, in UTC; raise ValueError if it is no time."""
    time = datetime.fromisoformat(moment).astimezone(UTC)
    return f"{time:%Y-%m-%d %H:%M} UTC"


class PlanError(Exception):
    """A plan is missing, was changed, or cannot be made. Another try would fail as well.

    The message is a sentence for the person.
    """


@dataclass(frozen=True, slots=True)
class Request:
    """The skill, its arguments and its host, for which a plan is made.

    Attributes:
        host: The application, by the name that ``--host`` takes.
        skill: The name of the skill.
        arguments: The arguments that the skill is called with.
        folders: Folders of skill files besides the host's.
        interpreter: The host's batch interpreter; None for the one on PATH.
        chunk: The number of scenes per task.
        failures: The part of all scenes that may fail before a run pauses, from 0 to 1.
        limit: Seconds for one scene, after which its host counts as hung.
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
    """The facts that a warm host reports about itself and the skill.

    Attributes:
        version: The application's name and version.
        bridge: The version of dcc_bridge.
        skill_sha256: The digest of the skill's file, or of its code if it has no file.
        skill_file: The path of the skill's file; None for a verb.
    """

    version: str
    bridge: str
    skill_sha256: str
    skill_file: str | None


class _Lines:
    """The offset and the digest of each line of a file: 40 bytes a line.

    Attributes:
        offsets: The offset of each line in the file.
        sha256: The digest of the whole file.
    """

    def __init__(self, file: Path) -> None:
        """Read the file."""
        whole = hashlib.sha256()
        self.offsets = array("Q")
        self._digests = bytearray()
        offset = 0
        with file.open("rb") as stream:
            for line in stream:
                whole.update(line)
                self.offsets.append(offset)
                self._digests += hashlib.sha256(line).digest()
                offset += len(line)
        self.sha256 = whole.hexdigest()

    def __len__(self) -> int:
        return len(self.offsets)

    def has(self, number: int, line: bytes) -> bool:
        """Return whether a line is the same as the line of that number was at first."""
        start = 32 * number
        return self._digests[start : start + 32] == hashlib.sha256(line).digest()


class Plan:
    """A plan that was read and verified.

    Attributes:
        folder: The folder of the plan.
        header: The content of `HEADER`; the package's docstring lists its fields.
    """

    def __init__(self, folder: Path, header: Mapping[str, Any], lines: _Lines) -> None:
        """Make a plan from verified parts, for `read`."""
        self.folder = folder
        self.header = header
        self._lines = lines

    @classmethod
    def read(cls, folder: Path) -> Plan:
        """Read a plan and verify it.

        Args:
            folder: The folder of the plan.

        Raises:
            PlanError: There is no plan, it cannot be read, or it was changed.
        """
        try:
            header = files.read_json(folder / HEADER)
            rest = {name: value for name, value in header.items() if name != "digest"}
            is_same_header = header["digest"] == files.digest_of(rest)
            is_known_format = header["format"] == FORMAT
            lines = _Lines(folder / SCENES)
            are_same_scenes = lines.sha256 == header["scenes"]["sha256"]
        except FileNotFoundError:
            raise PlanError(f"There is no plan in {folder}.") from None
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise PlanError(f"The plan in {folder} cannot be read: {error}.") from None
        if not (is_known_format and is_same_header and are_same_scenes):
            raise PlanError(_CHANGED.format(folder))
        return cls(folder, header, lines)

    @property
    def digest(self) -> str:
        """The digest of the header, for which a consent is valid."""
        return str(self.header["digest"])

    @property
    def id(self) -> str:
        """The short id, which is in the names of the files beside each scene."""
        return self.digest[:8]

    @property
    def request(self) -> Request:
        """The request that the plan was made for."""
        values = {}
        for field_of_request in fields(Request):
            name = field_of_request.name
            if name in self.header:
                values[name] = self.header[name]
        values["skill"] = self.header["skill"]["name"]
        return Request(**values)

    @property
    def root(self) -> Path:
        """The folder below which all scenes lie, where the plan was made."""
        return Path(self.header["root"])

    @property
    def count(self) -> int:
        """The number of scenes."""
        return int(self.header["scenes"]["count"])

    @property
    def asks(self) -> int:
        """The number of scenes that the plan would change."""
        return int(self.header["totals"]["scenes"].get("asks", 0))

    @property
    def tasks(self) -> int:
        """The number of tasks."""
        return math.ceil(self.count / int(self.header["chunk"]))

    def numbers(self, task: int) -> range:
        """Return the numbers of a task's scenes, or raise PlanError for an unknown task."""
        if not 0 <= task < self.tasks:
            raise PlanError(f"The plan has {self.tasks} tasks, from 0 on, and no task {task}.")
        chunk = int(self.header["chunk"])
        start = task * chunk
        return range(start, min(start + chunk, self.count))

    def scenes(self) -> Iterator[Scene]:
        """Yield all scenes in the order of the list.

        Raises:
            PlanError: A line was changed after `read`.
        """
        with (self.folder / SCENES).open("rb") as stream:
            for number in range(len(self._lines)):
                yield self._read_line(number, stream)

    def scene(self, number: int) -> Scene:
        """Read the line of one scene.

        Raises:
            PlanError: There is no such scene, or its line was changed after `read`.
        """
        if not 0 <= number < len(self._lines):
            raise PlanError(f"The plan has no scene {number}.")
        with (self.folder / SCENES).open("rb") as stream:
            stream.seek(self._lines.offsets[number])
            return self._read_line(number, stream)

    def _read_line(self, number: int, stream: BinaryIO) -> Scene:
        line = stream.readline()
        if not self._lines.has(number, line):
            raise PlanError(_CHANGED.format(self.folder))
        scene: Scene = json.loads(line)
        return scene

    def check_skill(self) -> None:
        """Raise PlanError if the skill's file was changed after the plan was made."""
        skill = self.header["skill"]
        if skill["file"] is None:
            return  # a verb: the warm host compares its code
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
    """Return the digest by which the host recognises a question; None for no question."""
    if question is None:
        return None
    return files.digest_of(question)


def check_new(folder: Path) -> None:
    """Raise PlanError if a folder already has a plan."""
    if (folder / HEADER).exists():
        raise PlanError(f"There is already a plan in {folder}. Choose another folder with --out.")


def write(
    folder: Path, request: Request, facts: HostFacts, root: Path, scenes: Iterable[Scene]
) -> Plan:
    """Write a plan into a folder, the header last, and read it again.

    Args:
        folder: The folder of the plan, created if need be.
        request: The skill, its arguments and its host.
        facts: The facts of the host and the skill.
        root: The folder below which all scenes lie.
        scenes: The lines of the scenes, in the order of their numbers.

    Returns:
        The plan.

    Raises:
        PlanError: The folder already has a plan.
        OSError: The plan cannot be written.
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
            if scene["question"] is not None:
                kinds.update(scene["question"]["kinds"])
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
        "totals": {"scenes": dict(states), "items": dict(kinds.most_common(_MAX_ITEM_TYPES))},
    }
    files.write_json(folder / HEADER, {**header, "digest": files.digest_of(header)})
    return Plan.read(folder)


def user() -> str:
    """Return the user's login name, or "unknown"."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # an account without a name, as in containers
        return "unknown"
