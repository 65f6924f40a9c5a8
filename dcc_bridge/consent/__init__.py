"""What a yes allows: the call that asked, what was granted to it, and to a client for the session.

`confirm` is what skills call. `call` hears the answers and turns them into grants, `undo_steps`
holds what a call changes against them, and `copies` keeps what undo does not bring back.
"""
