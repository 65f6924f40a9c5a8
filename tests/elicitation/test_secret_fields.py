"""A form never asks for a secret."""

from __future__ import annotations

from typing import Any

import pytest

from dcc_bridge.elicitation.schema import parse
from dcc_bridge.errors import SecretField

SECRETS = """
    password userPassword db_password passwd passphrase passcode api_key apiKey APIKey
    access_token accessToken authToken token github_token client_secret secret private_key ssh_key
    credentials cvv cvc2 pin pin_code otp credit_card_cvv card_number pwd recovery_code license_key
    PIN_Code API-Key Login-Password
"""
HARMLESS = """
    token_count max_tokens tokens tokenizer page_token design_token token_limit token_type
    key_frame keyframe key_light keyboard keyword keypoint shape_key key monkey hotkey
    passive passage passenger compass bypass beauty_pass render_passes pass_count passport_photo
    secretary author authority authored pin_constraint pin_weight pinned spinner opinion pinch
    cvs_path opt option options credits credit accessory access_level privacy private_notes
    api_version api_url password_length password_policy passwordless secret_name code barcode
    time_code timecode zip_code card cardinality schlüsselbild image_cle キーフレーム 作者
"""


def ask(name: str, **part: Any) -> None:
    parse({"type": "object", "properties": {name: {"type": "string", **part}}})


@pytest.mark.parametrize("name", SECRETS.split())
def test_a_secret_is_refused_with_what_to_use_instead(name: str) -> None:
    with pytest.raises(SecretField, match="ask_secret"):
        ask(name)


@pytest.mark.parametrize("name", HARMLESS.split())
def test_a_name_that_only_looks_like_one_is_asked_for(name: str) -> None:
    ask(name)


@pytest.mark.parametrize("part", [{"title": "Your password"}, {"format": "password"}])
def test_the_title_and_the_format_give_a_secret_away_too(part: dict[str, Any]) -> None:
    with pytest.raises(SecretField):
        ask("word", **part)


def test_what_cannot_hold_a_secret_is_none() -> None:
    ask("token", enum=["hero", "crowd"])
    parse({"type": "object", "properties": {"reset_password": {"type": "boolean"}}})
