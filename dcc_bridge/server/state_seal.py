"""Signs the state that a client brings back with an answer. Worker.

The SDK checks what the state is for: the call, its arguments, its client and its time. It leaves it
to a codec that no client makes or changes a state. The SDK's own codec also encrypts, for which
`cryptography` would come into every application, 15 MB of it. Nothing in a state is a secret: the
client made the call that it names.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import secrets
from typing import Final

from mcp.server.request_state import InvalidRequestState

_VERSION: Final = "v1."
_KEY_BYTES: Final = 32
_DIGEST: Final = "sha256"
_DIGEST_BYTES: Final = 32


class StateSeal:
    """A codec for the SDK: HMAC-SHA256 with a key that only this process has, and never stores."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(_KEY_BYTES)

    def seal(self, payload: bytes) -> str:
        """Return the state for a client, with what it is for and the signature of that.

        Args:
            payload: What it is for.
        """
        return _VERSION + _encoded(self._digest(payload) + payload)

    def unseal(self, token: str) -> bytes:
        """Return what a state is for.

        Args:
            token: The state, as a client sent it.

        Raises:
            InvalidRequestState: It is not one of this process, to the letter.
        """
        if not token.startswith(_VERSION):
            raise InvalidRequestState("malformed")
        text = token.removeprefix(_VERSION)
        try:
            signed = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        except (ValueError, binascii.Error):
            raise InvalidRequestState("malformed") from None
        if _encoded(signed) != text:  # Python ignores letters that are not of the alphabet
            raise InvalidRequestState("malformed")
        payload = signed[_DIGEST_BYTES:]
        if not hmac.compare_digest(signed[:_DIGEST_BYTES], self._digest(payload)):
            raise InvalidRequestState("seal")
        return payload

    def _digest(self, payload: bytes) -> bytes:
        return hmac.digest(self._key, _VERSION.encode() + payload, _DIGEST)


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
