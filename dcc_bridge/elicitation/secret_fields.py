"""Finds the fields of a form that ask for a secret, by their names. Any thread.

A form's answer passes through the client and often the model, so `schema.parse` refuses a form that
asks for a secret. `looks_secret` knows English names and the words that other languages have taken
over: "password", "PIN", "token". A field that cannot hold a secret (yes or no, a choice from a
list) never looks like a secret.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# A name with one of these in a word is a secret: "userpassword".
_SECRET_STEMS: Final = _set("password passwd passphrase passcode credential apikey keyphrase")
# A name with one of these words is a secret: "client_secret".
_SECRET_WORDS: Final = _set("secret secrets pwd otp totp cvv cvv2 cvc cvc2 jwt bearer ssn")
# A name of one of these words alone is a secret.
_SECRET_ALONE: Final = _set("token pin 2fa")
_KEYS: Final = _set("key keys")
# A key next to one of these words is a secret: "private_key", "key_ssh".
_SECRET_KEYS: Final = _set(
    "api access private ssh gpg pgp encryption signing license licence auth account master "
    "service storage deploy rsa"
)
# A token after one of these words is no secret: "page_token".
_HARMLESS_TOKENS: Final = _set(
    "page continuation cancel cancellation design style syntax next path name last first sync "
    "resume progress shader usd"
)
_SECRET_PAIRS: Final = frozenset(
    tuple(pair.split("+"))
    for pair in _set(
        "pin+code code+pin pin+number security+code card+number card+pin bank+pin user+pin "
        "account+pin sim+pin db+pass user+pass login+pass smtp+pass ftp+pass admin+pass "
        "recovery+code backup+codes verification+code auth+code 2fa+code mfa+code token+value "
        "token+string seed+phrase"
    )
)
_ARTICLES: Final = _set("of the your my for a an")
# A name that ends with one of these words is only about a secret: "password_length".
_ABOUT_A_SECRET: Final = _set(
    "count counts length limit limits policy strength type types url uri endpoint expiry expires "
    "age name label path format provider manager location index position size budget usage "
    "rotation rule rules required enabled days"
)
_WORD: Final = re.compile(r"[^\W\d_]+[0-9]?(?![0-9])|[^\W\d_]+|[0-9]+[^\W\d_]+|[0-9]+")
_CAPITAL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def looks_secret(name: str, schema: Mapping[str, Any]) -> bool:
    """Return whether a field asks for something that must not pass through a client or a model.

    Args:
        name: The name of the field.
        schema: The field's schema; its type, format and title are looked at.
    """
    if schema.get("format") == "password":
        return True
    if schema.get("type") in ("boolean", "array"):
        return False
    if "enum" in schema or "oneOf" in schema:
        return False
    if _names_secret(name):
        return True
    title = schema.get("title")
    return isinstance(title, str) and _names_secret(title)


def _names_secret(text: str) -> bool:
    words = _split(text)
    if not words or words[-1] in _ABOUT_A_SECRET:
        return False
    if len(words) == 1 and words[0] in _SECRET_ALONE:
        return True
    if not _SECRET_WORDS.isdisjoint(words):
        return True
    # Joined, because a name may be split within a word: "pass_word".
    if any(_has_secret_stem(word) for word in (*words, "".join(words))):
        return True
    if len(words) > 1 and words[-1] == "token" and words[-2] not in _HARMLESS_TOKENS:
        return True
    return any(_is_secret_pair(first, second) for first, second in pairwise(words))


def _has_secret_stem(word: str) -> bool:
    # "passwordless" is the opposite.
    if word.endswith("less"):
        return False
    return any(stem in word for stem in _SECRET_STEMS)


def _is_secret_pair(first: str, second: str) -> bool:
    if first in _SECRET_KEYS and second in _KEYS:
        return True
    if first in _KEYS and second in _SECRET_KEYS:
        return True
    return (first, second) in _SECRET_PAIRS


def _split(text: str) -> list[str]:
    """Split a name at its underscores, spaces and capitals, and drop the articles."""
    parted = _CAPITAL.sub(" ", unicodedata.normalize("NFKC", text))
    return [word for word in _WORD.findall(parted.casefold()) if word not in _ARTICLES]
