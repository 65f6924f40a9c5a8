"""The audit log: who agreed to what, and what became of it. `log` writes it, `reader` verifies it.

`trail` decides what the log has of a question and of a run. We never delete anything of it.
"""
