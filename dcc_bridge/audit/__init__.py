"""The audit log: who agreed to what, and what became of it.

`log` writes the log, `reader` verifies it, and `trail` decides what the log has of a question and
of a run. `redact` takes out hidden values. We never delete anything of the log.
"""
