"""What the suite wants of tools that ask nothing."""

import base64
import time

from dcc_bridge import report_progress, skill

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
"""One pixel."""
_PAUSE = 0.15  # seconds; of what comes faster than ten a second the newest is sent


@skill(risk="read")
def test_simple_text() -> str:
    """Return a text."""
    return "This is a simple text response for testing."


@skill(risk="read")
def test_error_handling() -> str:
    """Fail, with a sentence that says so."""
    raise ValueError("This tool fails on purpose.")


@skill(risk="read")
def test_image_content() -> bytes:
    """Return an image."""
    return PNG


@skill(risk="read")
def test_multiple_content_types() -> list[str | bytes]:
    """Return a text, an image, and bytes that are no image."""
    return ["Multiple content types test:", PNG, b'{"test": "data", "value": 123}']


@skill(risk="read")
def test_tool_with_progress() -> str:
    """Say three times how far it is, a moment apart."""
    for done in (0, 50, 100):
        report_progress(done, 100)
        time.sleep(_PAUSE)
    return "Done, as reported."


@skill(risk="read")
def test_streaming_elicitation() -> str:
    """Say how far it is on the stream on which a question would be asked."""
    report_progress(1, 2)
    return "Nothing but notices was streamed."
