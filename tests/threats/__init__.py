"""What must not happen, each with its number, by the rows of the list of threats.

===========  ====================================================================================
row          where it is shown
===========  ====================================================================================
1, 2, 6, 7   `test_requests`: foreign pages, heads that say something else than the body
3            `test_tokens`: guessed, read by another user
4            `test_leaks`: tokens in logs, in the record, in processes
5            `test_links`, tests/audit/test_log: names taken before us, links
8, 9         `test_connections`: bodies that are too much, senders that dawdle, floods
10           `test_states`: the state of a call, changed, replayed, somebody else's
11           `test_exhaustion`: questions that are left open
22           `test_call_sites`: whatever asks, wherever it stands
23           `test_killed_hosts`: whoever is killed; tests/hosts/test_bodies: whoever leaves
24           `test_soak`: answers to another one's question
25           `test_paths`, tests/skills/test_trust: paths of requests, of files
31           `test_other_addresses`: other computers
any          `test_faults`: any one thing that fails, at any place; `test_soak`, `test_growth`:
             a long time
===========  ====================================================================================
"""
