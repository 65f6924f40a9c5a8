"""Who signs a person in, and what comes of it. Frozen, any thread."""

from __future__ import annotations

from dataclasses import dataclass

from dcc_bridge.elicitation.secret import Secret


@dataclass(frozen=True, slots=True)
class Provider:
    """A site with OAuth 2.1, at which this application is registered as a public client.

    The address to register there is ``http://127.0.0.1/signed-in``; the port is another one each
    time, which providers allow for a client on the person's own computer (RFC 8252, section 7.3),
    unless the bridge's settings name one.

    Attributes:
        authorize_url: Where the person signs in: https, or http on this computer.
        token_url: Where a code is changed for tokens, by the bridge itself; the same holds for it.
        client_id: As the provider knows the application.
        scopes: What is asked for.
        issuer: Who must have answered (RFC 9207); "" where the provider does not say.
        name: What a person reads; "" for the host of `authorize_url`.
    """

    authorize_url: str
    token_url: str
    client_id: str
    scopes: tuple[str, ...] = ()
    issuer: str = ""
    name: str = ""

    def __post_init__(self) -> None:
        """Look at its addresses.

        Raises:
            RefusedAddress: One of them is not safe to use.
        """
        from dcc_bridge.elicitation import urls  # 5 ms that only who signs in needs

        for url in (self.authorize_url, self.token_url):
            urls.read(url)

    @property
    def title(self) -> str:
        """What a person reads."""
        from dcc_bridge.elicitation import urls  # the same

        return self.name or urls.read(self.authorize_url).place.host


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a provider gave.

    Attributes:
        access: What requests to the provider are sent with.
        refresh: What a new one can be had with, or None.
        identity: An OpenID Connect ID token, not verified, or None.
        expires_in: Seconds for which `access` is good, or None where the provider did not say.
        scopes: What was granted.
    """

    access: Secret
    refresh: Secret | None = None
    identity: Secret | None = None
    expires_in: float | None = None
    scopes: tuple[str, ...] = ()

    @property
    def secrets(self) -> list[Secret]:
        """Every secret in it."""
        return [one for one in (self.access, self.refresh, self.identity) if one is not None]
