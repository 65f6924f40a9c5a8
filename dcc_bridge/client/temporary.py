"""Environments that ``uvx`` and ``pipx run`` make, and delete after some time. Any thread.

An entry of a client must not start a program in one of these: it would be gone some day. The same
runner starts the same version again. It is named by its whole path, because a client's search path
is not the shell's.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path, PurePath
from typing import Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

from dcc_bridge.errors import DISTRIBUTION

# The folder of such environments in uv's cache, as its "Caching" documentation names them, and the
# file by which uv marks the cache. By the source of pipx 1.18, those of `pipx run` are in the
# system's folder for caches, or in ``.cache`` in a folder that the person named. It writes the
# other file into each of its environments.
_UV_FOLDER: Final = re.compile(r"(archive|builds|environments)-v\d+")
_UV_MARK: Final = "CACHEDIR.TAG"
_PIPX_CACHES: Final = frozenset({".cache", "Cache", "Caches"})
_PIPX_MARK: Final = "pipx_metadata.json"
_OPTIONS: Final = {
    "uvx": ("--python", f"{sys.version_info.major}.{sys.version_info.minor}", "--from"),
    "pipx": ("run", "--spec"),
}


def runner_of(prefix: str) -> str:
    """Return the program that made an environment for one run: "uvx" or "pipx"; else "".

    Args:
        prefix: The folder of the environment, as `sys.prefix` has it.
    """
    environment = Path(prefix)
    for folder in environment.parents:
        if _UV_FOLDER.fullmatch(folder.name) and _is_uv_cache(folder.parent):
            return "uvx"
    if _is_of_pipx_run(environment):
        return "pipx"
    return ""


def _is_uv_cache(folder: Path) -> bool:
    """Return whether a folder is uv's cache, which may have any name."""
    if "uv" in folder.parts or folder in _named("UV_CACHE_DIR"):
        return True
    return (folder / _UV_MARK).is_file()


def _is_of_pipx_run(environment: Path) -> bool:
    """Return whether `pipx run` made an environment, wherever pipx's folder is."""
    folder = environment.parent
    if "pipx" in folder.parts and not _PIPX_CACHES.isdisjoint(folder.parts):
        return True
    if folder.name not in _PIPX_CACHES:
        return False
    named = _named("PIPX_HOME", "PIPX_GLOBAL_HOME")
    return folder.parent in named or (environment / _PIPX_MARK).is_file()


def _named(*variables: str) -> list[Path]:
    """Return the folders that variables of the environment name."""
    values = (os.environ.get(variable) for variable in variables)
    return [Path(value).expanduser().absolute() for value in values if value]


def start_again(prefix: str) -> tuple[str, ...]:
    """Return the words that start our command again from outside of a temporary environment.

    Args:
        prefix: The folder of the environment, as `sys.prefix` has it.

    Returns:
        The words up to the name of the command; () if the environment is an ordinary one, or its
        runner is not on PATH.
    """
    runner = runner_of(prefix)
    if not runner:
        return ()
    program = shutil.which(runner)
    if program is None:
        return ()
    return (program, *_OPTIONS[runner], _source())


def is_start(program: str, words: Sequence[str]) -> bool:
    """Return whether a program and words are those of `start_again`, for any version and Python.

    Args:
        program: The path of the program.
        words: The words between the program and the name of the command.
    """
    runner = PurePath(program).stem
    if runner not in _OPTIONS or len(words) != len(_OPTIONS[runner]) + 1:
        return False
    pairs = zip(words, _OPTIONS[runner], strict=False)
    return all(word == option for word, option in pairs if option.startswith("-"))


def _source() -> str:
    """Return where our distribution was installed from: a file or a folder, or else an index."""
    distribution = metadata.distribution(DISTRIBUTION)
    origin = distribution.read_text("direct_url.json")
    if origin is not None:
        url = urlsplit(str(json.loads(origin)["url"]))
        if url.scheme == "file":
            return url2pathname(url.path)
        version_control = json.loads(origin).get("vcs_info")
        if version_control is not None:
            return f"{version_control['vcs']}+{url.geturl()}@{version_control['commit_id']}"
        return url.geturl()
    return f"{DISTRIBUTION}=={distribution.version}"
