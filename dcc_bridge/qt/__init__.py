"""Questions as dialogs in the host, and the panel. Only this package of the core knows Qt."""
