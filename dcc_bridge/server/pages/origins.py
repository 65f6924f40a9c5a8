"""Where a request comes from, as far as a browser says. Worker.

Browsers tell by ``Sec-Fetch-*`` (https://www.w3.org/TR/fetch-metadata/) and ``Origin``, and no page
can change either. What sends none of them is no browser, and has no business with a page's cookie.
"""

from __future__ import annotations

from starlette.requests import Request


def is_foreign(request: Request) -> bool:
    """Whether an answer comes from a page that is not ours."""
    origin = request.headers.get("origin")
    own = origin is None or origin == f"{request.url.scheme}://{request.headers.get('host', '')}"
    return not own or request.headers.get("sec-fetch-site", "same-origin") != "same-origin"


def is_sent(request: Request) -> bool:
    """Whether another site led the browser here; a person who typed or clicked elsewhere is not."""
    site = request.headers.get("sec-fetch-site", "none")
    origin = request.headers.get("origin")
    return site not in ("none", "same-origin") or (origin is not None and is_foreign(request))


def is_part(request: Request) -> bool:
    """Whether the browser wants it as a part of another page: a frame, an image, data."""
    return request.headers.get("sec-fetch-dest", "document") != "document"
