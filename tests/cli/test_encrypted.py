"""Our own commands and a host that encrypts: found as any other, nothing is copied by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from mcp.shared.exceptions import MCPError

from dcc_bridge.cli.exits import UNREACHABLE
from tests.certificate import NAME, signed
from tests.cli.commands import SHOT, SKILLS, Served, serve
from tests.client.proxy import stage


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Sign a certificate, and give it and its key."""
    return signed(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def encrypted(
    tmp_path_factory: pytest.TempPathFactory, certificate: tuple[Path, Path]
) -> Iterator[Served]:
    """Serve at every address of this computer, under a name that no name server knows."""
    cert, key = map(str, certificate)
    told = {"DCC_BRIDGE_BIND": "0.0.0.0", "DCC_BRIDGE_TLS_CERT": cert, "DCC_BRIDGE_TLS_KEY": key}
    words = ("--headless", "--scene", SHOT, "--skills", SKILLS)
    with serve(tmp_path_factory.mktemp("runtime"), *words, **told) as served:
        yield served


@contextmanager
def another_certificate(host: Served, folder: Path) -> Iterator[None]:
    """Let the host have written down another certificate than the one that its port shows."""
    record = host.runtime / f"{host.instance.id}.json"
    told = record.read_text()
    other, _ = signed(folder)
    record.write_text(json.dumps(json.loads(told) | {"certificate": other.read_text()}))
    try:
        yield
    finally:
        record.write_text(told)


def test_our_commands_reach_it_and_trust_its_certificate_alone(encrypted: Served) -> None:
    listed, tools = encrypted.run("list"), encrypted.run("tools")
    called = encrypted.run("call", "scene_summary")
    undone = encrypted.run("undo")

    assert f"https://{NAME}:" in listed.out
    assert (tools.code, tools.err) == (0, "")
    assert "list_prims" in tools.out
    assert called.code == 0, called.err
    assert "There is nothing to undo." in undone.err


def test_the_doctor_finds_nothing_wrong_with_it(encrypted: Served) -> None:
    done = encrypted.run("doctor", "--no-question")

    assert f"answers at https://{NAME}:" in done.out
    assert "WRONG  The host" not in done.out


def test_connect_joins_a_client_to_it(encrypted: Served) -> None:
    async def agent() -> list[str]:
        async with stage.client(encrypted.runtime) as session:
            return await stage.names(session)

    assert "list_prims" in stage.run(agent)


def test_another_certificate_than_the_one_written_down_is_refused(
    encrypted: Served, tmp_path: Path
) -> None:
    async def agent() -> str:
        async with stage.client(encrypted.runtime) as session:
            try:
                return str(await stage.names(session))
            except MCPError as error:
                return error.message

    with another_certificate(encrypted, tmp_path):
        done, through_proxy = encrypted.run("tools"), stage.run(agent)

    assert (done.code, done.out) == (UNREACHABLE, "")
    assert "it shows a certificate that is not to be trusted." in done.err
    assert "went away in the middle of tools/list" in through_proxy


def test_the_record_that_names_it_is_its_users_alone(encrypted: Served) -> None:
    record = encrypted.runtime / f"{encrypted.instance.id}.json"

    assert record.stat().st_mode & 0o777 == 0o600
    assert "PRIVATE KEY" not in record.read_text()
    assert "CERTIFICATE" not in encrypted.run("list", "--json").out
