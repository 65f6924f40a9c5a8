"""Who is asked: the table of surfaces, keyed on the question. Any thread.

===========  ========================  ============  =====================  ==================
question     host UI, capable client   only host UI  only a capable client  neither
===========  ========================  ============  =====================  ==================
consent      host                      host          client                 unattended
input        client, then host         host          client                 unattended
===========  ========================  ============  =====================  ==================

The host decides on consent because clients in the wild answer by themselves, or declare that they
can ask and draw nothing. A studio may set either row to "host" or "either". With "either" a legacy
client and the host are asked at once and the first valid answer counts; a question that a modern
client shows cannot be withdrawn, so there the client is asked and the host shows a chip.
"""

from __future__ import annotations

from typing import Literal

Surface = Literal["client", "host"]
Preference = Literal["client", "host", "either"]
Stage = tuple[Surface, ...]


def stages(
    *, prefer: Preference, host_ui: bool, client: bool, withdrawable: bool
) -> tuple[Stage, ...]:
    """List who is asked, first to last; those in one stage are asked at once.

    Args:
        prefer: Whom the setting names for this kind of question.
        host_ui: A person sits at the host and may be asked there.
        client: The client can draw the question.
        withdrawable: A question at the client can be withdrawn.

    Returns:
        The stages; none where nobody can be asked.
    """
    if not (host_ui and client):
        return (("client",),) if client else (("host",),) if host_ui else ()
    if prefer == "host":
        return (("host",),)
    if prefer == "either" and withdrawable:
        return (("client", "host"),)
    return (("client",), ("host",))
