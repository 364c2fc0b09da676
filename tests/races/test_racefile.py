"""Race file: any Race is a text and back; each mistake is told with its line and what to write."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from testbed.errors import RaceRefused
from testbed.objects.meta import Map
from testbed.races.pattern import Pattern
from testbed.races.race import ALWAYS, Expectation, Hold, Picked, Race, State, Strike
from testbed.races.racefile import load, parse
from testbed.turns.option import SERVE
from testbed.world.fault_kinds import fault_of
from testbed.world.fault_settings import duration, parse_duration
from tests.each_row import each_row
from tests.shared.race_texts import FULL, RACES, SENTENCES

HOLDS = "scenario: x\nholds:\n"
FAULTS = "scenario: x\nfaults:\n"


def serve(who: str, verb: str, key: str, nth: int = 1) -> Pattern:
    """A request."""
    return Pattern(SERVE, who, verb, key, nth)


BETA_BINDS = serve("beta", "bind", "pods/default/d", 2)
READ = Race(
    "double_bind",
    Map({"guard": "off", "alpha.queue": "fifo #1"}),
    ("gamma", "pods/default/e"),
    (
        Hold(serve("alpha", "bind", "pods/default/c"), serve("beta", "bind", "pods/default/d")),
        Hold(Pattern("answer", "alpha", "delete", "pods/default/v"), 5000),
        Hold(Pattern("deliver", "beta", "", "pods/default/d", 2), State("beta", False)),
        Hold(Pattern("feed", "api-2", "", "pods", 0), None),
    ),
    (
        Strike(
            fault_of("crash", "alpha", restart_after_ms=2000), "alpha", None,
            "after", serve("alpha", "delete", "pods/default/victim"),
        ),
        Strike(
            fault_of("lose_reply", "beta", until_ms=22_000, times_max=ALWAYS), str(BETA_BINDS),
            BETA_BINDS,
        ),
        Strike(
            fault_of("server_error", "beta", code=429, times_max=3),
            "beta update pods/default/d/status",
            serve("beta", "update", "pods/default/d/status"), "before",
            serve("beta", "list", "pods"),
        ),
        Strike(
            fault_of("lag", "alpha", by_ms=100, until_ms=22_000), "pods to alpha", None,
            "at", 20_000,
        ),
        Strike(fault_of("stall", "alpha", by_ms=100), "alpha", None, "at", 60_000),
        Strike(fault_of("stall", "beta", until_ms=3_600_000), "beta"),
        Strike(fault_of("clock_step", "alpha", by_ms=-5000), "alpha"),
    ),
    (
        Picked("alpha", "node for pods/default/c", "n2"),
        Picked("alpha/binder", "node", "n3", 2, 2),
    ),
    (
        Expectation(Map(guard="off"), "no_node_is_overcommitted"),
        Expectation(Map(guard="on"), holds=("no_node_is_overcommitted",)),
    ),
)  # fmt: skip


def test_everything_a_race_file_can_say_is_read(tmp_path: Path) -> None:
    """Each part where it belongs, from a text and from a file."""
    assert parse(FULL, "a.race.yaml") == READ
    file = tmp_path / "a.race.yaml"
    file.write_text(FULL)
    assert load(str(file)) == READ
    assert len(READ) == 4 + 7 + 2


def test_every_line_knows_where_it_stands() -> None:
    """So that what matched nothing can be told by its line."""
    race = parse(FULL, "a.race.yaml")
    lines = FULL.splitlines()
    for deviation in [*race.holds, *race.faults, *race.picks]:
        assert isinstance(deviation, Hold | Strike | Picked)
        assert lines[deviation.line - 1].startswith("  - "), deviation
    assert [hold.line for hold in race.holds] == [6, 8, 10, 12]
    assert [pick.line for pick in race.picks] == [36, 37]


def test_a_race_is_written_as_it_was_read() -> None:
    """All but its comments, and what is the default anyway."""
    assert READ.text() == FULL.partition("\n")[2]


def test_a_race_may_be_json() -> None:
    """It is YAML, too."""
    text = '{"scenario": "lost_update", "expect": {"violates": "every_signature_is_kept"}}'
    expect = (Expectation(violates="every_signature_is_kept"),)
    assert parse(text, "a.race.json") == Race("lost_update", expect=expect)


def test_the_answer_to_a_request_may_be_what_is_lost() -> None:
    """It says the same as the request itself."""
    one, other = (
        parse(f"{FAULTS}  - lose_reply: {said}alpha get n\n", "a") for said in ("", "answer to ")
    )
    assert one == other


def test_true_and_on_are_texts() -> None:
    """The scenario's switch knows that both mean the same."""
    assert parse("scenario: x\nswitches: {guard: on, b: true}", "a").switches == Map(
        guard="on", b="true"
    )


# -- the round trip --------------------------------------------------------------------------------


@given(RACES)
def test_any_race_is_read_as_it_was_written(race: Race) -> None:
    """Whatever stands in it."""
    assert parse(race.text(), "a.race.yaml") == race


@each_row("text", SENTENCES)
def test_each_form_stands_in_a_race_file(text: str) -> None:
    """Behind `hold`, behind `until`, behind `after`; in quotes only if it begins with a glob."""
    said = text if text[0] != "*" else f'"{text}"'
    race = parse(
        f"scenario: x\nholds:\n  - hold: {said}\n    until: {said}\n"
        f"faults:\n  - crash: alpha\n    after: {said}\n",
        "a.race.yaml",
    )
    assert race.holds == (Hold(SENTENCES[text], SENTENCES[text]),)
    assert race.faults[0].moment == SENTENCES[text]


@each_row(
    ("text", "ms"),
    [("0ms", 0), ("100ms", 100), ("5s", 5000), ("5 s", 5000), ("2m", 120_000), ("1h", 3_600_000)],
)
def test_a_duration_is_whole_milliseconds(text: str, ms: int) -> None:
    """In four units; written back in the plainest."""
    assert parse_duration(text) == ms
    assert parse_duration(duration(ms)) == ms


@each_row("text", ["5", "s", "1.5s", "5 days", "-s", "9999999999s", "5s5s"])
def test_what_is_no_duration_is_none(text: str) -> None:
    """No unit, no number, a fraction, too much of it."""
    assert parse_duration(text) is None


# -- refusals --------------------------------------------------------------------------------------

REFUSED = {
    "a list": ("- scenario: x", 1, "expected a mapping with `scenario:`, found a list"),
    "a text": ("lost_update", 1, "expected a mapping with `scenario:`, found 'lost_update'"),
    "no scenario": ("switches: {a: b}", 1, "no scenario is named"),
    "a scenario that is a list": ("scenario: [x]", 1, "expected the name of a scenario, found a "),
    "an empty scenario": ("scenario:\nholds: []", 1, "expected the name of a scenario, found not"),
    "a name misspelt": (
        "scenario: x\nexpct: []", 2, "unknown name 'expct'. Did you mean 'expect'?"
    ),
    "a name misspelt of a hold": (
        f"{HOLDS}  - hodl: alpha get n\n    until: quiet", 3,
        "unknown name 'hodl'. Did you mean 'hold'?",
    ),
    "its end misspelt": (
        f"{HOLDS}  - hold: alpha get n\n    utnil: quiet", 4,
        "unknown name 'utnil'. Did you mean 'until'?",
    ),
    "a fault misspelt": (
        f"{FAULTS}  - crahs: alpha\n    at: 1s", 3,
        "expected a fault, found 'crahs'. Did you mean 'crash'?",
    ),
    "an unknown name": ("scenario: x\nhold: []", 2, "unknown name 'hold'"),
    "an unknown name of what stands below it": (
        "scenario: x\nhold:\n  - hold: alpha get n", 2, "unknown name 'hold'"
    ),
    "holds that are none": ("scenario: x\nholds: alpha", 2, "expected a list of holds, found 'al"),
    "switches in a list": ("scenario: x\nswitches: [a]", 2, "expected switches and their values"),
    "a switch that is a list": ("scenario: x\nswitches:\n  a: [b]", 3, "expected the value of a s"),
    "without a list": ("scenario: x\nwithout: gamma", 2, "expected a list of names, found 'gamma'"),
    "a hold that is a text": (f"{HOLDS}  - alpha", 3, "expected a hold, found 'alpha'"),
    "a hold without until": (f"{HOLDS}  - hold: alpha get n", 3, "a hold without `until:`"),
    "an until without hold": (f"{HOLDS}  - until: quiet", 3, "a hold without `hold:`"),
    "a hold with more": (
        f"{HOLDS}  - hold: alpha get n\n    until: quiet\n    for: 5s", 5, "unknown name 'for'"
    ),
    "a sentence that is none": (
        f"{HOLDS}  - hold: alpha is late\n    until: quiet now", 4, "'quiet now' is not the end of"
    ),
    "a hold of a word": (
        f"{HOLDS}  - hold: alpha\n    until: quiet", 3, "'alpha' is not the sentence of an oper"
    ),
    "a sentence cut short": (
        f"{HOLDS}  - hold: delivery of pods/default/c\n    until: 5s", 3, "'delivery of pods/def"
    ),
    "time that goes back": (f"{HOLDS}  - hold: alpha get n\n    until: -5s", 4, "'-5s' is not the"),
    "a fault that is none": (f"{FAULTS}  - kill: alpha", 3, "expected a fault, found 'kill'"),
    "a fault that is nothing": (f"{FAULTS}  - {{}}", 3, "expected a fault, found ''"),
    "a crash at no time": (f"{FAULTS}  - crash: alpha", 3, "expected one of after, before and at, "
                           "found none"),
    "a crash twice": (
        f"{FAULTS}  - crash: alpha\n    at: 1s\n    after: alpha get n", 3,
        "expected one of after, before and at, found after, at",
    ),
    "a time that is none": (f"{FAULTS}  - crash: alpha\n    at: soon", 4, "at: expected a virtual"),
    "a time before the first": (f"{FAULTS}  - crash: alpha\n    at: -1s", 4, "at: expected a virt"),
    "after what is none": (f"{FAULTS}  - crash: alpha\n    after: 5s", 4, "'5s' is not the sent"),
    "a setting of another": (
        f"{FAULTS}  - crash: alpha\n    at: 1s\n    code: 429", 5, "unknown name 'code'"
    ),
    "a crash until": (
        f"{FAULTS}  - crash: alpha\n    at: 1s\n    until: 2s", 5, "unknown name 'until'"
    ),
    "a setting that is none": (
        f"{FAULTS}  - stall: alpha\n    by: long", 4, "by: expected a duration, found 'long'"
    ),
    "a stall back in time": (f"{FAULTS}  - stall: alpha\n    by: -5s", 4, "by: expected a durat"),
    "a stall of two lengths": (
        f"{FAULTS}  - stall: alpha\n    by: 1s\n    until: 5s", 3, "stall: by and until both say"
    ),
    "a lag of two lengths": (
        f"{FAULTS}  - lag: pods to alpha\n    for: 1s\n    until: 5s", 3, "lag: for and until both"
    ),
    "no times": (
        f"{FAULTS}  - stall: alpha\n    times: 0", 4, "times: expected how often, from 1, found '0'"
    ),
    "too many times": (f"{FAULTS}  - stall: alpha\n    times: 1000000", 4, "times: expected how"),
    "a code that is none": (
        f"{FAULTS}  - server_error: alpha get n\n    code: 418", 3, "the fault server_error cannot"
    ),
    "a reply to nobody": (f"{FAULTS}  - lose_reply: alpha", 3, "'alpha' is not the operation it"),
    "a reply to a delivery": (
        f"{FAULTS}  - lose_reply: delivery of pods/default/c to beta", 3, "lose_reply: 'delivery of"
    ),
    "two picks in one": ("scenario: x\npicks:\n  - {a b: c, d e: f}", 3, "expected one pick, foun"),
    "a pick of nothing": ("scenario: x\npicks:\n  - alpha: n2", 3, "'alpha' is no pick: expect"),
    "a pick by nobody": ('scenario: x\npicks:\n  - " a": n2', 3, "' a' is no pick: expect"),
    "a pick of a list": ("scenario: x\npicks:\n  - alpha node: [n2]", 3, "expected the alternativ"),
    "an expectation that is none": ("scenario: x\nexpect: held", 2, "expected an expectation,"),
    "both at once": (
        "scenario: x\nexpect: {violates: a, holds: [b]}", 2, "expected one of violates and holds"
    ),
    "neither": ("scenario: x\nexpect: {switches: {a: b}}", 2, "expected one of violates and holds"),
    "a violated nothing": ("scenario: x\nexpect:\n  violates:", 3, "expected a claim, found nothi"),
    "holds that are no list": ("scenario: x\nexpect:\n  holds: a", 3, "expected a list of names, "),
    "two sides alike": (
        "scenario: x\nexpect:\n  - holds: []\n  - violates: a", 3, "two sides under the same switch"
    ),
    "what YAML refuses": ("scenario: x\n- a", 2, "this is no YAML"),
}  # fmt: skip


@each_row(("text", "line", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_every_mistake_is_told_with_its_line(text: str, line: int, said: str) -> None:
    """And with what to write instead."""
    with pytest.raises(RaceRefused) as caught:
        parse(text, "a.race.yaml")
    told = str(caught.value)
    assert told.startswith(f"a.race.yaml, line {line}: {said}"), told
    assert "\nNext: " in told, told
    assert len(told) < 600
