"""The names that give a secret away: what a form must not ask for. Any thread.

A form's answer passes through the client and often the model. English, German, French, Spanish and
Japanese names are known, and the commonest ones of some other languages. What cannot hold a secret
(a yes or no, a choice from a list) is never one, whatever it is called.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_STEMS: Final = (
    *("password", "passwd", "passphrase", "passcode", "credential", "apikey", "keyphrase"),
    *("passwort", "kennwort", "geheimzahl", "geheimnis", "geheimcode", "zugangscode", "zugangsdat"),
    *("sicherheitscode", "zugangsschluss", "zugangsschluess", "zugriffstoken", "zugangstoken"),
    *("geheimschluss", "geheimschluess", "kreditkart", "motdepasse", "cryptogramme"),
    *("contrasena", "credencial", "パスワード", "パスフレーズ", "パスコード", "暗証番号", "秘密鍵"),
    *("apiキー", "アクセスキー", "トークン", "シークレット", "認証コード", "セキュリティコード"),
    *("密码", "密碼", "密钥", "口令", "пароль", "секрет"),
)
"""Found inside of a word too: "userpassword", "Benutzerkennwort"."""
_WORDS: Final = _set(
    "secret secrets secrete secreta secreto pwd otp totp cvv cvv2 cvc cvc2 jwt bearer ssn "
    "mdp senha geheim"
)
_ALONE: Final = _set("token pin clave jeton 2fa")
_KEYS: Final = _set("key keys schluessel schlussel cle cles clave llave")
_OF_KEYS: Final = _set(
    "api access private ssh gpg pgp encryption signing license licence auth account master "
    "service storage deploy rsa privee acces privada acceso privater"
)
_TOKENS: Final = _set("token jeton ficha")
_OTHER_TOKENS: Final = _set(
    "page continuation cancel cancellation design style syntax next path name last first sync "
    "resume progress shader usd"
)
"""What a token is of that is none: "page_token"."""
_PAIRS: Final = frozenset(
    tuple(pair.split("+"))
    for pair in _set(
        "mot+passe phrase+passe pin+code code+pin pin+number security+code codigo+seguridad "
        "code+confidentiel card+number numero+carte numero+tarjeta card+pin bank+pin user+pin "
        "account+pin sim+pin db+pass user+pass login+pass smtp+pass ftp+pass admin+pass "
        "recovery+code backup+codes verification+code auth+code 2fa+code mfa+code cle+api "
        "clave+api jeton+acces token+value token+string token+acceso seed+phrase"
    )
)
_LITTLE: Final = _set("de d l la le el del du do da of the your my for a an votre su")
_ABOUT: Final = _set(
    "count counts length limit limits policy strength type types url uri endpoint expiry expires "
    "age name label path format provider manager location index position size budget usage "
    "rotation rule rules required enabled days"
)
"""What comes last in a name that is about a secret, and asks for none."""
_SPLIT: Final = re.compile(r"[^\W\d_]+[0-9]?(?![0-9])|[^\W\d_]+|[0-9]+[^\W\d_]+|[0-9]+")


def looks_secret(name: str, part: Mapping[str, Any]) -> bool:
    """Whether a field asks for something that must not pass through a client or a model.

    Args:
        name: The field's.
        part: Its schema, of which the type, the format and the title are looked at.
    """
    if part.get("format") == "password":
        return True
    if part.get("type") in ("boolean", "array") or "enum" in part or "oneOf" in part:
        return False
    title = part.get("title")
    return _tells(name) or (isinstance(title, str) and _tells(title))


def _tells(text: str) -> bool:
    words = _words(text)
    if not words or words[-1] in _ABOUT:
        return False
    if len(words) == 1 and words[0] in _ALONE:
        return True
    if not _WORDS.isdisjoint(words) or any(map(_has_stem, [*words, "".join(words)])):
        return True
    return any(_is_pair(*pair) for pair in pairwise(words)) or _is_token(words)


def _has_stem(word: str) -> bool:
    return not word.endswith("less") and any(stem in word for stem in _STEMS)


def _is_pair(first: str, second: str) -> bool:
    is_key = second in _KEYS and first in _OF_KEYS
    return is_key or (first in _KEYS and second in _OF_KEYS) or (first, second) in _PAIRS


def _is_token(words: list[str]) -> bool:
    """Whether it ends as "access_token" does, and not as "page_token"."""
    return len(words) > 1 and words[-1] in _TOKENS and words[-2] not in _OTHER_TOKENS


def _words(text: str) -> list[str]:
    """Split a name at its underscores, spaces and capitals; accents do not count."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", text)
    plain = _without_accents(unicodedata.normalize("NFKC", parted).casefold())
    return [word for word in _SPLIT.findall(plain) if word not in _LITTLE]


def _without_accents(text: str) -> str:
    """Drop the accents of Latin letters; those of other scripts make other letters."""
    kept: list[str] = []
    for char in text:
        base = unicodedata.normalize("NFD", char)[0]
        kept.append(base if base.isascii() else char)
    return "".join(kept)
