"""URLs as phishers make them: what must be said of each, or that it is refused."""

from __future__ import annotations

from typing import Final

PHISHING: Final[dict[str, str]] = {
    # Names that look like others.
    "https://xn--80ak6aa92e.com/": "punycode",
    "https://аррӏе.com/login": "punycode",
    "https://www.paypaⅼ.com.secure.example/": "imitation",
    "https://accounts.google.com.evil.example/signin": "imitation",
    "https://münchen-studio.de/": "punycode",
    "https://ɢoogle.com/": "punycode",
    "https://login.xn--fiqs8s/": "punycode",
    "https://日本語.jp/": "punycode",
    "https://ラーメン佐々木tokyo.jp/": "punycode",
    "https://한국tv.kr/": "punycode",
    # Numbers.
    "https://203.0.113.7/": "ip",
    "https://[2001:db8::1]/": "ip",
    "https://[::ffff:203.0.113.7]/": "ip",
    "http://127.0.0.1:8080/": "ip localhost http port",
    "http://[::1]/": "ip localhost http",
    # Ways.
    "http://localhost/": "localhost http",
    "http://tracker.localhost:3000/": "localhost http port",
    "https://tracker.example:8443/": "port",
    "https://tracker.example:80/": "port",
    # What cannot be seen.
    "https://tracker.example/%00": "hidden",
    "https://tracker.example/?next=%0D%0ASet-Cookie:x": "hidden",
    "https://tracker.example/invoice%E2%80%AEfdp.exe": "hidden",
    "https://tracker.example/\u200bsignin": "hidden",
    "https://tracker.example/?q=%C2%85": "hidden",
    "https://tracker.example/#%7F": "hidden",
    # Length.
    "https://tracker.example/" + "a" * 2000: "long",
    "https://a.example/?" + "x" * 8000: "long",
}
DISGUISED: Final[dict[str, str]] = {
    # Names of letters of several alphabets.
    "https://gооgle.com/": "mixes alphabets",
    "https://xn--pypal-4ve.com/": "mixes alphabets",
    "https://ѕhotgrid.autodesk.com/": "mixes alphabets",
    "https://αpple.com/": "mixes alphabets",
    # What stands before the host.
    "https://accounts.google.com@evil.example/": "before the @",
    "https://accounts.google.com:443@evil.example/": "before the @",
    "https://accounts.google.com%2F@evil.example/": "before the @",
    "https://user:pass@tracker.example/": "before the @",
    "https://@evil.example/": "before the @",
    "https://accounts.google.com%E2%80%AE@evil.example/": "before the @",
    # Numbers.
    "https://3405803783/": "not four decimal ones",
    "https://0xCB007107/": "not four decimal ones",
    "https://0313.0.0161.07/": "not four decimal ones",
    "https://0xcb.0x00.0x71.0x07/": "not four decimal ones",
    "https://203.0.28935/": "not four decimal ones",
    "https://203.0.113.7./": "not four decimal ones",
    "http://2130706433/": "not four decimal ones",
    "http://0x7f.1/": "not four decimal ones",
}
"""What hides where it leads, and a part of the error that says so."""
FORBIDDEN: Final = (
    *("javascript:alert(1)", "JaVaScRiPt://example.com/%0aalert(1)", "data:text/html,hello"),
    *("file:///etc/passwd", "smb://server/share", "ms-settings:privacy", "ms-word:ofe|u|http://x"),
    *("ftp://example.com/", "ssh://example.com/", "mailto:a@example.com", "tel:+49123"),
    *("vbscript:x", "blob:https://example.com/1", "about:blank", "chrome://settings", "ws://a.b/"),
    *("view-source:https://example.com/", "intent://x#Intent;end", "git+ssh://a.b/", "//a.b/"),
    *("http://example.com/", "http://localhost.evil.example/", "http://127.0.0.1.evil.example/"),
    *("http://0.0.0.0/", "https:/example.com/", "https:example.com", "https:///example.com/", ""),
    *(
        "https://",
        "example.com",
        "https://exa mple.com/",
        "https://example.com\t/",
        "\nhttps://a.b/",
    ),
    *("https://example.com\\@evil.example/", "https://evil.example\\.example.com/"),
    *("https://ex%61mple.com/", "https://example.com:0/", "https://example.com:99999/"),
    *("https://example.com:8o/", "https://a..b/", "https://-a.b/", "https://[::1/", "https://[x]/"),
    *("https://[fe80::1%25eth0]/", "https://256.1.1.1/", "https://1.2.3.4.5/", "https://08.1.1.1/"),
    *("https://example.com／evil/", "https://xn--a/", "https://xn--zzzzzz-.com/"),
    *("https://example.com\x00/", "https://a.b/\x85", "https://" + "a." * 130 + "b/"),
    *("https://a.b/" + "x" * 9000, "https://exam\u202eple.com/", "https://a\u200d.b/"),
)
PLAIN: Final = (
    *("https://example.com/", "https://tracker.studio.example/sign-in?next=%2Fhome&x=1#top"),
    *("https://accounts.google.com/o/oauth2/v2/auth?client_id=1&scope=a%20b", "https://tracker/"),
    *("https://shots.example.co.uk/p/%E6%97%A5%E6%9C%AC", "https://my_render.studio.example/"),
    *("https://example.com:443/", "https://static.dev.example.com/", "https://www.example.org/"),
)
