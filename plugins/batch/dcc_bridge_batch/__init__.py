"""One skill on thousands of scene files, with one consent for the plan as a whole.

``dcc-bridge batch`` makes a *plan*: it opens each scene in a warm, headless host, and runs the
skill up to its question. A person *approves* the plan, the *run* answers each question by it, and
`commit` or `rollback` ends it. Sessions and tasks are those of Open Job Description
(``openjd-sessions``); the same bundle goes to a farm. There is no scheduler here.

The modules, lowest first. Those marked * also run inside a host, and import only `dcc_bridge` and
`dcc_bridge.spi`. ``skills`` is a folder of skill files: `plan_batch` plans for an agent.

===============  ==================================================================================
``files``        * digests, atomic and flushed writes, one process at a time in a folder
``host_job``     * the job that a host is started with, and the files by which it is reached
``questions``    * questions of a skill as plain data with a digest; the grants that a plan gives
``plan``         * the plan folder: written, read, verified against its digests
``approval``     * one consent for a plan: who gave it, signed, and how long it holds
``host_files``   * opens and saves scenes, by the host's name
``warm_host``    * the process of a host: a bridge with four tools more, `batch_about`,
                 `batch_open`, `batch_asked` and `batch_save`
``scenes``       the list of scenes, from patterns, files and lists of files
``hosts``        starts and stops a warm host, and connects to it as a real client over loopback
``planning``     makes a plan: runs the skill in each scene up to its question, in warm hosts
``report``       ``report.html``: self-contained, all text escaped
``ledger``       the state of each scene: one file a task
``swap``         replaces a scene by its edited copy, atomically, and keeps the original
``task``         one chunk of scenes, in the warm host of its session: a process of its own
``session``      the job's environment: starts the host on enter, stops it on exit
``bundle``       the job: template, parameters, list of files; for the run here and for a farm
``task_session`` one session of Open Job Description, and the log of a run
``engine``       runs a plan on this computer, by sessions of Open Job Description
``summary``      a plan as a text that a person reads before they agree
``outcome``      totals, `commit`, `rollback`
``display``      a plan, a progress and totals in a terminal
``window``       the question of a plan in a window of its own process
``ask_person``   asks the person there, or at the terminal
``job_commands`` the commands that only programs start
``commands``     ``dcc-bridge batch ...``
===============  ==================================================================================

The plan folder
---------------
``plan.json`` is the header, one JSON object::

    format      1
    host        "usd", "blender", ...; version: the host's own; bridge: dcc_bridge's
    skill       {"name", "sha256" (of its file, or of its code where it has none), "file" or null}
    folders     folders of skill files, as --skills named them
    arguments   the arguments that the skill is called with
    root        the folder below which all scenes lie; a farm maps it
    chunk       scenes a task; failures: the part of all scenes whose failure pauses a run
    limit       seconds for one scene
    created     when, UTC; by: the user's name
    scenes      {"count", "sha256" (of scenes.jsonl)}; totals: scenes by state, items by type
    digest      SHA-256 of this object without "digest", as canonical JSON

``scenes.jsonl`` has one line a scene, in the order of the list. The number of the line, from 0, is
the scene's number::

    n, path (below the root, with slashes), size, sha256, state, why, question, question_sha256

    state    asks     the skill asks once, and undo would bring back its edit: only these scenes
                      are approved
             nothing  the skill asks nothing: there is nothing to do
             twice    the skill asks more than once: no plan can answer the second question. Nobody
                      answers while a plan is made, so this skill goes on without consent
             unsafe   the skill would do something that undo does not bring back, such as write
                      another file, or it asks about a text (details) that no plan shows
             failed   the scene cannot be opened, or the skill fails before it asks

    question message, title, items, kinds, arguments, details (null)

``report.html`` is made of these two files. ``approval.json`` is the consent: the plan's digest
and the skill's, a name and an end, signed with the user's key (HMAC). Nothing of a plan is changed
later: the state of its scenes is in ``ledger/``, and the consent is a file of its own.

The ledger
----------
``ledger/000012.jsonl`` is the file of task 12: of the scenes from 12 * chunk to 13 * chunk - 1. A
task writes its own file and no other, each line with a flush to the disk (``fsync``) before the
next step. The last whole line of a scene counts; a last line without its end is ignored. Each
attempt at a scene has a word of its own, "copy", which is in the names of its files.

=============  ====================================================================================
editing        the copy may be there; the scene is as it was
proved         the copy is edited, saved, opened again and as it should be; "sha256" is its digest
done           the scene is the edited one, the original is kept beside it; "proof" says how the two
               differ: in "items" that were agreed to, in the rest of the "scene", or as a "file"
left           the scene is as it was, and is not tried again; "why" says that it changed since the
               plan, asks something else, is locked, or needs no edit (then with "unchanged")
failed         the scene is as it was, and is tried again by the next run; "why", and "attempt"
committed      done, and the original that was kept is deleted
rolling_back   the original is about to be put back, below "root"
rolled_back    the original is back, the very file
=============  ====================================================================================

A scene that a commit or a rollback could not end keeps its state, and "kept" says why.

A crash leaves "editing" (the next run deletes the copy, and begins again), or "proved": then the
scene's own digest, and whether the copy is there, tell whether the rename happened. So no scene is
lost, and none is edited twice. Beside a scene ``shot.usda`` of the plan 1a2b3c4d... lie
``.shot.1a2b3c4d.5e6f7a8b.work.usda``, the copy, and ``.shot.1a2b3c4d.5e6f7a8b.kept.usda``, the
original, until the end. No run deletes the files of another attempt that may be alive; commit and
rollback look at the files of all attempts in their ledger, even if its last entry says that the
scene is as it was.

On a farm one worker has a task at a time, so each file has one writer, and workers share nothing
but a folder: there is no database, no lock on shared storage, and no place where all must write.
"""
