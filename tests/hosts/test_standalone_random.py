"""Undo over random programs of edits, steps that fail and edits outside steps among them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from random import Random

import pytest
from pxr import Sdf, Tf, Usd

from dcc_bridge.hosts.standalone import UsdSession
from tests.hosts.programs import Edits
from tests.hosts.scenes import Failed, fail_after
from tests.tiers import sampled

PROGRAMS = 60
STEPS = 12


class AnyEdits(Edits):
    """All kinds of edits, those of the programs among them, each in any layer."""

    def edit_some(self) -> None:
        """Edit a few times, anywhere; what USD refuses may leave traces, which is as well."""
        stage = self._session.stage
        for _ in range(self._random.randint(0, 4)):
            layer = self._random.choice(stage.GetLayerStack(includeSessionLayers=True))
            with Usd.EditContext(stage, layer), suppress(ValueError, Tf.ErrorException):
                self._random.choice(self.kinds)()

    @property
    def kinds(self) -> list[Callable[[], None]]:
        """Those of the programs, and what is rarer."""
        rare = [self.clear, self.connect, self.reorder, self.describe, self.set_range]
        return [*super().kinds, *rare, self.add_sublayer, self.drop_sublayer]

    def clear(self) -> None:
        attribute = self._size()
        self._random.choice((attribute.Clear, attribute.Block))()

    def connect(self) -> None:
        self._size().AddConnection(self._prim().AppendProperty("size"))

    def reorder(self) -> None:
        parent = self._session.stage.GetPrimAtPath(self._prim())
        names = parent.GetAllChildrenNames()
        self._random.shuffle(names)
        parent.SetChildrenReorder(names)

    def describe(self) -> None:
        prim = self._session.stage.GetPrimAtPath(self._prim())
        prim.SetMetadata("comment", f"note {self._random.randrange(9)}")
        prim.SetActive(self._random.random() > 0.2)

    def set_range(self) -> None:
        self._session.stage.GetRootLayer().endTimeCode = float(self._random.randrange(99))

    def add_sublayer(self) -> None:
        layer = Sdf.Layer.CreateAnonymous()
        self._session.stage.GetRootLayer().subLayerPaths.append(layer.identifier)
        Sdf.CreatePrimInLayer(layer, f"/World/s{self._random.randrange(9)}")

    def drop_sublayer(self) -> None:
        layers = self._session.stage.GetRootLayer().subLayerPaths
        if layers and self._random.random() < 0.3:
            del layers[self._random.randrange(len(layers))]

    def _size(self) -> Usd.Attribute:
        prim = self._session.stage.GetPrimAtPath(self._prim())
        return prim.CreateAttribute("size", Sdf.ValueTypeNames.Double)


def run(session: UsdSession, random: Random) -> list[str]:
    """Edit; give the scene's digest at each place to which undo must bring it back."""
    edits, digests = AnyEdits(session, random), [session.scene_digest()]
    for _ in range(STEPS):
        match random.choice(("step", "step", "step", "failing step", "outside")):
            case "step":
                with session.undo_step(f"Step {len(digests)}"):
                    edits.edit_some()
            case "outside":
                edits.edit_some()
            case _:
                before = session.scene_digest()
                with pytest.raises(Failed):
                    fail_after(session, lambda stage: edits.edit_some())
                assert session.scene_digest() == before
        if len(session.undo_labels) == len(digests):
            digests.append(session.scene_digest())
    return digests


@pytest.mark.parametrize("seed", sampled(range(0, PROGRAMS, 4), range(PROGRAMS)))
def test_random_programs(session: UsdSession, seed: int) -> None:
    """Undo passes every state in turn down to the start, and redo up to the end."""
    digests = run(session, Random(seed))

    for digest in reversed(digests[:-1]):
        session.undo()
        assert session.scene_digest() == digest
    assert session.undo_mark().label is None
    assert not session.modified
    for digest in digests[1:]:
        session.redo()
        assert session.scene_digest() == digest
    assert session.redo_labels == []
