"""The port through which skills get pages of this application. Any thread."""

from __future__ import annotations

from typing import Protocol

from dcc_bridge.elicitation.question import Question, Visit
from dcc_bridge.elicitation.secret import Secret
from dcc_bridge.elicitation.web.provider import Provider, Tokens


class SecretVisit(Visit, Protocol):
    """A page on which a secret is entered.

    Attributes:
        secret: What was entered, once the question was accepted.
    """

    secret: Secret | None


class SignInVisit(Visit, Protocol):
    """A person's way to a provider and back.

    Attributes:
        tokens: What the provider gave, once the question was accepted.
        failure: Why it gave nothing that can be used, or "".
    """

    tokens: Tokens | None
    failure: str


class Desk(Protocol):
    """Gives out pages. `dcc_bridge.server.pages` has the real one."""

    def secret(self, question: Question, label: str) -> tuple[str, SecretVisit]:
        """Make a page on which a secret is entered.

        Args:
            question: Why; how long the page is there, and who asks.
            label: What is to be entered, in a few words.

        Returns:
            Its address, whose last part is its only credential, and the page.
        """
        ...

    def sign_in(self, question: Question, provider: Provider) -> tuple[str, SignInVisit]:
        """Make a way to a provider and back.

        Args:
            question: Why; how long it is waited for, and who asks.
            provider: Where to.

        Returns:
            The address at the provider, and what comes of it.

        Raises:
            MissingExtra: The library for it is not installed.
        """
        ...
