"""What a host's own process logs: a sentence in the terminal, all of it in a file."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from dcc_bridge.audit import program_log
from dcc_bridge.audit.program_log import ProgramLog, log_file
from dcc_bridge.cli import local_host
from tests import homes

TOKEN = "ab" * 32


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the file of a user of the test's own."""
    homes.set_all(monkeypatch, homes.state(tmp_path))
    return log_file()


def test_nothing_is_made_while_nothing_goes_wrong(file: Path) -> None:
    with local_host.logging_to_file():
        logging.getLogger("dcc_bridge").info("all is well")

    assert not file.parent.exists()


def test_what_others_log_of_a_client_is_in_the_file_alone(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with local_host.logging_to_file():
        logging.getLogger("mcp.server").warning("a client said %s", TOKEN)
        logging.getLogger("studio").warning("no licence for %s\nsecond line \x1b[2J", TOKEN)

    said = capsys.readouterr().err
    assert file.read_text().count("[redacted]") == 2
    assert TOKEN not in file.read_text() + said
    assert said.startswith("dcc-bridge: no licence for [redacted]: second line ")
    assert said.endswith(f"(more in {file})\n")
    assert "\x1b" not in said


def test_a_sentence_is_shown_to_its_end(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sentence = f"There are two skills of a name: {'x' * 300}. Rename the other."
    with local_host.logging_to_file():
        logging.getLogger("dcc_bridge").warning(sentence)

    assert sentence in capsys.readouterr().err.replace("dcc_bridge: ", "")


def test_a_file_that_is_full_is_put_aside_once(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_log, "_MAX_BYTES", 100)
    for number in range(3):
        with local_host.logging_to_file():
            logging.getLogger("dcc_bridge").warning("%d %s", number, "x" * 200)

    assert [" 2 x" in one.read_text() for one in (file, file.with_name("host.1.log"))] == [
        True,
        False,
    ]
    assert " 1 x" in file.with_name("host.1.log").read_text()


def test_a_full_file_that_another_program_has_open_ends_no_logging(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows does not rename it."""
    file.parent.mkdir(parents=True)
    file.write_text("x" * 200)
    monkeypatch.setattr(program_log, "_MAX_BYTES", 100)

    with file.open("rb"), local_host.logging_to_file():
        logging.getLogger("dcc_bridge").warning("1 x")

    assert "dcc_bridge: 1 x" in file.read_text()


def test_a_place_that_cannot_be_written_ends_nothing(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "dcc_bridge").write_text("in the way")

    with local_host.logging_to_file():
        logging.getLogger("dcc_bridge").warning("said all the same")

    assert capsys.readouterr().err == "dcc-bridge: said all the same\n"


def test_a_disk_that_is_full_ends_nothing_and_tells_no_token(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ProgramLog, "flush", full)

    with local_host.logging_to_file():
        logging.getLogger("studio").warning("no licence for %s", TOKEN)

    assert TOKEN not in capsys.readouterr().err
