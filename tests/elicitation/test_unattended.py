"""What a studio lists goes on unasked where nobody can be asked, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcc_bridge.config import Settings
from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation import unattended
from dcc_bridge.elicitation.ask import yes_or_no
from dcc_bridge.elicitation.broker import Broker
from dcc_bridge.elicitation.caller import Client
from dcc_bridge.elicitation.question import Consent, Question
from dcc_bridge.elicitation.types import ElicitationResponse

TEXT = """\
# for the farm

wipe_cache
tidy  sha256:00ff00ff  # looked at in March
"""


def answer(file: Path, skill: str, digest: str = "") -> ElicitationResponse:
    """Ask for consent where there is nobody."""
    settings = Settings(unattended="allow", allow_list=file)
    call = Call(skill, skill, "destructive", Client("farm"))
    call.digest = digest
    question = Question("Go on?", call, yes_or_no("Go on"), consent=Consent())
    return Broker(settings).ask(question).result(0)


@pytest.mark.parametrize(
    ("skill", "digest", "is_agreed"),
    [
        ("wipe_cache", "any", True),
        ("tidy", "00ff00ff11", True),
        ("tidy", "11ff00ff11", False),
        ("tidy", "", False),
        ("wipe", "any", False),
    ],
)
def test_a_skill_is_allowed_by_its_name_and_its_digest(
    skill: str, digest: str, is_agreed: bool, tmp_path: Path
) -> None:
    """A name that only begins like one of the list is another skill's."""
    (tmp_path / "list").write_text(TEXT)

    given = answer(tmp_path / "list", skill, digest)

    assert (given.accepted, given.answered_by) == (is_agreed, "policy" if is_agreed else "nobody")


@pytest.mark.parametrize("line", ["wipe cache now", "wipe 00zz", "wipe 00f", "wïpe"])
def test_a_line_that_cannot_be_read_is_named_and_nothing_runs(line: str, tmp_path: Path) -> None:
    """Half a list is none: the bridge does not start with it."""
    (tmp_path / "list").write_text(f"tidy\n{line}\n", encoding="utf-8")

    with pytest.raises(ValueError, match="list, line 2: a skill's name"):
        Broker(Settings(unattended="allow", allow_list=tmp_path / "list"))


def test_a_list_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nowhere cannot be read"):
        unattended.read_allow_list(tmp_path / "nowhere")


def test_a_skill_of_the_list_does_not_take_another_one_along(tmp_path: Path) -> None:
    """What it calls and loses something is on the list itself, or is refused."""
    (tmp_path / "list").write_text("wipe_cache\n")
    settings = Settings(unattended="allow", allow_list=tmp_path / "list")
    call = Call("wipe_cache", "Wipe cache", "edit", Client("farm"))
    inner = Consent(skill="delete_all")
    question = Question("Delete all?", call, yes_or_no("Delete"), consent=inner)

    given = Broker(settings).ask(question).result(0)

    assert (given.accepted, given.answered_by) == (False, "nobody")
