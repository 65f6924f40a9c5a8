"""The service interface says all of itself: every name is there, documented, and in a table."""

from __future__ import annotations

import importlib
import re
from types import ModuleType

import pytest

from dcc_bridge import spi
from dcc_bridge.host import Application, Host, SceneGuard, UndoStack
from dcc_bridge.verbs.operations import HostOperations
from tests import house
from tests.verbs.every_port import PORTS

MODULES = [importlib.import_module(name) for name in house.OFFERED if name != "dcc_bridge"]
CORE_PORTS = "dcc_bridge.verbs.ports"
MAX_METHODS = 15


@pytest.fixture(params=MODULES, ids=[module.__name__ for module in MODULES])
def module(request: pytest.FixtureRequest) -> ModuleType:
    assert isinstance(request.param, ModuleType)
    return request.param


def table(module: ModuleType) -> dict[str, str]:
    """Return the names of the tables of a module's docstring, with what is said of each."""
    rows = re.findall(r"^``(\w+)`` +(\S.*)$", module.__doc__ or "", re.MULTILINE)
    return dict(rows)


def test_the_tables_have_every_name_and_no_other(module: ModuleType) -> None:
    assert sorted(table(module)) == sorted(module.__all__)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


def test_a_name_without_a_docstring_is_explained_in_the_table(module: ModuleType) -> None:
    """A type's row says that it is one, as `help` says nothing of it."""
    told = table(module)
    aliases = [name for name in module.__all__ if house.is_alias(getattr(module, name))]
    constants = {"MOST_TOLD", "SCENE", "SCENE_PROPS", "loss_check"}

    assert {name for name in aliases if not told[name].startswith("type: ")} <= constants
    assert [name for name in told if told[name].startswith("type: ") and name not in aliases] == []


@pytest.mark.parametrize("port", [*PORTS, Application, Host, SceneGuard, UndoStack])
def test_a_port_is_small(port: type) -> None:
    own = [name for name in vars(port) if not name.startswith("_")]
    methods = [name for name in own if callable(vars(port)[name])]

    assert len(methods) <= MAX_METHODS


def test_every_port_of_the_verbs_is_offered() -> None:
    offered = {getattr(spi, name) for name in spi.__all__}
    below = {kind for kind in HostOperations.__subclasses__() if kind.__module__ == CORE_PORTS}

    assert below | {HostOperations} == set(PORTS)
    assert set(PORTS) <= offered


def test_no_method_of_a_port_says_that_it_is_not_here() -> None:
    """A host that cannot do it does not implement the port."""
    bodies = [method for port in PORTS for method in vars(port).values() if callable(method)]
    codes = [method.__code__ for method in bodies if hasattr(method, "__code__")]

    assert codes
    assert [code.co_qualname for code in codes if "NotImplementedError" in code.co_names] == []
