"""The file with which a skill begins. It runs as it is, without any application. Main thread."""

from __future__ import annotations

import keyword
from pathlib import Path
from typing import Final

from dcc_bridge.cli.exits import Failure

RISKS: Final = ("read", "edit", "destructive")
_MOST: Final = 60
_DEVICES: Final = {
    "con",
    "prn",
    "aux",
    "nul",
    *(f"{d}{n}" for d in ("com", "lpt") for n in range(10)),
}
"""Names that are no files on Windows, whatever comes after their dot."""

_HEAD: Final = '''\
"""{title}."""

from __future__ import annotations

from fnmatch import fnmatch

from dcc_bridge import {imports}

# Your application's API goes here, `from maya import cmds`: the file is imported on its main
# thread, when the skill is first called. Until then this list stands for the scene.
SCENE = ["camera_1", "camera_2", "light_1"]

'''
_FIND: Final = '''

def find(pattern: str) -> list[str]:
    """Give the names that match."""
    return [name for name in SCENE if fnmatch(name, pattern)]
'''
_BODIES: Final = {
    "read": '''
@skill(risk="read")
def {name}(pattern: str = "*") -> list[str]:
    """Say in a sentence what an agent gets, and when to call it.

    Args:
        pattern: A glob on the name.
    """
    return find(pattern)
''',
    "edit": '''
@skill(risk="edit", undo="{title}")
def {name}(pattern: str, prefix: str) -> dict[str, str]:
    """Say in a sentence what is changed. The person can undo it as one step.

    Args:
        pattern: A glob on the name.
        prefix: What is put before each name.

    Returns:
        The old names and the new ones.
    """
    renamed = {{name: prefix + name for name in find(pattern)}}
    SCENE[:] = [renamed.get(name, name) for name in SCENE]
    return renamed
''',
    "destructive": '''
@skill(risk="destructive", confirms=True, undo="{title}")
def {name}(pattern: str) -> dict[str, list[str]]:
    """Say in a sentence what is lost. The person is asked first.

    Args:
        pattern: A glob on the name.
    """
    # Nothing is changed before this line. It asks, and waits; a no ends the skill here. The
    # function is called again after the answer: if the scene has changed, it is asked again.
    agreed = confirm_sync("Delete these?", items=lambda: find(pattern), verb="Delete")
    for name in agreed:
        SCENE.remove(name)
    return {{"deleted": list(agreed)}}
''',
}


def write(name: str, folder: Path, risk: str) -> Path:
    """Write the file, in a folder that is made if need be.

    Args:
        name: What an agent calls the skill: a name of Python's in plain letters.
        folder: Where to.
        risk: One of `RISKS`.

    Raises:
        Failure: The name is none, the file is there already, or it cannot be written.
    """
    fits = name.isascii() and name.isidentifier() and not keyword.iskeyword(name)
    if not fits or name.lower() in _DEVICES or name.startswith("_") or len(name) > _MOST:
        raise Failure(
            f"{name!r} is no name for a skill: letters, digits and underscores, with a letter "
            "first, such as list_cameras."
        )
    file = folder / f"{name}.py"
    title = name.replace("_", " ").capitalize()
    imports = "confirm_sync, skill" if risk == "destructive" else "skill"
    text = (_HEAD + _BODIES[risk]).format(name=name, title=title, imports=imports) + _FIND
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        raise Failure(f"{file} is there already, and is not written over.") from None
    except OSError as error:
        raise Failure(f"{file} cannot be written: {error}.") from None
    return file
