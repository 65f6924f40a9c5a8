"""The leaf of USD: the session, its operations, its window."""
