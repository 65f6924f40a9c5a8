"""freecadcmd with our plug-in: agents work in it where nobody sits, and it ends well."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.hosts import freecad
from tests.hosts.application import Application, started
from tests.live import ERAS, accept, say, status, text

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(120),
    pytest.mark.skipif(freecad.CONSOLE is None, reason="FreeCAD is not installed"),
]
BOXES = {f"Box{number}" for number in range(10)}


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    """It serves a document of ten boxes and a cylinder; its exit code has to be 0."""
    home = tmp_path_factory.mktemp("freecadcmd")
    script = freecad.script("from tests.hosts.freecad_start import run; run()", home)
    assert freecad.CONSOLE is not None
    with started([freecad.CONSOLE, script], home) as application:
        yield application
        application.order("close")
        assert application.end() == 0, application.output


def names(console: Application) -> set[str]:
    return {one["name"] for one in json.loads(text(console.call("list_objects", {})))["objects"]}


@pytest.mark.parametrize("era", ERAS)
def test_the_client_agrees_and_freecads_undo_brings_back(console: Application, era: str) -> None:
    """Nobody sits there, so the client's person is asked."""
    boxes = {"pattern": "Box*"}
    result = console.call("delete_objects", boxes, era=era, asked=accept(confirm=True))
    after = names(console)
    console.order("undo")
    console.obeyed()

    assert (status(result), after) == ("done", {"Cylinder"})
    assert names(console) == {"Cylinder"} | BOXES


def test_what_is_refused_or_fails_leaves_nothing(console: Application) -> None:
    """A decline, nobody to ask, and an error in mid-edit."""
    wrong = {"name": "Box0", "property_name": "Placement.Base.q", "value": 3}

    declined = console.call("delete_objects", {"pattern": "Box*"}, asked=say("decline"))
    unasked = console.call("delete_objects", {"pattern": "Box*"})
    failed = console.call("set_property", wrong)

    assert [status(one) for one in (declined, unasked, failed)] == ["refused", "refused", "failed"]
    assert "cannot be 3" in text(failed)
    assert names(console) == {"Cylinder"} | BOXES


def test_it_can_be_stopped_and_started_twenty_times(console: Application) -> None:
    """And works after that."""
    for _ in range(20):
        console.order("reload")
        console.obeyed()

    done = console.call("rename_object", {"name": "Box0", "new_label": "First"})

    assert status(done) == "done"
