"""What the commands know of an application, without its API. Any thread.

Each leaf has one `Program`, by which ``dcc-bridge`` finds it: the entry point ``dcc_bridge.hosts``
of its name. It is an `InstallTarget` (`dcc_bridge.install.locations`) where the application has a
Python of its own and a folder for plug-ins, and a `LocalProgram` where it runs in this Python.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from dcc_bridge.config import data_folder

if TYPE_CHECKING:
    from dcc_bridge.bridge import Bridge
    from dcc_bridge.config import Settings
    from dcc_bridge.host import Host
    from dcc_bridge.threads.main_thread import MainThread
    from dcc_bridge.verbs.operations import HostOperations


class Program(ABC):
    """An application, as the commands know it.

    Attributes:
        name: As commands take it, such as "freecad". Its leaf is the package ``dcc_bridge_NAME``.
        title: As its users call it.
    """

    name: ClassVar[str]
    title: ClassVar[str]

    @property
    def scenes(self) -> str:
        """The module that opens its scenes; see `dcc_bridge.batch_job.Scenes`."""
        return f"dcc_bridge_{self.name}.scenes"

    @property
    def leaf(self) -> Path:
        """The folder of its leaf: the package, and the files by which the application finds it.

        A leaf that comes with another distribution names its own.
        """
        return data_folder("plugins") / self.name


@dataclass(frozen=True, slots=True)
class Opening:
    """What a `LocalProgram` is started with.

    Attributes:
        scene: The file that it opens.
        skills: Folders of skill files, the most trusted first.
        settings: How its bridge behaves.
        window: Whether a person can sit at it.
        as_copy: Whether a copy of the scene is opened, and never the file itself.
    """

    scene: Path
    skills: Sequence[Path]
    settings: Settings
    window: bool
    as_copy: bool = False


class WindowedHost(ABC):
    """A `LocalProgram` in its window, with its bridge, while it runs.

    Its methods are called on the main thread, unless they say "any thread".

    Attributes:
        bridge: Its bridge, which takes requests.
        host: The application.
        main: The way to the main thread.
        is_stopping: Whether it was told to end.
    """

    bridge: Bridge
    host: Host
    main: MainThread
    is_stopping: bool = False

    @abstractmethod
    def stop(self) -> None:
        """Have the window closed soon, and return at once. Any thread.

        Raises:
            Nothing.
        """

    @abstractmethod
    def asked(self) -> str | None:
        """Return the message of the question that a person can answer now.

        Returns:
            The message as the skill wrote it; None while no question is shown.

        Raises:
            Nothing.
        """

    @abstractmethod
    def answer(self, action: str) -> str:
        """Press the button with which a person answers that question.

        Args:
            action: "accept", "decline" or "cancel".

        Returns:
            What stands on the button.

        Raises:
            LookupError: No question can be answered now.
        """

    @abstractmethod
    def save_picture(self, file: Path) -> bool:
        """Save a picture of the window with the question over it.

        Args:
            file: Where; the suffix says the format.

        Returns:
            Whether it could be saved.

        Raises:
            LookupError: No question is shown.
        """

    @abstractmethod
    def tell(self, caption: str) -> None:
        """Say something in the window, over the scene.

        Args:
            caption: What is said, until something else is.

        Raises:
            Nothing.
        """


class LocalProgram(Program):
    """An application that the commands run in their own Python.

    Attributes:
        sample: The scene of our resources that it opens where none is named.
    """

    sample: ClassVar[Path]

    @abstractmethod
    def find_screen(self) -> tuple[bool, str]:
        """Look whether the application can show a window.

        Returns:
            Whether it can, and why a screen that was announced cannot be used, or "".

        Raises:
            Nothing.
        """

    @abstractmethod
    def opened(self, opening: Opening) -> AbstractContextManager[Host]:
        """Have the application open, without its window, in a ``with``.

        Args:
            opening: What it is started with.

        Returns:
            What opens it, and gives it.

        Raises:
            MissingExtra: What it needs is not installed.
            OSError: The scene cannot be read.
            ValueError: The file is no scene.
        """

    @abstractmethod
    def operations(self, host: Host) -> HostOperations:
        """Return what the application does for the verbs.

        Args:
            host: What `opened` gave.

        Returns:
            The operations.

        Raises:
            MissingExtra: What they need is not installed.
        """

    @abstractmethod
    def digest(self, host: Host) -> str:
        """Digest everything that the scene holds, so that two of its states can be compared.

        Args:
            host: What `opened` gave. On its main thread.

        Returns:
            The digest.

        Raises:
            Nothing.
        """

    @abstractmethod
    def show(self, host: Host, opening: Opening, on_ready: Callable[[WindowedHost], None]) -> None:
        """Serve in a window, until it is closed or the process is told to stop.

        Args:
            host: What `opened` gave.
            opening: What it was started with.
            on_ready: Called on the main thread once its bridge takes requests.

        Raises:
            MissingExtra: What a window needs is not installed.
            BridgeError: The bridge cannot be started.
            KeyboardInterrupt: SIGINT has ended it.
        """
