"""The answers to messages that are not valid JSON-RPC. Any thread.

Our server and our proxy use them, over HTTP and over stdio. The protocol's SDK itself would take a
request whose id is null, 1.5 or true for a notification, and answer other messages with pages about
its own types.
"""

from __future__ import annotations

import json
from typing import Any, Final

INVALID_REQUEST: Final = -32600


def is_id(value: object) -> bool:
    """Return whether a request may have a value as its id."""
    return type(value) in (str, int)


def has_odd_id(message: object) -> bool:
    """Return whether a message is a request with an id that JSON-RPC does not allow."""
    if not isinstance(message, dict) or "method" not in message or "id" not in message:
        return False
    return not is_id(message["id"])


def invalid_request(message: object) -> dict[str, Any]:
    """Return the answer to a message that is not valid, with the message's id if it has one."""
    return error_response(_readable_id(message), _fault(message))


def error_response(request_id: object, why: str) -> dict[str, Any]:
    """Return the answer that refuses a request.

    Args:
        request_id: The id of the request; None where it cannot be read.
        why: The reason, a sentence.
    """
    error = {"code": INVALID_REQUEST, "message": why}
    return {"jsonrpc": "2.0", "id": request_id, "error": error}


def id_in_use(request_id: object) -> str:
    """Return why a request is refused: a request with the same id is still running."""
    return f"A request with the id {request_id} is still running. Use another id."


def _readable_id(message: object) -> object:
    if not isinstance(message, dict) or "result" in message or "error" in message:
        return None  # the id of a response belongs to a request of the other end
    request_id = message.get("id")
    if not is_id(request_id):
        return None
    return request_id


def _fault(message: object) -> str:
    """Return in a sentence what is wrong with a message."""
    if not isinstance(message, dict):
        return "A message must be one JSON object."
    if message.get("jsonrpc") != "2.0":
        return 'A message must have the member "jsonrpc" with the value "2.0".'
    if "method" not in message:
        return _response_fault(message)
    if not isinstance(message["method"], str):
        return "The method of a request must be a string."
    if has_odd_id(message):
        shown = json.dumps(message["id"])[:40]
        return f"The id of a request must be a string or an integer, not {shown}."
    return "The params of a request must be a JSON object."


def _response_fault(message: dict[str, Any]) -> str:
    if "result" not in message and "error" not in message:
        return "A message must have a method, a result or an error."
    if "result" not in message:
        return "The error of a response must have a code, which is an integer, and a message."
    if not isinstance(message["result"], dict):
        return "The result of a response must be a JSON object."
    return "The id of a response must be a string or an integer."
