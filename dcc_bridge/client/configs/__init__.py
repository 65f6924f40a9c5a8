"""How a client is told of us: an entry in its own configuration, and nothing else of it touched.

===========  ===================================================================================
``entry``    what is written: the command that starts ``dcc-bridge connect``; never a token
``places``   where which client keeps its configuration, and the words that it uses
``jsonc``    an edit of JSON with comments that leaves every other byte as it is
``files``    a file is changed as a whole or not at all, and what it held before is kept
``written``  add, remove, look
===========  ===================================================================================

Any thread.
"""
