"""Where we are: one adapter for each application, each with that application's own API only.

How to bring the bridge to another application, in an afternoon. There are two things to write: a
`dcc_bridge.host.Host` around its scene, and a start around its event loop.

**1. The host.** A subclass of `dcc_bridge.host.Host`; its docstring lists what is required. An
item is a string by which the application finds a thing again after an undo: a path, a unique name,
an id, never a reference to an object. All of it is called on the main thread. For an application
``acme`` whose scene has nodes::

    class AcmeHost(Host):
        name, version, item_noun, suffix = "Acme", acme.version(), "node", ".acme"
        has_ui = not acme.is_batch()

        def file(self) -> Path | None:
            return Path(acme.scene_file()) if acme.scene_file() else None

        def save_copy(self, path: Path) -> None:
            acme.save(str(path), as_copy=True)

        @contextmanager
        def undo_step(self, label: str) -> Iterator[None]:
            acme.undo.begin(label)
            try:
                yield
            finally:  # whatever was raised: a step that stays open ruins the stack
                acme.undo.end()

        def undo_mark(self) -> UndoMark:
            labels = acme.undo.labels()
            return UndoMark(len(labels), next(iter(labels), None))

        def undo(self) -> None:
            acme.undo.back()

        def redo(self) -> None:
            acme.undo.forth()

        @property
        def selection(self) -> list[str]:
            return [node.path for node in acme.selected()]

        def select(self, items: Sequence[str]) -> None:
            acme.set_selected([acme.find(item) for item in items if acme.find(item)])

        def describe(self, item: str) -> dict[str, Any]:
            node = acme.find(item)
            if node is None:
                raise LookupError(f"There is no node {item!r}.")
            return {"type": node.type, "children": [child.name for child in node.children]}

        def fingerprint(self, items: Sequence[str]) -> str:
            return digest([self.scene(), [self._facts(item) for item in sorted(set(items))]])

        def _facts(self, item: str) -> list[Any]:
            node = acme.find(item)
            if node is None:
                return [item, "gone"]
            below = sorted((each.path, each.type) for each in node.descendants())
            return [item, node.id, node.type, node.locked, below]

What it does better if it also has `summary` (units, frames, how many of each type), `watch` (agents
are told of changes), `changes` (a person is asked about what an agent's code deletes), `modified`,
`frame`, `main_window`, `when_ready` and `when_leaving` is said with each. Where the application has
no named undo steps, keep the labels in a list of your own beside its stack, and let `undo_mark`
give one only while the application says that nothing came on top.

**2. The start.** A `dcc_bridge.main_thread.MainThread` is the way to the main thread; the
application supplies ``wake`` ("call ``drain`` on the main thread, soon"), and ``spin`` ("run your
event loop until this future is done") for its own calls into Python. Three loops make one:

=======================================  ========================================================
`dcc_bridge.qt.event_loop.HostLoop`      a Qt application that owns its event loop: Maya, Houdini
`dcc_bridge.headless.Pump`                   no event loop at all: batch, a farm; `Pump.run` is one
a timer of the application               ``wake`` sets a flag, and the timer's function looks at it
                                         and calls ``drain``: Blender, which wakes from no thread
=======================================  ========================================================

A plug-in's whole start and stop in a Qt application, with dialogs and, as `PlugIn.panel`, what
shows the person what agents do::

    plug_in = dcc_bridge.plugin.PlugIn(AcmeHost(), [SKILLS])
    plug_in.install()

Without Qt there is no presenter, or one of your own (`dcc_bridge.elicitation.question` has that
port); without any, questions go to the client, and what nobody can be asked is refused. In batch::

    dcc_bridge.headless.serve(AcmeHost(), [SKILLS], until=lambda: is_enough)

**3. See that it holds.** ``tests.hosts.contract`` tests what the bridge relies on, against any
host: steps that leave an entry or none, labels, a rollback that the digest proves, a fingerprint
that notices, checkpoints.

It runs on the main thread.
"""
