"""Explain: the stories that Runs are told as, and what each must not leave out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from testbed.chooser import Chooser
from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.client.client import Client
from testbed.faults.compact import Compact
from testbed.faults.crash import Crash
from testbed.faults.lag import Lag
from testbed.faults.lose_reply import LoseReply
from testbed.invariant import Evidence, quiescent
from testbed.objects import Note
from testbed.story.explain import LINES_MAX, Issue, explain_md, explained, story
from testbed.turns.option import FAULT, SERVE
from testbed.turns.trace import Trace
from testbed.turns.verdict import Verdict
from testbed.version import VERSION
from testbed.world.scenario import find
from testbed.world.world import World
from tests.shared.binders import two_binders
from tests.shared.golden import Stories
from tests.shared.stage import Cued, note, world_of
from tests.shared.tug import tug_of_war


def told(world: World, chooser: Chooser) -> str:
    """Play it, and tell it; below, how it ended."""
    trace = Trace({}, keep=True)
    verdict = world.run(chooser, trace=trace)
    return f"{story(trace, verdict)}\n\n{verdict}"


def known_world(name: str, **switches: str) -> World:
    """A World of one of the scenarios."""
    return find(name).world(switches)


def a_crash_after_a_write() -> World:
    """Alpha's write is done, and it dies before it hears of it."""
    world = known_world("lost_update")
    world.allow(Crash("alpha", restart_after_ms=100))
    return world


def a_reply_that_is_lost() -> World:
    """The note is written, and its writer is told that nobody knows."""
    world = world_of(alpha=forget)
    world.add(note(by="nobody"))
    world.allow(LoseReply("alpha"))
    return world


async def forget(client: Client) -> None:
    """Read and write again, while all history is forgotten."""
    read = await client.get(Note, "n")
    await client.update(read.saying(by=client.name))


async def write_twice(client: Client) -> None:
    """Write blindly over what oneself has written."""
    mine = await client.update(note(by="alpha"), whatever_it_was=True)
    await client.update(mine.saying(by="alpha again"), whatever_it_was=True)


async def write_once(client: Client) -> None:
    """Write blindly."""
    await client.update(note(by="beta"), whatever_it_was=True)


def a_compaction() -> World:
    """A fault that strikes no actor."""
    world = world_of(alpha=forget)
    world.add(note(by="nobody"))
    world.allow(Compact())
    return world


def blind_writers() -> World:
    """Nobody reads; what alpha knows is what it wrote itself."""
    world = world_of(alpha=write_twice, beta=write_once)
    world.add(note(by="nobody"))
    return world


def binders(*, lags: bool = False) -> World:
    """Two schedulers with Caches, and room for one pod."""
    world = World("two_binders")
    two_binders(world)
    if lags:
        world.allow(Lag("alpha", by_ms=700, for_ms=1000))
    return world


def ropes() -> World:
    """Two controllers that never agree."""
    world = World("tug_of_war")
    tug_of_war(world)
    return world


def lost_update_guarded() -> World:
    """The careful variant."""
    return known_world("lost_update", guard="on")


LAST_GAP = (
    *["answer auditor/main get*"] * 38,
    "serve auditor/main get*-39",
    "start teller/main",
    "serve teller/main txn*",
)
A_LATE_WATCH = ("start alpha/main", "fault*lag*pods to alpha*")
AFTER_ALPHAS_WRITE = "serve alpha/main update*"
BETWEEN_ALPHAS_WRITES = ("answer alpha/main update*", "start beta*", "serve beta*", "serve alpha*")
BEFORE_ALPHAS_COMMIT = ("serve alpha/main create p*", "start beta*", "serve beta/main create p*")

Played = tuple[World, Chooser]
TOLD: dict[str, Callable[[], Played]] = {
    "lost_update": lambda: (known_world("lost_update"), Uniform(1)),
    "lost_update_calm": lambda: (known_world("lost_update"), Calm()),
    "lost_update_guarded": lambda: (lost_update_guarded(), Uniform(1)),
    "late_short_write": lambda: (known_world("late_short_write"), Cued(*LAST_GAP)),
    "drawing_lots": lambda: (known_world("tests.shared.lots:drawing_lots", faults="2"), Uniform(1)),
    "a_crash_after_a_write": lambda: (
        a_crash_after_a_write(),
        Cued(AFTER_ALPHAS_WRITE, "fault*crash*", "start beta*"),
    ),
    "a_reply_that_is_lost": lambda: (
        a_reply_that_is_lost(),
        Cued(AFTER_ALPHAS_WRITE, "fault*lose_reply*"),
    ),
    "a_compaction": lambda: (a_compaction(), Cued("serve alpha/main get*", "fault*compact*")),
    "double_bind": lambda: (known_world("double_bind"), Uniform(7)),
    "two_binders": lambda: (binders(), Uniform(0)),
    "two_binders_at_once": lambda: (binders(), Uniform(2)),
    "two_binders_late_watch": lambda: (
        binders(lags=True),
        Cued(*A_LATE_WATCH, late=("resume alpha/main*",)),
    ),
    "tug_of_war": lambda: (ropes(), Calm()),
    "two_defaults": lambda: (known_world("two_defaults"), Cued(*BEFORE_ALPHAS_COMMIT)),
    "blind_writers": lambda: (blind_writers(), Cued(*BETWEEN_ALPHAS_WRITES)),
}


@pytest.mark.parametrize("name", TOLD)
def test_a_story_is_told_as_before(name: str, stories: Stories) -> None:
    """To the letter: reads and writes in the column of who made them, with revisions and refusals,
    picks, records and faults; then who wrote over what it did not know."""
    world, chooser = TOLD[name]()
    stories.check(name, told(world, chooser))
    assert not getattr(chooser, "cues", None), "a cue was never given"


def test_every_golden_story_is_told() -> None:
    """No text is left behind by a test that is gone; `testbed demo` tells one more."""
    files = Path(__file__).parent.parent.joinpath("stories").glob("*.txt")
    assert sorted(file.stem for file in files) == sorted([*TOLD, "demo", "an_issue"])


def run(world: World, chooser: Chooser) -> tuple[Trace, Verdict]:
    """Play it, and keep what it was."""
    trace = Trace({}, keep=True)
    return trace, world.run(chooser, driver="direct", trace=trace)


def test_an_issue_is_told_as_before(stories: Stories) -> None:
    """In Markdown: sentences, a sequence diagram, the race file folded away, a line to paste."""
    trace, verdict = run(*TOLD["two_binders"]())
    race = "race: testbed/1\nscenario: two_binders\nholds:\n- deliver alpha/watch-pods\n"
    stories.check(
        "an_issue", explain_md(trace, verdict, Issue(race, "testbed explain races/bind.yaml"))
    )


def test_who_knew_what_when_is_told_in_order() -> None:
    """The cause; then who read what, who changed it, who acted on what it knew, what broke."""
    cause, _, rest = told(*TOLD["lost_update"]()).partition("\n\n")
    assert " ".join(cause.split()).startswith(
        "alpha updated notes/default/list (step 9), believing"
    )
    said = rest.partition("\n\n")[2]
    words = ["alpha read", "rv 2 (step 3)", "beta updated", "rv 3 (step 6)", "still knew rv 2"]
    places = [said.index(word) for word in [*words, "over rv 3 (step 9)", "is broken"]]
    assert places == sorted(places)


@pytest.mark.parametrize("guard", ["off", "on"])
def test_a_careful_writer_is_never_said_to_be_stale(guard: str) -> None:
    """In all Runs: guarded no such sentence; unguarded one in each Run that is violated."""
    for seed in range(40):
        trace, verdict = run(known_world("lost_update", guard=guard), Uniform(seed))
        assert ("still knew" in story(trace, verdict)) is verdict.is_violated


@pytest.mark.parametrize("make", [binders, lambda: known_world("double_bind")])
def test_every_double_bind_is_explained_by_what_was_not_known(make: Callable[[], World]) -> None:
    """Whichever way it came about: one knew all there was, the other did not know of just that;
    also where the claim names the node and neither of the pods."""
    violated = 0
    for seed in range(60):
        trace, verdict = run(make(), Uniform(seed))
        if not verdict.is_violated:
            continue
        violated += 1
        writes = [step for step in trace.steps if step.marks.changes]
        first, second = writes[-2:]
        said = story(trace, verdict)
        assert f"{first.option.actor} bound {first.option.key} at rv {first.revision}" in said
        assert f"By what it still knew of {first.option.key}" in said
        assert f"{second.option.actor} bound {second.option.key}" in said.replace("\n  ", " ")
        assert "what it knew was up to date" in said.replace("\n  ", " ")
    assert violated > 20


def test_a_story_stays_short_and_narrow() -> None:
    """However long the Run: forty rows, a hundred columns, ten sentences; a hundred lines of
    an issue, unless more failed."""
    for seed in range(5):
        world = find("tests.shared.lots:drawing_lots").world({"times": 40})
        world.goes_on = True
        trace, verdict = run(world, Uniform(seed))
        said = story(trace, verdict)
        if verdict.is_violated:
            said = said.partition("\n\n")[2]
        drawn, _, said = said.partition("\n\n")
        assert len(drawn.splitlines()) <= 42
        assert all(len(line) <= 100 for line in f"{drawn}\n{said}".splitlines())
        told = explained(trace, verdict)
        assert len(told["sentences"]) <= 10
        assert told["diagram"] == drawn.splitlines()
        issue = explain_md(trace, verdict, Issue("race: testbed/1\n" * 8, "testbed explain x.yaml"))
        assert len(issue.splitlines()) <= LINES_MAX


def test_what_is_pasted_is_pasted_whole() -> None:
    """A long race file is told in full, and one with fences in it does not end its own."""
    trace, verdict = run(*TOLD["two_binders"]())
    race = "".join(f"line {number}: ```\n" for number in range(80))
    issue = explain_md(trace, verdict, Issue(race, "testbed explain x.yaml"))
    assert race in issue
    assert "````yaml\n" in issue
    assert issue.rstrip().endswith("```\ntestbed explain x.yaml\n```")


def test_markdown_means_nothing_in_what_is_told() -> None:
    """What a claim said is shown as it is: no emphasis, no heading, no tag, no second line."""

    def breaks(see: Evidence) -> str:
        return "# <b>*notes_x*\n`a` | [b](c)"

    world = World("test")
    world.add(note("n"))
    world.claim(quiescent(breaks))
    issue = explain_md(*run(world, Calm()))
    assert r"\# \<b\>\*notes\_x\* \`a\` \| \[b\](c) " in issue


def test_a_run_without_a_violation_is_told_by_its_verdict() -> None:
    """Its heading says that it held, and no sentence says that anything broke."""
    trace, verdict = run(known_world("lost_update"), Calm())
    issue = explain_md(trace, verdict)
    assert issue.startswith("# lost\\_update: held\n\n```mermaid\n")
    assert "\nHeld. Looked at: 1 run (calm), 10 turns" in issue
    assert "broken" not in issue


def test_nothing_to_tell_is_an_empty_story() -> None:
    """A World without actors, and a trace that was not kept."""
    trace = Trace({}, keep=True)
    World().run(Calm(), trace=trace)
    assert story(trace) == ""
    assert story(Trace({})) == ""


def test_an_issue_says_all_that_a_stranger_asks() -> None:
    """Under the title the cause; then what each line is needed for, the calm run beside this one,
    the verdict, and who played it."""
    trace, verdict = run(*TOLD["double_bind"]())
    needed = ("Needed:", "  needed  hold a until b", "Left out of the scenario: x.")
    told = Issue("race", "again", "", needed, ("Held. 1 run", "calm | here"))
    issue = explain_md(trace, verdict, told)
    assert issue.split("\n\n")[1].startswith("beta bound pods/default/d to n1 (step 23), believing")
    parts = [
        "- needed hold a until b",
        "Left out of the scenario: x.",
        "The calm run: Held. 1 run",
        "calm | here",
        "Violated: no\\_node\\_is\\_overcommitted: n1 has",
        f"Played by testbed {VERSION}; profiles: apiserver k8s-1.26.",
        "<details><summary>The race file</summary>",
        "\nagain\n",
    ]
    places = [issue.index(part) for part in parts]
    assert places == sorted(places)


def test_an_issue_folds_away_nothing_that_was_late_or_failed() -> None:
    """However many rows there are: what was held back and when it came, what was struck or refused,
    and both ends of the cause."""
    for seed in range(12):
        world = find("tests.shared.lots:drawing_lots").world({"times": 12, "faults": 2})
        trace, verdict = run(world, Uniform(seed))
        last = verdict.violations[0].step if verdict.violations else len(trace.steps)
        issue = explain_md(trace, verdict)
        for step in trace.steps[:last]:
            is_watch = step.option.verb == "watch" or step.kind not in (FAULT, SERVE)
            if step.kind == FAULT or (step.outcome and not is_watch):
                assert f"(step {step.number})" in issue
