"""The audit log: who agreed to what, and what became of it. `log` writes it, `reader` verifies it.

`trail` says what stands in it of a question and of a run. Nothing of it is ever deleted by us.
"""
