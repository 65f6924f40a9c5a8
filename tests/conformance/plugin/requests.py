"""Requests that no skill puts: several at once, of the client's model, of its roots. Worker."""

from __future__ import annotations

from typing import Any, Final

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import (
    ClientCapabilities,
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequests,
    InputRequiredResult,
    ListRootsRequest,
    SamplingMessage,
    TextContent,
)

Asking = Context[Any, Any]
_STATE: Final = "conformance"


def add(server: MCPServer[Any]) -> None:
    """Add the tools and the prompt that answer with requests."""
    server.tool()(test_input_required_result_sampling)
    server.tool()(test_input_required_result_list_roots)
    server.tool()(test_input_required_result_multiple_inputs)
    server.tool()(test_input_required_result_capabilities)
    server.prompt()(test_input_required_result_prompt)


def test_input_required_result_sampling(context: Asking) -> str | InputRequiredResult:
    """Have the client's model say something."""
    requests: InputRequests = {"capital_question": _sample("What is the capital of France?")}
    return _ask_or_tell(context, requests)


def test_input_required_result_list_roots(context: Asking) -> str | InputRequiredResult:
    """Have the client list its roots."""
    return _ask_or_tell(context, {"client_roots": ListRootsRequest()})


def test_input_required_result_multiple_inputs(context: Asking) -> str | InputRequiredResult:
    """Put three requests at once."""
    requests: InputRequests = {
        "user_name": _elicit("What is your name?", "name"),
        "greeting": _sample("Generate a greeting"),
        "client_roots": ListRootsRequest(),
    }
    return _ask_or_tell(context, requests, _STATE)


def test_input_required_result_capabilities(context: Asking) -> str | InputRequiredResult:
    """Put only what the client said it can do."""
    can = context.client_capabilities or ClientCapabilities()
    requests: InputRequests = {}
    if can.elicitation is not None:
        requests["user_name"] = _elicit("What is your name?", "name")
    if can.sampling is not None:
        requests["greeting"] = _sample("Generate a greeting")
    return _ask_or_tell(context, requests)


def test_input_required_result_prompt(context: Asking) -> str | InputRequiredResult:
    """A prompt that asks for its context."""
    requests: InputRequests = {"user_context": _elicit("Which context?", "context")}
    return _ask_or_tell(context, requests)


def _ask_or_tell(
    context: Asking, requests: InputRequests, state: str | None = None
) -> str | InputRequiredResult:
    """Put the requests, until each has its answer and the state came back."""
    answers = context.input_responses or {}
    if context.request_state == state and requests.keys() <= answers.keys():
        return f"Answered: {', '.join(sorted(answers))}"
    return InputRequiredResult(input_requests=requests, request_state=state)


def _elicit(message: str, field: str) -> ElicitRequest:
    schema = {"type": "object", "properties": {field: {"type": "string"}}, "required": [field]}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def _sample(text: str) -> CreateMessageRequest:
    message = SamplingMessage(role="user", content=TextContent(type="text", text=text))
    return CreateMessageRequest(
        params=CreateMessageRequestParams(messages=[message], max_tokens=100)
    )
