"""One skill on many scenes: plans, approvals, runs, and their ends."""
