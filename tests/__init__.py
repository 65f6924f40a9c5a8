"""For developers: what can be run, and what shows which promise.

Which tests are in which tier is told by markers. On Linux, Qt needs some of the system's libraries,
which ``.ci/run`` installs.

=========================================  ======================================================
``pytest``                                 the core, over a pretended host and the USD application;
                                           the contracts; one walk of each surface, and of each
                                           command: README's command, under two minutes on two cores
``pytest -m blender``                      one leaf, whole: or ``freecad``, ``maya``, ``houdini``,
                                           ``usd`` (our own application), ``batch``, ``qt``,
                                           ``cli`` (and the installer), ``clients`` (other people's,
                                           the official suite, a browser); what needs the real
                                           application is skipped where that is missing
``pytest -m 'real and not long' -n 2``     of all leaves what needs a real application, a browser, a
                                           compiler or a screen
``pytest -m lint``                         ruff, mypy (also as on Windows and macOS), the import
                                           contracts, the rules of the layout
``python -m tests.windows --quick``        with a Windows Python, in Wine: the demo, the doors,
                                           files, the installer, a window
``python -m tests.real_files``             every file of Blender, FreeCAD, assimp and two wheels,
                                           played in its application: a table of what differs
``python -m tests.tasks``                  twenty tasks of an artist and their careless twins, in
                                           three applications: a table of what each took
``python -m tests.long [PART ...]``        what takes minutes, or what the machine's speed decides:
                                           races, kills, soaks, the 10,000 bodies, every case of
                                           what is otherwise tried by sample, agent frameworks, the
                                           official suite on both ways, a Windows Python, README's
                                           tests on busy cores and shuffled; it prints a table
=========================================  ======================================================

``.ci/run`` installs what they need and runs all but the last two. A leaf is told by its files, in
``tests/tiers.py``; ``@pytest.mark.core`` takes a test of a leaf into README's command.
``pytest -p randomly`` shuffles the tests and prints the seed. No test but a long one may fail
because a machine is slow: it waits for an event or has a clock of its own, and a limit only ends a
hang.

=======================================================  ========================================
what                                                     shown by
=======================================================  ========================================
every command, code block and link of README and the     ``tests/test_guide.py``
guide
our instructions: what they name, and each example      ``tests/instructions/test_own.py``
the hosts' table of the guide                            ``tests/hosts/cells.toml``: a test a cell
revisions 2025-06-18, 2025-11-25, 2026-07-28 on one URL  ``pytest tests/server tests/elicitation``
the official conformance suite, every scenario that      ``pytest tests/conformance``
applies, directly and through ``connect``
clients of others, in each era they speak, but for a      ``python -m tests.long clients``
closed list of their own faults
hosts that die, restart and share names: 10,000 calls    ``python -m tests.long races``
through ``connect``, none lost, none done twice
what must not get in, each threat with its number        ``pytest tests/threats``
what may go wrong: fourteen seams made to fail in turn,  ``python -m tests.long threats``
10,000 random places to ask from
Blender draws on while a skill waits: 297 frames in a    ``python -m tests.long hosts``
minute, the longest gap 0.28 s
contrasts of text, outlines, check boxes and the focus,  ``python -m tests.qt.contrasts`` prints
in the Qt of each host, each theme and two scales        the table
=======================================================  ========================================

Benchmarks, each of which prints ratios within one run: ``python -m tests.bench.NAME``, with
``driver`` (a call beside other servers, and what the main thread feels of it; ``--only sdk_sse``
installs none), ``start`` (what a start and an idle bridge cost a host), ``skills_1000`` (a thousand
skill files), ``verbs``, ``losses`` (what it costs to know what an edit loses) and ``agreed_code``.

``python tests/pictures.py`` takes the pictures of README and the guide again, but for Blender's:
``BLENDER_PICTURE=FILE pytest -m real -n 0 tests/blender/test_window.py -k esc``; with ``-k
sets_up`` it is that of the clients in the sidebar.
``python -m tests.qt.texts > dcc_bridge.ts`` writes the texts of the dialogs for Qt Linguist.
Messages about an answer that does not fit, and notices, are in English only.

To bring the bridge to another application, read ``resources/guide/hosts.md``, and test the adapter
with ``tests/hosts/contract.py``, and what it does for the verbs with
``tests/verbs/operations_contract.py``.
"""
