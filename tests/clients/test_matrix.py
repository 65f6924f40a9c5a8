"""Other people's clients, in each of their eras, are asked over HTTP and through the proxy.

``npm`` and ``pip`` bring them into the user's cache, once; ``python -m tests.clients`` prints the
matrix.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.clients.cases import CASES
from tests.clients.kinds import HTTP, NPM, PROXY, ROWS
from tests.clients.matrix import Matrix, not_met

pytestmark = [
    pytest.mark.real,
    pytest.mark.long,
    pytest.mark.timeout(900),
    pytest.mark.skipif(NPM is None, reason="needs npm, which brings the clients"),
]

LISTED = [(row, case) for row, cases in not_met().items() for case in cases]


@pytest.fixture(scope="module")
def matrix(request: pytest.FixtureRequest) -> Iterator[Matrix]:
    """Begin the runs of those tests that were asked for."""
    params = [getattr(item, "callspec", None) for item in request.session.items]
    wanted = [param.params for param in params if param is not None and "row" in param.params]
    faults = {(param["row"], param["case"]) for param in wanted if "case" in param}
    rows = {param["row"] for param in wanted if "case" not in param}
    matrix = Matrix((row for row in ROWS if row in rows), sorted(faults))
    yield matrix
    print(matrix.table())
    matrix.close()


@pytest.mark.parametrize("row", ROWS)
def test_a_client_meets_every_case_but_those_on_the_list(row: str, matrix: Matrix) -> None:
    """No case is missed that is not known, and none is on the list that is met."""
    missed = {case: why for case, why in matrix[row].items() if why}
    known = not_met().get(row, {})

    assert missed.keys() == known.keys(), missed
    for case, why in missed.items():
        assert known[case]["seen"] in why


@pytest.mark.parametrize(("row", "case"), LISTED)
def test_what_a_client_does_not_do_it_does_not_do_at_a_bare_server(
    row: str, case: str, matrix: Matrix
) -> None:
    """The fault is the client's own; in the proxy's place the SDK's server is on stdio."""
    assert not_met()[row][case]["seen"] in matrix.at_bare_server((row, case))


def test_the_proxy_costs_no_client_a_case() -> None:
    """What is not met through the proxy is not met over HTTP either."""
    by_proxy, by_http = (
        {(row.removesuffix(way), case) for row, case in LISTED if row.endswith(way)}
        for way in (PROXY, HTTP)
    )

    assert by_proxy <= by_http


def test_the_list_names_real_clients_and_cases() -> None:
    """A misspelt line would excuse nothing."""
    assert {row for row, _ in LISTED} <= set(ROWS)
    assert {case for _, case in LISTED} <= {case.name for case in CASES}
