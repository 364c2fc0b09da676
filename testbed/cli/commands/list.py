"""testbed list: lists the scenarios that have a short name, by theme."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import click

from testbed.cli.output import say
from testbed.cli.show import EXIT_CODES, JSON, say_json
from testbed.errors import UnknownName
from testbed.world import shelf
from testbed.world.shelf import Page

ABOUT = "Only those about this issue (kubernetes#72043, a number, a link), or of this project."
FROM = "Only those from a source with these words: an issue, a design, a page of the docs."
MADE_OF = "Only those that this part of `actors/` is in, as their switches are by default."
LIKE = "Only those whose page has these words, best first."


@click.command("list", epilog=EXIT_CODES)
@click.option("--theme", help="Only this theme.")
@click.option("--component", help=MADE_OF)
@click.option("--issue", help=ABOUT)
@click.option("--source", metavar="WORDS", help=FROM)
@click.option("--kind", help=f"Only this kind: {', '.join(shelf.KINDS)}.")
@click.option("--tag", help="Only those with this tag, such as stale-cache.")
@click.option("--like", metavar="WORDS", help=LIKE)
@click.option("--json", "as_json", is_flag=True, help=JSON)
def command(
    theme: str | None,
    component: str | None,
    issue: str | None,
    source: str | None,
    kind: str | None,
    tag: str | None,
    like: str | None,
    as_json: bool,
) -> None:
    """List the scenarios that have a short name, by theme. `testbed show NAME` tells one."""
    pages = shelf.pages()
    _check("theme", theme, shelf.themes())
    _check("component", component, sorted({each for page in pages for each in page.components}))
    _check("kind", kind, shelf.KINDS)
    _check("tag", tag, shelf.tags(), "testbed list --kind, if it is a kind that you mean")
    if issue is not None and not any(page.is_about(issue) for page in pages):
        issues = sorted({each for page in pages for each in page.issues})
        raise UnknownName("issue", issue, issues, see="testbed list")
    found = [
        page
        for page in pages
        if theme in (None, page.theme)
        and kind in (None, page.kind)
        and (component is None or component in page.components)
        and (tag is None or tag in page.tags)
        and (source is None or page.comes_from(source))
        and (issue is None or page.is_about(issue))
    ]
    found = found if like is None else shelf.like(like, found)
    if as_json:
        say_json({"scenarios": [page.as_dict() for page in found]})
    elif not found:
        say("No scenario is like that.\n\nNext: testbed list")
    else:
        _say(found, is_ranked=like is not None)


def _check(what: str, given: str | None, known: Any, see: str = "testbed list") -> None:
    if given is not None and given not in known:
        raise UnknownName(what, given, known, see=see)


def _say(found: list[Page], *, is_ranked: bool) -> None:
    width = max(len(page.scenario.name) for page in found)
    for theme, some in groupby(found, lambda page: "" if is_ranked else page.theme):
        if theme:
            say(f"{theme}: {shelf.subject_of(theme)}")
        for page in some:
            say(f"  {page.scenario.name.ljust(width)}  {page.scenario.title}")
        say("")
    say(f"Next: testbed show {found[0].scenario.name}")
