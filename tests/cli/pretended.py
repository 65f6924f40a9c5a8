"""A user's home with pretended applications in it. For systems on which a script is a program."""

from __future__ import annotations

import json
from pathlib import Path

from tests import homes
from tests.cli.commands import environment


def put(file: Path, text: str) -> Path:
    """Write a file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


_APPLICATION = """\
#!/bin/sh
config="$HOME/.config/blender/{minor}/config"
preferences="$config/userpref.blend"
case "$DCC_BRIDGE_ENABLE" in
yes)
    /bin/mkdir -p "$config"
    {dies}
    [ -n "{why}" ] || printf 'dcc_bridge_blender\\000' >> "$preferences"
    printf '{{"why": "{why}"}}' > "$DCC_BRIDGE_TELL" ;;
no)
    printf 'disabled' > "$preferences"
    printf '{{"why": ""}}' > "$DCC_BRIDGE_TELL" ;;
*)
    printf '%s' '{facts}' > "$DCC_BRIDGE_TELL" ;;
esac
"""


def application(
    program: Path,
    version: str,
    python: str = "3.11",
    why: str = "",
    machine: str = "x86_64",
    dies: str = ":",
) -> Path:
    """Write a batch interpreter that tells its version and its Python to whoever starts it.

    It enables a plug-in as Blender does, and says why it did not if a reason is given. `dies` is
    a command of the shell that it runs before.
    """
    told = {"version": version, "python": python, "shared": None, "machine": machine}
    facts = json.dumps(told)
    minor = ".".join(version.split(".")[:2])
    put(program, _APPLICATION.format(facts=facts, minor=minor, why=why, dies=dies)).chmod(0o755)
    return program


def variables(home: Path) -> dict[str, str]:
    """Return the environment of a user with that home folder, and ``bin`` beside it on PATH."""
    env = environment(home.parent / "runtime", PATH=str(home.parent / "bin"), **homes.home(home))
    return {name: value for name, value in env.items() if not name.startswith("XDG_")}
