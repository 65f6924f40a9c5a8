"""Enables a plug-in in an application's preferences, and takes that back. Main thread.

The application is run once without a window, with the preferences of this user, and saves them. It
also loads the user's other plug-ins then, as at every start.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from dcc_bridge.cli import interpreter
from dcc_bridge.install import preferences as files
from dcc_bridge.install.locations import Facts, InstallTarget, System
from dcc_bridge.install.preferences import Preferences
from dcc_bridge.install.running import is_running

_MAY_OVERWRITE: Final = "{title} is open, and may overwrite its preferences when it is closed"


def preferences_of(application: InstallTarget, facts: Facts) -> Preferences | None:
    """Return the preferences in which a version's plug-in must be enabled; None if it need not."""
    return application.preferences(System.here(), facts)


def not_enabled_in(application: InstallTarget, facts: Facts) -> Preferences | None:
    """Return the preferences in which a version's plug-in must be enabled, and is not.

    None if it is there in another form too: the two would be started side by side.
    """
    preferences = preferences_of(application, facts)
    if preferences is None or preferences.is_enabled:
        return None
    if application.other_form(System.here(), facts) is not None:
        return None
    return preferences


def to_enable(application: InstallTarget, facts: Facts) -> Preferences | None:
    """Return the preferences in which `enable` can enable a plug-in that is not enabled yet.

    Args:
        application: The application.
        facts: The facts of its version.
    """
    preferences = not_enabled_in(application, facts)
    if preferences is None:
        return None
    if facts.program is None or interpreter.is_python(facts.program):
        return None
    return preferences


def change(application: InstallTarget, preferences: Preferences) -> str:
    """Return where and how `enable` enables a plug-in, as the rest of a clause for the person."""
    file = preferences.file
    copy = ""
    if file.exists():
        copy = f" (a copy of the file as it is: {files.copy_name(file)}-...)"
    return f"in {file}, by running {application.title} once without a window{copy}"


def warning(application: InstallTarget, facts: Facts) -> str:
    """Return what the person should do before the preferences are saved, as a sentence; or ""."""
    if preferences_of(application, facts) is None or facts.program is None:
        return ""
    if not is_running(facts.program):
        return ""
    return f"{_MAY_OVERWRITE.format(title=application.title)}. Close it first"


def enable(application: InstallTarget, facts: Facts) -> str:
    """Enable a plug-in for this user if it must be, and return the person's next step.

    Args:
        application: The application.
        facts: The facts of its version.

    Returns:
        One or two sentences. If it could not be enabled, they say why, and how the person does it.

    Raises:
        OSError: The preferences cannot be copied, so they were not changed; or their copy, which
            stays beside them, cannot be put back.
    """
    preferences = to_enable(application, facts)
    title = application.title
    if preferences is None:
        found = preferences_of(application, facts)
        if found is not None and found.is_enabled:
            return f"It is enabled. Restart {title} if it is open."
        return application.afterwards
    files.back_up(preferences.file)
    why = _run(application, facts, preferences, "yes")
    if not why and not preferences.is_enabled:
        why = f"{title} did not write {preferences.file}"
    if why:
        changed = ""
        if not files.put_back(preferences.file, preferences.mark):
            copy = files.copy_name(preferences.file)
            changed = f" {preferences.file} was changed meanwhile; {copy} is how it was before."
        return f"It could not be enabled: {why}.{changed} {application.afterwards}"
    with suppress(OSError):  # `disable` then lets the application do it
        files.seal(preferences.file)
    if warning(application, facts):
        danger = _MAY_OVERWRITE.format(title=title)
        return f"It is enabled. {danger}: if it is not enabled after that, run this again."
    return f"It is enabled; start {title}."


def change_back(application: InstallTarget, facts: Facts) -> str:
    """Return what `disable` does, as a clause for the person; "" for nothing."""
    preferences = preferences_of(application, facts)
    if preferences is None:
        return ""
    file = preferences.file
    if files.can_restore(file):
        return f"{file} is put back as it was before"
    if not preferences.is_enabled or facts.program is None:
        return ""
    return f"it is disabled in {file}, by running {application.title} once without a window"


def disable(application: InstallTarget, facts: Facts) -> str:
    """Disable a plug-in for this user, and return what was done, as a sentence; "" for nothing.

    The preferences are as they were before `enable` if nothing else has changed in them since. The
    files of the plug-in may be gone.

    Args:
        application: The application.
        facts: The facts of its version.
    """
    preferences = preferences_of(application, facts)
    if preferences is None:
        return ""
    try:
        return _disable(application, facts, preferences)
    except OSError as error:
        return f"The preferences could not be put back: {error}."


def _disable(application: InstallTarget, facts: Facts, preferences: Preferences) -> str:
    if files.restore(preferences.file):
        return "The preferences are as they were before."
    why = ""
    if preferences.is_enabled:
        why = f"{application.title} was not found"
        if facts.program is not None:
            why = _run(application, facts, preferences, "no")
    if why:
        return f"It is still enabled in {preferences.file}: {why}."
    files.delete_copies(preferences.file)
    return ""


def _run(application: InstallTarget, facts: Facts, preferences: Preferences, wanted: str) -> str:
    """Run the script of the preferences, and return why it failed, or ""."""
    assert facts.program is not None
    answer = interpreter.answer(
        facts.program, application.start_option, preferences.script, DCC_BRIDGE_ENABLE=wanted
    )
    if answer is None or "why" not in answer:
        return f"{facts.program} did not answer"
    return str(answer["why"])
