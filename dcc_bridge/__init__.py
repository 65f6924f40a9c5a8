"""The bridge that lets an AI agent work in a DCC application, with the person's consent.

Most skills need no more than what is listed here. What few need stays in its own module:
`dcc_bridge.elicitation.ask_secret` (`ask_secret`, `Secret`), `dcc_bridge.elicitation.sign_in`
(`sign_in`, `Provider`, `Tokens`) and `dcc_bridge.elicitation.consent` (`Grant`). Neither Qt nor the
MCP SDK is imported.
"""

from dcc_bridge.elicitation.ask import (
    carry,
    elicit_form,
    elicit_form_sync,
    elicit_url,
    elicit_url_sync,
)
from dcc_bridge.elicitation.consent import confirm, confirm_sync
from dcc_bridge.elicitation.context import on_main
from dcc_bridge.elicitation.types import (
    ElicitationMode,
    ElicitationRequest,
    ElicitationResponse,
    FormElicitation,
    UrlElicitation,
)
from dcc_bridge.skills.skill import check_cancelled, report_progress, skill, track

__all__ = [
    "ElicitationMode",
    "ElicitationRequest",
    "ElicitationResponse",
    "FormElicitation",
    "UrlElicitation",
    "carry",
    "check_cancelled",
    "confirm",
    "confirm_sync",
    "elicit_form",
    "elicit_form_sync",
    "elicit_url",
    "elicit_url_sync",
    "on_main",
    "report_progress",
    "skill",
    "track",
]
