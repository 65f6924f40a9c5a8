"""Which host a client works in is never a guess."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from dcc_bridge.client.proxy.host_choice import HostChoice, Wanted
from dcc_bridge.server.discovery import Instance

MAYA = Instance(
    "u1",
    "Maya",
    "2026",
    "shot_010.ma",
    id="maya-1111",
    state="ready",
    started=100.0,
    file="/a/shot_010.ma",
)
LATER = replace(MAYA, id="maya-4444", started=200.0, pid=MAYA.pid + 1)
BLENDER = Instance("u2", "Blender", "4.5", "shot_010.blend", id="blender-2222", state="ready")
OTHER = Instance("u3", "Maya", "2026", "props.ma", id="maya-3333", state="ready")


def test_the_only_one_is_taken() -> None:
    assert HostChoice(Wanted()).look([MAYA]) == MAYA


def test_among_several_none_is_taken_and_it_is_said_which_there_are() -> None:
    choice = HostChoice(Wanted())

    assert choice.look([MAYA, BLENDER]) is None
    assert "maya-1111 (Maya, shot_010.ma); blender-2222" in choice.why_none()
    assert "use_host" in choice.why_none()


@pytest.mark.parametrize(
    "wanted",
    [Wanted(host="maya", scene="SHOT_*"), Wanted(instance="maya-1111"), Wanted(scene="*.ma")],
)
def test_the_only_one_that_fits_is_taken(wanted: Wanted) -> None:
    found = [MAYA, BLENDER] if wanted.host is None else [MAYA, BLENDER, OTHER]

    assert HostChoice(wanted).look(found) == MAYA


def test_none_is_taken_before_it_is_ready() -> None:
    starting = replace(MAYA, state="starting")

    assert HostChoice(Wanted()).look([starting]) is None


def test_it_stays_with_its_host_when_another_one_comes_and_when_the_scene_changes() -> None:
    choice = HostChoice(Wanted(scene="shot_*"))
    choice.look([MAYA])
    renamed = replace(MAYA, scene="new.ma")

    assert choice.look([BLENDER, renamed]) == renamed


def test_a_restarted_host_is_followed_once_the_same_file_is_open_and_not_before() -> None:
    choice = HostChoice(Wanted())
    choice.look([MAYA])
    again = replace(LATER, scene="untitled", file=None)

    assert choice.look([]) is None
    assert choice.look([again, BLENDER]) is None
    assert (
        "maya-1111 (Maya, shot_010.ma), in which you worked, is no longer running"
        in choice.why_none()
    )
    assert choice.look([LATER, BLENDER]) == LATER


@pytest.mark.parametrize(
    "other",
    [
        replace(LATER, file="/b/shot_010.ma"),
        replace(LATER, file=None),
        replace(LATER, started=50.0),
        replace(LATER, host="Mayo"),
    ],
    ids=["same name in another folder", "no file", "started before", "another application"],
)
def test_a_host_that_is_gone_is_not_followed_into_another_scene(other: Instance) -> None:
    choice = HostChoice(Wanted())
    choice.look([MAYA])

    assert choice.look([other]) is None


def test_a_host_without_a_file_is_not_followed_by_another_one_without() -> None:
    choice = HostChoice(Wanted())
    choice.look([replace(MAYA, scene="untitled", file=None)])

    assert choice.look([replace(LATER, scene="untitled", file=None)]) is None


def test_a_host_that_ran_beside_the_one_that_is_gone_is_not_its_restart() -> None:
    """It has the same file open, and may hold other changes that were not saved."""
    choice = HostChoice(Wanted(instance="maya-1111"))
    choice.look([MAYA, LATER])

    assert choice.look([LATER]) is None


def test_of_two_restarts_with_the_same_file_none_is_taken() -> None:
    choice = HostChoice(Wanted())
    choice.look([MAYA])

    assert choice.look([LATER, replace(LATER, id="maya-5555")]) is None


def test_an_agent_is_told_once_that_its_host_is_another_process_now() -> None:
    choice = HostChoice(Wanted())
    choice.look([MAYA])
    choice.look([LATER])

    assert choice.take_restart_notice(MAYA) is None
    assert "maya-1111 (Maya, shot_010.ma) ended" in str(choice.take_restart_notice(LATER))
    assert choice.take_restart_notice(LATER) is None


def test_an_agent_is_told_nothing_where_only_the_bridge_of_its_host_began_anew() -> None:
    choice = HostChoice(Wanted())
    choice.look([MAYA])
    again = replace(LATER, pid=MAYA.pid)

    assert choice.look([again]) == again
    assert choice.take_restart_notice(again) is None


def test_a_host_that_was_chosen_is_used_although_it_does_not_fit() -> None:
    choice = HostChoice(Wanted(host="maya"))
    choice.look([MAYA, BLENDER])

    choice.use("blender-2222")

    assert choice.look([MAYA, BLENDER]) == BLENDER


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("maya", "2 running hosts are called 'maya'"),
        ("houdini", "No running host is called 'houdini'"),
        ("", "No running host is called ''"),
        ("slow-5555", "still starting"),
        ("ill-6666", r"ill-6666 cannot be used. The port is taken. Restart it. Tell the person"),
    ],
)
def test_what_cannot_be_used_is_said_with_what_there_is(name: str, why: str) -> None:
    choice = HostChoice(Wanted())
    now = time.time()
    starting = replace(MAYA, host="Slow", id="slow-5555", state="starting", started=now)
    failed = replace(starting, host="Ill", id="ill-6666", state="failed")
    failed = replace(failed, why="The port is taken.", mend="Restart it.")
    choice.look([MAYA, OTHER, starting, failed])

    with pytest.raises(LookupError, match=why):
        choice.use(name)
