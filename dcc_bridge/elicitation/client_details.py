"""The details of a question as a client shows them, in its form's message. Any thread."""

from __future__ import annotations

from dcc_bridge.elicitation.details import DetailsRow, details_view
from dcc_bridge.elicitation.question import MAX_MESSAGE_BYTES, Question
from dcc_bridge.known_clients import CLI_LABEL


def client_details(question: Question) -> str | None:
    """Return the details that the client shows below a question's message. It raises nothing.

    The bridge's own command line shows details of any length.

    Args:
        question: The question.

    Returns:
        The details, after their changes since the previous text if there is room for both; "" for
        a question without details; None if the message has no room even for the details alone.
    """
    if question.details is None:
        return ""
    view = details_view(question.details)
    title = view.title
    if view.difference and not view.changes:
        title = f"{title}, {view.difference}"
    whole = _fence(title, view.rows, view.marks)
    with_changes = whole
    if view.changes:
        changes = _fence(view.difference, view.changes)
        with_changes = f"{changes}\n\n{whole}"
    client = question.call.client
    if client is not None and client.label == CLI_LABEL:
        return with_changes
    room = MAX_MESSAGE_BYTES - len(question.message.encode("utf-8", "surrogatepass"))
    for text in (with_changes, whole):
        if len(text.encode("utf-8", "replace")) <= room:
            return text
    return None


def _fence(title: str, rows: tuple[DetailsRow, ...], marks: tuple[str, ...] = ()) -> str:
    """Put rows into a Markdown code block; none can end it, because each begins with its number."""
    lines = [f"{title}:", *marks, "```"]
    lines.extend(str(row) for row in rows)
    lines.append("```")
    return "\n".join(lines)
