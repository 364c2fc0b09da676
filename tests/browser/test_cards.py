"""The cards of truth and beliefs in a real Chromium: what they say where nothing is to be said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.shared.chromium import Open, written
from tests.browser.shared.stolen_slot_page import page_data
from tests.browser.shared.toy_level import toy_level
from tests.browser.shared.toy_map import toy_map


def version(key: str, said: str) -> dict[str, Any]:
    """The one version of an object."""
    kind, _, rest = key.partition("/")
    return {
        "key": key, "kind": kind, "name": rest.rpartition("/")[2], "rv": 1, "said": said,
        "state": "plain", "node": "", "cpu": 0, "fields": [],
    }  # fmt: skip


def mark(lane: str, step: int, text: str) -> dict[str, Any]:
    """A mark of which the story speaks."""
    return {
        "lane": lane, "step": step, "sign": "did", "text": text, "reasons": [], "weight": 2,
        "key": "", "parts": [],
    }  # fmt: skip


def row(step: int, told: list[Any], *, over: bool = False, **more: Any) -> dict[str, Any]:
    """A row in which alpha comes to believe that."""
    beliefs = [{"lane": "alpha", "rv": 0 if over else 1, "over": over, "changed": told}]
    return {
        "step": step, "ms": 0, "marks": [], "rv": 1, "truth": [], "tells": [],
        "beliefs": beliefs if told else [], **more,
    }  # fmt: skip


def small_run(*keys: str) -> dict[str, Any]:
    """Alpha reads these objects, which never change, and then its life ends."""
    return {
        "name": "small", "outcome": "violated", "claim": "c", "said": "it broke",
        "lanes": [
            {"name": "alpha", "kind": "actor", "reads": True},
            {"name": "store", "kind": "store", "reads": False},
        ],
        "versions": [version(key, "color red") for key in keys],
        "moments": [
            row(0, [], truth=[[key, at] for at, key in enumerate(keys)]),
            row(1, [[key, at] for at, key in enumerate(keys)]),
            row(2, [], marks=[mark("store", 2, f"alpha has read {keys[0]}")]),
            row(3, [[key, -1] for key in keys], over=True),
        ],
        "arrows": [],
        "terminating": [],
    }  # fmt: skip


def page_of(run: dict[str, Any], file: Path) -> Path:
    """A page of that Run alone."""
    return written(file, {**page_data(), "runs": [run], "calm": -1, "whatIf": [], "sentences": []})


@pytest.fixture
def emptied(tmp_path: Path) -> Path:
    """A level's page: a writer begins, a note appears, the writer ends, and all is gone."""
    told = toy_map(1, 1)
    told["versions"] += [version("notes/default/new", "color red"), version("notes/x", "")]
    told["sets"] += [[0, 3], [0, 2, 3], []]
    for state, truth, belief in zip(told["states"], (2, 3, 4), (-2, 0, -3), strict=True):
        state["truth"], state["beliefs"] = truth, [belief]
    told["states"][2]["next"], told["states"][2]["end"] = [], 0
    return written(tmp_path / "page.html", {**page_data(told_map=told), "level": toy_level()})


def card(page: Page, name: str) -> Locator:
    """The card of that name in the part that is open."""
    return page.locator(".card:visible", has=page.get_by_role("heading", name=name))


def test_an_actor_that_is_not_there_is_said_to_be_away(opened: Open, emptied: Path) -> None:
    """Before it begins, and after its end; and where all is gone, something was there."""
    with opened("#tab=play", file=emptied) as it:
        it.page.get_by_role("button", name="Skip the guess").last.click()
        expect(card(it.page, "alpha")).to_contain_text("It has not begun.")
        it.page.keyboard.press("1")
        expect(card(it.page, "alpha")).to_contain_text("count 0")
        it.page.keyboard.press("1")
        expect(card(it.page, "alpha")).to_contain_text("It has ended.")
        expect(card(it.page, "The truth")).to_contain_text("Nothing is there any more.")
        assert it.said == []


def test_what_has_just_been_created_is_not_unchanged(opened: Open, emptied: Path) -> None:
    """Though it has one version alone; nor is what will be gone."""
    with opened("#tab=play", file=emptied) as it:
        it.page.get_by_role("button", name="Skip the guess").last.click()
        it.page.keyboard.press("1")
        truth = card(it.page, "The truth")
        expect(truth.locator(".thing", has_text="notes/new")).to_contain_text("color red")
        expect(truth.locator(".steady")).to_have_count(0)


def test_an_actor_that_reads_has_a_card_also_without_a_difference(
    opened: Open, tmp_path: Path
) -> None:
    """All that it knows is as it is; and after its end it says so."""
    run = small_run("notes/default/menu")
    with opened("#step=1", file=page_of(run, tmp_path / "page.html")) as it:
        expect(card(it.page, "alpha").locator("header")).to_contain_text("as it is")
        for name in ("alpha", "The truth"):
            expect(card(it.page, name)).to_contain_text("unchanged: notes/menu")
        it.page.keyboard.press("End")
        expect(card(it.page, "alpha")).to_contain_text("It has ended.")
        assert it.said == []


def test_of_two_namespaces_each_is_named(opened: Open, tmp_path: Path) -> None:
    """In the truth, in a belief and beside a mark."""
    keys = ("notes/blue/menu", "notes/green/menu")
    with opened("#step=2", file=page_of(small_run(*keys), tmp_path / "page.html")) as it:
        for name in ("alpha", "The truth"):
            expect(card(it.page, name)).to_contain_text(", ".join(keys))
        expect(it.page.locator(".mark text")).to_have_text("alpha has read notes/blue/menu")


def test_a_word_is_marked_in_the_texts_of_its_level_alone(opened: Open, tmp_path: Path) -> None:
    """Not in what each page says; and another form of it is another word."""
    words = {"race": "Who comes first.", "claim": "What must hold.", "machine": "It."}
    level = {**toy_level(), "words": words, "asked": "It was claimed: claims of a claiming race."}
    file = written(tmp_path / "page.html", {**page_data(told_map=toy_map()), "level": level})
    with opened(file=file) as it:
        expect(it.page.locator(".beat", has_text="the machine has found")).to_have_count(1)
        assert it.page.locator("#panel-level .word").all_inner_texts() == ["claims", "race"]


def test_g_leads_to_the_guess(opened: Open, emptied: Path) -> None:
    """On the part of the level, to its numbered choices; later to what came of it."""
    with opened(file=emptied) as it:
        choices = it.page.locator("#level-guess label")
        assert [text[:1] for text in choices.all_inner_texts()] == ["1", "2", "3"]
        it.page.keyboard.press("g")
        expect(it.page.get_by_role("radio").first).to_be_focused()
        it.page.get_by_role("button", name="Skip").first.click()
        it.page.locator("#tab-level").focus()
        it.page.keyboard.press("g")
        expect(it.page.locator("#level-answer")).to_be_focused()


def test_a_part_is_named_beside_another_part(opened: Open, tmp_path: Path) -> None:
    """Alone it is the request; its detail says which part it is."""
    alone = {**mark("alpha", 1, "create (part 2) notes/n → rv 1"), "parts": [7, 1]}
    both = [{**mark("alpha", step, f"evict (part {step - 1}) pods/p"), "parts": [2, 3]}
            for step in (2, 3)]  # fmt: skip
    run = small_run("notes/default/n")
    for moment, marks in zip(run["moments"], ([], [alone], both[:1], both[1:]), strict=True):
        moment["marks"] = marks
    with opened("#step=1", file=page_of(run, tmp_path / "page.html")) as it:
        texts = it.page.locator(".mark text")
        expect(texts).to_have_text(
            ["create notes/n → rv 1", "evict (part 1) pods/p", "evict (part 2) pods/p"]
        )
        texts.first.click()
        expect(it.page.locator(".detail")).to_contain_text("part 2 of 2")
