"""Says how the person updates the package that this command belongs to. Main thread."""

from __future__ import annotations

import json
import sys
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from dcc_bridge import shell
from dcc_bridge.client.temporary import runner_of
from dcc_bridge.errors import DISTRIBUTION, own_version


def sentence() -> str:
    """Return which version runs, and the command that updates it, if there is one."""
    this = f"This is dcc-bridge {own_version()}"
    folder = _folder()
    if folder and _is_clone(folder):
        command = shell.line(["git", "-C", folder, "pull"])
        return f"{this}, from a clone. If there is a newer one, begin with: {command}"
    if folder:
        return f"{this}, from the folder {folder}, which only you update."
    return f"{this}. If there is a newer one, begin with: {_command()}"


def _folder() -> str:
    """Return the folder from which the package runs or was installed; "" for another origin."""
    try:
        distribution = metadata.distribution(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return str(Path(__file__).absolute().parents[2])
    origin = json.loads(distribution.read_text("direct_url.json") or "{}")
    if "dir_info" not in origin:
        return ""
    return url2pathname(urlsplit(origin["url"]).path)


def _is_clone(folder: str) -> bool:
    """Return whether this package runs from a folder, and Git has its versions."""
    return Path(__file__).absolute().parents[2] == Path(folder) and Path(folder, ".git").exists()


def _command() -> str:
    """Return the command by which the tool that installed the package updates it."""
    again = ("dcc-bridge", "update")
    match runner_of(sys.prefix):
        case "uvx":  # an environment for one run, of which nothing has to be updated
            return shell.line(["uvx", "--refresh", "--from", DISTRIBUTION, *again])
        case "pipx":
            return shell.line(["pipx", "run", "--no-cache", "--spec", DISTRIBUTION, *again])
    if Path(sys.prefix, "pipx_metadata.json").is_file():
        return shell.line(["pipx", "upgrade", DISTRIBUTION])
    if Path(sys.prefix, "uv-receipt.toml").is_file():
        return shell.line(["uv", "tool", "upgrade", DISTRIBUTION])
    installer = metadata.distribution(DISTRIBUTION).read_text("INSTALLER") or ""
    if installer.strip() == "uv":
        python = ("--python", sys.executable)
        return shell.line(["uv", "pip", "install", *python, "--upgrade", DISTRIBUTION])
    return shell.line([sys.executable, "-m", "pip", "install", "--upgrade", DISTRIBUTION])
