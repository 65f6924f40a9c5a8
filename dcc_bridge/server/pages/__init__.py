"""Questions answered in a browser: a page of our own for each, on the bridge's own address.

For hosts without Qt, and for a person at another window. No script runs on a page, and none is
needed. `presenter` is made before the server and is free of its imports; `site` serves.
"""

from dcc_bridge.server.pages.presenter import PREFIX, PagePresenter

__all__ = ["PREFIX", "PagePresenter"]
