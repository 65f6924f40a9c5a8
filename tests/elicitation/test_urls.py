"""A URL says where it really leads and what is odd about it; nothing is looked up."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from dcc_bridge import elicit_url_sync
from dcc_bridge.elicitation import urls
from dcc_bridge.errors import RefusedAddress
from tests.elicitation.vectors import DISGUISED, FORBIDDEN, PHISHING, PLAIN


def kinds(url: str) -> str:
    return " ".join(danger.kind for danger in urls.read(url).dangers)


@pytest.mark.parametrize(("url", "wanted"), PHISHING.items())
def test_every_vector_is_warned_of(url: str, wanted: str) -> None:
    assert kinds(url) == wanted


def test_there_are_forty_vectors() -> None:
    assert len(PHISHING) + len(DISGUISED) >= 40
    assert len(FORBIDDEN) >= 30


@pytest.mark.parametrize(("url", "why"), DISGUISED.items())
def test_what_hides_where_it_leads_is_refused_to_the_author_of_the_skill(
    url: str, why: str
) -> None:
    with pytest.raises(RefusedAddress, match=why):
        elicit_url_sync("Sign in, please.", url)


@pytest.mark.parametrize("url", FORBIDDEN)
def test_what_is_no_page_is_refused(url: str) -> None:
    with pytest.raises(RefusedAddress, match="refused: "):
        urls.read(url)


@pytest.mark.parametrize("url", PLAIN)
def test_a_plain_address_is_shown_without_a_warning(url: str) -> None:
    assert kinds(url) == ""


@pytest.mark.parametrize(
    ("url", "weak", "strong", "letters"),
    [
        ("https://accounts.google.com.evil.co.uk/", "accounts.google.com.", "evil.co.uk", ""),
        ("https://studio.github.io/", "", "studio.github.io", ""),
        ("https://a.studio.github.io/", "a.", "studio.github.io", ""),
        ("https://www.xn--mnchen-3ya.de/", "www.", "xn--mnchen-3ya.de", "www.münchen.de"),
        ("https://tracker/", "", "tracker", ""),
        ("https://WWW.Example.COM./", "www.", "example.com.", ""),
        ("https://203.0.113.7/", "", "203.0.113.7", ""),
    ],
)
def test_the_part_that_somebody_registered_stands_out(
    url: str, weak: str, strong: str, letters: str
) -> None:
    place = urls.read(url).place

    assert (place.weak, place.strong, place.letters) == (weak, strong, letters)


@pytest.mark.parametrize(
    ("given", "opened"),
    [
        ("HTTPS://Example.COM", "https://example.com/"),
        ("https://example.com:443?a=b c".replace(" ", "+"), "https://example.com/?a=b+c"),
        ("https://müller.example/é?ü#ö", "https://xn--mller-kva.example/%C3%A9?%C3%BC#%C3%B6"),
        ("https://a.example/100%?[x]|{y}", "https://a.example/100%25?%5Bx%5D%7C%7By%7D"),
        ("https://c.example/%2f", "https://c.example/%2F"),
        ("http://127.0.0.1:80/", "http://127.0.0.1/"),
        ("https://[2001:0DB8::0:1]/", "https://[2001:db8::1]/"),
    ],
)
def test_what_opens_is_encoded_whole(given: str, opened: str) -> None:
    assert urls.read(given).url == opened
    assert urls.read(opened).url == opened


def test_a_page_of_ours_is_exempt() -> None:
    read = urls.read("http://127.0.0.1:41234/ask/0123456789abcdef", ours=True)

    assert read.dangers == ()
    assert read.ours


def test_a_sentence_says_what_is_wrong() -> None:
    (danger,) = urls.read("https://accounts.google.com.evil.example/").dangers

    assert danger.text == "It looks like accounts.google.com but belongs to evil.example."


def test_nothing_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("an address was looked up")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)

    for _ in range(25):
        for url in (*PHISHING, *PLAIN):
            urls.read(url)
