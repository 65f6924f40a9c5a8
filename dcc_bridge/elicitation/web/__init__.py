"""Questions that are answered on a page: where it leads, and what comes back from it."""
