"""What several modules of tests of the verbs need."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("tests.verbs.operations_contract")
