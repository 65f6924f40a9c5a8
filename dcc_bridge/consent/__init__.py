"""Consent: the grants of a call, of a client for the session, and the loop that asks for them.

`attempt` is the loop: it tries an edit, and asks about its losses. `undo_steps` holds the edits of
a call, and `loss_guard` judges them by the grants in the `ledger`. `confirm` is what skills call to
ask by themselves, `call` turns the answers into grants, and `copies` keeps what undo does not bring
back.
"""
