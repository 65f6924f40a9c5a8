"""One skill on thousands of scene files, with one consent for the plan as a whole.

``dcc-bridge batch`` makes a *plan*: it opens each scene in a warm, headless host, and runs the
skill up to its question. A person *approves* the plan, the *run* answers each question by it, and
`commit` or `rollback` ends it. Sessions and tasks are those of Open Job Description
(``openjd-sessions``); the same bundle goes to a farm. There is no scheduler here.

The modules, lowest first. Modules marked * also run inside a host, and import only `dcc_bridge` and
`dcc_bridge.spi`. ``skills`` is a folder of skill files: `plan_batch` makes a plan for an agent.

===============  ==================================================================================
``files``        * digests, atomic and flushed writes, one process at a time in a folder
``host_job``     * the job of a warm host, and the files for communicating with the host
``questions``    * questions of a skill as plain data; the grants of an approved plan
``plan``         * the plan folder: written, read, verified against its digests
``approval``     * a person's signed consent to a plan, which is valid for some hours
``host_files``   * opens and saves scenes, for each application
``warm_host``    * the process of a host: a bridge with four more tools, `batch_about`,
                 `batch_open`, `batch_asked` and `batch_save`
``scenes``       the list of scenes, from patterns, files and lists of files
``hosts``        starts and stops a warm host, and connects to it as an MCP client
``planning``     makes a plan: runs the skill in each scene up to its question, in warm hosts
``report``       ``report.html``: self-contained, all text escaped
``ledger``       the history of each scene's states: one file per task
``swap``         replaces a scene by its edited copy, atomically, and keeps the original
``task``         edits one chunk of scenes in the warm host of its session: a process of its own
``session``      the job's environment: starts the host on enter, stops it on exit
``bundle``       the job: template, parameters, list of files; for a local run and for a farm
``task_session`` one session of Open Job Description, and the log of a run
``engine``       runs a plan on this computer, in sessions of Open Job Description
``summary``      a plan as text that a person reads before agreeing
``outcome``      totals, `commit`, `rollback`
``display``      shows plans, progress and totals in a terminal
``window``       the window that asks for consent to a plan: a process of its own
``ask_person``   asks a person in the window or at the terminal
``job_commands`` the commands that only programs start
``commands``     ``dcc-bridge batch ...``
===============  ==================================================================================

The plan folder
---------------
``plan.json`` is the header, one JSON object::

    format      1
    host        "usd", "blender", ...; version: the host's own; bridge: dcc_bridge's
    skill       {"name", "sha256" (of its file, or of its code if it has no file), "file" or null}
    folders     folders of skill files, as --skills named them
    arguments   the arguments that the skill is called with
    root        the folder that contains all scenes; a farm maps this path
    chunk       scenes per task; failures: the part of all scenes whose failure pauses a run
    limit       seconds for one scene
    created     the time, in UTC; by: the user's name
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
             unsafe   the skill would do something that undo cannot reverse, such as write another
                      file, or it asks about a text (details) that no plan shows
             failed   the scene cannot be opened, or the skill fails before it asks

    question message, title, items, kinds, arguments, details (null)

``report.html`` is made from these two files. ``approval.json`` is the consent: the plan's digest,
the skill's digest, a name and an end, signed with the user's key (HMAC). These files are never
changed later: the state of the scenes is in ``ledger/``.

The ledger
----------
``ledger/000012.jsonl`` is the file of task 12, for the scenes from 12 * chunk to 13 * chunk - 1. A
task writes only its own file, and flushes each line to the disk (``fsync``) before its next step.
The last complete line of a scene counts. Each attempt to edit a scene has its own word, "copy",
which is in the names of its files.

=============  ====================================================================================
editing        the copy may exist; the scene is the original
proved         the copy was edited, saved, opened again and compared; "sha256" is its digest
done           the scene was replaced, and the original is beside it; "proof" says how the two
               differ: in approved "items", in the rest of the "scene", or only as a "file"
left           the scene is the original, and is not tried again; "why" says that it changed since
               the plan, asks something else, is locked, or needs no edit (then with "unchanged")
failed         the scene is the original, and the next run tries it again; "why", and "attempt"
committed      done, and the original was deleted
rolling_back   the original is about to be put back, below "root"
rolled_back    the original file is back in its place
=============  ====================================================================================

A scene that a commit or a rollback could not end keeps its state, and "kept" says why.

After a crash a scene is "editing", and the next run deletes the copy and begins again; or it is
"proved", and the scene's digest and the existence of the copy show whether the scene was replaced.
So no scene is lost, and no scene is edited twice.

Beside a scene ``shot.usda`` of the plan 1a2b3c4d... are ``.shot.1a2b3c4d.5e6f7a8b.work.usda``, the
copy, and ``.shot.1a2b3c4d.5e6f7a8b.kept.usda``, the original, until commit or rollback. No run
deletes the files of another attempt that may still be running. Commit and rollback check the files
of all attempts in the ledger, whatever its last entry says.

On a farm one worker has a task at a time, so each ledger file has one writer. Workers share only a
folder: there is no database, and no lock on shared storage.
"""
