"""Progress never goes back on the wire."""

from __future__ import annotations

from random import Random

from dcc_bridge.server.client_channel import ProgressMeter


def test_a_skills_own_values_are_told_as_they_are() -> None:
    meter = ProgressMeter()

    assert [meter.report(done, 3) for done in range(4)] == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_a_second_count_goes_on_above_the_first() -> None:
    meter = ProgressMeter()
    meter.report(5, 5)

    assert meter.report(0, 10)[1] == 15
    assert meter.report(4, 10) == (9, 15)


def test_notices_before_the_first_value_stay_below_one() -> None:
    meter = ProgressMeter()

    beats = [meter.beat()[0] for _ in range(1000)]

    assert beats == sorted(set(beats))
    assert beats[-1] < 1


def test_any_mixture_of_values_and_notices_rises() -> None:
    random, meter = Random(3), ProgressMeter()

    told = [
        meter.report(random.choice([0, 0.5, 1, 1, 7]), random.choice([None, 7]))[0]
        if random.random() < 0.7
        else meter.beat()[0]
        for _ in range(2000)
    ]

    assert told == sorted(set(told))
