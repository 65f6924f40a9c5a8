"""``dcc-bridge demo``: one confirmed deletion, played end to end and narrated step by step.

`Story` is the agent, a real MCP client over HTTP, on its own thread and event loop. `AtWindow` or
`InClient` is the person. Both use the scene and the window only through the host's main thread.
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
# The person who is asked, and where. ``attend`` runs beside the call that asks.
Audience: TypeAlias = "AtWindow | InClient"
_POLL_INTERVAL_S: Final = 0.05  # while waiting for the dialog
_DRAW_TIME_S: Final = 1.0  # for drawing a dialog
_STEP_TIME_S: Final = 3.0  # for reading a step of the demo
LABEL: Final = "demo"
"""The name by which the host knows the agent."""
_TITLE: Final = "An agent wants to delete something in a scene. A person decides."
_ANSWER: Final = """\
ask (default): you answer, in the window or, without a screen, in this terminal; accept,
decline and cancel answer for you, with the dialog's own buttons or as the client"""
_NOBODY: Final = (
    "Nobody can be asked: the host has no window, and there is no terminal here for the agent's "
    "client to ask in. So it told the host that it cannot show questions. To answer: --answer "
    "accept, or decline."
)


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to a parser."""
    local_host.fill(parser)
    choices = (call.ASK, *call.ACTIONS)
    parser.add_argument("--answer", choices=choices, default=call.ASK, help=_ANSWER)
    picture = "save a picture of the window with the question"
    parser.add_argument("--screenshot", type=Path, metavar="FILE", help=picture)


def run(options: argparse.Namespace) -> int:
    """Play the demo, with its own audit record and list of hosts."""
    program = leaves.local()
    narrator = Narrator(_TITLE)
    played: Future[int] = Future()
    with TemporaryDirectory(prefix="dcc_bridge-", ignore_cleanup_errors=True) as folder:
        settings = hosts.settings(audit=Path(folder, "audit"), runtime=Path(folder, "run"))
        opening = local_host.opening(program, options, settings)
        if options.screenshot is not None and not opening.window:
            raise exits.Failure("A picture needs a window, and there is none here.")
        with _audience(options, opening, narrator) as audience:

            def begin(running: Running) -> None:
                """Play the story on a new thread."""
                story = Story(program, running, narrator, audience)
                threading.Thread(target=_play, args=(story, running, played), daemon=True).start()

            local_host.run(program, opening, begin)
    if not played.done():
        if opening.window:  # a signal ends the whole command
            narrator.step("The window was closed before the demo had ended.")
        return exits.INTERRUPTED
    return played.result()


def _play(story: Story, running: Running, played: Future[int]) -> None:
    """Play the story on this thread, and end the host once the person has seen the end."""
    try:
        played.set_result(anyio.run(story.play))
        story.stay()
    except BaseException as error:  # noqa: BLE001 - the top of a thread: `played` passes it on
        if not running.is_stopping:
            played.set_exception(error)
    finally:
        running.stop()


@contextmanager
def _audience(
    options: argparse.Namespace, opening: Opening, narrator: Narrator
) -> Iterator[Audience]:
    """Open the person's window or terminal, for the length of a ``with`` block."""
    if opening.window:
        answer = options.answer
        if answer == call.ASK:
            answer = None
        yield AtWindow(answer, narrator, options.screenshot)
        return
    with call.answering(options.answer, "The host") as person:
        yield InClient(person, narrator)


class InClient:
    """A person whom the agent's client asks in this terminal, with a narrator.

    Args:
        person: The person at the terminal, or a script in their place; None if there is nobody.
        narrator: Prints the steps.

    Attributes:
        person: This object, for the agent's client; None if nobody can be asked.
    """

    def __init__(self, person: Person | None, narrator: Narrator) -> None:
        self.person: Person | None = None
        if person is not None:
            self.person = self
        self._person = person
        self._narrator = narrator

    async def attend(self, running: Running) -> None:
        """Print that nobody can be asked, if so. The host itself does not ask."""
        if self._person is None:
            self._narrator.step(_NOBODY)

    async def ask(self, message: str, form: schema.Form, *, until: str = "") -> question.Reply:
        """Answer a form, as `Person.ask`."""
        assert self._person is not None
        self._begin(message)
        reply = await self._person.ask(message, form, until=until)
        self._end(reply)
        return reply

    async def visit(
        self, message: str, url: str, *, ours: bool = False, until: str = ""
    ) -> question.Reply:
        """Open a page, as `Person.visit`."""
        assert self._person is not None
        self._begin(message)
        reply = await self._person.visit(message, url, ours=ours, until=until)
        self._end(reply)
        return reply

    def _begin(self, message: str) -> None:
        if isinstance(self._person, Script):
            step = "No window: the agent's client asks the person, played by --answer."
            self._narrator.step(step)
            self._narrator.quote(message)
        else:
            self._narrator.step("No window: the agent's client asks you, in this terminal.")

    def _end(self, reply: question.Reply) -> None:
        if not isinstance(self._person, Script):
            print(flush=True)
        self._narrator.answer(reply.action)


class AtWindow:
    """A person whom the host asks in a dialog.

    Args:
        answer: The button to press in the dialog; None leaves this to a real person.
        narrator: Prints the steps.
        screenshot: The file for a picture of the dialog; None for no picture.

    Attributes:
        person: None, because the agent's client has nobody to ask.
    """

    def __init__(self, answer: str | None, narrator: Narrator, screenshot: Path | None) -> None:
        self.person: Person | None = None
        self._answer = answer
        self._narrator = narrator
        self._screenshot = screenshot

    async def attend(self, running: Running) -> None:
        """Wait for the dialog, and answer the question."""
        assert isinstance(running, WindowedHost)
        message = await _wait_for_question(running)
        self._narrator.step("A dialog over the host's window asks the person:")
        self._narrator.quote(message)
        file = self._screenshot
        if file is not None:
            await anyio.sleep(_DRAW_TIME_S)
            if not await _on_ui(running, lambda: running.save_picture(file)):
                sentence = f"The picture cannot be saved in {file}: does its name end in .png?"
                raise exits.Failure(sentence, exits.FAILED)
        answer = self._answer
        if answer is None:
            self._narrator.step("Answer it there.")
        else:
            await anyio.sleep(_STEP_TIME_S)
            text = await _on_ui(running, lambda: running.answer(answer))
            self._narrator.answer(answer, f": --answer presses {text!r}")

    async def show(self, running: Running, caption: str, *, is_last: bool) -> None:
        """Show a caption in the window, and leave time to read it.

        Args:
            running: The host.
            caption: The text.
            is_last: Whether the demo ends with this step, so that the person may close the window.
        """
        assert isinstance(running, WindowedHost)
        if is_last and self._answer is None:
            self._narrator.step("Close the window to end the demo.")
            caption += " Close this window to end the demo."
        await _on_ui(running, lambda: running.tell(caption))
        await anyio.sleep(_STEP_TIME_S)

    def stay(self, running: Running) -> None:
        """Wait until a real person closes the window."""
        while self._answer is None and not running.is_stopping:
            time.sleep(_POLL_INTERVAL_S)


async def _wait_for_question(running: WindowedHost) -> str:
    """Wait until a dialog is shown and can be answered, and return the question."""
    while True:
        message = await _on_ui(running, running.asked)
        if message is not None:
            return message
        await anyio.sleep(_POLL_INTERVAL_S)


async def _on_ui(running: WindowedHost, fn: Callable[[], T]) -> T:
    return await asyncio.wrap_future(running.main.post(fn))


class Story:
    """One confirmed deletion, end to end.

    Args:
        program: The application.
        running: The host, which runs in this process.
        narrator: Prints the steps.
        audience: The person who is asked.
    """

    def __init__(
        self, program: LocalProgram, running: Running, narrator: Narrator, audience: Audience
    ) -> None:
        self._program = program
        self._running = running
        self._tell = narrator.step
        self._audience = audience
        self._window: AtWindow | None = None
        if isinstance(audience, AtWindow):
            self._window = audience

    def stay(self) -> None:
        """Wait until the person closes the window, if a person was asked there."""
        if self._window is not None:
            self._window.stay(self._running)

    async def play(self) -> int:
        """Play the deletion and print each step.

        Returns:
            The exit code of the deletion.

        Raises:
            Failure: The deletion or its undo failed.
        """
        bridge = self._running.bridge
        host = self._running.host
        where = "without a window"
        if host.has_ui:
            where = "in a window"
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
            raise exits.Failure(sentence, exits.FAILED)
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
        text = " ".join(result.texts)
        if call.exit_code(result) == exits.FAILED:
            raise exits.Failure(text, exits.FAILED)
        if result.is_error:
            self._tell(f"The skill ends there: 0 deleted, refused. The agent is told: {text}")
        else:
            self._tell(f"The skill continues and returns: {result.structured['found']} deleted.")

    async def _on_main(self, fn: Callable[[], T]) -> T:
        return await asyncio.wrap_future(self._running.main.submit(fn, name="The demo"))

    async def _look(self, client: agent.Agent, kind: str | None = None) -> tuple[str, str]:
        """Count the items of the scene.

        Args:
            client: The agent's client.
            kind: The type to count; None for cameras, or else the most frequent type.

        Returns:
            The number of all items and of those of the type, in words; and the type.
        """
        result = await client.call("summary", {})
        item = self._running.host.item_noun
        types: Mapping[str, int] = result.structured["types"]
        known = Counter({name: count for name, count in types.items() if name.isidentifier()})
        if kind is None:
            kind = _kind_to_delete(known)
        if kind is None:
            sentence = f"This scene has no {item} with a type, so there is nothing to delete."
            raise exits.Failure(sentence)
        count = result.structured[f"{item}s"]
        return f"{count} {item}s, {known[kind]} of them {self._nouns(kind)}", kind

    def _nouns(self, kind: str) -> str:
        """Return the plural of a type for a sentence."""
        if kind == "Camera":
            return "cameras"
        return f"{kind} {self._running.host.item_noun}s"


def _kind_to_delete(known: Counter[str]) -> str | None:
    """Return the type whose items the agent deletes; None if no item has a type."""
    if not known:
        return None
    if "Camera" in known:
        return "Camera"
    kind, _ = known.most_common(1)[0]
    return kind
