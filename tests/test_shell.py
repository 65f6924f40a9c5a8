"""A command line that is printed means the same words in the shell into which it is copied."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from dcc_bridge import shell

BOTH = [
    r"C:\Program Files\Blender Foundation\Blender 5.3\blender.exe",
    r"C:\Users\Ann O'Neil & Co (2)\plans\cams-1",
    "C:\\ends with one\\",
    "mcp>=2.3,<3",
    "dcc-bridge-mcp[demo]",
    "a;b|c^d @e #f {g}",
    "--python=3.11",
    "-x:y.z",
    "100% sure",
    "",
]
"""Words that PowerShell and cmd both take."""
POWERSHELL = [r"\\server\show$\new scenes", "the `only` one", "\u201cAnn\u2019s\u201d $HOME\\"]

_SINGLE = "'\u2018-\u201b"
_DOUBLE = '"\u201c-\u201e'
_WORD = re.compile(
    rf"[{_SINGLE}]((?:[^{_SINGLE}]|[{_SINGLE}]{{2}})*)[{_SINGLE}]"
    rf"|[{_DOUBLE}]([^{_DOUBLE}$`]*)[{_DOUBLE}]"
    rf"|([^\s{_SINGLE}{_DOUBLE}$`;&|<>(){{}},@#]+)"
)


def powershell(line: str) -> list[str]:
    """Return the words that a program receives, by PowerShell's ``about_Quoting_Rules``.

    Windows PowerShell puts a word with a space in quotation marks again when it starts the program,
    for which a backslash before the last mark then counts half.
    """
    words = []
    while line:
        found = _WORD.match(line)
        assert found, line
        single, double, bare = found.groups()
        if bare is not None:
            assert not re.fullmatch("-.*[.:].*", bare)
            words.append(bare)
        else:
            quoted = double
            if single is not None:
                quoted = re.sub(rf"([{_SINGLE}])[{_SINGLE}]", r"\1", single)
            words.append(re.sub(r"(\\+)\1$", r"\1", quoted))
        rest = line[found.end() :]
        assert rest[:1] in ("", " ")
        line = rest.lstrip()
    return words


@pytest.mark.parametrize("word", BOTH + POWERSHELL)
def test_powershell_takes_every_word_as_it_is(word: str) -> None:
    line = shell.powershell_line(["dcc-bridge", "install", word, "--dry-run"])

    assert powershell(line) == ["dcc-bridge", "install", word, "--dry-run"]


def test_what_needs_no_quotation_marks_has_none() -> None:
    words = ["dcc-bridge", "install", "maya", "--interpreter", r"C:\Maya2026\bin\mayapy.exe"]

    assert shell.powershell_line(words) == " ".join(words)


def test_powershell_starts_a_program_whose_path_has_a_space() -> None:
    assert shell.powershell_line([BOTH[0], "--version"]) == rf'& "{BOTH[0]}" --version'


@pytest.mark.parametrize("word", BOTH)
def test_the_shell_of_this_system_passes_on_every_word(word: str) -> None:
    """On Windows the shell of `subprocess` is cmd."""
    code = "import json, sys; print(json.dumps(sys.argv[1:]))"
    arguments = f"{shell.argument(code)} {shell.argument(word)}"

    done = subprocess.run(
        f"{sys.executable} -c {arguments}", shell=True, capture_output=True, text=True, check=True
    )

    assert json.loads(done.stdout) == [word]
