"""The page in a real Chromium: it asks for nothing, a keyboard is enough, and all can read it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from testbed.cli import main
from testbed.page.page import ASSETS
from tests.browser.shared.chromium import Open, axe_complaints, sideways, written
from tests.browser.shared.stolen_slot_page import BETA, SENTENCES, page_data
from tests.browser.shared.toy_map import toy_map

ROOT = Path(__file__).parents[2]
TABS = ("story", "play", "whatif", "looked", "keep")
SIZES = {"desk": (1280, 800), "phone": (390, 844), "beamer": (1920, 1080)}
HOSTILE = "<img src=x onerror=alert(1)></script><b>\u202eevil\u2066 " + "w" * 300


def show(page: Page, tab: str) -> None:
    """Open a part of the page; of the game, after a guess and two moves, so that all is there."""
    page.locator(f"#tab-{tab}").click()
    if tab == "play" and page.get_by_role("button", name="Skip").is_visible():
        page.get_by_role("button", name="Skip").click()
        page.keyboard.press("1")
        page.keyboard.press("2")
    if tab == "whatif" and page.locator("#whatif .viewer").is_hidden():
        page.locator("#whatif").get_by_role("switch").first.click()


def test_it_opens_from_disk_says_nothing_and_asks_for_nothing(opened: Open) -> None:
    """A console without a message, and no request but for the file itself."""
    with opened() as it:
        for tab in TABS:
            show(it.page, tab)
        assert it.said == []
        assert it.asked_outside == []
        assert it.page.url.startswith(f"{it.file.as_uri()}#tab=keep")


def test_what_a_page_would_reach_for_is_refused_and_noticed(opened: Open) -> None:
    """The policy stops a request, and these tests would see one."""
    with opened() as it:
        it.page.evaluate("new Image().src = 'http://localhost:9/x.png'")
        it.page.wait_for_timeout(50)
        assert len(it.said) == 1
        assert "Content Security Policy" in it.said[0]


def test_the_keyboard_leads_to_the_breach(opened: Open) -> None:
    """Arrows step, n goes from sentence to sentence, End is where the claim breaks."""
    with opened() as it:
        page, caption = it.page, it.page.locator("#viewer .caption")
        expect(caption).to_contain_text("How it all begins")
        page.keyboard.press("ArrowRight")
        expect(caption).to_contain_text("ben: create urgent")
        for said, _ in SENTENCES:
            page.keyboard.press("n")
            expect(caption).to_contain_text(said)
            expect(page.locator(".sentence[aria-current]")).to_have_text(said)
        expect(caption).to_have_class("caption broke")
        page.keyboard.press("p")
        expect(caption).to_contain_text(SENTENCES[-2][0])
        page.keyboard.press("Home")
        expect(caption).to_contain_text("How it all begins")
        page.keyboard.press("End")
        expect(caption).to_contain_text("no_room_is_stolen is broken")
        assert "step=146" in page.url
        assert it.said == []


def test_tab_reaches_a_mark_and_enter_tells_of_it(opened: Open) -> None:
    """Nothing needs a mouse: the marks of the present moment stand in the order of Tab."""
    with opened("#tab=story&step=144") as it:
        for _ in range(40):
            it.page.keyboard.press("Tab")
            if it.page.evaluate("document.activeElement.classList.contains('mark')"):
                break
        it.page.keyboard.press("Enter")
        detail = it.page.locator("#viewer .detail")
        expect(detail).to_contain_text("chose n1 for late")
        expect(detail).to_contain_text("no other node")
        expect(detail).to_contain_text(f"{BETA} believes")


def test_the_truth_stands_beside_each_belief(opened: Open) -> None:
    """What differs has a sign and words, not only a colour."""
    with opened("#step=146") as it:
        cards = it.page.locator("#viewer .card")
        expect(cards.nth(0)).to_contain_text("The truth")
        expect(cards.nth(0).locator(".piece").first).to_have_text("late")
        alpha = cards.filter(has_text="alpha believes")
        expect(alpha).to_contain_text("≠ 8 behind")
        expect(alpha).to_contain_text("≠ has not heard of late")
        expect(alpha.locator(".piece.terminating.differs")).to_have_text("victim")
        it.page.keyboard.press("Home")
        expect(it.page.locator("#viewer .differs")).to_have_count(0)


def test_the_picture_draws_each_kind_of_line(opened: Open) -> None:
    """Lost, refused, held back and stale can be told apart without their colours."""
    with opened() as it:
        lines = it.page.locator("#viewer .arrow")
        expect(lines).to_have_count(11 + 1)
        for kind in ("lost", "refused", "dotted"):
            expect(it.page.locator(f"#viewer .arrow.{kind}")).to_have_count(1)
        expect(it.page.locator("#viewer .stale").last).to_have_text("≠")
        expect(it.page.locator("#viewer .dying")).to_have_count(1)


def test_the_calm_run_takes_the_place_of_the_race_and_back(opened: Open) -> None:
    """At the same step, or the nearest one before it."""
    with opened("#step=96") as it:
        it.page.keyboard.press("c")
        expect(it.page.locator("#viewer .where")).to_contain_text("6 of 6 step 96")
        expect(it.page.get_by_role("switch", name="calm run")).to_be_checked()
        it.page.keyboard.press("c")
        expect(it.page.locator("#viewer .where")).to_contain_text("6 of 12 step 96")


def test_a_line_of_the_race_left_out_shows_its_run(opened: Open) -> None:
    """One switch at a time; the Run that comes of it can be stepped through."""
    with opened("#tab=whatif") as it:
        result, viewer = it.page.locator("#whatif .result"), it.page.locator("#whatif .viewer")
        line = it.page.get_by_role("switch", name="lag: pods to alpha")
        guard = it.page.get_by_role("switch", name="guard=on")
        expect(line).to_be_checked()
        expect(viewer).to_be_hidden()
        line.click()
        expect(line).not_to_be_checked()
        expect(result).to_contain_text("held without it")
        expect(viewer).to_be_visible()
        # What is terminating is hatched here too: the pattern is displayed, whatever is hidden.
        assert it.page.locator("#hatch").count() == 1
        expect(it.page.locator("svg:has(> #hatch)")).not_to_have_css("display", "none")
        it.page.keyboard.press("End")
        expect(viewer.locator(".where")).to_contain_text("6 of 6")
        guard.click()
        expect(line).to_be_checked()
        expect(guard).to_be_checked()
        expect(viewer).to_be_hidden()
        expect(result).to_contain_text("That Run was left out")


def test_a_game_reaches_a_breach_and_goes_back(opened: Open) -> None:
    """No move before the guess; an end is told and judged; undo and restart lead back."""
    with opened("#tab=play") as it:
        page, moves = it.page, it.page.locator("#playing .move")
        expect(moves.first).to_be_disabled()
        page.keyboard.press("1")
        expect(page.locator(".seen").first).to_contain_text("you have seen 1 ")
        page.get_by_label("beta", exact=True).check()
        page.get_by_role("button", name="Lock my guess").click()
        expect(moves.first).to_be_focused()
        for key in ("1", "2", "1", "2", "1", "2", "1", "1"):
            page.keyboard.press(key)
        banner = page.locator("#playing .banner")
        expect(banner).to_contain_text("VIOLATED no_bump_is_lost")
        expect(banner).to_contain_text("Your guess was right: the last move was beta's.")
        expect(page.locator(".seen").first).to_contain_text("1 of 3 ends")
        page.keyboard.press("u")
        expect(banner).to_be_empty()
        expect(page.locator(".made li")).to_have_count(7)
        page.keyboard.press("r")
        expect(page.locator(".made li")).to_have_count(0)
        page.get_by_role("button", name="Machine’s shortest").click()
        expect(banner).to_contain_text("VIOLATED")
        page.locator(".made li button").nth(2).click()
        expect(page.locator(".made li")).to_have_count(3)
        assert it.said == []


def test_the_game_knows_the_way_to_each_end(browser: Browser) -> None:
    """The rules of the game without a page: each end is walked to, and back, state by state."""
    script = (ASSETS / "script/play.js").read_text(encoding="utf-8").replace("export ", "")
    walked = """(map) => map.ends.map((end, index) => {
        const game = new Game(map);
        game.walk(index);
        const [reached, way] = [game.state.end, [game.at]];
        while (game.made.length) { game.undo(); way.unshift(game.at); }
        const depth = depths(map)[end.shortest.at(-1)];
        return [reached, way, game.seen.size, game.take(99), depth];
    })"""
    page = browser.new_page()
    page.set_content("<p>")
    told = toy_map(3, 1)
    result = page.evaluate(f"(map) => {{ {script}; return ({walked})(map) }}", told)
    page.close()
    ways = [end["shortest"] for end in told["ends"]]
    assert result == [[end, way, len(way), False, len(way) - 1] for end, way in enumerate(ways)]


def test_the_place_and_the_looks_are_found_again(opened: Open) -> None:
    """A link leads to a step of a part; theme and beamer stay as they were chosen."""
    with opened("#tab=story&step=123&run=calm") as it:
        expect(it.page.locator("#viewer .where")).to_contain_text("step 96")
        it.page.keyboard.press("t")
        it.page.keyboard.press("b")
        page = it.goto("#tab=looked&step=90")
        expect(page.get_by_role("tab", name="How far we looked")).to_have_attribute(
            "aria-selected", "true"
        )
        expect(page.locator("html")).to_have_attribute("data-theme", "light")
        expect(page.get_by_role("button", name="Beamer")).to_have_attribute("aria-pressed", "true")
        page.get_by_role("tab", name="How far we looked").press("Home")
        expect(page.get_by_role("tab", name="Story")).to_be_focused()
        expect(page.locator("#viewer .where")).to_contain_text("step 90")


def test_what_is_copied_and_saved_is_the_text_itself(opened: Open) -> None:
    """The line that plays it again on the clipboard, the race as a file."""
    data = page_data()
    with opened(permissions=["clipboard-read", "clipboard-write"]) as it:
        for name, text in (("testbed", data["again"]), ("Markdown", data["issue"])):
            it.page.locator(".tools").get_by_role("button", name=name).click()
            assert it.page.evaluate("navigator.clipboard.readText()") == text
        with it.page.expect_download() as download:
            it.page.get_by_role("button", name="Race file").click()
        assert download.value.suggested_filename == data["race"]["file"]
        assert Path(download.value.path()).read_text() == data["race"]["text"]
        it.page.keyboard.press("?")
        expect(it.page.get_by_role("dialog")).to_be_visible()
        it.page.keyboard.press("Escape")
        expect(it.page.get_by_role("dialog")).to_be_hidden()
        assert (it.said, it.asked_outside) == ([], [])


@pytest.mark.parametrize("size", SIZES)
def test_no_part_scrolls_sideways(opened: Open, size: str) -> None:
    """On a desk, a phone and a beamer what is too wide scrolls in a box of its own."""
    width, height = SIZES[size]
    with opened(viewport={"width": width, "height": height}) as it:
        if size == "beamer":
            it.page.keyboard.press("b")
        for tab in TABS:
            show(it.page, tab)
            assert sideways(it.page) == 0, tab
        assert it.said == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_has_nothing_to_say(opened: Open, theme: str) -> None:
    """Names, roles and contrast, part by part; a theme changes the contrast alone."""
    unhide = "document.querySelectorAll('.panel').forEach(it => { it.hidden = false; })"
    with opened("#step=146", color_scheme=theme, reduced_motion="reduce", bypass_csp=True) as it:
        for tab in TABS:
            show(it.page, tab)
            if tab == "story":
                it.page.locator("#viewer .mark.broke").click()
            assert theme == "dark" or axe_complaints(it.page) == [], tab
        it.page.evaluate(unhide)
        assert axe_complaints(it.page, "color-contrast") == []
        it.page.evaluate("document.documentElement.style.setProperty('--soft', '#777')")
        assert axe_complaints(it.page, "color-contrast") != [], "it can complain"


def test_a_race_that_comes_along_is_stepped_through_to_its_breach(
    opened: Open, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command's own page; by its main moments, or by every step, at the same place."""
    file, race = tmp_path / "race.html", ROOT / "scenarios/slots/stolen_slot.race.yaml"
    assert main(["explain", str(race), "--page", str(file)]) == 1
    assert f"Page: {file}" in capsys.readouterr().out
    assert file.stat().st_size < 500_000
    with opened(file=file) as it:
        where = it.page.locator("#viewer .where")
        it.page.keyboard.press("End")
        expect(it.page.locator("#viewer .caption.broke")).to_contain_text("no_room_is_stolen")
        main_moments = int(where.inner_text().split()[0])
        it.page.keyboard.press("e")
        expect(it.page.get_by_role("switch", name="every step")).to_be_checked()
        expect(it.page.locator("#viewer .caption.broke")).to_contain_text("no_room_is_stolen")
        assert int(where.inner_text().split()[0]) > 2 * main_moments
        assert "all=yes" in it.page.url
        assert (it.said, it.asked_outside) == ([], [])


def test_hostile_names_are_shown_as_text(opened: Open, tmp_path: Path) -> None:
    """Markup, the end of a script, marks that turn the writing around, and 300 letters."""
    text = json.dumps(page_data(told_map=toy_map()))
    for name in ("alpha", "urgent", "no_room_is_stolen", "lag: pods", "victim", "guard=on"):
        text = text.replace(name, json.dumps(f"{name}{HOSTILE}")[1:-1])
    with opened(file=written(tmp_path / "hostile.html", json.loads(text))) as it:
        for tab in TABS:
            show(it.page, tab)
            assert sideways(it.page) == 0, tab
            text = it.page.locator(f"#panel-{tab}").inner_text()
            assert "onerror=alert(1)" in text or tab == "looked"
        assert it.page.locator("img, b b, main script").count() == 0
        assert (it.said, it.asked_outside) == ([], [])


def test_it_is_printed_whole(opened: Open) -> None:
    """All parts, the picture and the table; no buttons."""
    with opened("#tab=keep") as it:
        it.page.emulate_media(media="print")
        it.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        for shown in ("#tale", "#panel-story table", "#panel-looked dl", "#keep-race"):
            expect(it.page.locator(shown)).to_be_visible()
        expect(it.page.locator("#viewer .lanes svg")).to_be_visible()
        expect(it.page.locator("svg:has(> #hatch)")).not_to_have_css("display", "none")
        expect(it.page.get_by_role("button", name="Beamer")).to_be_hidden()
        assert len(it.page.pdf()) > 10_000


def test_all_of_it_stands_there_without_a_script(opened: Open) -> None:
    """For grep, for readers of the screen, and where no script may run."""
    with opened(java_script_enabled=False) as it:
        text = it.page.locator("body").inner_text()
        for said, _ in SENTENCES:
            assert said in text
        for expected in ("VIOLATED", "found no node for late", "scenario: stolen_slot", "guard=on"):
            assert expected in text
        assert sideways(it.page) == 0
