"""Sign a file with a key that only the person knows. In any host."""

from __future__ import annotations

import hmac
from pathlib import Path

from dcc_bridge import skill
from dcc_bridge.elicitation.ask_secret import ask_secret_sync


@skill(risk="read", thread="any")
def sign_file(path: str) -> dict[str, str]:
    """Sign a file, so that whoever has the same key can see that nobody changed it.

    The person enters the key on a page of the application: it is in no argument and no result.

    Args:
        path: The file.

    Returns:
        The file's name and its HMAC-SHA-256, in hexadecimal.
    """
    file = Path(path).expanduser()
    if not file.is_file():
        raise ValueError(f"There is no file {file}.")
    key = ask_secret_sync(f"Sign {file.name}?\nThe key is used once.", label="Key for signatures")
    with file.open("rb") as content:
        digest = hmac.new(key.reveal().encode(), content.read(), "sha256")
    return {"file": file.name, "hmac_sha256": digest.hexdigest()}
