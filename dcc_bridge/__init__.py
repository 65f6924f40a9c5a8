"""The bridge that lets an AI agent work in a DCC application, with the person's consent.

A skill needs no more than what is listed here. Neither Qt nor the MCP SDK is imported.
"""

from dcc_bridge.elicitation.ask import (
    carry,
    elicit_form,
    elicit_form_sync,
    elicit_url,
    elicit_url_sync,
)
from dcc_bridge.elicitation.consent import Grant, confirm, confirm_sync
from dcc_bridge.elicitation.installed import on_main
from dcc_bridge.elicitation.types import (
    ElicitationMode,
    ElicitationRequest,
    ElicitationResponse,
    FormElicitation,
    UrlElicitation,
)
from dcc_bridge.skills.skill import skill

__all__ = [
    "ElicitationMode",
    "ElicitationRequest",
    "ElicitationResponse",
    "FormElicitation",
    "Grant",
    "UrlElicitation",
    "carry",
    "confirm",
    "confirm_sync",
    "elicit_form",
    "elicit_form_sync",
    "elicit_url",
    "elicit_url_sync",
    "on_main",
    "skill",
]
