"""The page of a level in a real Chromium: guess first, then break, read, fix and prove."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from testbed.cli import main
from testbed.teaching.record import VARIABLE
from tests.browser.shared.chromium import Open, axe_complaints, sideways, written
from tests.browser.shared.stolen_slot_page import SENTENCES, page_data
from tests.browser.shared.toy_level import HINTS, WHY, WORDS, toy_level
from tests.browser.shared.toy_map import toy_map

OTHERS = ("story", "play", "whatif", "looked", "keep")
SIZES = {"desk": (1280, 800), "phone": (390, 844), "beamer": (1920, 1080)}
TELLING = ("no_room_is_stolen", "VIOLATED", "into the room that alpha", SENTENCES[0][0], WHY)
HOSTILE = "<img src=x onerror=alert(1)></script><b>\u202eevil\u2066 $(.*[ " + "w" * 200
HOSTILE_IN = (
    "lost bump", "Mend", "You need", "4 in any", "A blind", "Read again", "two writers", "It is in",
    "class My", "testbed search", "What was read", "toy_count",
)  # fmt: skip
TABS_MAX, MOVES_MAX = 80, 40


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a level: the stolen slot as its race, and the toy map."""
    data = {**page_data(told_map=toy_map()), "level": toy_level()}
    return written(tmp_path_factory.mktemp("level") / "level.html", data)


def tab_to(page: Page, wanted: Locator, key: str = "Tab") -> None:
    """Press Tab until that has the focus."""
    for _ in range(TABS_MAX):
        page.keyboard.press(key)
        if wanted.evaluate("it => it === document.activeElement"):
            return
    pytest.fail(f"{wanted} has no stop of Tab")


def test_nothing_tells_the_answer_before_the_guess(opened: Open, toy: Path) -> None:
    """In no part, and not in the title; a link to a step shows no more."""
    with opened("#tab=story&step=146", file=toy) as it:
        page = it.page
        assert page.title() == "Level 7 · the lost bump"
        for tab in OTHERS:
            page.locator(f"#tab-{tab}").click()
            page.locator("#main").focus()
            page.keyboard.press("1")
            page.keyboard.press("n")
            page.keyboard.press("Home")
            assert "step=146" in page.url
            text = page.locator("body").inner_text()
            assert "Guess first" in text, tab
            assert not [told for told in TELLING if told in text], tab
        page.get_by_role("button", name="To the question").last.click()
        expect(page.get_by_role("radio").first).to_be_focused()
        text = page.locator("body").inner_text()
        assert not [told for told in TELLING if told in text]
        assert "What was read may be old" in text


def test_a_locked_guess_is_answered_and_shows_the_rest(opened: Open, toy: Path) -> None:
    """In words; it is remembered, and can be asked again."""
    with opened(file=toy) as it:
        page, answer = it.page, it.page.locator("#level-answer")
        expect(page.get_by_role("button", name="Lock my guess")).to_be_disabled()
        page.get_by_label("4 in any case").check()
        page.get_by_role("button", name="Lock my guess").click()
        expect(answer).to_be_focused()
        expect(answer).to_contain_text("✗ Not this one")
        expect(answer).to_contain_text("4 in any case ✗ your guess")
        expect(answer).to_contain_text("2, 3 or 4 ✓ right")
        expect(answer).to_contain_text(WHY)
        page.locator("[data-go=story]").click()
        expect(page.locator("header.top")).to_contain_text("no_room_is_stolen")
        page.keyboard.press("End")
        expect(page.locator("#viewer .caption")).to_contain_text(SENTENCES[-1][0])
        page = it.goto()
        page.get_by_role("button", name="Guess again").click()
        page.get_by_label("2, 3 or 4").check()
        page.get_by_role("button", name="Lock my guess").click()
        expect(answer).to_contain_text("✓ Right")
        expect(answer).to_contain_text("2, 3 or 4 ✓ your guess")
        assert it.said == []


def test_a_part_can_be_opened_without_a_guess(opened: Open, toy: Path) -> None:
    """Skip leads straight on, and the game asks for no guess of its own."""
    with opened("#tab=play", file=toy) as it:
        it.page.get_by_role("button", name="Skip the guess").last.click()
        expect(it.page.locator("#playing .move").first).to_be_enabled()
        expect(it.page.locator("#playing .guess")).to_be_hidden()
        it.page.keyboard.press("2")
        expect(it.page.locator(".made li")).to_have_count(1)
        expect(it.page.locator(".made li")).to_contain_text("not calm")


def test_space_goes_on_to_the_next_choice(opened: Open, toy: Path) -> None:
    """What leaves no choice is done at once; the end says how one's own way compares."""
    with opened("#tab=play", file=toy) as it:
        page, made = it.page, it.page.locator(".made li")
        page.get_by_role("button", name="Skip the guess").last.click()
        page.keyboard.press("Space")
        expect(made).to_have_count(0)
        for _ in range(4):
            page.keyboard.press("1")
        expect(page.get_by_role("button", name="Go on to a choice: 4 moves")).to_be_enabled()
        page.keyboard.press("Space")
        expect(made).to_have_count(8)
        banner = page.locator("#playing .banner")
        expect(banner).to_contain_text("HELD")
        expect(banner).to_contain_text("another one may")
        page.keyboard.press("r")
        for key in ("1", "2", "1", "2", "1", "2", "1", "1"):
            page.keyboard.press(key)
        expect(banner).to_contain_text("Your way: 8 moves, 3 not calm. The machine’s shortest")
        page.get_by_role("button", name="Machine’s shortest").click()
        expect(banner).to_contain_text("This is the machine’s shortest way: 8 moves")


def test_a_circle_of_moves_is_noticed(opened: Open, tmp_path: Path) -> None:
    """A state that was there before on the same way."""
    ring = toy_map(1, 1)
    ring["states"][1]["next"] = [[0, 0]]
    data = {**page_data(told_map=ring), "level": toy_level()}
    with opened("#tab=play", file=written(tmp_path / "ring.html", data)) as it:
        it.page.get_by_role("button", name="Skip the guess").last.click()
        it.page.keyboard.press("Space")
        expect(it.page.locator("#playing .banner")).to_contain_text("all is again as it was at the")
        expect(it.page.locator(".made li")).to_have_count(2)


def test_a_fault_may_strike_at_rest(opened: Open, tmp_path: Path) -> None:
    """The end is told, and the moves that are left lead on from it."""
    rests = toy_map(1, 1)
    rests["states"][-1]["next"] = [[0, 0]]
    data = {**page_data(told_map=rests), "level": toy_level()}
    with opened("#tab=play", file=written(tmp_path / "rests.html", data)) as it:
        it.page.get_by_role("button", name="Skip the guess").last.click()
        it.page.keyboard.press("Space")
        expect(it.page.locator("#playing .banner")).to_contain_text("Nothing is left to do")
        expect(it.page.locator("#playing h3", has_text="only a fault may strike")).to_be_visible()
        it.page.keyboard.press("1")
        expect(it.page.locator(".made li")).to_have_count(3)
        expect(it.page.locator(".made li").last).to_contain_text("not calm")


def test_a_hint_opens_the_next_one(opened: Open, toy: Path) -> None:
    """One after the other; each says how many there are."""
    with opened(file=toy) as it:
        hints = it.page.locator("#hints summary")
        for nth in range(len(HINTS)):
            expect(hints.locator("visible=true")).to_have_count(nth + 1)
            hints.nth(nth).click()
            expect(it.page.locator("#hints p").nth(nth)).to_have_text(HINTS[nth].replace("`", ""))
        assert hints.all_inner_texts() == ["Hint 1 of 3", "Hint 2 of 3", "Hint 3 of 3"]


def test_a_word_says_what_it_means(opened: Open, toy: Path) -> None:
    """On focus, under the mouse, by a tap, in a button by w; who hears the page is told, too."""
    with opened(file=toy) as it:
        page, meaning = it.page, it.page.locator("#meaning")
        words = page.locator("#panel-level .beat button.word")
        assert "entries" in words.all_inner_texts()
        word = words.filter(has_text="count").first
        tab_to(page, word)
        expect(meaning).to_have_text(f"count {WORDS['count']}")
        page.keyboard.press("Escape")
        expect(meaning).to_be_hidden()
        described = word.get_attribute("aria-describedby")
        expect(page.locator(f"#{described}")).to_have_text(WORDS["count"])
        words.filter(has_text="entries").hover()
        expect(meaning).to_contain_text(WORDS["entry"])
        page.get_by_role("button", name="Skip").first.click()
        page.locator("#tab-story").click()
        sentence = page.locator(".sentence").first
        expect(sentence.locator(".word")).to_have_text("room")
        sentence.focus()
        page.keyboard.press("w")
        expect(meaning).to_contain_text(WORDS["room"])
        assert it.said == []
    with opened(file=toy, has_touch=True, is_mobile=True) as it:
        it.page.get_by_role("button", name="Skip").first.tap()
        it.page.locator("#tab-play").tap()
        it.page.locator("#playing .move .word").first.tap()
        expect(it.page.locator("#meaning")).to_be_visible()
        expect(it.page.locator(".made li")).to_have_count(0)
        it.page.locator("#playing .move kbd").first.tap()
        expect(it.page.locator(".made li")).to_have_count(1)


def test_hostile_texts_of_a_level_are_shown_as_text(opened: Open, tmp_path: Path) -> None:
    """In each field; and a link that is no address of the web is no link."""
    level = toy_level()
    text = json.dumps({name: value for name, value in level.items() if name != "words"})
    for name in HOSTILE_IN:
        text = text.replace(name, json.dumps(f"{name}{HOSTILE}")[1:-1])
    words = {f"{word}{HOSTILE if word == 'read' else ''}": HOSTILE for word in WORDS}
    hostile = {**json.loads(text), "words": words}
    hostile["incident"]["link"] = "javascript:alert(1)"
    data = {**page_data(told_map=toy_map()), "level": hostile}
    with opened(file=written(tmp_path / "hostile.html", data)) as it:
        assert sideways(it.page) == 0
        it.page.locator("#panel-level .word").first.hover()
        expect(it.page.locator("#meaning")).to_contain_text("onerror=alert(1)")
        it.page.get_by_role("button", name="Skip").first.click()
        assert sideways(it.page) == 0
        assert it.page.locator("img, b b, main script, a[href^=javascript]").count() == 0
        assert it.page.locator("#panel-level a").count() == 0
        assert (it.said, it.asked_outside) == ([], [])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_has_nothing_to_say_of_a_level(opened: Open, toy: Path, theme: str) -> None:
    """Before the guess and after it, with a meaning shown; in the dark the contrast alone."""
    rules = ["color-contrast"] if theme == "dark" else []
    with opened(file=toy, color_scheme=theme, reduced_motion="reduce", bypass_csp=True) as it:
        page = it.page
        page.locator("#panel-level .word").first.hover()
        expect(page.locator("#meaning")).to_be_visible()
        assert axe_complaints(page, *rules) == []
        page.locator("#tab-story").click()
        assert axe_complaints(page, *rules) == []
        page.get_by_role("button", name="Skip the guess").first.click()
        page.locator("#tab-level").click()
        page.locator("#hints summary").first.click()
        assert axe_complaints(page, *rules) == []


@pytest.mark.parametrize("size", SIZES)
def test_a_level_does_not_scroll_sideways(opened: Open, toy: Path, size: str) -> None:
    """Before the guess and after it."""
    width, height = SIZES[size]
    with opened(file=toy, viewport={"width": width, "height": height}) as it:
        assert sideways(it.page) == 0
        it.page.get_by_role("button", name="Skip").first.click()
        assert sideways(it.page) == 0


def test_a_level_stands_there_without_a_script(opened: Open, toy: Path) -> None:
    """All of it, in order; the answer and the hints are folded."""
    with opened(file=toy, java_script_enabled=False) as it:
        text = it.page.locator("#panel-level").inner_text()
        beats = ["Guess", "Break", "Read", "Fix", "Prove", "Words", "In the real world"]
        assert it.page.locator("#panel-level h2").all_inner_texts() == beats
        for said in ("4 in any case", "class MyWriter", "one request is lost", *WORDS.values()):
            assert said in text
        expect(it.page.get_by_text(WHY)).to_be_hidden()
        it.page.get_by_text("The answer").click()
        expect(it.page.get_by_text(WHY)).to_be_visible()
        assert sideways(it.page) == 0


def test_the_keyboard_leads_through_the_five_beats(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the first level as its command writes it; from disk, and nothing is said or asked for."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "learn.json"))
    assert main(["learn", "1", "--page", str(tmp_path / "level_1.html")]) == 0
    with opened(file=tmp_path / "level_1.html") as it:
        page, keys = it.page, it.page.keyboard
        tab_to(page, page.get_by_role("radio").first)
        keys.press("ArrowDown")
        tab_to(page, page.get_by_role("button", name="Lock my guess"))
        keys.press("Enter")
        expect(page.locator("#level-answer")).to_contain_text("✓ Right")
        tab_to(page, page.locator("[data-go=play]"))
        keys.press("Enter")
        moves, banner = page.locator("#playing .move"), page.locator("#playing .banner")
        for nth in range(MOVES_MAX):
            if not moves.count():
                break
            keys.press("Space" if moves.count() == 1 else "12"[nth % 2])
        expect(banner).to_contain_text("VIOLATED every_delivery_is_counted")
        tab_to(page, page.locator("#tab-play"), "Shift+Tab")
        keys.press("Home")
        tab_to(page, page.locator("[data-go=story]"))
        keys.press("Enter")
        keys.press("End")
        expect(page.locator("#viewer .caption.broke")).to_contain_text("stock had 7, 4 came")
        tab_to(page, page.locator("#tab-story"))
        keys.press("ArrowLeft")
        tab_to(page, page.get_by_role("button", name="Download level_1.py"))
        with page.expect_download() as download:
            keys.press("Enter")
        assert "class MyClerk(Clerk):" in Path(download.value.path()).read_text()
        tab_to(page, page.get_by_role("button", name="Copy: Check your file"))
        keys.press("Enter")
        expect(page.locator("#live")).to_have_text("Copied.")
        assert (it.said, it.asked_outside) == ([], [])
