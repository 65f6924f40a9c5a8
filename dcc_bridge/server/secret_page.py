"""The page on which a secret is entered. Any thread.

What is entered is never drawn again, also not after a mistake.
"""

from __future__ import annotations

from typing import Final

from dcc_bridge.elicitation.question import Question
from dcc_bridge.elicitation.secret import Secret
from dcc_bridge.elicitation.text import safe_line, safe_text
from dcc_bridge.server.one_time_page import Html, OneTimePage, fill

FIELD: Final = "secret"  # the name of the input in what the browser sends
_MOST: Final = 65_536  # characters of a secret
_FORM: Final = """\
<form method="post" novalidate autocomplete="off">
<div class="words"><h1>{asked}</h1>{rest}</div>
<div class="{style}"><label for="secret">{label}</label>{problem}
<input type="password" id="secret" name="secret" required autofocus autocomplete="off"
 autocapitalize="off" spellcheck="false" maxlength="{most}"{invalid}></div>
<p class="quiet">What you enter goes from this browser to the application and nowhere else: neither
the agent nor its client sees it, and it is written down nowhere.</p>
<div class="exits" role="group" aria-label="Your answer">
<button type="submit" name="exit" value="accept" class="main">Send to the application</button>
<button type="submit" name="exit" value="decline">Decline</button>
<button type="submit" name="exit" value="cancel">Cancel</button></div>
<p class="small">It ends at {ends} if nothing is entered.</p></form>"""
_REST: Final = '<p class="passage">{rest}</p>'
_PROBLEM: Final = '<p class="problem" id="problem" role="alert">{problem}</p>'
_INVALID: Final = Html(' aria-invalid="true" aria-describedby="problem"')


class SecretPage(OneTimePage):
    """A page on which a secret is entered.

    Attributes:
        label: What is to be entered.
        result: What was.
    """

    def __init__(self, question: Question, label: str) -> None:
        super().__init__(question)
        self.label = label
        self.result: Secret | None = None

    def enter(self, text: str) -> bool:
        """Take what was entered.

        Returns:
            Whether it was the first answer.
        """
        if self.question is None:
            return False
        self.result = Secret(text)
        return self.leave("accept")

    def draw(self, question: Question, problem: str = "") -> Html:
        """Draw the form.

        Args:
            question: Why the secret is needed.
            problem: What is wrong with what was entered, or "".
        """
        asked, _, rest = safe_text(question.message).partition("\n")
        return fill(
            _FORM,
            asked=asked,
            rest=fill(_REST, rest=rest) if rest else "",
            style="field wrong" if problem else "field",
            label=safe_line(self.label),
            problem=fill(_PROBLEM, problem=problem) if problem else "",
            most=str(_MOST),
            invalid=_INVALID if problem else "",
            ends=self.ends.strftime("%H:%M:%S"),
        )


def problem_with(text: str) -> str:
    """Say what is wrong with what was entered, or give ""."""
    if not text:
        return "Nothing was entered."
    return f"It has more than {_MOST:,} characters." if len(text) > _MOST else ""
