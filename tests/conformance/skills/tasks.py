"""What the suite calls to see how a call becomes a task. Each is a parked call of the bridge."""

import asyncio
import time

from dcc_bridge import check_cancelled, elicit_form, elicit_form_sync, skill

_CONFIRM = {"type": "object", "properties": {"confirm": {"type": "boolean"}}}
_NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


@skill(risk="read")
def greet(name: str) -> str:
    """Greet at once."""
    return f"Hello, {name}!"


@skill(risk="read", thread="any")
def slow_compute(seconds: float = 1.0, label: str = "") -> str:
    """Take so long."""
    _work(seconds)
    return f"Computed {label} in {seconds:g} s"


@skill(risk="read", thread="any")
def failing_job() -> str:
    """Work for a second, and fail."""
    _work(1.0)
    raise ValueError("The job failed, as it always does.")


@skill(risk="read", thread="any")
def protocol_error_job() -> str:
    """The same: what a skill raises is a result that says so, and no error of the protocol."""
    _work(1.0)
    raise RuntimeError("The job broke.")


@skill(risk="read", task="ask")
def confirm_delete(filename: str) -> str:
    """Ask whether to delete a file, in a task."""
    agreed = (elicit_form_sync(f"Delete {filename}?", _CONFIRM).data or {}).get("confirm")
    return f"{filename} {'deleted' if agreed else 'kept'}"


@skill(risk="read", task="ask")
async def multi_input() -> str:
    """Ask two things at once, in a task."""
    asked = (elicit_form(f"The {it}?", _NAME, key=it) for it in ("first", "second"))
    answers = await asyncio.gather(*asked)
    return " and ".join(str((it.data or {}).get("name")) for it in answers)


@skill(risk="read", thread="any")
def test_tool_with_task() -> str:
    """Ask in the request, and go on for longer than one is kept open."""
    answer = elicit_form_sync("What is your name?", _NAME, key="user_name")
    _work(1.0)
    return f"Hello, {(answer.data or {}).get('name')}!"


def _work(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        check_cancelled()
        time.sleep(0.01)
