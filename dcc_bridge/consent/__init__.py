"""Consent: the grants of a call, of a client for the session, and the loop that asks for them.

`confirm` is what skills call. `call` hears the answers and turns them into grants, `undo_steps`
holds what a call changes against them, and `copies` keeps what undo does not bring back.
"""
