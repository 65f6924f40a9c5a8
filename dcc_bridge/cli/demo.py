"""``dcc-bridge demo``: the main job, end to end and for real, told step by step."""

from __future__ import annotations

import argparse
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import anyio

from dcc_bridge.cli import hosting
from dcc_bridge.cli.call import ACTIONS, ASK, answering
from dcc_bridge.cli.exits import INTERRUPTED, Failure
from dcc_bridge.cli.hosting import Opening, Running
from dcc_bridge.cli.story import Audience, InClient, Narrator, Nobody, Story

_TITLE: Final = "An agent wants to delete something in a scene, and a person decides."
_ANSWER: Final = """\
ask (the default) leaves it to you: in the window, or in this terminal where there is no
screen; accept, decline and cancel play you, on the dialog's own buttons or as the client"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    hosting.fill(parser)
    choices = (ASK, *ACTIONS)
    parser.add_argument("--answer", choices=choices, default=ASK, help=_ANSWER)
    parser.add_argument(
        "--screenshot",
        type=Path,
        metavar="FILE",
        help="save a picture of the window with the question over it",
    )


def run(options: argparse.Namespace) -> int:
    """Play the demo."""
    opening = hosting.opening(options, skills=[], port=None)
    if options.screenshot is not None and not opening.window:
        raise Failure("A picture needs a window, and there is none here.")
    narrator = Narrator(_TITLE)
    played: Future[int] = Future()
    with _audience(options, opening, narrator) as audience:

        def begin(running: Running) -> None:
            story = Story(running, narrator, audience)
            threading.Thread(target=_play, args=(story, running, played), daemon=True).start()

        hosting.run(opening, begin)
    if not played.done():
        return INTERRUPTED
    return played.result()


def _play(story: Story, running: Running, played: Future[int]) -> None:
    """Play the story on this thread, and end the host."""
    try:
        ended = anyio.run(story.play)
    except BaseException as error:  # noqa: BLE001 - the top of a thread: it belongs to `played`
        if not running.is_stopping:
            played.set_exception(error)
    else:
        played.set_result(ended)
    finally:
        running.stop()


@contextmanager
def _audience(
    options: argparse.Namespace, opening: Opening, narrator: Narrator
) -> Iterator[Audience]:
    """Find who is asked."""
    if opening.window:
        yield hosting.load("dialogs").AtWindow(options.answer, narrator, options.screenshot)
        return
    with answering(options.answer, "The host") as person:
        yield Nobody(narrator) if person is None else InClient(person, narrator)
