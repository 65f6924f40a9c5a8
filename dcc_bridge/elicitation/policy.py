"""Who is asked: the table of surfaces, keyed on the question. Any thread.

===========  ========================  ============  =====================  ==================
question     host UI, capable client   only host UI  only a capable client  neither
===========  ========================  ============  =====================  ==================
consent      host                      host          client                 unattended
input        client, then host         host          client                 unattended
===========  ========================  ============  =====================  ==================

The host decides on consent because clients in the wild answer by themselves, or declare that they
can ask and draw nothing.
"""

from __future__ import annotations

from typing import Literal

Surface = Literal["client", "host"]


def surfaces(*, consent: bool, host_ui: bool, client: bool) -> tuple[Surface, ...]:
    """List the surfaces to try, first to last; empty where nobody can be asked.

    Args:
        consent: The answer decides whether something is lost.
        host_ui: A person sits at the host and may be asked there.
        client: The client can draw the question.
    """
    host_first: tuple[Surface, ...] = ("host",) if host_ui else ()
    client_first: tuple[Surface, ...] = ("client",) if client else ()
    return host_first if consent and host_ui else (*client_first, *host_first)
