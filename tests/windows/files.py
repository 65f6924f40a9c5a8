"""Which tests run on Windows: all that is wanted, and what ``--quick`` takes of it."""

from __future__ import annotations

from typing import Final

ON_SCREEN: Final = frozenset(
    {"tests/qt/test_question_dialog.py", "tests/usd/window/test_delete_prims.py"}
)
"""What Qt draws by its own plug-in for Windows, on a screen. All else is drawn nowhere."""

_WINDOW: Final = " ".join(sorted(ON_SCREEN))  # one process, for a window has the keyboard
FILES: Final = (
    "tests/cli/test_call.py",
    "tests/cli/test_demo.py",
    "tests/test_guide.py",
    "tests/cli/test_command.py",
    "tests/client/proxy/test_hosts_come_and_go.py",
    "tests/client/proxy/test_passing.py",
    "tests/audit",
    "tests/batch/test_approval.py",
    "tests/batch/test_ledger.py",
    "tests/batch/test_swap.py",
    "tests/cli/test_audit.py",
    "tests/cli/test_checkpoint.py",
    "tests/cli/test_client.py",
    "tests/client/test_connection.py",
    "tests/client/test_terminal.py",
    "tests/client/proxy/test_choice.py",
    "tests/client/proxy/test_first_words.py",
    "tests/client/proxy/test_other_version.py",
    "tests/client/proxy/test_router.py",
    "tests/elicitation",
    "tests/hosts/test_checkpoints.py",
    "tests/hosts/test_contract.py",
    "tests/hosts/test_save_scene.py",
    _WINDOW,
    "tests/usd/test_files.py",
    "tests/usd/test_session.py",
    "tests/install",
    "tests/server/test_auth.py",
    "tests/server/test_discovery.py",
    "tests/server/test_start.py",
    "tests/server/test_worker.py",
    "tests/skills",
    "tests/test_callbacks.py",
    "tests/test_config.py",
    "tests/batch/test_task.py",
    "tests/test_held_files.py",
    "tests/test_imports.py",
    "tests/test_plugin.py",
    "tests/test_shell.py",
    "tests/threads",
    "tests/threats/test_reach.py",
    "tests/threats/test_tokens.py",
)
"""What a run of minutes takes, the slowest first. What is named with a space is one process."""

_DEMO: Final = "tests/cli/test_demo.py::"
_HOSTS: Final = "tests/client/proxy/test_hosts_come_and_go.py::"
QUICK: Final = (
    # The doors: `connect` over its pipe, several hosts at once, and one that is killed.
    f"{_HOSTS}test_without_a_host_it_says_so_and_goes_on_once_one_is_started"
    f" {_HOSTS}test_three_hosts_at_once_and_a_change_between_them_in_mid_session"
    f" {_HOSTS}test_a_host_that_dies_with_its_question_open_ends_the_call_with_a_sentence",
    # The demo, each of its ten steps.
    f"{_DEMO}test_an_agreement_deletes_and_undo_brings_back_in_numbered_steps"
    f" {_DEMO}test_a_refusal_deletes_nothing",
    # Install and uninstall, the clients' entries, the question in a terminal.
    "tests/install/test_plan.py tests/install/test_locations.py tests/install/test_applications.py"
    " tests/cli/test_client.py tests/client/test_terminal.py",
    # A window of Qt whose dialog is answered by keys, and our own application's.
    _WINDOW,
    # Files, locks, and the records by which hosts are found.
    "tests/usd/test_files.py tests/hosts/test_save_scene.py tests/hosts/test_checkpoints.py"
    " tests/server/test_discovery.py tests/server/test_worker.py tests/server/test_start.py"
    " tests/client/test_connection.py tests/client/proxy/test_choice.py"
    " tests/client/proxy/test_router.py",
)
"""What ``.ci/run`` takes: some minutes."""
