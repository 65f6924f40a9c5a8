"""Questions answered in a browser: a page of our own for each, on the bridge's own address.

For hosts without Qt, for a person at another window, and for what only a page may be told. No
script runs on a page, and none is needed. `presenter`, `desk` and what they import are made before
the server and are free of its imports; `site` serves.
"""

from dcc_bridge.server.pages.desk import PageDesk
from dcc_bridge.server.pages.kept import PREFIX, SIGNED_IN, Pages
from dcc_bridge.server.pages.presenter import PagePresenter

__all__ = ["PREFIX", "SIGNED_IN", "PageDesk", "PagePresenter", "Pages"]
