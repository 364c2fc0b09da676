"""Shelf: what is known of the scenarios that come along."""

from __future__ import annotations

import re

from testbed.world import shelf
from testbed.world.scenario import find, known, of
from testbed.world.shelf import ISSUE, PLAIN, Page
from testbed.world.world import World
from tests.each_row import each_row

PAGES = {page.scenario.name: page for page in shelf.pages()}


def test_every_scenario_stands_in_one_theme() -> None:
    """In the order in which themes are read, and by name within one."""
    assert sorted(PAGES) == [scenario.name for scenario in known()]
    order = [page.theme for page in PAGES.values()]
    assert list(dict.fromkeys(order)) == shelf.themes()
    assert order == sorted(order, key=shelf.themes().index)


@each_row("theme", shelf.themes())
def test_a_theme_says_what_its_races_have_in_common(theme: str) -> None:
    """In a sentence."""
    assert re.fullmatch(r"[A-Z].*\.", shelf.subject_of(theme))


def test_what_a_world_is_made_of_is_seen_in_it() -> None:
    """The packages of its actors and servers, and of their bases; or its own actors alone."""
    assert PAGES["lost_update"].components == (PLAIN,)
    assert PAGES["stolen_slot"].components == ("apiserver", "kubelet", "scheduler")
    assert "yunikorn" in PAGES["daemonset_preemption"].components


def test_issues_are_read_from_the_whole_file() -> None:
    """Each once, in the order of the text."""
    assert PAGES["grace_gap"].issues == ("kubernetes#106884", "kubernetes PR#108366")
    assert PAGES["lost_update"].issues == ()
    text = "as in k8s#123, a/b#2200 and kubernetes PR#345; not #456, and not delivery of pods#2"
    found = [each[0] for each in ISSUE.finditer(text)]
    assert found == ["k8s#123", "b#2200", "kubernetes PR#345"]


@each_row(
    ("asked", "is_about"),
    [
        ("kubernetes#106884", True), ("106884", True), ("#106884", True), ("kubernetes", True),
        ("kubernetes/kubernetes#106884", True), ("kubernetes#108366", True), ("KUBER", True),
        ("https://github.com/kubernetes/kubernetes/issues/106884", True),
        ("https://github.com/kubernetes/kubernetes/pull/108366", True),
        ("10688", False), ("autoscaler#106884", False), ("autoscaler", False),
    ],
)  # fmt: skip
def test_an_issue_is_found_as_people_say_it(asked: str, is_about: bool) -> None:
    """By a link, with its project or without, or all of a project; a number counts whole."""
    assert PAGES["grace_gap"].is_about(asked) is is_about


def test_no_scenario_names_an_issue_without_its_project() -> None:
    """Nobody could look it up."""
    for page in PAGES.values():
        assert not re.findall(r"(?<![\w])#\d{3,}", page.text), page.scenario.name


def test_words_find_what_has_the_most_of_them() -> None:
    """Up to their endings; if some have all of them, only these; else the best first."""
    pages = list(PAGES.values())
    (found,) = shelf.like("sign a list", [PAGES["lost_update"], PAGES["grace_gap"]])
    assert found is PAGES["lost_update"]
    assert shelf.like("zzz", pages) == []
    assert shelf.like("", pages) == shelf.like("the of", pages) == []
    rated = shelf.like("signing zzz", pages)
    assert rated[0].scenario.name == "lost_update"


def test_a_rare_word_counts_for_more_and_one_of_a_title_twice() -> None:
    """So a story told in plain words finds its race first, and few others."""
    for words, first in {
        "our pods are evicted after a taint, every few minutes": "tolerated_for_a_while",
        "scheduler restarts and two replicas that must be apart": "half_placed",
        "the autoscaler never adds a node; pod has nominatedNodeName": "suppressed_for_ever",
        "two schedulers preempt each other for days": "preemption_loop",
    }.items():
        found = shelf.like(words, PAGES.values())
        assert found[0].scenario.name == first
        assert len(found) <= shelf.LIKE_MAX


def test_a_scenario_of_ones_own_has_a_page_without_a_theme() -> None:
    """And of no kind, unless it has a guard or says which."""

    def mine(world: World) -> None:
        """Nothing happens.

        Nothing at all.
        """

    page = Page.of(of(mine))
    assert (page.theme, page.kind, page.text) == (
        "",
        "",
        "Nothing happens.\n\nNothing at all.",
    )
    assert Page.of(find("lost_update")).kind == "pair"
