"""What the leaf's tests are run with."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("tests.verbs.operations_contract")
