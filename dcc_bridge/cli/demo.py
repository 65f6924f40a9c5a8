"""``dcc-bridge demo``: the main job, end to end and for real, told step by step.

The agent is a real MCP client over HTTP, on a thread of its own with a loop of its own; the scene
is reached by the host's main thread only, and so is its window.
"""

from __future__ import annotations

import argparse
import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

import anyio

from dcc_bridge.cli import call, exits, hosts, leaves, local_host
from dcc_bridge.client import Person, Script, agent
from dcc_bridge.client.terminal_io import Narrator
from dcc_bridge.elicitation import question, schema
from dcc_bridge.program import LocalProgram, Opening, WindowedHost

if TYPE_CHECKING:
    from dcc_bridge.cli.local_host import Running

T = TypeVar("T")
# Who is asked, and where; ``attend`` sees to the host's own question while the call runs.
Audience: TypeAlias = "AtWindow | InClient"
_POLL: Final = 0.05  # seconds between two looks for the dialog
_SEEN: Final = 1.0  # seconds after which a dialog is drawn
_STEP: Final = 3.0  # seconds for which each step of the demo can be seen
LABEL: Final = "demo"  # under which the host knows the agent
_TITLE: Final = "An agent wants to delete something in a scene, and a person decides."
_ANSWER: Final = """\
ask (default): you answer, in the window or, without a screen, in this terminal; accept,
decline and cancel answer for you, with the dialog's own buttons or as the client"""
_NOBODY: Final = (
    "Nobody can be asked: the host has no window, and there is no terminal here for the agent's "
    "client to ask in. So it told the host that it cannot show questions."
)


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to a parser."""
    local_host.fill(parser)
    choices = (call.ASK, *call.ACTIONS)
    parser.add_argument("--answer", choices=choices, default=call.ASK, help=_ANSWER)
    picture = "save a picture of the window with the question over it"
    parser.add_argument("--screenshot", type=Path, metavar="FILE", help=picture)


def run(options: argparse.Namespace) -> int:
    """Play the demo, on a record and with a list of hosts of its own."""
    program, narrator = leaves.local(), Narrator(_TITLE)
    played: Future[int] = Future()
    with TemporaryDirectory(prefix="dcc_bridge-", ignore_cleanup_errors=True) as folder:
        settings = hosts.settings(audit=Path(folder, "audit"), runtime=Path(folder, "run"))
        opening = local_host.opening(program, options, settings)
        if options.screenshot is not None and not opening.window:
            raise exits.Failure("A picture needs a window, and there is none here.")
        with _audience(options, opening, narrator) as audience:

            def begin(running: Running) -> None:
                story = Story(program, running, narrator, audience)
                threading.Thread(target=_play, args=(story, running, played), daemon=True).start()

            local_host.run(program, opening, begin)
    if not played.done():
        if opening.window:  # a signal ends the whole command
            narrator.step("The window was closed before the demo had ended.")
        return exits.INTERRUPTED
    return played.result()


def _play(story: Story, running: Running, played: Future[int]) -> None:
    """Play the story on this thread, and end the host once the person has seen it."""
    try:
        played.set_result(anyio.run(story.play))
        story.stay()
    except BaseException as error:  # noqa: BLE001 - the top of a thread: it belongs to `played`
        if not running.is_stopping:
            played.set_exception(error)
    finally:
        running.stop()


@contextmanager
def _audience(
    options: argparse.Namespace, opening: Opening, narrator: Narrator
) -> Iterator[Audience]:
    """Find who is asked."""
    if opening.window:
        answer = None if options.answer == call.ASK else options.answer
        yield AtWindow(answer, narrator, options.screenshot)
        return
    with call.answering(options.answer, "The host") as person:
        yield InClient(person, narrator)


class InClient:
    """A person whom the agent's client asks in this terminal; both sides are told."""

    def __init__(self, person: Person | None, narrator: Narrator) -> None:
        self.person: Person | None = self if person is not None else None
        self._person = person
        self._narrator = narrator

    async def attend(self, running: Running) -> None:
        """Say so where nobody can be asked; the host does not ask."""
        if self._person is None:
            self._narrator.step(_NOBODY)

    async def ask(self, message: str, form: schema.Form, *, until: str = "") -> question.Reply:
        """Answer a form; see `Person`."""
        assert self._person is not None
        self._begin(message)
        return self._end(await self._person.ask(message, form, until=until))

    async def visit(
        self, message: str, url: str, *, ours: bool = False, until: str = ""
    ) -> question.Reply:
        """Go to a page; see `Person`."""
        assert self._person is not None
        self._begin(message)
        return self._end(await self._person.visit(message, url, ours=ours, until=until))

    def _begin(self, message: str) -> None:
        if isinstance(self._person, Script):
            played = "No window: the agent's client asks the person, played by --answer."
            self._narrator.step(played)
            self._narrator.quote(message)
        else:
            self._narrator.step("No window: the agent's client asks you, in this terminal.")

    def _end(self, reply: question.Reply) -> question.Reply:
        if not isinstance(self._person, Script):
            print(flush=True)
        self._narrator.answer(reply.action)
        return reply


class AtWindow:
    """A person whom the host asks in a dialog."""

    def __init__(self, answer: str | None, narrator: Narrator, screenshot: Path | None) -> None:
        self.person: Person | None = None
        self._answer = answer  # the button that is pressed; None leaves it to a real person
        self._narrator = narrator
        self._screenshot = screenshot  # where a picture is saved

    async def attend(self, running: Running) -> None:
        """Wait for the dialog, and answer it."""
        assert isinstance(running, WindowedHost)
        message = await _wait_for_question(running)
        self._narrator.step("A dialog over the host's window asks the person:")
        self._narrator.quote(message)
        file = self._screenshot
        if file is not None:
            await anyio.sleep(_SEEN)
            if not await _on_ui(running, lambda: running.save_picture(file)):
                raise exits.Failure(
                    f"The picture cannot be saved in {file}: does its name end in .png?"
                )
        answer = self._answer
        if answer is None:
            self._narrator.step("Answer it there.")
        else:
            await anyio.sleep(_STEP)
            text = await _on_ui(running, lambda: running.answer(answer))
            self._narrator.answer(answer, f": --answer presses {text!r}")

    async def show(self, running: Running, caption: str, *, is_last: bool) -> None:
        """Say in the window what is to be seen there, and leave time for it."""
        assert isinstance(running, WindowedHost)
        if is_last and self._answer is None:
            self._narrator.step("Close the window to end the demo.")
            caption += " Close this window to end the demo."
        await _on_ui(running, lambda: running.tell(caption))
        await anyio.sleep(_STEP)

    def stay(self, running: Running) -> None:
        """Wait until a real person closes the window."""
        while self._answer is None and not running.is_stopping:
            time.sleep(_POLL)


async def _wait_for_question(running: WindowedHost) -> str:
    """Wait until a dialog is shown and can be pressed; return what it asks."""
    while True:
        message = await _on_ui(running, running.asked)
        if message is not None:
            return message
        await anyio.sleep(_POLL)


async def _on_ui(running: WindowedHost, fn: Callable[[], T]) -> T:
    return await asyncio.wrap_future(running.main.post(fn))


class Story:
    """One confirmed deletion, end to end."""

    def __init__(
        self, program: LocalProgram, running: Running, narrator: Narrator, audience: Audience
    ) -> None:
        self._program = program
        self._running = running
        self._tell = narrator.step
        self._audience = audience
        self._window = None if isinstance(audience, InClient) else audience

    def stay(self) -> None:
        """Wait until the person closes the window, where one was asked in it."""
        if self._window is not None:
            self._window.stay(self._running)

    async def play(self) -> int:
        """Do it, and tell it; gives the exit code that tells how the deletion ended."""
        bridge, host = self._running.bridge, self._running.host
        where = "in a window" if host.has_ui else "without a window"
        self._tell(f"The host opens {await self._on_main(host.scene)} {where}.")
        self._tell(f"Its MCP server runs inside it at {bridge.url}; a client needs a token.")
        instance = bridge.instance
        target = hosts.Target(bridge.url, instance.token(LABEL), instance.host)
        async with target.connect(person=self._audience.person) as client:
            count = len(await client.tools())
            self._tell(f"An agent connects over HTTP ({client.protocol}) and finds {count} tools.")
            return await self._edit(client)

    async def _edit(self, client: agent.Agent) -> int:
        host = self._running.host
        digest = await self._digest()
        before, kind = await self._look(client)
        self._tell(f"The agent calls summary: {before}.")
        await self._show(f"{before}. An agent is about to delete all {self._nouns(kind)}.")
        result = await self._delete(client, kind)
        self._tell_result(result)
        after, _ = await self._look(client, kind)
        if await self._digest() == digest:
            self._tell(f"The scene is as it was: {after}. There is nothing to undo.")
            await self._show(f"Nothing was deleted: {after}.", is_last=True)
            return call.exit_code(result)
        self._tell(f"The scene now: {after}.")
        await self._show(f"You agreed: {after}. Next, one undo brings them back.")
        if await self._digest() != digest:  # else the person undid it meanwhile
            await self._on_main(host.undo)
        restored, _ = await self._look(client, kind)
        if await self._digest() != digest:
            sentence = f"After the undo the scene is not the same: {restored}."
            raise exits.Failure(sentence, exits.TOOL_ERROR)
        self._tell(f"One undo in the host brings it back: {restored}, all as it was.")
        await self._show(f"One undo: {restored}, all as it was.", is_last=True)
        return call.exit_code(result)

    async def _digest(self) -> str:
        return await self._on_main(lambda: self._program.digest(self._running.host))

    async def _show(self, caption: str, *, is_last: bool = False) -> None:
        if self._window is not None:
            await self._window.show(self._running, caption, is_last=is_last)

    async def _delete(self, client: agent.Agent, kind: str) -> agent.Result:
        self._tell(
            f"The agent calls delete for all {self._nouns(kind)}. On the host's main thread, in "
            "the middle of its body, the skill asks."
        )
        async with anyio.create_task_group() as asking:
            asking.start_soon(self._audience.attend, self._running)
            result = await client.call("delete", {"pattern": "*", "type": kind})
            asking.cancel_scope.cancel()
        return result

    def _tell_result(self, result: agent.Result) -> None:
        said = " ".join(result.texts)
        if call.exit_code(result) == exits.TOOL_ERROR:
            raise exits.Failure(said, exits.TOOL_ERROR)
        if result.is_error:
            self._tell(f"The skill ends there: 0 deleted, refused. The agent is told: {said}")
        else:
            self._tell(f"The skill goes on and returns: {result.structured['found']} deleted.")

    async def _on_main(self, fn: Callable[[], T]) -> T:
        return await asyncio.wrap_future(self._running.main.submit(fn, name="The demo"))

    async def _look(self, client: agent.Agent, kind: str | None = None) -> tuple[str, str]:
        """Say how many items there are, and how many of a kind: cameras, or what is there most."""
        result = await client.call("summary", {})
        item = self._running.host.item_noun
        types: Mapping[str, int] = result.structured["types"]
        known = Counter({name: count for name, count in types.items() if name.isidentifier()})
        if not known and kind is None:
            sentence = f"This scene has no {item} with a type, so there is nothing to delete."
            raise exits.Failure(sentence)
        if kind is None:
            kind = "Camera" if "Camera" in known else known.most_common(1)[0][0]
        count = result.structured[f"{item}s"]
        return f"{count} {item}s, {known[kind]} of them {self._nouns(kind)}", kind

    def _nouns(self, kind: str) -> str:
        """Return the plural of a type as a person says it."""
        return "cameras" if kind == "Camera" else f"{kind} {self._running.host.item_noun}s"
