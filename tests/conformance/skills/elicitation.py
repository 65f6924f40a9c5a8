"""Questions that the suite puts on the legacy era: one plain, one of defaults, one of choices."""

from dcc_bridge import elicit_form_sync, skill

PAIRS = [
    {"const": "value1", "title": "First"},
    {"const": "value2", "title": "Second"},
    {"const": "value3", "title": "Third"},
]


@skill(risk="read")
def test_elicitation(message: str) -> str:
    """Ask for a name and an address.

    Args:
        message: What is asked.
    """
    return _told(
        message,
        {
            "username": {"type": "string", "description": "The name"},
            "email": {"type": "string", "format": "email"},
        },
        required=("username", "email"),
    )


@skill(risk="read")
def test_elicitation_sep1034_defaults() -> str:
    """Ask with a default of each kind."""
    return _told(
        "Please look over the defaults",
        {
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {
                "type": "string",
                "enum": ["active", "inactive", "pending"],
                "default": "active",
            },
            "verified": {"type": "boolean", "default": True},
        },
    )


@skill(risk="read")
def test_elicitation_sep1330_enums() -> str:
    """Ask with a choice of each kind."""
    return _told(
        "Please choose",
        {
            "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
            "titledSingle": {"type": "string", "oneOf": PAIRS},
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": {
                "type": "array",
                "items": {"type": "string", "enum": ["option1", "option2", "option3"]},
            },
            "titledMulti": {"type": "array", "items": {"anyOf": PAIRS}},
        },
    )


def _told(message: str, properties: dict, required: tuple[str, ...] = ()) -> str:
    schema = {"type": "object", "properties": properties, "required": [*required]}
    answer = elicit_form_sync(message, schema)
    if not answer.accepted:
        raise RuntimeError(f"There was no answer: {answer.message}")
    return f"Answered: {answer.data}"
