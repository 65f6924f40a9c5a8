"""Long lists on a page, and the word that stands before what cannot be undone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from dcc_bridge.elicitation.question import Question, Reply
from dcc_bridge.server.pages import site
from tests.server.asked import CALL, LONG, Asked, Seen, ask_name, asked, consent, form

SHOTS = [f"shot_{number:03}" for number in range(200)]
TAGS = {"type": "array", "title": "Tags", "items": {"enum": SHOTS}, "default": ["shot_007"]}


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    with asked(tmp_path_factory.mktemp("runtime")) as running:
        yield running


@pytest.fixture(autouse=True)
def _armed(monkeypatch: pytest.MonkeyPatch, stage: Asked) -> Iterator[None]:
    """Let a test be quicker than a person."""
    monkeypatch.setattr(site, "ARM_DELAY", 0.0)
    yield
    stage.close_browsers()


class Visit:
    """A question's page in a browser, as far as HTTP goes."""

    def __init__(self, stage: Asked, question: Question) -> None:
        self.url, self.browser = stage.ask(question), stage.browser()
        self.seen = Seen(self.browser.get(self.url).text)

    def send(self, **data: Any) -> int:
        """Send the form; the page that comes is seen."""
        names = {name.replace("_", "-"): value for name, value in data.items()}
        response = self.browser.post(self.url, data=names)
        self.seen = Seen(response.text)
        return response.status_code

    def inputs(self, **wanted: str) -> list[str]:
        """Give the values of the inputs that have those attributes."""
        found = [a for a in self.seen.all("input") if all(a.get(k) == v for k, v in wanted.items())]
        return [one.get("value", "") for one in found]


def tags(**more: Any) -> Question:
    """Make a question with a long list to tick, and a text."""
    both = form(["name"], name={"type": "string"}, tags=TAGS)
    return ask_name(form=both, **more)


def test_a_list_of_thirteen_has_a_filter_and_one_of_twelve_has_none(stage: Asked) -> None:
    counts = {}
    for count in (12, 13):
        few = {"type": "array", "items": {"enum": SHOTS[:count]}}
        visit = Visit(stage, ask_name(form=form(it=few)))
        counts[count] = len(visit.inputs(type="search"))

    assert counts == {12: 0, 13: 1}


def test_a_filter_shows_what_fits_and_keeps_what_is_ticked(stage: Asked) -> None:
    visit = Visit(stage, tags())

    ticked = {"field0": "abc", "field1": ["7", "42"]}
    code = visit.send(exit="filter field1", field1_filter="T_19", field1_filtered="", **ticked)

    assert (code, stage.heard) == (200, [])
    assert visit.inputs(type="checkbox") == [str(n) for n in range(190, 200)]
    assert sorted(visit.inputs(type="hidden", name="field1")) == ["42", "7"]
    assert "10 of 200; 2 ticked ones are not shown" in visit.seen.text
    assert visit.inputs(name="field0") == ["abc"]
    assert visit.seen.one(id="field1-filter")["value"] == "T_19"
    assert "autofocus" in visit.seen.one(id="field1-filter")


def test_what_is_ticked_and_not_shown_is_sent_all_the_same(stage: Asked) -> None:
    visit = Visit(stage, tags())

    visit.send(exit="accept", field0="abc", field1=["190", "7"], field1_filter="_19")

    wanted = {"name": "abc", "tags": ["shot_007", "shot_190"]}
    assert stage.heard == [Reply("accept", wanted)]


def test_enter_means_the_filter_while_that_is_new_and_sends_afterwards(stage: Asked) -> None:
    visit = Visit(stage, tags())
    new = {"field1_filter": "_19", "field1_filtered": ""}
    used = {"field1_filter": "_19", "field1_filtered": "_19"}

    codes = [visit.send(exit="enter", field0="abc", field1="7", **how) for how in (new, used)]

    assert codes == [200, 200]
    assert stage.heard == [Reply("accept", {"name": "abc", "tags": ["shot_007"]})]


def test_a_filter_agrees_to_nothing(stage: Asked) -> None:
    both = form(["sure"], sure={"type": "boolean"}, tags=TAGS)
    visit = Visit(stage, consent(form=both, title="Delete"))

    visit.send(exit="filter field1", field0="yes", field1_filter="x", field1_filtered="")

    assert stage.heard == []
    assert visit.seen.all("button")[0].keys() == {"type", "disabled", "hidden"}  # for Enter


@pytest.mark.parametrize("key", ["", "field0", "field9", "nonsense"])
def test_a_filter_of_no_list_draws_the_page_as_it_was(stage: Asked, key: str) -> None:
    visit = Visit(stage, tags())

    code = visit.send(exit=f"filter {key}", field0="abc", field1="7")

    assert (code, stage.heard) == (200, [])
    assert len(visit.inputs(type="checkbox")) == 200


def test_one_of_many_is_chosen_by_a_part_of_its_name(stage: Asked) -> None:
    one = {"type": "string", "title": "Shot", "enum": SHOTS, "default": "shot_007"}
    visit = Visit(stage, ask_name(form=form(["it"], it=one)))

    listed = [option["value"] for option in visit.seen.all("option")]
    assert listed == SHOTS
    assert visit.seen.one(id="field0")["list"] == "field0-choices"
    assert visit.inputs(name="field0") == ["shot_007"]
    visit.send(exit="accept", field0="shot_0")
    assert "Expected one of shot_000" in visit.seen.text
    visit.send(exit="accept", field0="shot_042")
    assert stage.heard == [Reply("accept", {"it": "shot_042"})]


def test_choices_that_look_the_same_can_be_told_apart(stage: Asked) -> None:
    same = [{"const": f"v{n}", "title": "x" * 400} for n in range(13)]
    long = [{"const": "y" * 400 + str(n), "title": "z" * 400} for n in range(2)]
    field = {"type": "string", "oneOf": [*same, *long]}
    visit = Visit(stage, ask_name(form=form(["it"], it=field)))
    listed = [option["value"] for option in visit.seen.all("option")]

    visit.send(exit="accept", field0=listed[14])

    assert len(set(listed)) == 15
    assert stage.heard == [Reply("accept", {"it": "y" * 400 + "1"})]


# ---- what cannot be undone

FOREVER: dict[str, Any] = {"undoable": False, "items": ("/World/cam7",), "kinds": ("Camera",)}


@pytest.mark.parametrize("typed", ["", "cam", "CAM7", "yes", "cam77"])
def test_what_cannot_be_undone_needs_the_name_typed(stage: Asked, typed: str) -> None:
    visit = Visit(stage, consent(**FOREVER))

    code = visit.send(exit="accept", word=typed)

    assert (code, stage.heard) == (422, [])
    assert "Please type cam7 here first: this cannot be undone." in visit.seen.text
    assert visit.seen.one(id="word")["value"] == typed
    assert "autofocus" in visit.seen.one(id="word")


@pytest.mark.parametrize(
    ("items", "word"),
    [(("|group|cam7",), "cam7"), (("a", "b", "c"), "3"), ((), "Delete 127 cameras")],
)
def test_the_name_the_number_or_the_verb_agrees(
    stage: Asked, items: tuple[str, ...], word: str
) -> None:
    visit = Visit(stage, consent(undoable=False, items=items))

    assert f"Type {word} to go on" in visit.seen.text
    visit.send(exit="accept", word=f" {word} ")

    assert stage.heard == [Reply("accept", {"confirm": True})]


def test_a_name_that_hides_something_is_typed_as_it_is_shown(stage: Asked) -> None:
    visit = Visit(stage, consent(undoable=False, items=("cam\u202e7",)))

    visit.send(exit="accept", word="cam\u2039U+202E\u203a7")

    assert stage.heard == [Reply("accept", {"confirm": True})]


@pytest.mark.parametrize("exit", ["decline", "cancel"])
def test_nothing_is_typed_to_say_no(stage: Asked, exit: Any) -> None:
    visit = Visit(stage, consent(**FOREVER))

    visit.send(exit=exit)

    assert stage.heard == [Reply(exit)]


def test_what_can_be_undone_needs_no_word(stage: Asked) -> None:
    visit = Visit(stage, consent(items=("/World/cam7",)))

    assert visit.inputs(name="word") == []
    visit.send(exit="accept")
    assert stage.heard == [Reply("accept", {"confirm": True})]


def test_the_fields_and_the_word_are_asked_for_together(stage: Asked) -> None:
    why = form(["why", "sure"], why={"type": "string"}, sure={"type": "boolean"})
    visit = Visit(
        stage, Question("Purge?", CALL, why, "Purge", consent=True, offers=LONG, **FOREVER)
    )

    visit.send(exit="accept")
    told = visit.seen.text
    visit.send(exit="accept", field0="old", field1="yes", word="cam7")

    assert "Please fill this in." in told
    assert "Please type cam7 here first" in told
    assert stage.heard == [Reply("accept", {"why": "old", "sure": True})]
