"""A form never asks for a secret, whatever the language of its field's name."""

from __future__ import annotations

from typing import Any

import pytest

from dcc_bridge.elicitation.schema import parse
from dcc_bridge.errors import SecretField

SECRETS = {
    "English": """
        password userPassword db_password passwd passphrase passcode api_key apiKey APIKey
        access_token authToken token github_token client_secret secret private_key ssh_key
        credentials cvv cvc2 pin pin_code otp credit_card_cvv card_number pwd recovery_code
        license_key""",
    "German": """
        Passwort benutzer_passwort Kennwort Adminkennwort Geheimzahl Zugangscode api_schlüssel
        privater_schluessel Zugriffstoken Sicherheitscode Einmalpasswort""",
    "French": """
        mot_de_passe motDePasse mdp clé_api cle_secrete clé_privée jeton_d_acces code_secret
        phrase_de_passe""",
    "Spanish": """
        contraseña clave clave_secreta clave_privada clave_de_acceso token_de_acceso
        código_de_seguridad credenciales frase_secreta""",
    "Japanese": """
        パスワード 暗証番号 秘密鍵 APIキー アクセストークン パスフレーズ""",
}
HARMLESS = """
    token_count max_tokens tokens tokenizer page_token design_token token_limit token_type
    key_frame keyframe key_light keyboard keyword keypoint shape_key key monkey hotkey
    passive passage passenger compass bypass beauty_pass render_passes pass_count passport_photo
    secretary author authority authored pin_constraint pin_weight pinned spinner opinion pinch
    cvs_path opt option options credits credit accessory access_level privacy private_notes
    api_version api_url password_length password_policy passwordless secret_name code barcode
    time_code timecode zip_code card cardinality schlüsselbild image_cle fotograma_clave
    palabra_clave キーフレーム 作者
"""


def ask(name: str, **part: Any) -> None:
    parse({"type": "object", "properties": {name: {"type": "string", **part}}})


@pytest.mark.parametrize("name", [name for names in SECRETS.values() for name in names.split()])
def test_a_secret_is_refused_with_what_to_use_instead(name: str) -> None:
    with pytest.raises(SecretField, match="ask_secret"):
        ask(name)


@pytest.mark.parametrize("name", HARMLESS.split())
def test_a_name_that_only_looks_like_one_is_asked_for(name: str) -> None:
    ask(name)


def test_there_are_sixty_of_each() -> None:
    assert sum(len(names.split()) for names in SECRETS.values()) >= 60
    assert len(HARMLESS.split()) >= 60


def test_the_title_and_the_format_give_it_away_too() -> None:
    for part in ({"title": "Your password"}, {"title": "Kennwort des Archivs"}):
        with pytest.raises(SecretField):
            ask("word", **part)
    with pytest.raises(SecretField):
        ask("word", format="password")


def test_what_cannot_hold_a_secret_is_none() -> None:
    ask("token", enum=["hero", "crowd"])
    parse({"type": "object", "properties": {"reset_password": {"type": "boolean"}}})
