"""Tokens: guessed, stolen, revoked, and files that somebody else put in their way (rows 3, 4, 5).

3   `test_a_hundred_thousand_wrong_tokens`, `test_what_is_secret_is_its_users_alone`
"""

from __future__ import annotations

import os
import random
import string
import subprocess
from pathlib import Path

import pytest

from dcc_bridge.server import tokens
from dcc_bridge.server.access import Access
from dcc_bridge.server.instances import Instance
from tests.cli.commands import run
from tests.live import live
from tests.threats.raw import META, Raw, in_thread

GUESSES = 100_000
HEX = "0123456789abcdef"


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let each test have its own folder of what the user decided."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def test_a_hundred_thousand_wrong_tokens() -> None:
    """Random ones, and those that are a character away from a right one: no hit."""
    secret, chance = "ab" * 32, random.Random(3)
    right = tokens.issue(secret, "test")
    hits = 0
    for number in range(GUESSES):
        if number % 2:
            at = chance.randrange(len(right))
            other = chance.choice(string.printable)
            guess = right[:at] + other + right[at + 1 :]
        else:
            guess = "test." + "".join(chance.choices(HEX, k=64))
        hits += guess != right and tokens.label_of(secret, guess) is not None

    assert hits == 0
    assert tokens.label_of(secret, right) == "test"


def test_two_thousand_wrong_tokens_at_the_door(tmp_path: Path) -> None:
    """Each is refused, over one connection or many."""
    with live(tmp_path) as running:
        raw = Raw.to(running)

        def attack() -> set[int]:
            seen = set()
            for number in range(2000):
                token = f"test.{number:064x}"
                seen.add(raw.send(b"{}", Authorization=f"Bearer {token}").status)
            return seen

        assert running.run(in_thread(attack), limit=50) == {401}


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs a second user")
def test_what_is_secret_is_its_users_alone(tmp_path: Path, own_state: Path) -> None:
    """Another user of this computer reads none of the files, and lists no folder."""
    Access().revoke("cursor")
    with live(tmp_path / "run") as running:
        running.run(in_thread(lambda: Raw.to(running).say("tools/list", {"_meta": META})))
        files = [one for one in tmp_path.rglob("*") if one.is_file()]
        secret = {one for one in files if "state" in one.parts or one.suffix in (".json", ".lock")}
        folders = {one.parent for one in secret}
        opened = _as_somebody_else(secret | folders)

    assert len(secret) >= 3
    assert opened == []
    assert {oct(one.stat().st_mode & 0o777) for one in folders} == {"0o700"}


def _as_somebody_else(paths: set[Path]) -> list[str]:
    """Name the paths that another user can read; the folders above are open to everybody."""
    above = {path for one in paths for path in one.parents if path not in paths}
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


def test_a_revoked_token_is_refused_at_once(tmp_path: Path) -> None:
    """The old one for ever; one that is made anew only once the person lets the client in again."""
    with live(tmp_path) as running:
        old, other = Raw.to(running), Raw.to(running, "other")

        def talk(raw: Raw) -> int:
            return raw.say("tools/list", {"_meta": META}).status

        def story() -> list[int]:
            seen = [talk(old)]
            Access().revoke("test")
            seen += [talk(old), talk(Raw.to(running)), talk(other)]
            Access().admit("test")
            seen += [talk(old), talk(Raw.to(running))]
            return seen

        assert running.run(in_thread(story)) == [200, 401, 401, 200, 401, 200]


def test_what_a_revoked_client_has_open_ends(tmp_path: Path) -> None:
    params = {"_meta": META, "notifications": {"toolsListChanged": True}}
    with live(tmp_path) as running:
        listening = running.go(
            in_thread(lambda: Raw.to(running).say("subscriptions/listen", params))
        )
        running.until(lambda: [one.label for one in Access().labels()] == ["test"])
        Access().revoke("test")
        running.until(listening.done, 5)

    assert listening.result().status == 200


def test_revoking_holds_for_a_host_that_starts_later() -> None:
    Access().revoke("cursor")

    host = Instance("http://127.0.0.1:1/mcp", "x", "1", "s")

    assert Access().standing("cursor").revoked
    assert tokens.label_of(host.secret, host.token("cursor")) is None  # made for the next turn


@pytest.mark.parametrize("text", ["", "{", "[]", '{"label": "other", "turn": 0, "revoked": false}'])
def test_what_cannot_be_read_is_taken_for_revoked(text: str, own_state: Path) -> None:
    Access().revoke("cursor")
    (file,) = own_state.rglob("*.json")
    file.write_text(text)

    assert Access().standing("cursor").revoked


def test_the_command_lists_revokes_and_makes(tmp_path: Path) -> None:
    state = str(tmp_path / "state")
    with live(tmp_path / "run") as running:
        runtime = tmp_path / "run"
        running.run(in_thread(lambda: Raw.to(running).say("tools/list", {"_meta": META})))
        before = run(runtime, "token", "list", XDG_STATE_HOME=state)
        revoked = run(runtime, "token", "revoke", "test", XDG_STATE_HOME=state)
        after = run(runtime, "token", "list", "--json", XDG_STATE_HOME=state)
        made = run(runtime, "token", "make", "test", XDG_STATE_HOME=state)
        token = made.out.strip()
        raw = Raw(Raw.to(running).port, token)
        said = running.run(in_thread(lambda: raw.say("tools/list", {"_meta": META})))

    assert before.out.split()[:3] == ["test", "let", "in"]
    assert "test is not let in any more" in revoked.out
    assert '"revoked": true' in after.out
    assert said.status == 200
    assert made.err.count(token) == 0
