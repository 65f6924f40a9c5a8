"""A copy of a client's file is whole, or is not there."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dcc_bridge.client.configs import files


def test_half_a_copy_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "client.json"
    file.write_text('{"mcpServers": {}}')

    def fills_the_disk(source: Path, target: Path) -> None:
        target.write_text('{"mcp')
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(shutil, "copyfile", fills_the_disk)
        with pytest.raises(OSError, match="No space"):
            files.keep(file)
    copy = files.keep(file)

    assert copy is not None
    assert copy.read_text() == '{"mcpServers": {}}'
