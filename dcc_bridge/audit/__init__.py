"""The record of who agreed to what, and of what became of it: append-only and hash-chained.

See `book.Book` for how it is written, `chain` for what a line is, `reading` for what it tells.

What it shows: any byte that was changed, a line or a file that is missing in the row, a write that
was cut short. What it cannot show by itself: lines taken from the very end (then the end mark is
missing, as after a crash), a whole book that was deleted, and a chain that its own user wrote anew;
for these keep the last line's hash, which ``dcc-bridge audit verify`` tells, in another place.
Nothing is ever deleted by us. Any thread.
"""
