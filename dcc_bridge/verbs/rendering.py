"""The verb `render`: pictures of the scene to files, or one for the agent.

Where the application has a renderer, that works in a process of its own, on the scene as it was
when it began: the person works on meanwhile, agents edit, and whoever cancels ends it at once.
Another render waits for it. A playblast, and every picture of an application without a renderer, is
drawn as `look` draws. Runs on the main thread, but for the waiting.
"""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, get_args

from dcc_bridge import held_files
from dcc_bridge.consent.call import current_call
from dcc_bridge.elicitation.text import plural
from dcc_bridge.errors import Paused
from dcc_bridge.skills.skill import check_cancelled, report_done, report_progress, skill, track
from dcc_bridge.threads.background import run_in_thread
from dcc_bridge.threads.flows import main_thread
from dcc_bridge.verbs import outputs
from dcc_bridge.verbs.consents import ConsentingVerbs, Consents, stamp
from dcc_bridge.verbs.framing import shots, turntable
from dcc_bridge.verbs.items import whole_path
from dcc_bridge.verbs.operations import Render, Shot
from dcc_bridge.verbs.ports import Drawing, Frames, Rendering
from dcc_bridge.verbs.scene import scene_value
from dcc_bridge.verbs.seeing import MAX_EDGE_PX, MAX_PICTURE_BYTES, Shading

_DRAWN: Final = (".jpg",)  # the format of what is drawn as `look` draws
_ANSWER_SIZE: Final = (768, 576)  # pixels of the picture in an answer, unless something is said
_FILE_SIZE: Final = (1920, 1080)  # pixels of a file where the scene does not say
_MAX_EDGE_PX: Final = 16_384
_MAX_PICTURES: Final = 10_000
_POLL_INTERVAL_S: Final = 0.1  # while another render is running
_DIGITS: Final = 4  # of the number in a file's name


class RenderingVerbs(ConsentingVerbs[Drawing]):
    """The verb that renders."""

    def __init__(self, operations: Drawing, consents: Consents) -> None:
        """Prepare the verb over what a host can do."""
        super().__init__(operations, consents)
        self._is_rendering = threading.Lock()  # held by the call whose renderer runs

    def verbs(self) -> list[Callable[..., Any]]:
        """Return the verb as it is offered."""
        return [self.render]

    @skill(title="Render pictures", risk="destructive", confirms=True, undo=False)
    def render(
        self,
        path: str = "",
        view: str = "camera",
        frames: list[int] = [],
        turns: int = 0,
        items: list[str] = [],
        size: list[int] = [],
        samples: int = 0,
        shading: str = "",
    ) -> outputs.Rendered:
        """Render to files, or one picture into the answer. Asks to write over one.

        Args:
            path: A file; several get a number at # or the end.
            view: As of look.
            frames: [first, last, step].
            turns: Pictures of a turntable.
            items: Framed; empty for all.
            size: [width, height].
            samples: Of a pixel.
            shading: As of look: a playblast.
        """
        _check_shading(shading)
        renderer = self._renderer(shading)
        _check_samples(samples, shading)
        numbers = _numbers(frames, turns)
        if not path and len(numbers) > 1:
            raise ValueError(f"An answer has one picture, not {len(numbers)}: give a path.")
        width, height = self._size(size, is_answer=not path)
        files = [Path("answer.jpg")]
        if path:
            files = _files(whole_path(self._operations, path), numbers)
            self._check_writable(files, renderer)
        for item in track(items):
            self._operations.kind(item)
        pictures = _Pictures(view, frames, turns, items, numbers, width / height)
        wanted = Render((), files, width, height, samples)
        if not path:
            with self._turn(renderer):
                small = replace(wanted, max_bytes=MAX_PICTURE_BYTES)
                return self._picture(pictures, small, shading)
        copies = self._ask_to_write_over(files)
        notes = self._render_to_files(renderer, pictures, wanted, shading)
        report_done(f"Rendered {plural(len(files), 'picture')} to {files[0].name}")
        facts = {"file": str(files[0]), "pictures": len(files), "size": [width, height]}
        if len(files) > 1:
            facts["last"] = str(files[-1])
        if notes:
            facts["notes"] = notes
        return {**facts, **copies}

    def _ask_to_write_over(self, files: Sequence[Path]) -> dict[str, str]:
        """Ask about the files that are there; return where they are copied to, as "copies"."""
        there = [file for file in files if file.exists()]
        if not there:
            return {}
        question = f"Render {plural(len(files), 'picture')} to {files[0].parent}, over "
        if len(there) == 1:
            question += f"{there[0].name}?"
        else:
            names = [file.name for file in there]
            question += f"{len(there)} files?\nThese are written over:\n" + "\n".join(names)
        return self._consents.confirm_files("Render", question, there)

    def _renderer(self, shading: str) -> Rendering | None:
        """Return the renderer of the application; None where the pictures are drawn."""
        if shading or not isinstance(self._operations, Rendering):
            return None
        return self._operations

    def _render_to_files(
        self, renderer: Rendering | None, pictures: _Pictures, wanted: Render, shading: str
    ) -> list[str]:
        """Render pictures to their files, unless those change in the wait for another render."""
        stamps = [stamp(file) for file in wanted.files]
        with self._turn(renderer):
            for file, before in zip(wanted.files, stamps, strict=True):
                _check_untouched(file, before)
            with self._consents.writing(wanted.files):
                return self._render(pictures, wanted, shading)

    def _picture(self, pictures: _Pictures, wanted: Render, shading: str) -> list[Any]:
        """Render one picture; return what an answer has of it."""
        with TemporaryDirectory(prefix="dcc_bridge-", ignore_cleanup_errors=True) as folder:
            file = Path(folder) / wanted.files[0]
            notes = self._render(pictures, replace(wanted, files=[file]), shading)
            image = file.read_bytes()
        if len(image) > MAX_PICTURE_BYTES:
            raise ValueError("The picture is too large for an answer: give a path, or less size.")
        report_done("Rendered a picture")
        return ["\n".join([f"{wanted.width} x {wanted.height} pixels", *notes]), image]

    def _render(self, pictures: _Pictures, wanted: Render, shading: str) -> list[str]:
        """Render pictures to their files, each as soon as it is whole; return notes on them."""
        with TemporaryDirectory(prefix="dcc_bridge-", ignore_cleanup_errors=True) as folder:
            parts = [Path(folder) / f"{n}{file.suffix}" for n, file in enumerate(wanted.files)]
            stamps = [stamp(file) for file in wanted.files]
            waiting = list(zip(parts, wanted.files, stamps, strict=True))

            def take(done: float) -> None:
                while len(wanted.files) - len(waiting) < int(done):
                    _put(*waiting.pop(0))

            renderer = self._renderer(shading)
            if renderer is not None:
                return self._render_now(renderer, pictures, replace(wanted, files=parts), take)
            return self._draw(pictures, replace(wanted, files=parts), shading, take)

    @contextmanager
    def _turn(self, renderer: Rendering | None) -> Iterator[None]:
        """Return a block that begins once no other render is running, if there is a renderer.

        Raises:
            Stopped: The call has to end.
            Paused: The person paused agents meanwhile.
        """
        if renderer is None:
            yield
            return
        with ExitStack() as turn:

            def take() -> None:
                _acquire(self._is_rendering)
                turn.callback(self._is_rendering.release)  # even if the call may not go on then

            if self._is_rendering.acquire(blocking=False):
                turn.callback(self._is_rendering.release)
            else:
                _beside(take)
            yield

    def _render_now(
        self,
        renderer: Rendering,
        pictures: _Pictures,
        wanted: Render,
        take: Callable[[float], None],
    ) -> list[str]:
        view_shots = pictures.shots(self._operations)
        run = renderer.rendering(replace(wanted, shots=view_shots))
        total = len(view_shots)

        def told(done: float) -> None:
            take(done)
            report_progress(done, total, f"Rendering picture {min(int(done) + 1, total)}")
            check_cancelled()

        notes: list[str] = []
        with suppress(Paused):  # the person paused agents meanwhile; the pictures are done
            _beside(lambda: notes.extend(run(told)))
        return notes

    def _draw(
        self,
        pictures: _Pictures,
        wanted: Render,
        shading: str,
        take: Callable[[float], None],
    ) -> list[str]:
        """Draw the pictures as `look` does."""
        operations = self._operations
        count = len(wanted.files)
        drawn = zip(wanted.files, pictures.each(operations), strict=True)
        for number, (file, shot) in enumerate(track(drawn, message="Rendering", total=count), 1):
            rendered = replace(shot, is_render=True)
            image = operations.draw([rendered], wanted.width, wanted.height, shading or "material")
            file.write_bytes(image)
            take(number)
        if shading:
            return []
        return ["Drawn as look draws: this application has no renderer of its own."]

    def _size(self, size: Sequence[int], *, is_answer: bool) -> tuple[int, int]:
        """Return the width and the height of a picture in pixels.

        Raises:
            ValueError: The size is no pair, or too small or large.
        """
        most = _MAX_EDGE_PX
        if is_answer:
            most = MAX_EDGE_PX
        if size:
            if len(size) != 2 or not all(1 <= edge <= most for edge in size):
                raise ValueError(f"size is [width, height], each from 1 to {most} pixels.")
            return size[0], size[1]
        own = scene_value(self._operations, "size")
        if not own and is_answer:
            return _ANSWER_SIZE
        if not own:
            return _FILE_SIZE
        width, height = (max(1, round(edge)) for edge in own)
        if is_answer:
            share = min(1.0, _ANSWER_SIZE[0] / max(width, height))
            return max(1, round(width * share)), max(1, round(height * share))
        return width, height

    def _check_writable(self, files: Sequence[Path], renderer: Rendering | None) -> None:
        """Check that files are of a format that can be rendered, in a folder that is there.

        Raises:
            ValueError: They are not.
        """
        formats: Sequence[str] = _DRAWN
        made = "drawn"
        if renderer is not None:
            formats = renderer.render_formats()
            made = "rendered"
        file = files[0]
        if file.suffix.lower() not in formats:
            raise ValueError(f"{file.name} cannot be {made}; what can: {', '.join(formats)}.")
        if not file.parent.is_dir():
            raise ValueError(f"There is no folder {file.parent}: it has to be made first.")
        folders = [file for file in files if file.is_dir()]
        if folders:
            raise ValueError(f"{folders[0]} is a folder.")


class _Pictures:
    """The viewpoints of the pictures that were asked for."""

    def __init__(
        self,
        view: str,
        frames: Sequence[int],
        turns: int,
        items: Sequence[str],
        numbers: Sequence[int],
        aspect: float,
    ) -> None:
        self._view = view
        self._has_frames = bool(frames)
        self._turns = turns
        self._items = items
        self._numbers = numbers
        self._aspect = aspect

    def shots(self, operations: Drawing) -> list[Shot]:
        """Return the viewpoints of all pictures, with the cameras where they are now.

        Raises:
            LookupError: There is no such view or camera.
            ValueError: The view shows several pictures, or there is no window to look through.
        """
        if self._turns:
            return turntable(operations, self._items, self._turns, self._aspect)
        shot = self._shot(operations)
        if not self._has_frames:
            return [shot]
        return [replace(shot, frame=frame) for frame in self._numbers]

    def each(self, operations: Drawing) -> Iterator[Shot]:
        """Yield each viewpoint, with the scene at its frame until the next one.

        Raises what `shots` raises, and ValueError for a frame that the scene does not have.
        """
        if self._turns or not self._has_frames:
            yield from self.shots(operations)
            return
        for frame in self._numbers:
            with _at_frame(operations, frame):
                yield replace(self._shot(operations), frame=frame)

    def _shot(self, operations: Drawing) -> Shot:
        if self._view == "around":
            raise ValueError("around shows four pictures; for a turntable give turns.")
        (shot,) = shots(operations, self._items, self._view, self._aspect)
        return shot


def _put(part: Path, file: Path, before: tuple[int, ...]) -> None:
    """Put a picture in its place, as a whole.

    Args:
        part: The picture.
        file: Its place.
        before: The stamp of what was there as the render began.

    Raises:
        ValueError: Another file is there by now, which stays as it is.
    """
    _check_untouched(file, before)
    with held_files.replacing(file) as new:
        shutil.copyfile(part, new)
    part.unlink()


def _check_untouched(file: Path, before: tuple[int, ...]) -> None:
    """Raise ValueError if another file is there than the one with a stamp, or than none."""
    if stamp(file) != before:
        raise ValueError(f"{file} was changed during the render, and was not written over.")


def _check_shading(shading: str) -> None:
    known = get_args(Shading)
    if shading and shading not in known:
        raise ValueError(f"shading is {', '.join(known)}, or empty to render.")


def _check_samples(samples: int, shading: str) -> None:
    if samples < 0:
        raise ValueError("samples is 1 or more, or 0 for as many as the scene has.")
    if samples and shading:  # an application without a renderer draws all the same
        raise ValueError("What is drawn as look draws has no samples: leave them out.")


def _at_frame(operations: Drawing, frame: int) -> AbstractContextManager[None]:
    if not isinstance(operations, Frames):
        raise ValueError("This application has no frames: leave `frames` empty.")
    return operations.at_frame(frame)


def _numbers(frames: Sequence[int], turns: int) -> Sequence[int]:
    """Return the numbers of the pictures: their frames, or 1 and on.

    Raises:
        ValueError: The frames are no range, or the pictures are too many.
    """
    numbers: Sequence[int] = range(1, 1 + max(1, turns))
    if frames and turns:
        raise ValueError("A turntable is of one frame: leave `frames` empty.")
    if turns < 0:
        raise ValueError("turns is the number of pictures, 1 or more.")
    if frames:
        is_range = 2 <= len(frames) <= 3 and frames[0] <= frames[1]
        step = frames[2] if len(frames) == 3 else 1
        if not is_range or not 1 <= step <= max(1, frames[1] - frames[0]):
            raise ValueError("frames is [first, last] or [first, last, step].")
        numbers = range(frames[0], frames[1] + 1, step)
    if len(numbers) > _MAX_PICTURES:
        raise ValueError(f"That is {len(numbers)} pictures; {_MAX_PICTURES} at most.")
    return numbers


def _files(path: Path, numbers: Sequence[int]) -> list[Path]:
    """Return the file of each picture; "shot_##.png" or "shot.png" has its number in its name."""
    marked = re.search("#+", path.stem)
    if marked is None and len(numbers) == 1:
        return [path]
    files = []
    for number in numbers:
        if marked is None:
            name = f"{path.stem}_{number:0{_DIGITS}}"
        else:
            digits = f"{number:0{len(marked.group())}}"
            name = path.stem.replace(marked.group(), digits, 1)
        files.append(path.with_name(name + path.suffix))
    return files


def _beside(work: Callable[[], None]) -> None:
    """Call a function on another thread, and wait. The host goes on meanwhile, and agents edit.

    The undo step of the call is closed until then, as while a question is open.

    Args:
        work: The function. It must not need the scene.

    Raises:
        Paused: The person paused agents meanwhile.
    """
    main = main_thread()
    if main is None:
        work()
        return
    job = main.job
    with current_call().control.pause():
        if job is not None:
            job.gives_way = True
        main.wait(run_in_thread(work, "render"))


def _acquire(lock: threading.Lock) -> None:
    """Wait for a lock. Any thread.

    Raises:
        Stopped: The call has to end.
    """
    while not lock.acquire(timeout=_POLL_INTERVAL_S):
        check_cancelled()
