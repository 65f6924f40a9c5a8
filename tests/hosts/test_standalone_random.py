"""Undo over random programs of edits, steps that fail and edits outside steps among them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from random import Random

import pytest
from pxr import Sdf, Tf, Usd

from dcc_bridge.hosts.standalone import UsdSession
from tests.hosts.scenes import Failed, fail_after

PROGRAMS = 60
STEPS = 12


class Program:
    """A seeded row of edits on one session, and the digests that it passed."""

    def __init__(self, session: UsdSession, seed: int) -> None:
        self.random = Random(seed)
        self.session = session
        self.digests = [session.scene_digest()]

    def run(self) -> None:
        """Edit; note the scene's digest wherever undo must bring it back to."""
        for _ in range(STEPS):
            self.random.choice((self.step, self.step, self.step, self.failing_step, self.outside))()

    def step(self) -> None:
        with self.session.undo_step(f"Step {len(self.digests)}"):
            self.edit_some()
        self.note()

    def outside(self) -> None:
        self.edit_some()
        self.note()

    def failing_step(self) -> None:
        before = self.session.scene_digest()
        with pytest.raises(Failed):
            fail_after(self.session, lambda stage: self.edit_some())
        assert self.session.scene_digest() == before

    def note(self) -> None:
        if len(self.session.undo_labels) == len(self.digests):
            self.digests.append(self.session.scene_digest())

    def edit_some(self) -> None:
        """Edit a few times, anywhere; what USD refuses may leave traces, which is as well."""
        stage = self.session.stage
        for _ in range(self.random.randint(0, 4)):
            layer = self.random.choice(stage.GetLayerStack(includeSessionLayers=True))
            with Usd.EditContext(stage, layer), suppress(Tf.ErrorException):
                self.random.choice(EDITS)(self)

    def prim(self) -> Usd.Prim:
        """Take any prim that there is, or make one."""
        prims = [p for p in self.session.stage.TraverseAll() if not p.IsInPrototype()]
        stage = self.session.stage
        return self.random.choice(prims) if prims else stage.DefinePrim("/Again", "Xform")

    def add_prim(self) -> None:
        path = self.prim().GetPath().AppendChild(f"n{self.random.randrange(40)}")
        self.session.stage.DefinePrim(path, self.random.choice(("Camera", "Xform", "")))

    def remove_prim(self) -> None:
        self.session.stage.RemovePrim(self.prim().GetPath())

    def set_value(self) -> None:
        attribute = self.prim().CreateAttribute("size", Sdf.ValueTypeNames.Double)
        time = self.random.choice((Usd.TimeCode.Default(), 1, 2.5))
        attribute.Set(self.random.random(), time)

    def clear_value(self) -> None:
        if attribute := self.prim().GetAttribute("size"):
            self.random.choice((attribute.Clear, attribute.Block))()

    def relate(self) -> None:
        relationship = self.prim().CreateRelationship("to")
        target = self.prim().GetPath()
        self.random.choice((relationship.AddTarget, relationship.RemoveTarget))(target)

    def connect(self) -> None:
        attribute = self.prim().CreateAttribute("size", Sdf.ValueTypeNames.Double)
        attribute.AddConnection(self.prim().GetPath().AppendProperty("size"))

    def rename(self) -> None:
        editor = Usd.NamespaceEditor(self.session.stage)
        editor.RenamePrim(self.prim(), f"r{self.random.randrange(40)}")
        if editor.CanApplyEdits():
            editor.ApplyEdits()

    def reorder(self) -> None:
        parent = self.prim()
        names = parent.GetAllChildrenNames()
        self.random.shuffle(names)
        parent.SetChildrenReorder(names)

    def describe(self) -> None:
        prim = self.prim()
        prim.SetMetadata("comment", f"note {self.random.randrange(9)}")
        prim.SetActive(self.random.random() > 0.2)

    def set_range(self) -> None:
        self.session.stage.GetRootLayer().endTimeCode = float(self.random.randrange(99))

    def add_sublayer(self) -> None:
        layer = Sdf.Layer.CreateAnonymous()
        self.session.stage.GetRootLayer().subLayerPaths.append(layer.identifier)
        Sdf.CreatePrimInLayer(layer, f"/World/s{self.random.randrange(9)}")

    def drop_sublayer(self) -> None:
        layers = self.session.stage.GetRootLayer().subLayerPaths
        if layers and self.random.random() < 0.3:
            del layers[self.random.randrange(len(layers))]


EDITS: tuple[Callable[[Program], None], ...] = (
    Program.add_prim,
    Program.add_prim,
    Program.remove_prim,
    Program.set_value,
    Program.set_value,
    Program.clear_value,
    Program.relate,
    Program.connect,
    Program.rename,
    Program.reorder,
    Program.describe,
    Program.set_range,
    Program.add_sublayer,
    Program.drop_sublayer,
)


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_random_programs(session: UsdSession, seed: int) -> None:
    """Undo passes every state in turn down to the start, and redo up to the end."""
    program = Program(session, seed)
    program.run()
    digests = program.digests

    for digest in reversed(digests[:-1]):
        session.undo()
        assert session.scene_digest() == digest
    assert session.undo_label() is None
    assert not session.modified
    for digest in digests[1:]:
        session.redo()
        assert session.scene_digest() == digest
    assert session.redo_labels == []
