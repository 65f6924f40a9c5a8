"""Questions that the suite puts on the modern era. Each is a parked call of the bridge.

The suite does not look at what a result says, but our test does at whether it is an error: a skill
that did not get its answer fails.
"""

from dcc_bridge import elicit_form_sync, skill


@skill(risk="read")
def test_input_required_result_elicitation() -> str:
    """Ask for a name, and greet."""
    return f"Hello, {_ask('What is your name?', 'user_name', name='string')}!"


@skill(risk="destructive", confirms=True)
def test_input_required_result_request_state() -> str:
    """Ask for consent, as a skill that loses something does."""
    assert _ask("Please confirm", "confirm", ok="boolean") is True
    return "state-ok"


@skill(risk="edit")
def test_input_required_result_multi_round() -> str:
    """Ask twice in one body."""
    name = _ask("Step 1: What is your name?", "step1", name="string")
    color = _ask("Step 2: What is your favorite color?", "step2", color="string")
    return f"{name} likes {color}"


@skill(risk="read")
def test_input_required_result_tampered_state() -> str:
    """Ask, so that the suite can come back with a state of its own making."""
    return f"Agreed: {_ask('Please confirm', 'confirm', ok='boolean')}"


def _ask(message: str, key: str, **field: str) -> object:
    ((name, kind),) = field.items()
    schema = {"type": "object", "properties": {name: {"type": kind}}, "required": [name]}
    answer = elicit_form_sync(message, schema, key=key)
    if not answer.accepted:
        raise RuntimeError(f"There was no answer: {answer.message}")
    return answer.data[name]
