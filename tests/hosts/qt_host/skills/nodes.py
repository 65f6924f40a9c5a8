"""What an agent can do in the C++ application."""

import qt_host

from dcc_bridge import confirm_sync, elicit_form_sync, skill


@skill(risk="read")
def list_nodes() -> list[str]:
    """List the names of all nodes."""
    return [name for name, _ in qt_host.nodes()]


@skill(risk="edit", undo="Add nodes")
def add_nodes(names: list[str]) -> int:
    """Add nodes."""
    for name in names:
        qt_host.create(name, "camera")
    return len(names)


@skill(risk="destructive", confirms=True, undo="Delete nodes")
def delete_nodes(prefix: str) -> dict:
    """Delete the nodes whose names begin so."""
    found = lambda: [name for name, _ in qt_host.nodes() if name.startswith(prefix)]  # noqa: E731
    agreed = confirm_sync("Delete these nodes?", items=found, verb="Delete")
    for name in agreed:
        qt_host.delete(name)
    return {"deleted": agreed}


@skill(risk="edit", undo="Break")
def break_off(name: str) -> None:
    """Add a node, and fail on the next one, which has the same name."""
    qt_host.create(name)
    qt_host.create(name)


@skill(risk="edit", undo="Name a node")
def name_node() -> str:
    """Ask for a name, and add a node with it."""
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    answer = elicit_form_sync("What shall it be called?", schema)
    if not answer.accepted:
        return "no name"
    qt_host.create(answer.data["name"])
    return answer.data["name"]
