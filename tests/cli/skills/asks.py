"""Skills that ask in ways that the bundled ones do not."""

from typing import Any, Literal

from dcc_bridge import elicit_form_sync, elicit_url_sync, report_progress, skill
from dcc_bridge.elicitation.ask_secret import ask_secret_sync
from dcc_bridge.errors import TimedOut

CAMERA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 3},
        "lens": {"type": "integer", "minimum": 8, "maximum": 200, "default": 35},
        "shot": {"type": "string", "enum": ["wide", "close", "insert"]},
        "notes": {"type": "string"},
    },
    "required": ["name", "lens", "shot"],
}
SPOOF = "Fine?\x1b[2J\x1b[1;1H\x1b]0;owned\x07 \u202egnp.exe\rApproved\x9b31m"


@skill(risk="read")
def place_camera() -> dict[str, Any]:
    """Ask for a camera.

    And then give back what was said.
    """
    answer = elicit_form_sync("Where does it go?", CAMERA)
    return {"accepted": answer.accepted, "message": answer.message, "data": answer.data}


@skill(risk="read")
def spoof() -> dict[str, Any]:
    """Try to draw over the terminal."""
    answer = elicit_form_sync(
        SPOOF,
        {
            "type": "object",
            "properties": {
                "pick": {
                    "type": "string",
                    "title": f"Title {SPOOF}",
                    "description": SPOOF,
                    "oneOf": [{"const": "a", "title": SPOOF}],
                }
            },
        },
    )
    return {"said": SPOOF, "accepted": answer.accepted}


spoof.__doc__ = f"Draw {SPOOF}"


@skill(risk="read")
def spoof_with_words(fail: bool = False) -> str:
    """Give back, or fail with, what a terminal would act on."""
    if fail:
        raise ValueError(SPOOF)
    return SPOOF


@skill(risk="read")
def brief() -> str:
    """Ask for three seconds."""
    fields = {"ok": {"type": "boolean"}}
    answer = elicit_form_sync("Now?", {"properties": fields, "required": ["ok"]}, timeout=3.0)
    return f"{answer.action}: {answer.message}"


@skill(risk="read")
def visit() -> str:
    """Send the person to a page."""
    answer = elicit_url_sync("Sign in, please.", "https://example.org/sign-in?next=%2Fhome")
    return f"{answer.action} by {answer.answered_by}"


@skill(risk="read", ask_missing=True)
def turn(axis: Literal["up", "down"]) -> str:
    """Turn it."""
    return axis


@skill(risk="read")
def key() -> str:
    """Ask for a secret, for three seconds."""
    try:
        ask_secret_sync("It needs a key.", label="Key", timeout=3.0)
    except TimedOut:
        return "nobody entered it"
    return "entered"


@skill(risk="read")
def boom() -> None:
    """Fail."""
    raise KeyError("nothing there")


@skill(risk="destructive", tried=False)
def wipe() -> str:
    """Lose something; asks nothing by itself."""
    return "wiped"


@skill(risk="read")
def values() -> dict[str, Any]:
    """Give values of all kinds."""
    lists = [["a", True, None], "text\nin two\n", False]
    return {"ok": True, "none": None, "lists": lists, "nested": {"é": {"deep": None}}}


@skill(risk="read")
def yes() -> bool:
    """Give one value."""
    return True


@skill(risk="read")
def picture() -> list[Any]:
    """Give a picture, and say what it is."""
    return ["a dot", b"\x89PNG\r\n\x1a\n"]


@skill(risk="read")
def halfway() -> str:
    """Say how far it is."""
    report_progress(1, 2, "Halfway")
    return "there"


_NAMED: list[int] = []


@skill(risk="read", task="ask")
def name_it() -> str:
    """Ask for a name, in a task where the client can do that."""
    _NAMED.append(1)
    fields = {"properties": {"name": {"type": "string"}}, "required": ["name"]}
    answer = elicit_form_sync("What shall it be called?", fields)
    return f"{(answer.data or {}).get('name')}, after {len(_NAMED)} run"
