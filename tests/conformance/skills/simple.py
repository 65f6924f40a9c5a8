"""What the suite wants of tools that ask nothing."""

from dcc_bridge import skill


@skill(risk="read")
def test_simple_text() -> str:
    """Return a text."""
    return "This is a simple text response for testing."


@skill(risk="read")
def test_error_handling() -> str:
    """Fail, with a sentence that says so."""
    raise ValueError("This tool fails on purpose.")
