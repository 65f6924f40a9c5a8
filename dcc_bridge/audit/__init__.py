"""The audit log: who agreed to what, and what became of it. `log` writes it, `reader` verifies it.

Nothing of it is ever deleted by us.
"""
