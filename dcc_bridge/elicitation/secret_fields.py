"""Finds the fields of a form that ask for a secret, by their names. Any thread.

A form's answer passes through the client and often the model, so a form must not ask for a secret.
English names are known, and the words that other languages have taken over: "password", "PIN",
"token". What cannot hold a secret (yes or no, a choice from a list) is no secret by any name.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Found inside of a word too: "userpassword".
_STEMS: Final = _set("password passwd passphrase passcode credential apikey keyphrase")
_WORDS: Final = _set("secret secrets pwd otp totp cvv cvv2 cvc cvc2 jwt bearer ssn")
_ALONE: Final = _set("token pin 2fa")
_KEYS: Final = _set("key keys")
_OF_KEYS: Final = _set(
    "api access private ssh gpg pgp encryption signing license licence auth account master "
    "service storage deploy rsa"
)
_OTHER_TOKENS: Final = _set(  # what a token is of that is no secret: "page_token"
    "page continuation cancel cancellation design style syntax next path name last first sync "
    "resume progress shader usd"
)
_PAIRS: Final = frozenset(
    tuple(pair.split("+"))
    for pair in _set(
        "pin+code code+pin pin+number security+code card+number card+pin bank+pin user+pin "
        "account+pin sim+pin db+pass user+pass login+pass smtp+pass ftp+pass admin+pass "
        "recovery+code backup+codes verification+code auth+code 2fa+code mfa+code token+value "
        "token+string seed+phrase"
    )
)
_ARTICLES: Final = _set("of the your my for a an")
_ABOUT: Final = _set(  # last word of a name that only is about a secret: "password_length"
    "count counts length limit limits policy strength type types url uri endpoint expiry expires "
    "age name label path format provider manager location index position size budget usage "
    "rotation rule rules required enabled days"
)
_WORD: Final = re.compile(r"[^\W\d_]+[0-9]?(?![0-9])|[^\W\d_]+|[0-9]+[^\W\d_]+|[0-9]+")
_CAPITAL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def looks_secret(name: str, schema: Mapping[str, Any]) -> bool:
    """Return whether a field asks for something that must not pass through a client or a model.

    Of its schema the type, the format and the title are looked at.
    """
    if schema.get("format") == "password":
        return True
    if schema.get("type") in ("boolean", "array") or "enum" in schema or "oneOf" in schema:
        return False
    title = schema.get("title")
    return _names_secret(name) or (isinstance(title, str) and _names_secret(title))


def _names_secret(text: str) -> bool:
    words = _split(text)
    if not words or words[-1] in _ABOUT:
        return False
    if len(words) == 1 and words[0] in _ALONE:
        return True
    whole = [word for word in (*words, "".join(words)) if not word.endswith("less")]
    if not _WORDS.isdisjoint(words) or any(stem in word for word in whole for stem in _STEMS):
        return True
    # "access_token" is one, "page_token" is none
    is_token = len(words) > 1 and words[-1] == "token" and words[-2] not in _OTHER_TOKENS
    return is_token or any(_is_pair(*pair) for pair in pairwise(words))


def _is_pair(first: str, second: str) -> bool:
    is_key = second in _KEYS and first in _OF_KEYS
    return is_key or (first in _KEYS and second in _OF_KEYS) or (first, second) in _PAIRS


def _split(text: str) -> list[str]:
    """Split a name at its underscores, spaces and capitals, and drop the articles."""
    parted = _CAPITAL.sub(" ", unicodedata.normalize("NFKC", text))
    return [word for word in _WORD.findall(parted.casefold()) if word not in _ARTICLES]
