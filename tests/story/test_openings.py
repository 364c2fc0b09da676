"""Openings: how the story of each pair that comes along begins, with the guard off.

The texts are in `tests/stories/openings`, a file for each theme. Where one names less than the
cause, the page of the scenario says the rest, in its field `Cause:`.
"""

from __future__ import annotations

import re
import textwrap
from functools import cache

import pytest

from testbed.races.playing import play
from testbed.story.explain import explained
from testbed.world import shelf
from testbed.world.shelf import PAIR, Page
from tests.models.worlds.shelved import race_named
from tests.shared.golden import Stories


@cache
def pairs() -> list[Page]:
    """All of them; each scenario is assembled for that, which no collection waits for."""
    return [page for page in shelf.pages() if page.kind == PAIR]


def opening(page: Page) -> str:
    """By which setting, if the guard sets that otherwise; and the cause."""
    race = race_named(page.scenario.name)
    played = play(race, page.scenario, switches={"guard": "off"})
    cause = explained(played.trace, played.verdict)["cause"]
    return "\n".join(
        textwrap.fill(said, 100, initial_indent="  ", subsequent_indent="    ")
        for said in (cause["setting"], cause["said"])
        if said
    )


@pytest.mark.parametrize("theme", [name for name in shelf.themes() if name != "cluster"])
def test_the_stories_of_a_theme_begin_as_before(theme: str, stories: Stories) -> None:
    """To the letter. One that says no more of why has a setting that says it."""
    told = {page.scenario.name: opening(page) for page in pairs() if page.theme == theme}
    stories.check(
        f"openings/{theme}", "\n".join(f"{name}\n{text}\n" for name, text in told.items())
    )
    for name, text in told.items():
        lines = text.replace("\n    ", " ").splitlines()
        gives_up = re.search("the cause is not known|does not show why", lines[-1])
        assert not gives_up or len(lines) == 2, name
