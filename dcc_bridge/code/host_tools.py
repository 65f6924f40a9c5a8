"""The tools that a host's operations make possible: the verbs, and the tool that runs code."""

from __future__ import annotations

from collections.abc import Callable

from dcc_bridge import verbs
from dcc_bridge.audit.log import AuditLog
from dcc_bridge.code import run_python
from dcc_bridge.config import Settings
from dcc_bridge.skills.skill import Skill
from dcc_bridge.verbs.operations import HostOperations


def host_tools(
    operations: HostOperations,
    settings: Settings,
    audit: AuditLog,
    is_replaced: Callable[[str], bool],
) -> list[Skill]:
    """Return the verbs that a host can do, and the tool that runs code unless that is off.

    Any thread. Describing the verbs takes a moment.

    Args:
        operations: The operations of the host.
        settings: The settings of the bridge.
        audit: Records the runs of code.
        is_replaced: Returns whether a skill of a file replaces the verb of a name.
    """
    checks = None
    if settings.project is not None:
        checks = settings.project / "checks"
    tools = verbs.tools(operations, settings.many, is_replaced, checks)
    functions = {tool.name: tool.fn for tool in tools}
    code_tool = run_python.tool(operations, settings, audit, functions)
    if code_tool is None:
        return tools
    return [*tools, code_tool]
