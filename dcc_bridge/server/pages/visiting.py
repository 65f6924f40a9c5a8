"""A question that sends the person to a page elsewhere, as HTML. Any thread."""

from __future__ import annotations

from dcc_bridge.elicitation import plain, urls
from dcc_bridge.elicitation.question import Question
from dcc_bridge.elicitation.urls import Address
from dcc_bridge.server.pages.markup import Markup, element, join


def draw(question: Question, *, note: str, ends: str) -> Markup:
    """Draw a question.

    Args:
        question: Where to go, and why.
        note: Something to say first, or "".
        ends: The time at which it ends.

    Raises:
        RefusedAddress: Nobody should go there.
    """
    where = urls.of(question)
    return element(
        "form",
        element("p", note, class_="notice", role="alert") if note else "",
        element("div", *_words(question), class_="words"),
        element("div", *_place(where), class_="place"),
        *_dangers(where),
        element("p", where.url, class_="url", tabindex="0", aria_label="The whole address"),
        element(
            "p",
            element(
                "a",
                "Open the page in a new window",
                href=where.url,
                target="_blank",
                rel="noopener noreferrer",
                class_="go",
            ),
        ),
        _exits(question),
        element("p", f"It ends at {ends} if nobody answers, and nothing is done.", class_="small"),
        method="post",
        novalidate=True,
    )


def _words(question: Question) -> list[Markup]:
    first, _, rest = plain.passage(question.message).partition("\n")
    said = [element("h1", first)]
    said += [element("p", plain.passage(part), class_="passage") for part in (rest,) if part]
    if question.description:
        said.append(element("p", plain.passage(question.description), class_="quiet passage"))
    return said


def _place(where: Address) -> list[Markup]:
    if where.ours:
        return [element("p", "A page of this application.")]
    place = where.place
    host = element("bdi", place.weak, element("strong", place.strong))
    letters = element("p", join("It reads ", element("bdi", place.letters)))
    lines = [element("p", "It leads to", class_="quiet"), element("p", host, class_="host")]
    return [*lines, *([letters] if place.letters else [])]


def _dangers(where: Address) -> list[Markup]:
    if not where.dangers:
        return []
    sentences = [element("li", danger.text) for danger in where.dangers]
    heading = element("h2", "Look closely before you go there")
    return [element("div", heading, element("ul", *sentences), class_="notice", role="alert")]


def _exits(question: Question) -> Markup:
    made: list[tuple[str, str, str | None]] = []
    if question.visit is None:  # else the page says itself when it is done
        made.append(("I have finished there", "accept", "main"))
    made += [("Decline", "decline", None), ("Cancel", "cancel", None)]
    buttons = [
        element("button", text, type="submit", name="exit", value=exit, class_=style)
        for text, exit, style in made
    ]
    return element("div", *buttons, class_="exits", role="group", aria_label="Your answer")
