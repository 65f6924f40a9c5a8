"""What a host's own process logs: a sentence in the terminal, all of it in a file."""

from __future__ import annotations

import logging
import re
from pathlib import Path

import pytest

from dcc_bridge import skill
from dcc_bridge.audit import program_log
from dcc_bridge.audit.program_log import LOGGERS, ProgramLog, log_file, open_log
from dcc_bridge.cli import local_host
from tests import homes
from tests.live import live
from tests.stand_ins import FakeHost

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


def test_a_file_that_grows_full_while_it_is_written_is_put_aside(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server runs for weeks, beside other programs that write the same file."""
    monkeypatch.setattr(program_log, "_MAX_BYTES", 200)
    ours, others = ProgramLog(), ProgramLog()

    for number in range(3):
        for log in (ours, others):
            log.emit(logging.makeLogRecord({"msg": f"{number} {'x' * 60}"}))

    ours.close()
    others.close()
    names = [path.name for path in sorted(file.parent.iterdir())]
    kept = file.with_name("host.1.log").read_text()
    assert names == ["host.1.log", "host.log"]
    assert (kept.count(" 0 x"), file.read_text().count(" 2 x")) == (2, 2)
    assert (kept + file.read_text()).count(" 1 x") == 2


@pytest.mark.parametrize(
    ("level", "written"),
    [
        ("debug", ["DEBUG", "INFO", "WARNING", "ERROR"]),
        ("info", ["INFO", "WARNING", "ERROR"]),
        ("warning", ["WARNING", "ERROR"]),
        ("error", ["ERROR"]),
    ],
)
def test_the_setting_says_from_which_level_on_the_log_is_written(
    level: str, written: list[str], file: Path
) -> None:
    close = open_log(level)
    for number in (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR):
        logging.getLogger("dcc_bridge.skills").log(number, "said")
    close()
    logging.getLogger("dcc_bridge.skills").error("said after the end")

    assert re.findall(r"(\w+) dcc_bridge\.skills: said$", file.read_text(), re.M) == written


def test_a_library_says_no_more_at_a_lower_level(file: Path) -> None:
    """Its records may have arguments of a call in them."""
    close = open_log("debug")
    logging.getLogger("mcp.server").debug("a client sent {}")
    logging.getLogger("mcp.server").warning("a client is gone")
    close()

    assert "a client is gone" in file.read_text()
    assert "a client sent" not in file.read_text()


def test_a_warning_goes_on_to_the_console_of_an_application_without_a_log_of_its_own(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in LOGGERS:  # pytest's own handlers are at the root
        monkeypatch.setattr(logging.getLogger(name), "propagate", False)

    close = open_log("info")
    logging.getLogger("dcc_bridge").info("all is well")
    logging.getLogger("dcc_bridge").warning("no licence")
    close()

    assert capsys.readouterr().err == "no licence\n"
    assert "all is well" in file.read_text()


def test_a_record_is_written_once_where_the_program_writes_the_file_itself(file: Path) -> None:
    with local_host.logging_to_file():
        close = open_log("info")
        logging.getLogger("dcc_bridge").info("said once")
        close()

    assert file.read_text().count("said once") == 1


def test_a_bridge_writes_what_happens_to_calls_if_the_setting_says_so(
    file: Path, tmp_path: Path
) -> None:
    host = FakeHost()

    @skill(risk="edit")
    def add() -> None:
        """Add a camera."""
        host.items.append("cam1")

    with live(tmp_path / "bridge", add, host=host, log_level="info") as running:
        running.call("nothing")

    assert "INFO dcc_bridge.skills.runner: call " in file.read_text()


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
