"""Tokens: guessed, and read by another user (row 3)."""

from __future__ import annotations

import os
import random
import string
import subprocess
from pathlib import Path

import pytest

from dcc_bridge.server import discovery
from tests.cli.commands import run
from tests.live import live
from tests.threats.raw import Raw
from tests.tiers import repeated

HEX = "0123456789abcdef"


@pytest.mark.parametrize("guesses", repeated(2_000, 100_000))
def test_no_wrong_token_is_let_in(guesses: int) -> None:
    """Random ones, and those that are a character away from a right one: no hit."""
    secret, chance = "ab" * 32, random.Random(3)
    right = discovery.issue_token(secret, "test")
    hits = 0
    for number in range(guesses):
        if number % 2:
            at = chance.randrange(len(right))
            other = chance.choice(string.printable)
            guess = right[:at] + other + right[at + 1 :]
        else:
            guess = "test." + "".join(chance.choices(HEX, k=64))
        hits += guess != right and discovery.token_label(secret, guess) is not None

    assert hits == 0
    assert discovery.token_label(secret, right) == "test"


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs a second user")
def test_what_is_secret_is_its_users_alone(tmp_path: Path) -> None:
    """Another user of this computer reads none of the files, and lists no folder."""
    with live(tmp_path / "run"):
        files = [path for path in tmp_path.rglob("*") if path.is_file()]
        secret = {file for file in files if file.suffix in (".json", ".lock")}
        folders = {file.parent for file in secret}
        opened = _as_somebody_else(secret | folders)

    assert len(secret) >= 2
    assert opened == []
    assert {oct(folder.stat().st_mode & 0o777) for folder in folders} == {"0o700"}


def _as_somebody_else(paths: set[Path]) -> list[str]:
    """Name the paths that another user can read; the folders above are open to everybody."""
    above = {parent for path in paths for parent in path.parents if parent not in paths}
    modes = {path: path.stat().st_mode for path in above}
    for path in above:
        path.chmod(modes[path] | 0o011)
    look = 'for one; do [ -r "$one" ] && echo "$one"; done; echo "$0"'
    done = subprocess.run(
        ["sh", "-c", look, "end", *map(str, paths)],
        user=65534,
        group=65534,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=True,
    )
    for path, mode in modes.items():
        path.chmod(mode)
    *opened, end = done.stdout.splitlines()
    assert end == "end"
    return opened


def test_the_command_prints_a_token_that_is_let_in(tmp_path: Path) -> None:
    with live(tmp_path) as running:
        printed = run(tmp_path, "token", "make", "test")
        raw = Raw(Raw.to(running).port, printed.out.strip())
        response = running.beside(lambda: raw.say("tools/list", {}))

    assert response.status == 200
    assert raw.token not in printed.err
