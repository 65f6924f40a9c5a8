"""What a yes allows: the call that asked, what was granted to it, and to a client for the session.

`confirm` is what skills call.
"""
