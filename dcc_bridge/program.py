"""The applications as the commands know them, without their APIs. Any thread.

Each leaf (the package of an application in ``plugins/``) has one `Program`, which ``dcc-bridge``
finds by its entry point in the group ``dcc_bridge.hosts``. It is an `InstallTarget`
(`dcc_bridge.install.locations`) for an application with a Python of its own and a folder for
plug-ins, and a `LocalProgram` for an application that runs in this Python.
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
        name: The name that commands take, such as "freecad". Its leaf is the package
            ``dcc_bridge_NAME``.
        title: The name that its users say.
        suffixes: The suffixes of the files that its scenes are saved in; empty if any may be one.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    suffixes: ClassVar[Sequence[str]] = ()

    @property
    def scenes(self) -> str:
        """The name of the leaf's module that opens scenes; see `dcc_bridge.batch_job.Scenes`."""
        return f"dcc_bridge_{self.name}.scenes"

    @property
    def plain_names(self) -> str:
        """The name of the leaf's module with ``PLAIN``, a `PlainNames`.

        The module imports nothing of the application.
        """
        return f"dcc_bridge_{self.name}.plain_names"

    @property
    def leaf(self) -> Path:
        """The folder of the leaf: the package, and the files by which the application finds it.

        A leaf that comes with another distribution overrides this property.
        """
        return data_folder("plugins") / self.name


@dataclass(frozen=True, slots=True)
class Opening:
    """The arguments with which a `LocalProgram` is started.

    Attributes:
        scene: The file to open.
        skills: Folders of skill files, the most trusted first.
        settings: How the bridge behaves.
        window: Whether the program has a window, in which a person can answer.
        as_copy: Whether to open a copy of the scene, and never the file itself.
    """

    scene: Path
    skills: Sequence[Path]
    settings: Settings
    window: bool
    as_copy: bool = False


class WindowedHost(ABC):
    """A `LocalProgram` that runs in its window, with a bridge.

    The methods are called on the main thread, unless they say "any thread".

    Attributes:
        bridge: The bridge, which takes requests.
        host: The application.
        main: The way to the main thread.
        is_stopping: Whether `stop` was called.
    """

    bridge: Bridge
    host: Host
    main: MainThread
    is_stopping: bool = False

    @abstractmethod
    def stop(self) -> None:
        """Close the window soon, and return at once. Any thread.

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
        """Press a button of the question that is shown, as a person would.

        Args:
            action: "accept", "decline" or "cancel".

        Returns:
            The label of the button.

        Raises:
            LookupError: No question can be answered now.
        """

    @abstractmethod
    def save_picture(self, file: Path) -> bool:
        """Save a picture of the window with the question over it.

        Args:
            file: The file of the picture; its suffix says the format.

        Returns:
            Whether the picture could be saved.

        Raises:
            LookupError: No question is shown.
        """

    @abstractmethod
    def tell(self, caption: str) -> None:
        """Show a caption in the window, over the scene.

        Args:
            caption: The text, which stays until the next one.

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
        """Return whether the application can show a window.

        Returns:
            Whether it can. Then why not, if the environment names a screen that cannot be used;
            else "".

        Raises:
            Nothing.
        """

    @abstractmethod
    def opened(self, opening: Opening) -> AbstractContextManager[Host]:
        """Open the application without its window, for a ``with`` block.

        Args:
            opening: The arguments of the start.

        Returns:
            A context manager that gives the application.

        Raises:
            MissingExtra: The application's dependencies are not installed.
            OSError: The scene cannot be read.
            ValueError: The file is no scene.
        """

    @abstractmethod
    def operations(self, host: Host) -> HostOperations:
        """Return the operations of the application for the verbs.

        Args:
            host: The application that `opened` gave.

        Returns:
            The operations.

        Raises:
            MissingExtra: Their dependencies are not installed.
        """

    @abstractmethod
    def digest(self, host: Host) -> str:
        """Return a digest of the whole scene, by which two states can be compared. Main thread.

        Args:
            host: The application that `opened` gave.

        Returns:
            The digest.

        Raises:
            Nothing.
        """

    @abstractmethod
    def show(self, host: Host, opening: Opening, on_ready: Callable[[WindowedHost], None]) -> None:
        """Serve in a window, until it is closed or the process is told to stop.

        Args:
            host: The application that `opened` gave.
            opening: The arguments of the start.
            on_ready: Called on the main thread once the bridge takes requests.

        Raises:
            MissingExtra: The window's dependencies are not installed.
            BridgeError: The bridge cannot be started.
            KeyboardInterrupt: SIGINT has ended it.
        """
