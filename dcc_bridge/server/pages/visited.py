"""Pages to which a person is sent from another surface. Any thread."""

from __future__ import annotations

from hmac import compare_digest

from dcc_bridge.elicitation.question import PresenterEvent, Question, Reply, Settle
from dcc_bridge.elicitation.web.provider import Tokens
from dcc_bridge.elicitation.web.secret import Secret
from dcc_bridge.server.pages.oauth import Flow
from dcc_bridge.server.pages.page import Page


class VisitedPage(Page):
    """A page that tells its question what was done on it.

    Attributes:
        ours: The person is shown the address of this very page.
    """

    ours = True
    listed = False

    def __init__(self, question: Question) -> None:
        """Begin unopened, and with nobody who listens."""
        super().__init__(question, self._arrive)
        self._follower: Settle | None = None
        self._heard: PresenterEvent | None = None

    def follow(self, settle: Settle) -> None:
        """Tell once what the person did here, or that they did it before."""
        self._follower = settle
        self._pass_on()

    def _arrive(self, heard: PresenterEvent) -> None:
        self._heard = heard
        self._pass_on()

    def _pass_on(self) -> None:
        """Tell it to whoever listens; a question takes only the first answer."""
        if self._heard is not None and self._follower is not None:
            self._follower(self._heard)


class SecretPage(VisitedPage):
    """A page on which a secret is entered.

    Attributes:
        label: What is to be entered.
        secret: What was.
    """

    def __init__(self, question: Question, label: str) -> None:
        """Begin unopened."""
        super().__init__(question)
        self.label = label
        self.secret: Secret | None = None

    def enter(self, text: str) -> bool:
        """Take what was entered; gives whether it was the first answer."""
        if self.question is None:
            return False
        self.secret = Secret(text)
        return self.leave("accept", Reply("accept"))


class SignInPage(VisitedPage):
    """What a person sees who comes back from a provider.

    Attributes:
        flow: What is asked of the provider.
        tokens: What it gave.
        failure: Why it gave nothing, or "".
    """

    ours = False

    def __init__(self, question: Question, flow: Flow) -> None:
        """Begin before the person went there."""
        super().__init__(question)
        self.flow = flow
        self.tokens: Tokens | None = None
        self._has_begun = False

    def is_of(self, state: str) -> bool:
        """Whether an answer belongs to this sign-in."""
        return compare_digest(state.encode(), self.flow.state.encode())

    def begin(self) -> bool:
        """Take the answer, unless there was one, or nobody waits for it any more. Worker."""
        first, self._has_begun = not self._has_begun, True
        return first and self.question is not None

    def complete(self, tokens: Tokens) -> None:
        """End well, if somebody still waits."""
        if self.question is not None:
            self.tokens = tokens
            self.leave("signed_in", Reply("accept"))

    def refuse(self, why: str, *, by_person: bool) -> None:
        """End without tokens."""
        if by_person:
            self.leave("decline", Reply("decline"))
        elif self.question is not None:
            self.failure = why
            self.leave("failed", Reply("cancel"))
