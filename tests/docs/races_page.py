"""docs/races.md, made of docstrings: every scenario that comes along, by theme.

`.venv/bin/python -m tests.docs.races_page` writes this page again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from testbed.world import shelf
from testbed.world.shelf import Page

PAGE: Path = Path(__file__).parent.parent.parent / "docs/races.md"
HEAD = """\
# The races that come along

Every scenario with a short name, by theme: what happens, its cause, who is in it, and the public
issues or documents that it comes from. The page is made of their docstrings. `testbed list` finds
them by theme, kind, tag, part, issue, source or words, and `testbed show NAME` tells one.

A *pair* has a guard: with the guard off its race is found and told, and with it on it never
happens. A *control* looks dangerous, and no Run of it breaches a claim. A *lesson* has a calm Run
that is worth reading.
"""
REPOSITORIES = {
    "kubernetes": "kubernetes/kubernetes",
    "cluster-autoscaler": "kubernetes/autoscaler",
    "descheduler": "kubernetes-sigs/descheduler",
    "gardener": "gardener/gardener",
    "enhancements": "kubernetes/enhancements",
    "argo-cd": "argoproj/argo-cd",
}
"""The repository that an issue is of, by the name that scenarios have for it."""


def text() -> str:
    """The whole page."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield HEAD
    pages = shelf.pages()
    yield "| tag | is for | scenarios |\n|---|---|---|"
    for tag, meaning in shelf.tags().items():
        names = (f"`{page.scenario.name}`" for page in pages if tag in page.tags)
        yield f"| {tag} | {meaning.rstrip('.')} | {', '.join(names)} |"
    yield ""
    for theme, some in groupby(pages, lambda page: page.theme):
        yield f"## {theme}\n\n{shelf.subject_of(theme)}\n"
        for page in some:
            yield from _told(page)


def _told(page: Page) -> Iterator[str]:
    scenario = page.scenario
    yield f"### `{scenario.name}`\n\n{page.text}\n"
    switches = (f"`{name}={switch.shown}`" for name, switch in scenario.switches.items())
    facts = {
        "Kind": page.kind,
        shelf.CAUSE: page.cause,
        shelf.LOOK_FOR: page.look_for,
        shelf.SOURCE: page.source,
        shelf.TAGS: ", ".join(page.tags),
        "Made of": ", ".join(page.components),
        "Issues": ", ".join(map(_link, page.issues)),
        "Switches": ", ".join(switches),
    }
    yield "\n".join(f"- {name}: {said}" for name, said in facts.items() if said) + "\n"


def _link(issue: str) -> str:
    named = re.fullmatch(r"([\w-]+)(?: PR)?#(\d+)", issue)
    assert named is not None, issue
    return f"[{issue}](https://github.com/{REPOSITORIES[named[1]]}/issues/{named[2]})"


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
