"""The bridge that lets an AI agent work in a DCC application, with the person's consent.

Most skills need only the names that are listed here. Names that few skills need stay in their own
modules: `dcc_bridge.elicitation.ask_secret` (`ask_secret`, `Secret`), `dcc_bridge.consent.confirm`
(`Grant`) and `dcc_bridge.elicitation.details` (`Details`). Neither Qt nor the MCP SDK is imported,
and each module only when one of its names is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dcc_bridge.consent.confirm import confirm, confirm_sync
    from dcc_bridge.elicitation.ask import (
        carry,
        elicit_form,
        elicit_form_sync,
        elicit_url,
        elicit_url_sync,
    )
    from dcc_bridge.elicitation.types import (
        ElicitationMode,
        ElicitationRequest,
        ElicitationResponse,
        FormElicitation,
        UrlElicitation,
    )
    from dcc_bridge.skills.skill import check_cancelled, report_progress, skill, track
    from dcc_bridge.threads.flows import on_main
else:
    _MODULES = (
        "skills.skill",
        "elicitation.types",
        "threads.flows",
        "consent.confirm",
        "elicitation.ask",
    )

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        for place in _MODULES:
            module = import_module(f"{__name__}.{place}")
            if hasattr(module, name):
                value = getattr(module, name)
                return globals().setdefault(name, value)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})


__all__ = ["ElicitationMode", "ElicitationRequest", "ElicitationResponse", "FormElicitation"]
__all__ += ["UrlElicitation", "carry", "check_cancelled", "confirm", "confirm_sync", "elicit_form"]
__all__ += ["elicit_form_sync", "elicit_url", "elicit_url_sync", "on_main", "report_progress"]
__all__ += ["skill", "track"]
